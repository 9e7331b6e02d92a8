import { text } from '../src/kernel/bytes.js'
import type { Entry, EntryOf, EntryType } from '../src/kernel/traffic.js'
import { timeSeenFrom } from '../src/report/instants.js'
import { address, body, type Field, headers, moment, plain } from './fields.js'
import { isPlainObject, literal } from './literal.js'
import {
  type Candidate,
  type Compared,
  checkPattern,
  compareFields,
  judge,
  missLines,
  nearestOf,
} from './near-misses.js'
import { type Evidence, evidenceOf } from './received.js'
import { compareWord, type Word } from './store.js'
import { publishedFieldNames, publishedFields } from './stories.js'
import { headOf, requestFieldNames, requestFields } from './traffic.js'
import { replayLine, storyText, type Verdict } from './verdict.js'

/** One step of a sequence: the type of an entry and some of its fields. */
export interface SequenceStep {
  readonly type: EntryType
  /** For commands: as in `toHaveExecuted`. */
  readonly words?: readonly Word[]
  readonly [field: string]: unknown
}

/** The fields that a step may name, by type of entry. */
const stepFields: { readonly [T in EntryType]: (entry: EntryOf<T>) => Readonly<Record<string, Field>> } = {
  request: requestFields,
  command: (entry) => ({
    words: (expected) =>
      (expected as readonly Word[]).flatMap((word, index) => compareWord(entry.argv[index], word, index)),
    via: plain(entry.via),
    error: plain(entry.error),
  }),
  keyspace: (entry) => ({ key: plain(text(entry.key)), event: plain(entry.event) }),
  published: publishedFields,
  attempt: (entry) => ({
    to: address(entry.url),
    method: plain(entry.method),
    status: plain(entry.outcome?.status),
    state: plain(entry.outcome?.state ?? 'ACTIVE'),
    error: plain(entry.outcome?.error),
    retried: plain(entry.retried),
    kind: plain(entry.kind),
    headers: headers(() => entry.headers),
    body: body(entry.body),
    response: body(entry.outcome?.body),
    messageId: plain(entry.messageId),
  }),
  message: (entry) => ({ state: plain(entry.state), messageId: plain(entry.messageId), reason: plain(entry.reason) }),
  'dead-letter': (entry) => ({
    to: address(entry.url),
    status: plain(entry.status),
    error: plain(entry.error),
    kind: plain(entry.kind),
    dlqId: plain(entry.dlqId),
    messageId: plain(entry.messageId),
  }),
  workflow: (entry) => ({ runId: plain(entry.runId), state: plain(entry.state), to: address(entry.url) }),
  setting: (entry) => ({
    of: plain(entry.of),
    name: plain(entry.name),
    change: plain(entry.change),
    value: plain(entry.value),
  }),
  fault: (entry) => ({ point: plain(entry.point), fault: plain(entry.fault), target: address(entry.target) }),
  'flow-control': (entry) => ({
    decision: plain(entry.decision),
    flowControlKey: plain(entry.flowControlKey),
    reason: plain(entry.reason),
    messageId: plain(entry.messageId),
  }),
  clock: (entry) => ({ call: plain(entry.call), to: moment(entry.to), moves: plain(entry.moves) }),
  dropped: (entry) => ({ count: plain(entry.count) }),
}

const stepFieldNames: Readonly<Record<EntryType, readonly string[]>> = {
  request: requestFieldNames,
  command: ['words', 'via', 'error'],
  keyspace: ['key', 'event'],
  published: publishedFieldNames,
  attempt: ['to', 'method', 'status', 'state', 'error', 'retried', 'kind', 'headers', 'body', 'response', 'messageId'],
  message: ['state', 'messageId', 'reason'],
  'dead-letter': ['to', 'status', 'error', 'kind', 'dlqId', 'messageId'],
  workflow: ['runId', 'state', 'to'],
  setting: ['of', 'name', 'change', 'value'],
  fault: ['point', 'fault', 'target'],
  'flow-control': ['decision', 'flowControlKey', 'reason', 'messageId'],
  clock: ['call', 'to', 'moves'],
  dropped: ['count'],
}

