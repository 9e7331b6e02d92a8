import * as compare from '../../matchers/compare-values.js'
import * as kinds from '../../matchers/comparison-kinds.js'
import { evaluators, sandboxMatchers } from '../../matchers/index.js'
import { isPlainObject } from '../../matchers/literal.js'
import { type MessageLifecycle, storiesOf } from '../../matchers/message-lifecycle.js'
import * as nearMisses from '../../matchers/near-misses.js'
import * as range from '../../matchers/range.js'
import * as received from '../../matchers/received.js'
import { isEntry } from '../../matchers/received.js'
import * as stored from '../../matchers/stored.js'
import * as verdict from '../../matchers/verdict.js'
import * as addressPattern from '../../src/kernel/address-pattern.js'
import { parsedJson } from '../../src/kernel/parsed-json.js'
import { standardRedaction } from '../../src/report/redaction.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { type Swap, swap, together } from '../mutants/swap.js'

/** A mistake in the matchers. */
export interface Mutant {
  /** Description of the mistake. */
  readonly what: string
  /** Matchers of which at least one row must fail. */
  readonly breaks: readonly (keyof typeof sandboxMatchers)[]
  readonly swap: Swap
}

type Matcher = keyof typeof evaluators
type Breaks = readonly (keyof typeof sandboxMatchers)[]
// biome-ignore lint/suspicious/noExplicitAny: each matcher takes what it takes
type Given = any[]

/** Replaces every search, or the search of one matcher. */
const searching = (
  change: (given: verdict.MatcherSearch<unknown>) => verdict.MatcherSearch<unknown>,
  matcher?: Matcher,
): Swap =>
  swap(verdict, 'search', (_, search, given) =>
    search(matcher === undefined || matcher === given.matcher ? change(given) : given),
  )

/** Makes the cheap search return only some messages. */
const only = (isSeen: (story: MessageLifecycle) => boolean): Swap =>
  searching(({ likely, ...given }) =>
    likely === undefined
      ? given
      : { ...given, likely: () => [...likely()].filter((story) => isSeen(story as MessageLifecycle)) },
  )

/** Ignores a field. */
const blindTo = (field: string): Swap =>
  searching(({ likely: _, ...given }) => {
    const seen = (thing: unknown): readonly nearMisses.ComparedField[] =>
      given.test.compare(thing).map((one) => (one.name === field ? { ...one, differences: [] } : one))
    const fits = (thing: unknown): boolean => seen(thing).every(({ differences }) => differences.length === 0)
    return { ...given, test: { ...given.test, rough: () => 0, compare: seen, fits } }
  })

/** Changes the arguments of one matcher. */
const asked = (matcher: Matcher, change: (...given: Given) => Given): Swap =>
  swap(evaluators, matcher, (_, judge, thing, ...given) => judge(thing, ...(change(...given) as never[])))

/** Replaces the result of one matcher. */
const passing = (matcher: Matcher, pass: (judge: (...given: Given) => boolean, ...given: Given) => boolean): Swap =>
  swap(evaluators, matcher, (_, judge, thing, ...given) => ({
    ...judge(thing, ...given),
    pass: pass((...other) => judge(thing, ...(other as never[])).pass, ...given),
  }))

/** Makes values of a kind always match. */
const anyOf = (kind: 'plain' | 'headers' | 'span' | 'moment'): Swap =>
  swap(kinds, kind, (_, real, expected) => ({ ...real(expected), fits: () => true, differences: () => [] }))

