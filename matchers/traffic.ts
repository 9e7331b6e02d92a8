import { text } from '../src/kernel/bytes.js'
import { formatDuration } from '../src/kernel/duration.js'
import type { Entry, EntryOf, EntryType, ServiceName } from '../src/kernel/traffic.js'
import { describeEntry } from '../src/report/describe.js'
import { dateOf, timeOf, timeSeenFrom } from '../src/report/instants.js'
import { plainText } from '../src/report/safe-text.js'
import { address, body, type Field, headers, plain } from './fields.js'
import { type AsymmetricMatcher, argumentList, isPlainObject, literal } from './literal.js'
import {
  type Candidate,
  type Compared,
  checkPattern,
  compareFields,
  judge,
  missLines,
  nearestOf,
} from './near-misses.js'
import { type Evidence, entriesOf, evidenceOf } from './received.js'
import { compareWord, type Word } from './store.js'
import { publishedFieldNames, publishedFields } from './stories.js'
import { type MatchOptions, replayLine, search, storyText, type Verdict } from './verdict.js'

type Or<T> = T | AsymmetricMatcher
type Text = Or<string | RegExp>

/** Fields of an HTTP request to one of the services; all that are given must fit. */
export interface RequestPattern {
  readonly service?: Or<ServiceName>
  readonly method?: Text
  /** As it arrived; `*` stands for any chars. */
  readonly url?: Text
  readonly headers?: Or<Readonly<Record<string, Text | number | undefined>>>
  readonly body?: unknown
  /** Status of the answer; 0 when the connection was broken. */
  readonly status?: Or<number>
  /** Body of the answer. */
  readonly response?: unknown
}

const requestFieldNames = ['method', 'url', 'body', 'headers', 'status', 'response', 'service']

/** HTTP requests that arrived, answered or not. */
export function receivedRequest(received: unknown, pattern: RequestPattern = {}, options: MatchOptions = {}): Verdict {
  const matcher = 'toHaveReceivedRequest'
  const evidence = evidenceOf(matcher, received, 'sandbox')
  checkPattern(matcher, pattern, requestFieldNames)
  const { role } = evidence
  const own = entriesOf(evidence, 'request').filter(
    (entry) => role === 'sandbox' || role === 'traffic' || entry.service === role,
  )
  const given = Object.keys(pattern).length === 0 && options.times === undefined ? [] : [pattern]
  return search({
    matcher,
    call: argumentList(options.times === undefined ? given : [...given, options]),
    evidence,
    candidates: own.map((entry) => ({
      seq: entry.seq,
      at: entry.at,
      title: () => headOf(entry, evidence),
      compared: compareFields(requestFields(entry), { ...pattern }, ['method', 'url', 'status', 'service']),
    })),
    times: options.times,
    noun: ['request', 'requests'],
  })
}

function requestFields(entry: EntryOf<'request'>): Record<string, Field> {
  return {
    service: plain(entry.service),
    method: plain(entry.method),
    url: address(entry.url),
    headers: headers(() => entry.headers),
    body: body(entry.body),
    status: plain(entry.answer?.status),
    response: body(entry.answer?.body),
  }
}

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
  fault: (entry) => ({ point: plain(entry.point), fault: plain(entry.fault), target: address(entry.target) }),
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
  fault: ['point', 'fault', 'target'],
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

function headOf(entry: Entry, evidence: Evidence): string {
  return describeEntry(entry, { bodies: 0, name: (id) => evidence.name(id) }).head
}

/** What a sandbox has to say about work that is left. */
interface Idle {
  readonly clock: {
    now(): number
    pending(): readonly { readonly at: number; readonly label: string; readonly background: boolean }[]
    running(): readonly string[]
  }
  readonly faults?: { readonly unused?: unknown } | undefined
  readonly destinations?: { readonly unplayed?: unknown; readonly unhandled?: unknown } | undefined
}

/** Nothing left to happen: no timer but schedules, nothing that runs, no fault or script step that never struck. */
export function isIdle(received: unknown): Verdict {
  const matcher = 'toBeIdle'
  const evidence = evidenceOf(matcher, received, 'sandbox')
  if (evidence.role !== 'sandbox')
    throw new TypeError(`${matcher}() needs the sandbox: write expect(sandbox).${matcher}().`)
  const left = leftovers(received as Idle)
  return {
    pass: left.length === 0,
    found: [],
    explain: (not) => {
      const lines = [`expect(sandbox)${not ? '.not' : ''}.${matcher}()`, '']
      if (not) lines.push('Expected something left to happen, but no timer waits and no fault is unused.')
      else lines.push('Expected nothing left to happen, but:', ...left.map((one) => `  ${one}`))
      if (!not && left.some((one) => one.startsWith('waits')))
        lines.push('', 'Hint: await sandbox.clock.drain() first.')
      lines.push(replayLine(evidence, evidence.entries.at(-1)?.seq), '', storyText(evidence.entries, undefined))
      return lines.join('\n')
    },
  }
}

const mostLeft = 10

function leftovers(sandbox: Idle): string[] {
  const { clock } = sandbox
  const now = clock.now()
  const timers = clock.pending().filter((timer) => !timer.background)
  const lines = timers.slice(0, mostLeft).map((timer) => {
    const left = formatDuration(timer.at - now)
    const until = dateOf(timer.at) === dateOf(now) ? timeOf(timer.at) : `${dateOf(timer.at)} ${timeOf(timer.at)}`
    return `waits ${left}, until ${until}: ${plainText(timer.label)}`
  })
  if (timers.length > mostLeft) lines.push(`… and ${timers.length - mostLeft} more timers`)
  for (const label of clock.running()) lines.push(`runs: ${plainText(label)}`)
  for (const fault of listOf(sandbox.faults?.unused, sandbox.faults)) lines.push(`fault never struck: ${textOf(fault)}`)
  for (const one of listOf(sandbox.destinations?.unplayed, sandbox.destinations)) {
    const { pattern, steps } = one as { pattern: string; steps: readonly { kind?: unknown }[] }
    const kinds = steps.map((step) => String(step.kind)).join(', ')
    lines.push(`script steps never met at ${plainText(pattern)}: ${plainText(kinds)}`)
  }
  return lines
}

/** Some views offer a list, others a function that makes one. */
function listOf(given: unknown, owner: unknown): readonly unknown[] {
  const list = typeof given === 'function' ? given.call(owner) : given
  return Array.isArray(list) ? list : []
}

function textOf(fault: unknown): string {
  return typeof fault === 'string' ? plainText(fault) : literal(fault)
}