/** Entries that fit the steps in this order, with anything between them. */
export function followsSequence(received: unknown, steps: readonly SequenceStep[]): Verdict {
  const matcher = 'toFollowSequence'
  const evidence = evidenceOf(matcher, received, 'sandbox')
  checkSteps(matcher, steps)
  const found: number[] = []
  let from = 0
  for (const step of steps) {
    const index = indexOfStep(evidence.entries, step, from)
    if (index === -1) break
    found.push(evidence.entries[index]!.seq)
    from = index + 1
  }
  return {
    pass: found.length === steps.length,
    found,
    explain: (not) => sequenceText(evidence, steps, found, from, not),
  }
}

function checkSteps(matcher: string, steps: unknown): asserts steps is readonly SequenceStep[] {
  if (!Array.isArray(steps) || steps.length === 0) {
    throw new TypeError(
      `${matcher}() needs a list of steps, for example [{ type: 'published', to: '…' }, { type: 'attempt', status: 500 }].`,
    )
  }
  for (const step of steps) {
    const known = isPlainObject(step) ? stepFieldNames[step.type as EntryType] : undefined
    if (known === undefined) {
      throw new TypeError(
        `${matcher}() does not know the step ${literal(step)}. A step has a type, one of ${Object.keys(stepFieldNames).join(', ')}.`,
      )
    }
    checkPattern(`${matcher}`, step, ['type', ...known])
  }
}

function indexOfStep(entries: readonly Entry[], step: SequenceStep, from: number): number {
  for (let index = from; index < entries.length; index++) {
    const entry = entries[index]!
    if (entry.type === step.type && compareStep(entry, step).every((one) => one.differences.length === 0)) return index
  }
  return -1
}

function compareStep(entry: Entry, step: SequenceStep): Compared[] {
  const { type, ...pattern } = step
  const fields = (stepFields[type] as (entry: Entry) => Readonly<Record<string, Field>>)(entry)
  return compareFields(fields, pattern)
}

function sequenceText(
  evidence: Evidence,
  steps: readonly SequenceStep[],
  found: readonly number[],
  from: number,
  not: boolean,
): string {
  const lines = [
    `expect(${evidence.role})${not ? '.not' : ''}.toFollowSequence([${steps.length === 1 ? '1 step' : `${steps.length} steps`}])`,
    '',
    not ? 'Expected that these steps do not follow each other, but they do:' : brokenAt(steps, found),
  ]
  steps.forEach((step, index) => {
    const seq = found[index]
    if (seq !== undefined) lines.push(`  ✓ ${literal(step)}   #${seq}`)
    else lines.push(`  ${index === found.length ? '✗' : '·'} ${literal(step)}`)
  })
  if (!not) lines.push(...divergence(evidence, steps[found.length]!, from))
  const focus = found.at(-1)
  lines.push(replayLine(evidence, focus), '', storyText(evidence.entries, focus))
  return lines.join('\n')
}

function brokenAt(steps: readonly SequenceStep[], found: readonly number[]): string {
  const after = found.length === 0 ? '' : ` after #${found.at(-1)}`
  return `Expected these steps in order. Step ${found.length + 1} of ${steps.length} does not follow${after}:`
}

/** Where the order broke: what came instead, or that the step had come too early. */
function divergence(evidence: Evidence, step: SequenceStep, from: number): string[] {
  const { entries } = evidence
  const earlier = indexOfStep(entries, step, 0)
  if (earlier !== -1) {
    return [
      `It happened too early: #${entries[earlier]!.seq} at ${timeSeenFrom(entries[earlier]!.at, entries[0]!.at)}.`,
    ]
  }
  const candidates = entries
    .slice(from)
    .filter((entry) => entry.type === step.type)
    .map(
      (entry): Candidate => ({
        seq: entry.seq,
        at: entry.at,
        title: () => headOf(entry, evidence),
        compared: compareStep(entry, step),
      }),
    )
  const nearest = nearestOf(candidates.map(judge))[0]
  if (nearest === undefined) return [`No ${step.type} entry came afterwards.`]
  const { candidate } = nearest
  return [
    `Nearest afterwards:`,
    `  #${candidate.seq} at ${timeSeenFrom(candidate.at, entries[0]!.at)}   ${candidate.title()}`,
    ...missLines(nearest),
  ]
}