/** Returns a copy with some parts replaced. */
function instead<T extends object>(owner: T, parts: { readonly [Name in keyof T]?: unknown }): T {
  return new Proxy(owner, {
    get: (target, name) => {
      if (Object.hasOwn(parts, name)) return parts[name as keyof T]
      const value = Reflect.get(target, name, target) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const evidence = (
  change: (seen: received.MatcherInput) => { readonly [Name in keyof received.MatcherInput]?: unknown },
): Swap =>
  swap(received, 'evidenceOf', (_, evidenceOf, ...given) => {
    const seen = evidenceOf(...given)
    return instead(seen, change(seen))
  })

const idle = (parts: (sandbox: Sandbox) => { readonly [Name in keyof Sandbox]?: unknown }): Swap =>
  swap(evaluators, 'toBeIdle', (_, judge, sandbox) => judge(instead(sandbox as Sandbox, parts(sandbox as Sandbox))))

const times = (change: (bounds: range.Bounds) => range.Bounds): Swap =>
  swap(range, 'within', (_, within, count, bounds) => within(count, change(bounds)))

const sign = (from: RegExp, to: string): Swap =>
  swap(range, 'requireBounds', (_, require, matcher, name, given) =>
    require(matcher, name, typeof given === 'string' ? given.replace(from, to) : given),
  )

const isOptions = (word: unknown): boolean => isPlainObject(word) && 'times' in word
const exactly = (word: unknown, flags?: string): unknown =>
  typeof word === 'string' ? new RegExp(`^${word}$`, flags) : word

const ofMessages = ['toHavePublished', 'toHaveDelivered', 'toHaveDeadLetter', 'toHaveDeliveredCallback'] as const
const counting = [...ofMessages, 'toHaveExecuted', 'toHaveSchedule', 'toHaveDeduplicated', 'toHaveBulkAction'] as const

const mistake = (what: string, breaks: Breaks, swap: Swap): Mutant => ({ what, breaks, swap })

/** Part that all verdicts share. */
const ofAll: readonly Mutant[] = [
  mistake(
    'the verdict is the other way round',
    [...counting, 'toHaveKey', 'toFollowSequence', 'toBeIdle', 'toHold', 'toHaveCost', 'toHaveValidSignature'],
    together(
      (Object.keys(evaluators) as Matcher[]).map((name) => passing(name, (judge, ...given) => !judge(...given))),
    ),
  ),
  mistake(
    'the failure of .not is that of the assertion',
    ['toHaveExecuted', 'toHaveKey', 'toHavePublished'],
    together(
      (Object.keys(evaluators) as Matcher[]).map((name) =>
        swap(evaluators, name, (_, judge, ...given) => {
          const told = judge(...given)
          return { ...told, failure: () => told.failure(false) }
        }),
      ),
    ),
  ),
  mistake(
    'times is ignored',
    ['toHaveExecuted', 'toHaveDelivered', 'toHaveDeliveredCallback', 'toHaveDeduplicated', 'toHaveSchedule'],
    searching((given) => ({ ...given, times: undefined })),
  ),
  mistake(
    'a range has no upper end',
    ['toHaveExecuted', 'toHaveCost'],
    times(({ min }) => ({ min, max: Infinity })),
  ),
  mistake(
    'a range has no lower end',
    ['toHaveExecuted', 'toHaveDelivered', 'toHaveCost'],
    times(({ max }) => ({ min: 0, max })),
  ),
  mistake('> means >=', ['toHaveExecuted'], sign(/^>(?!=)/, '>=')),
  mistake('< means <=', ['toHaveExecuted', 'toHaveCost'], sign(/^<(?!=)/, '<=')),
  mistake(
    'only the first field is compared',
    ['toHavePublished', 'toHaveDelivered'],
    swap(nearMisses, 'testOf', (_, testOf, fields, pattern, ...given) =>
      testOf(fields, Object.fromEntries(Object.entries(pattern).slice(0, 1)), ...given),
    ),
  ),
  mistake(
    'plain values always fit',
    [...ofMessages, 'toHaveSchedule', 'toHaveReceivedRequest', 'toFollowSequence', 'entryOf'],
    anyOf('plain'),
  ),
  mistake('headers are not compared', ['toHavePublished'], anyOf('headers')),
  mistake('spans of another length fit', ['toHavePublished', 'toHaveKey'], anyOf('span')),
  mistake('points in time are not compared', ['toHaveSchedule'], anyOf('moment')),
  mistake(
    '* in an address is any char once',
    ['toHavePublished', 'toHaveReceivedRequest'],
    swap(addressPattern, 'wildcard', (_, wildcard, pattern) => (url) => {
      return url.length === pattern.length && wildcard(pattern)(url)
    }),
  ),
  mistake(
    'what stands between two stars of an address need not be there',
    ['toHaveReceivedRequest'],
    swap(addressPattern, 'wildcard', (_, wildcard, pattern) => wildcard(pattern.replace(/\*.*\*/, '*'))),
  ),
  mistake(
    'a body that is no JSON fits',
    ['toHaveReceivedRequest', 'toHavePublished'],
    swap(kinds, 'body', (_, body, expected) => {
      const real = body(expected)
      const isJson = (text: unknown): boolean => parsedJson(String(text)) !== undefined
      return typeof expected === 'object' ? { ...real, fits: (text) => !isJson(text) || real.fits(text) } : real
    }),
  ),
  mistake(
    'lists of another length fit',
    ['toHavePublished'],
    swap(compare, 'compare', (_, compare, ...given) =>
      compare(...given).filter((one) => !one.told(standardRedaction).expected.startsWith('[')),
    ),
  ),
  mistake(
    'fields of objects are not compared',
    [
      'toHavePublished',
      'toHaveDelivered',
      'toHaveDeliveredCallback',
      'toHaveExecuted',
      'messageTo',
      'toHaveValidSignature',
    ],
    swap(compare, 'compare', (_, compare, given, expected, path) =>
      isPlainObject(expected) ? [] : compare(given, expected, path),
    ),
  ),
  mistake(
    'the nearest are not shown',
    [...(['toHaveExecuted', 'toHavePublished', 'toHaveDeadLetter'] as const)].concat([
      'toHaveSchedule',
      'toHaveReceivedRequest',
      'toHaveDeduplicated',
    ] as never),
    swap(nearMisses, 'rank', (_, rank, ...given) => ({ ...rank(...given), nearest: [] })),
  ),
  mistake(
    'the furthest are called nearest',
    ['toHaveExecuted', 'toHavePublished'],
    swap(nearMisses, 'rank', (_, rank, things, test) => {
      const { nearest, ...rest } = rank(things, test, 1000)
      return { ...rest, nearest: nearest.toReversed().slice(0, 3) }
    }),
  ),
  mistake(
    'hints are not given',
    ['toHaveExecuted', 'toHaveDelivered', 'toHaveDeduplicated', 'toHaveValidSignature'],
    searching(({ hints: _, ...given }) => given),
  ),
  mistake(
    'the line that replays is not there',
    ['toHavePublished'],
    swap(evaluators, 'toHavePublished', (_, judge, ...given) => {
      const told = judge(...given)
      return { ...told, failure: (not) => ({ ...told.failure(not), replay: '' }) }
    }),
  ),
]

const ofTheStore: readonly Mutant[] = [
  mistake(
    'commands of the test count',
    ['toHaveExecuted'],
    searching((given) => ({ ...given, things: () => given.evidence.ofType('command') }), 'toHaveExecuted'),
  ),
  mistake('commands that failed count', ['toHaveExecuted'], blindTo('reply')),
  mistake(
    'keys fit in either case',
    ['toHaveExecuted'],
    asked('toHaveExecuted', (...words) => words.map((word, index) => (index === 1 ? exactly(word, 'i') : word))),
  ),
  mistake(
    'options only fit in the case of the pattern',
    ['toHaveExecuted'],
    asked('toHaveExecuted', (...words) => words.map((word, index) => (index > 1 ? exactly(word) : word))),
  ),
  mistake(
    'only the command and its key are compared',
    ['toHaveExecuted'],
    asked('toHaveExecuted', (...words) => words.filter((word, index) => index < 2 || isOptions(word))),
  ),
  ...['value', 'ttl', 'type'].map((name) =>
    mistake(
      `${name} is ignored`,
      ['toHaveKey'],
      asked('toHaveKey', (key, { [name]: _, ...pattern } = {}) => [key, pattern]),
    ),
  ),
  mistake(
    'no ttl is any ttl',
    ['toHaveKey'],
    asked('toHaveKey', (key, { ttl, ...pattern } = {}) => [key, ttl === null ? pattern : { ...pattern, ttl }]),
  ),
  mistake(
    'a key that is not there is taken for another',
    ['toHaveKey'],
    swap(stored, 'keyReaderOf', (_, readerOf, ...given) => {
      const reader = readerOf(...given)
      return { ...reader, read: (key) => reader.read(key) ?? reader.read(reader.keys()[0]!) }
    }),
  ),
]

const ofTheQueue: readonly Mutant[] = [
  mistake(
    'whether it is a duplicate does not count',
    ['toHavePublished', 'toHaveDeduplicated'],
    blindTo('deduplicated'),
  ),
  mistake('callbacks count as published', ['toHavePublished'], blindTo('kind')),
  mistake('what became of a message does not count', ['toHaveDelivered', 'toHaveDeadLetter'], blindTo('state')),
  mistake('a dead letter is found by its message only', ['toHaveDeadLetter'], blindTo('dlqId')),
  mistake('the filters of a bulk action are not compared', ['toHaveBulkAction'], blindTo('filter')),
  mistake('the number of canceled records is not compared', ['toHaveBulkAction'], blindTo('total')),
  mistake('bulk actions of messages are those of runs', ['toHaveBulkAction'], blindTo('resource')),
  mistake('bulk actions in progress have finished', ['toHaveBulkAction'], blindTo('state')),
  mistake('attempts are not compared', ['toHaveDelivered'], blindTo('attempts')),
  mistake(
    'failed messages are overlooked',
    ['toHaveDelivered', 'toHaveDeadLetter'],
    only(({ deadLetter }) => deadLetter === undefined),
  ),
  mistake(
    'ordinary messages count as callbacks',
    ['toHaveDeliveredCallback'],
    searching(
      ({ likely: _, ...given }) => ({ ...given, things: () => storiesOf(given.evidence.entries) }),
      'toHaveDeliveredCallback',
    ),
  ),
  mistake(
    'bodies of callbacks are not decoded',
    ['toHaveDeliveredCallback'],
    asked('toHaveDeliveredCallback', ({ body, ...pattern } = {}, ...given) => [
      body === undefined ? pattern : { ...pattern, body: btoa(JSON.stringify(body)) },
      ...given,
    ]),
  ),
  mistake(
    'the quick look for delivered messages leaves out those of one attempt',
    ['toHaveDelivered'],
    only(({ last }) => last?.retried !== 0),
  ),
]

const ofSignatures: readonly Mutant[] = [
  mistake('the signature is not checked', ['toHaveValidSignature'], blindTo('signature')),
  mistake('the body is not checked', ['toHaveValidSignature'], blindTo('body')),
  mistake('an expired signature is fine', ['toHaveValidSignature'], blindTo('exp')),
  mistake('a signature of the future is fine', ['toHaveValidSignature'], blindTo('nbf')),
  mistake('claims are not compared', ['toHaveValidSignature'], blindTo('claims')),
  mistake(
    'any key of ours is the one that was named',
    ['toHaveValidSignature'],
    asked('toHaveValidSignature', ({ key: _, ...pattern } = {}, ...given) => [pattern, ...given]),
  ),
]

const ofCosts: readonly Mutant[] = [
  mistake(
    'one cost in its range is enough',
    ['toHaveCost'],
    passing('toHaveCost', (judge, pattern) => Object.entries(pattern).some(([name, cost]) => judge({ [name]: cost }))),
  ),
  mistake(
    'requests to other services count',
    ['toHaveCost', 'toHaveReceivedRequest'],
    evidence(() => ({ role: 'sandbox' })),
  ),
  mistake(
    'retries cost nothing',
    ['toHaveCost'],
    evidence((seen) => ({
      ofType: (type: 'attempt') =>
        type === 'attempt' ? seen.ofType(type).filter(({ retried }) => retried === 0) : seen.ofType(type),
    })),
  ),
  mistake(
    'bandwidth is not counted',
    ['toHaveCost'],
    asked('toHaveCost', ({ bandwidth, ...pattern }) => [
      bandwidth === undefined ? pattern : { ...pattern, bandwidth: '>=0' },
    ]),
  ),
  mistake(
    'reads are writes',
    ['toHaveCost'],
    asked('toHaveCost', ({ reads, writes, ...pattern }) => [
      { ...pattern, ...(reads !== undefined && { writes: reads }), ...(writes !== undefined && { reads: writes }) },
    ]),
  ),
]

const ofSequences: readonly Mutant[] = [
  mistake(
    'one entry may be several steps',
    ['toFollowSequence'],
    asked('toFollowSequence', (steps: unknown[]) => [
      steps.filter((step, index) => JSON.stringify(step) !== JSON.stringify(steps[index - 1])),
    ]),
  ),
  mistake(
    'steps may come in any order',
    ['toFollowSequence'],
    passing('toFollowSequence', (judge, steps: unknown[]) => judge(steps) || judge(steps.toReversed())),
  ),
  mistake(
    'the first steps are enough',
    ['toFollowSequence'],
    asked('toFollowSequence', (steps: unknown[]) => [steps.slice(0, 1)]),
  ),
  mistake(
    'a step is any entry of its type',
    ['toFollowSequence'],
    asked('toFollowSequence', (steps: { type: string }[]) => [steps.map(({ type }) => ({ type }))]),
  ),
]

const ofWorkflows: readonly Mutant[] = [
  mistake(
    'the url of a workflow does not matter',
    ['toHaveWorkflowRun', 'toHaveWorkflowStep', 'toHaveWorkflowWait'],
    blindTo('workflow'),
  ),
  mistake('the state of a run does not matter', ['toHaveWorkflowRun'], blindTo('state')),
  mistake('the steps of a run do not matter', ['toHaveWorkflowRun'], blindTo('steps')),
  mistake('results do not matter', ['toHaveWorkflowRun', 'toHaveWorkflowStep'], blindTo('result')),
  mistake('costs do not matter', ['toHaveWorkflowRun'], blindTo('cost')),
  mistake('the size of a run does not matter', ['toHaveWorkflowRun'], blindTo('contextBytes')),
  mistake('retries that a step sets do not matter', ['toHaveWorkflowStep'], blindTo('retries')),
  mistake('a retry delay that a step sets does not matter', ['toHaveWorkflowStep'], blindTo('retryDelay')),
  mistake('flow control that a step sets does not matter', ['toHaveWorkflowStep'], blindTo('flowControl')),
  mistake('attempts of steps do not matter', ['toHaveWorkflowStep'], blindTo('attempts')),
  mistake('the name of a step does not matter', ['toHaveWorkflowStep'], blindTo('name')),
  mistake('which event it was does not matter', ['toHaveWorkflowWait'], blindTo('event')),
  mistake('how a wait ended does not matter', ['toHaveWorkflowWait'], blindTo('outcome')),
  mistake('what an event brought does not matter', ['toHaveWorkflowWait'], blindTo('data')),
  mistake(
    'one is enough, however many are asked for',
    ['toHaveWorkflowStep'],
    searching((given) => ({ ...given, times: undefined }), 'toHaveWorkflowStep'),
  ),
]

const ofTheRest: readonly Mutant[] = [
  mistake('where a call went does not matter', ['toHaveOutboundRequest'], blindTo('url')),
  mistake('how often a host did its work does not matter', ['toHaveOutboundRequest'], blindTo('handlerRuns')),
  mistake(
    'waiting messages do not matter',
    ['toBeIdle'],
    idle(({ clock }) => ({ clock: instead(clock, { pending: [] }) })),
  ),
  mistake(
    'schedules are something left to do',
    ['toBeIdle'],
    idle(({ clock }) => ({
      clock: instead(clock, { pending: clock.pending.map((timer) => instead(timer, { background: false })) }),
    })),
  ),
  mistake(
    'faults that never struck do not matter',
    ['toBeIdle'],
    idle(() => ({ faults: undefined })),
  ),
  mistake(
    'steps of scripts do not matter',
    ['toBeIdle'],
    idle(() => ({ destinations: undefined })),
  ),
  mistake(
    'verbs of workflows do not matter',
    ['toBeIdle'],
    idle(() => ({ workflow: undefined, workflows: undefined })),
  ),
  mistake(
    'every delivery is the message that was meant',
    ['messageTo'],
    swap(sandboxMatchers, 'messageTo', (_, match, thing, ...given) => {
      return isEntry(thing) ? { ...match(thing, ...given), pass: true } : match(thing, ...given)
    }),
  ),
  mistake(
    'everything is a command',
    ['commandOf'],
    swap(sandboxMatchers, 'commandOf', (_, match, ...given) => ({ ...match(...given), pass: true })),
  ),
  mistake(
    'an entry is any entry of its type',
    ['entryOf'],
    swap(sandboxMatchers, 'entryOf', (_, match, thing, type) => match(thing, type)),
  ),
  mistake(
    'a step is an entry of any type',
    ['entryOf'],
    swap(sandboxMatchers, 'entryOf', (_, match, thing, _type, ...given) =>
      match(thing, (thing as { type: string }).type, ...given),
    ),
  ),
]

export const mutants: readonly Mutant[] = [
  ...ofAll,
  ...ofTheStore,
  ...ofTheQueue,
  ...ofSignatures,
  ...ofCosts,
  ...ofSequences,
  ...ofWorkflows,
  ...ofTheRest,
]
