// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are places in sources
import type { sandboxMatchers } from 'stuntdouble/matchers'
import { afterAll, describe, expect, test } from 'vitest'
import { mutatedModule } from '../mutants/engine.js'
import { broken, world } from './verdicts.js'

// For each matcher, mistakes in its verdict that the table of verdicts catches.

interface Mutant {
  /** What the mistake does. */
  readonly what: string
  readonly file: string
  /** A text that stands in the file once, and what stands there in the mutant. */
  readonly find: string
  readonly replace: string
  /** Matchers of which a row must break. */
  readonly breaks: readonly (keyof typeof sandboxMatchers)[]
}

const ofMessages = ['toHavePublished', 'toHaveDelivered', 'toHaveDeadLetter', 'toHaveCalledBack'] as const
const counting = [...ofMessages, 'toHaveExecuted', 'toHaveScheduled', 'toHaveBeenDeduplicated'] as const

const mutants: readonly Mutant[] = [
  // what all of them share
  {
    what: 'the verdict is the other way round',
    file: 'matchers/index.ts',
    find: '{ pass: verdict.pass, message',
    replace: '{ pass: !verdict.pass, message',
    breaks: [...counting, 'toHaveKey', 'toFollowSequence', 'toBeIdle', 'toHaveSpent', 'toHaveBeenSigned'],
  },
  {
    what: 'the failure of .not is that of the assertion',
    file: 'matchers/index.ts',
    find: 'verdict.explain(isNot)',
    replace: 'verdict.explain(false)',
    breaks: ['toHaveExecuted', 'toHaveKey', 'toHavePublished', 'toFollowSequence'],
  },
  {
    what: 'times is ignored',
    file: 'matchers/verdict.ts',
    find: 'times === undefined ? count > 0 : within(count, times)',
    replace: 'count > 0',
    breaks: ['toHaveExecuted', 'toHaveDelivered', 'toHaveCalledBack', 'toHaveBeenDeduplicated', 'toHaveScheduled'],
  },
  {
    what: 'one too many is not noticed',
    file: 'matchers/verdict.ts',
    find: 'times === undefined ? 1 : times.max + 1',
    replace: 'times === undefined ? 1 : times.max',
    breaks: ['toHaveExecuted'],
  },
  {
    what: 'a range has no upper end',
    file: 'matchers/range.ts',
    find: 'count >= min && count <= max',
    replace: 'count >= min',
    breaks: ['toHaveExecuted', 'toHaveSpent'],
  },
  {
    what: 'a range has no lower end',
    file: 'matchers/range.ts',
    find: 'count >= min && count <= max',
    replace: 'count <= max',
    breaks: ['toHaveExecuted', 'toHaveDelivered', 'toHaveSpent'],
  },
  {
    what: '> means >=',
    file: 'matchers/range.ts',
    find: "sign === '>' ? number + 1 : number",
    replace: 'number',
    breaks: ['toHaveExecuted'],
  },
  {
    what: '< means <=',
    file: 'matchers/range.ts',
    find: "sign === '<' ? number - 1 : number",
    replace: 'number',
    breaks: ['toHaveExecuted', 'toHaveSpent'],
  },
  {
    what: 'only the first field is compared',
    file: 'matchers/near-misses.ts',
    find: 'for (let index = 0; index < cheapFirst.length; index++)',
    replace: 'for (let index = 0; index < Math.min(1, cheapFirst.length); index++)',
    breaks: ['toHavePublished', 'toHaveDelivered'],
  },
  {
    what: 'plain values always fit',
    file: 'matchers/kinds.ts',
    find: '(received) => Object.is(received, expected)',
    replace: '() => true',
    breaks: [...ofMessages, 'toHaveScheduled', 'toHaveReceivedRequest', 'toFollowSequence', 'entryOf'],
  },
  {
    what: '* in an address is any char once',
    file: 'src/kernel/address-pattern.ts',
    find: 'text.length < first.length + last.length',
    replace: 'text.length !== first.length + last.length + 1',
    breaks: ['toHavePublished', 'toHaveReceivedRequest'],
  },
  {
    what: 'what stands between two stars of an address need not be there',
    file: 'src/kernel/address-pattern.ts',
    find: 'if (found === -1 || found + part.length > end) return false',
    replace: 'if (found === -1) continue',
    breaks: ['toHaveReceivedRequest'],
  },
  {
    what: 'a body that is no JSON fits',
    file: 'matchers/kinds.ts',
    find: `  if (parsed === undefined)
    return [`,
    replace: `  if (parsed === undefined) return []
  if (parsed === undefined)
    return [`,
    breaks: ['toHaveReceivedRequest', 'toHavePublished'],
  },
  {
    what: 'lists of another length fit',
    file: 'matchers/compare.ts',
    find: '!Array.isArray(received) || received.length !== expected.length',
    replace: '!Array.isArray(received)',
    breaks: ['toHavePublished'],
  },
  {
    what: 'fields of objects are not compared',
    file: 'matchers/compare.ts',
    find: 'if (isPlainObject(expected)) return compareFields(received, expected, path)',
    replace: 'if (isPlainObject(expected)) return []',
    breaks: [
      'toHavePublished',
      'toHaveDelivered',
      'toHaveCalledBack',
      'toHaveExecuted',
      'messageTo',
      'toHaveBeenSigned',
    ],
  },
  {
    what: 'headers are not compared',
    file: 'matchers/kinds.ts',
    find: 'return Object.entries(expected).flatMap(([name, value]) =>\n      compare(byName.get(name.toLowerCase())',
    replace:
      'return Object.entries(expected).flatMap(([name, value]) =>\n      compare(value as string, value) && compare(byName.get(name)',
    breaks: ['toHavePublished'],
  },
  {
    what: 'spans of another length fit',
    file: 'matchers/kinds.ts',
    find: `      return [new Difference(received, expected, '', texts)]
    },
    (received) => received === wanted,
  )
}

/** A point`,
    replace: `      return []
    },
    () => true,
  )
}

/** A point`,
    breaks: ['toHavePublished', 'toHaveKey'],
  },
  {
    what: 'points in time are not compared',
    file: 'matchers/kinds.ts',
    find: `    (received) => received === wanted,
  )
}

/** One of the labels`,
    replace: `    () => true,
  )
}

/** One of the labels`,
    breaks: ['toHaveScheduled'],
  },
  {
    what: 'the nearest are not shown',
    file: 'matchers/verdict.ts',
    find: 'if (missed > 0 && found.length < (times?.min ?? 1)) {',
    replace: 'if (missed < 0) {',
    breaks: [
      'toHaveExecuted',
      'toHavePublished',
      'toHaveDeadLetter',
      'toHaveScheduled',
      'toHaveReceivedRequest',
      'toHaveBeenDeduplicated',
    ],
  },
  {
    what: 'the furthest are called nearest',
    file: 'matchers/near-misses.ts',
    find: 'nearest.sort((a, b) => a.distance - b.distance)',
    replace: 'nearest.sort((a, b) => b.distance - a.distance)',
    breaks: ['toHaveExecuted', 'toHavePublished'],
  },
  {
    what: 'hints are not given',
    file: 'matchers/verdict.ts',
    find: 'const hints = not || !isShort',
    replace: 'const hints = true',
    breaks: ['toHaveExecuted', 'toHaveDelivered', 'toHaveBeenDeduplicated', 'toHaveBeenSigned'],
  },
  {
    what: 'the line that replays is not there',
    file: 'matchers/verdict.ts',
    find: 'parts.length === 0 ? ',
    replace: 'parts.length > 0 ? ',
    breaks: ['toHavePublished'],
  },
  // toHaveExecuted
  {
    what: 'commands of the test count',
    file: 'matchers/commands.ts',
    find: "evidence.of('command').filter((entry) => entry.via !== 'direct')",
    replace: "evidence.of('command')",
    breaks: ['toHaveExecuted'],
  },
  {
    what: 'commands that failed count',
    file: 'matchers/commands.ts',
    find: 'entry.error === undefined && all(entry.argv)',
    replace: 'all(entry.argv)',
    breaks: ['toHaveExecuted'],
  },
  {
    what: 'keys fit in either case',
    file: 'matchers/commands.ts',
    find: 'if (index > 0 && !isOption(wanted))',
    replace: 'if (index > 9)',
    breaks: ['toHaveExecuted'],
  },
  {
    what: 'options only fit in the case of the pattern',
    file: 'matchers/commands.ts',
    find: 'if (index > 0 && !isOption(wanted))',
    replace: 'if (index > 0)',
    breaks: ['toHaveExecuted'],
  },
  {
    what: 'only the command and its key are compared',
    file: 'matchers/commands.ts',
    find: 'for (let index = 0; index < fits.length; index++) if',
    replace: 'for (let index = 0; index < Math.min(2, fits.length); index++) if',
    breaks: ['toHaveExecuted'],
  },
  // toHaveKey
  ...['value', 'ttl', 'type'].map(
    (name): Mutant => ({
      what: `${name} is ignored`,
      file: 'matchers/store.ts',
      find: `if ('${name}' in pattern)`,
      replace: `if ('no ${name}' in pattern)`,
      breaks: ['toHaveKey'],
    }),
  ),
  {
    what: 'a key that is not there fits',
    file: 'matchers/store.ts',
    find: 'pass: stored !== undefined && ',
    replace: 'pass: ',
    breaks: ['toHaveKey'],
  },
  {
    what: 'no ttl is any ttl',
    file: 'matchers/store.ts',
    find: 'if (expected === null || expected === undefined) {',
    replace: 'if (expected === null) return []\n  if (expected === undefined) {',
    breaks: ['toHaveKey'],
  },
  // the messages
  {
    what: 'duplicates count as published',
    file: 'matchers/queue.ts',
    find: "{ kind: 'message', deduplicated: false }",
    replace: "{ kind: 'message' }",
    breaks: ['toHavePublished'],
  },
  {
    what: 'callbacks count as published',
    file: 'matchers/queue.ts',
    find: "{ kind: 'message', deduplicated: false }",
    replace: '{ deduplicated: false }',
    breaks: ['toHavePublished'],
  },
  {
    what: 'every message counts as delivered',
    file: 'matchers/queue.ts',
    find: "const wanted = { ...pattern, ...defaults(pattern, { state: 'DELIVERED' }) }\n  const stories",
    replace: 'const wanted: { state?: unknown } = { ...pattern }\n  const stories',
    breaks: ['toHaveDelivered'],
  },
  {
    what: 'every message counts as a dead letter',
    file: 'matchers/queue.ts',
    find: "const wanted = { ...pattern, state: 'FAILED' }",
    replace: 'const wanted = { ...pattern }',
    breaks: ['toHaveDeadLetter'],
  },
  {
    what: 'a dead letter is found by its message only',
    file: 'matchers/queue.ts',
    find: 'dlqId: textField(({ deadLetter }) => deadLetter?.dlqId),',
    replace: "dlqId: textField(({ deadLetter }) => deadLetter && '1-0'),",
    breaks: ['toHaveDeadLetter'],
  },
  {
    what: 'a failed message is not a failed one',
    file: 'matchers/stories.ts',
    find: "if (story.deadLetter !== undefined || state === 'FAILED') return 'FAILED'",
    replace: "if (state === 'FAILED') return 'RETRY'",
    breaks: ['toHaveDelivered', 'toHaveDeadLetter'],
  },
  {
    what: 'ordinary messages count as callbacks',
    file: 'matchers/queue.ts',
    find: "[...from()].filter((story) => story.kind !== 'message')",
    replace: '[...from()]',
    breaks: ['toHaveCalledBack'],
  },
  {
    what: 'bodies of callbacks are not decoded',
    file: 'matchers/queue.ts',
    find: "typeof value === 'string' ? fromBase64(value) : undefined",
    replace: "typeof value === 'string' ? (value as Bytes) : undefined",
    breaks: ['toHaveCalledBack'],
  },
  {
    what: 'attempts are not compared',
    file: 'matchers/stories.ts',
    find: 'return { expected, differences, fits: (list) => differences(list).length === 0 }',
    replace: 'return { expected, differences, fits: () => true }',
    breaks: ['toHaveDelivered'],
  },
  {
    what: 'the quick look for delivered messages leaves out those of another address',
    file: 'matchers/queue.ts',
    find: '!test.fits(entry) || entry.outcome?.state !== state',
    replace: 'entry.retried === 0 || entry.outcome?.state !== state',
    breaks: ['toHaveDelivered'],
  },
  {
    what: 'every message counts as deduplicated',
    file: 'matchers/queue.ts',
    find: '{ ...pattern, deduplicated: true }',
    replace: '{ ...pattern }',
    breaks: ['toHaveBeenDeduplicated'],
  },
  // toHaveBeenSigned
  ...[
    ['signature', 'differences: keyDifferences(isBy, pattern.key, known, thing.key)'],
    ['body', 'differences: bodyDifferences(claims.body, thing.body)'],
  ].map(
    ([name, find]): Mutant => ({
      what: `the ${name} is not checked`,
      file: 'matchers/signatures.ts',
      find: find!,
      replace: 'differences: []',
      breaks: ['toHaveBeenSigned'],
    }),
  ),
  {
    what: 'an expired signature is fine',
    file: 'matchers/signatures.ts',
    find: "const isExpired = typeof exp !== 'number' || exp <= seconds",
    replace: 'const isExpired = false',
    breaks: ['toHaveBeenSigned'],
  },
  {
    what: 'a signature of the future is fine',
    file: 'matchers/signatures.ts',
    find: "const isEarly = nbf !== undefined && (typeof nbf !== 'number' || nbf > seconds)",
    replace: 'const isEarly = false',
    breaks: ['toHaveBeenSigned'],
  },
  {
    what: 'claims are not compared',
    file: 'matchers/signatures.ts',
    find: 'if (pattern.claims !== undefined)',
    replace: 'if (pattern.claims === null)',
    breaks: ['toHaveBeenSigned'],
  },
  {
    what: 'any key of ours is the one that was named',
    file: 'matchers/signatures.ts',
    find: ": signer?.split(' ')[0] === placeOf(wanted)",
    replace: ': signer !== undefined',
    breaks: ['toHaveBeenSigned'],
  },
  // toHaveSpent
  {
    what: 'one cost in its range is enough',
    file: 'matchers/spending.ts',
    find: 'pass: lines.every(',
    replace: 'pass: lines.some(',
    breaks: ['toHaveSpent'],
  },
  {
    what: 'requests to other services count',
    file: 'matchers/spending.ts',
    find: '|| service === role',
    replace: '|| true',
    breaks: ['toHaveSpent'],
  },
  {
    what: 'retries cost nothing',
    file: 'matchers/spending.ts',
    find: "countedBy(evidence.of('attempt'), attemptName(evidence.redaction))",
    replace:
      "countedBy(evidence.of('attempt').filter(({ retried }) => retried === 0), attemptName(evidence.redaction))",
    breaks: ['toHaveSpent'],
  },
  {
    what: 'bandwidth is not counted',
    file: 'matchers/spending.ts',
    find: 'bytes += body.length + (outcome?.body.length ?? 0)',
    replace: 'bytes += 0 * body.length * (outcome?.body.length ?? 0)',
    breaks: ['toHaveSpent'],
  },
  {
    what: 'reads are writes',
    file: 'matchers/spending.ts',
    find: "reads: (evidence) => ofStore(evidence, 'reads')",
    replace: "reads: (evidence) => ofStore(evidence, 'writes')",
    breaks: ['toHaveSpent'],
  },
  // the rest
  {
    what: 'requests to other services count',
    file: 'matchers/traffic.ts',
    find: '|| entry.service === role',
    replace: '|| true',
    breaks: ['toHaveReceivedRequest'],
  },
  {
    what: 'one entry may be several steps',
    file: 'matchers/sequence.ts',
    find: 'entries[middle]!.seq > seq',
    replace: 'entries[middle]!.seq >= seq',
    breaks: ['toFollowSequence'],
  },
  {
    what: 'steps may come in any order',
    file: 'matchers/sequence.ts',
    find: 'nextOf(evidence, test, after)',
    replace: 'nextOf(evidence, test, beforeAll)',
    breaks: ['toFollowSequence'],
  },
  {
    what: 'the first steps are enough',
    file: 'matchers/sequence.ts',
    find: 'pass: found.length === steps.length',
    replace: 'pass: found.length > 0',
    breaks: ['toFollowSequence'],
  },
  {
    what: 'a step is any entry of its type',
    file: 'matchers/sequence.ts',
    find: 'if (test.fits(entry)) return entry',
    replace: 'return entry',
    breaks: ['toFollowSequence'],
  },
  {
    what: 'an entry is any entry of its type',
    file: 'matchers/asymmetric.ts',
    find: 'other.type === step.type && step.test.fits(other)',
    replace: 'other.type === step.type',
    breaks: ['entryOf'],
  },
  {
    what: 'a step is an entry of any type',
    file: 'matchers/asymmetric.ts',
    find: 'other.type === step.type && step.test.fits(other)',
    replace: 'step.test.fits(other)',
    breaks: ['entryOf'],
  },
  {
    what: 'waiting messages do not matter',
    file: 'matchers/idle.ts',
    find: 'clock.pending().filter((timer) => !timer.background)',
    replace: 'clock.pending().filter((timer) => timer.at < 0)',
    breaks: ['toBeIdle'],
  },
  {
    what: 'schedules are something left to do',
    file: 'matchers/idle.ts',
    find: 'clock.pending().filter((timer) => !timer.background)',
    replace: 'clock.pending()',
    breaks: ['toBeIdle'],
  },
  {
    what: 'faults that never struck do not matter',
    file: 'matchers/idle.ts',
    find: 'for (const fault of listOf(sandbox.faults?.unused, sandbox.faults))',
    replace: 'for (const fault of [])',
    breaks: ['toBeIdle'],
  },
  {
    what: 'steps of scripts do not matter',
    file: 'matchers/idle.ts',
    find: 'for (const one of listOf(sandbox.destinations?.unplayed, sandbox.destinations))',
    replace: 'for (const one of [])',
    breaks: ['toBeIdle'],
  },
  {
    what: 'every delivery is the message that was meant',
    file: 'matchers/asymmetric.ts',
    find: 'return testOf(fields, wanted).fits(other)',
    replace: 'return true',
    breaks: ['messageTo'],
  },
  {
    what: 'everything is a command',
    file: 'matchers/asymmetric.ts',
    find: 'return argv !== undefined && words',
    replace: 'return argv === undefined || words',
    breaks: ['commandOf'],
  },
]

const given = await world()
afterAll(() => given.dispose())

describe.each(mutants.map((mutant, index) => ({ ...mutant, index })))('$file: $what', (mutant) => {
  test('is caught', async () => {
    const name = `matchers-${mutant.index}`
    const mutated = await mutatedModule<{ sandboxMatchers: typeof sandboxMatchers }>('matchers/index.ts', mutant, name)
    const complaints = broken(mutated.sandboxMatchers, given)
    const caught = mutant.breaks.filter((matcher) =>
      complaints.some((complaint) => complaint.startsWith(`${matcher} on`)),
    )
    expect(caught).toEqual(mutant.breaks)
  })
})

test('every matcher has a mutant', async () => {
  const { sandboxMatchers: all } = await import('stuntdouble/matchers')
  const covered = new Set(mutants.flatMap(({ breaks }) => breaks))
  expect(Object.keys(all).filter((name) => !covered.has(name as never))).toEqual([])
})
