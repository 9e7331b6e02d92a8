import { formatDuration } from '../../../src/kernel/duration.js'
import { plural } from '../../../src/kernel/plural.js'
import { excerpt, plainText } from '../../../src/report/safe-text.js'
import type { TraceEntry } from '../../../src/report/trace.js'
import { wordOf } from './readable-bytes.js'
import { shortId, shownFrom } from './shown-dates.js'

/** Text of an entry, in parts. If there is not enough space, only the beginning of the URL is cut. */
export interface EntryText {
  readonly head: string
  readonly url?: string
  /** Result of the entry. */
  readonly end?: string
  /** Name of the added database that the entry is about. */
  readonly database?: string
  /** Reasons and additional information, as phrases. */
  readonly notes: readonly string[]
}

/** Fields of all entry types that the texts use. */
interface Fields {
  readonly at: number
  readonly method: string
  readonly url: string
  readonly response?: { readonly at: number; readonly status: number; readonly error?: string; readonly note?: string }
  readonly note?: string
  readonly possibleCauses?: readonly number[]
  readonly argv: readonly unknown[]
  readonly via: string
  readonly reply?: unknown
  readonly error?: string
  readonly event: string
  readonly key: unknown
  readonly messageId: string
  readonly sourceMessageId?: string
  readonly kind: string
  readonly maxRetries: number
  readonly retried: number
  readonly notBefore: number
  readonly deduplicated: boolean
  readonly queue?: string
  readonly urlGroup?: string
  readonly scheduleId?: string
  readonly flowControlKey?: string
  readonly labels?: readonly string[]
  readonly waitReason?: string
  readonly outcome?: Outcome
  readonly state: string
  readonly reason?: string
  readonly dlqId: string
  readonly actionId: string
  readonly of: string
  readonly total: number
  readonly filter?: Readonly<Record<string, readonly string[]>>
  readonly status: number
  readonly runId: string
  readonly runIds: readonly string[]
  readonly stepId: number
  readonly stepName: string
  readonly planned?: boolean
  readonly eventId: string
  readonly until: number
  readonly kept?: boolean
  readonly invokedRunId: string
  readonly resource: string
  readonly name: string
  readonly change: string
  readonly value?: Readonly<Record<string, unknown>>
  readonly decision: string
  readonly move: string
  readonly to?: number
  readonly count: number
  readonly limit: number
  readonly unit: string
  readonly fault: string
  readonly point: string
  readonly target?: string
  readonly rule?: string
  readonly effect?: string
}

interface Outcome {
  readonly at: number
  readonly status: number
  readonly error?: string
  readonly state: string
  readonly note?: string
  readonly next?: { readonly at: number; readonly delayMs: number; readonly reason: string }
}

type Teller = (entry: Fields) => {
  readonly head: string
  readonly url?: string | undefined
  readonly end?: string | undefined
  readonly notes?: readonly (string | undefined)[]
}

const tellers: Readonly<Record<string, Teller>> = {
  request: (entry) => ({
    head: entry.method,
    url: entry.url,
    end: answered(entry),
    notes: [entry.note],
  }),
  outbound: (entry) => ({
    head: `the app calls ${entry.method}`,
    url: entry.url,
    end: answered(entry),
    notes: [
      entry.possibleCauses && `made by ${entry.possibleCauses.map((seq) => `#${seq}`).join(' or ')}`,
      entry.response?.note,
      entry.note,
    ],
  }),
  command: (entry) => ({
    head: commandLine(entry.argv),
    end: entry.error === undefined ? replyText(entry.reply) : `error: ${entry.error}`,
    notes: [byOf(entry.via), entry.note],
  }),
  keyspace: (entry) => ({ head: `key ${wordOf(entry.key)}`, end: entry.event }),
  published: (entry) => ({
    head: `${publishedAs(entry)} ${shortId(entry.messageId)} to${methodOf(entry)}`,
    url: entry.url,
    end: entry.deduplicated ? 'a duplicate' : plural(entry.maxRetries, 'retry', 'retries'),
    notes: [
      entry.deduplicated ? 'accepted with the ID of the first message, not delivered again' : undefined,
      ...traits(entry),
    ],
  }),
  attempt: (entry) => ({
    head: `attempt ${entry.retried + 1} of ${Math.max(entry.retried, entry.maxRetries) + 1} of ${kindWords(entry)}${shortId(entry.messageId)} to${methodOf(entry)}`,
    url: entry.url,
    end: entry.outcome === undefined ? 'in flight' : outcomeText(entry, entry.outcome),
    notes: [
      entry.waitReason && `had waited: ${entry.waitReason}`,
      /^(first attempt|retry \d+ of \d+)?$/.test(entry.reason!) ? undefined : `because: ${entry.reason}`,
      entry.outcome?.note,
      entry.outcome?.state === 'FAILED' ? 'failed' : undefined,
    ],
  }),
  message: (entry) => ({ head: shortId(entry.messageId), end: lower(entry.state), notes: [entry.reason] }),
  'dead-letter': (entry) => ({
    head: `dead letter of ${shortId(entry.messageId)} to`,
    url: entry.url,
    end: statusText(entry.status, entry.error),
  }),
  'bulk-action': (entry) => ({
    head: `bulk action ${shortId(entry.actionId)} to cancel ${plural(entry.total, entry.resource === 'messages' ? 'message' : 'run')}`,
    end: lower(entry.state),
    notes: Object.entries(entry.filter ?? {}).map(([name, values]) => `${name} ${values.map(wordOf).join(', ')}`),
  }),
  workflow: (entry) => ({ head: `workflow run ${shortId(entry.runId)} of`, url: entry.url, end: lower(entry.state) }),
  step: (entry) => ({ head: stepText(entry), end: entry.planned ? 'planned' : 'submitted' }),
  wait: (entry) => ({
    head: `${stepText(entry)} waits for event ${wordOf(entry.eventId)}`,
    end: `until ${shownFrom(entry.until, entry.at)}`,
  }),
  notify: (entry) => ({
    head: `event ${wordOf(entry.eventId)}`,
    end: entry.kept
      ? `kept for run ${shortId(entry.runId)}`
      : entry.runIds.length === 0
        ? 'no run waits for it'
        : `reaches ${plural(entry.runIds.length, 'run')}`,
  }),
  invoke: (entry) => ({ head: `${stepText(entry)} begins run ${shortId(entry.invokedRunId)} of`, url: entry.url }),
  setting: (entry) => ({
    head: `${entry.resource.replace('-', ' ')} ${wordOf(entry.name)}`,
    end: entry.change.replaceAll('-', ' '),
    notes: Object.entries(entry.value ?? {}).map(([name, value]) => `${name} ${wordOf(value)}`),
  }),
  'flow-control': (entry) => ({
    head: `${entry.flowControlKey === undefined ? 'the overall limit' : `flow-control key ${wordOf(entry.flowControlKey)}`} ${entry.decision === 'held' ? 'holds' : 'admits'} ${shortId(entry.messageId)}`,
    end: entry.reason,
  }),
  clock: (entry) => ({
    head: `the test moves time${entry.count > 1 ? `, ${entry.count} times` : ''} (${entry.move})`,
    end:
      entry.to === undefined
        ? 'in progress'
        : entry.to === entry.at
          ? 'time does not move'
          : `${formatDuration(entry.to - entry.at)} to ${shownFrom(entry.to, entry.at)}`,
  }),
  dropped: (entry) => ({ head: droppedText(entry) }),
  fault: (entry) => ({
    head: `fault ${entry.fault}${entry.rule === undefined ? '' : ` of rule ${wordOf(entry.rule)}`} injected at ${entry.point}${entry.target ? ' for' : ''}`,
    url: entry.target,
    notes: [entry.effect],
  }),
}

const maxUrl = 2000

function fieldsOf(entry: TraceEntry): Fields {
  return entry as unknown as Fields
}

/**
 * Returns the text of an entry. Characters that hide text or reverse its direction are escaped, so it is safe to show.
 */
export function entryText(entry: TraceEntry): EntryText {
  const { head, url, end, notes = [] } = tellerOf(entry.type)(fieldsOf(entry))
  return {
    head: excerpt(head, 400),
    ...(url !== undefined && { url: excerpt(url, maxUrl) }),
    ...(end !== undefined && { end: excerpt(end, 200) }),
    ...(entry.database !== undefined && { database: excerpt(String(entry.database), 100) }),
    notes: notes.filter((note) => note !== undefined && note !== '').map((note) => excerpt(String(note), 600)),
  }
}

/** Returns the text of an entry as one line, for screen readers. */
export function lineOf({ head, url, end, database }: EntryText): string {
  const place = database === undefined ? '' : ` (${database})`
  return `${head}${url === undefined ? '' : ` ${url}`}${end === undefined ? '' : ` → ${end}`}${place}`
}

export function droppedText({ count, limit, unit }: Pick<Fields, 'count' | 'limit' | 'unit'>): string {
  const kept =
    unit === 'bytes' ? `${limit} bytes (policy.maxTrafficBytes)` : `${limit} entries (policy.maxTrafficEntries)`
  return `${plural(count, 'earlier entry was', 'earlier entries were')} dropped: the log keeps ${kept}`
}

/** Returns the wait that follows an entry about a message, as text. */
export function waitText(entry: TraceEntry): string {
  const { at, outcome, notBefore, until, eventId } = fieldsOf(entry)
  const next = outcome?.next
  if (next !== undefined) return `waits ${between(outcome!.at, next.at)}: ${excerpt(next.reason, 300)}`
  if (entry.type === 'wait') return `waits at most ${between(at, until)} for event ${excerpt(wordOf(eventId), 100)}`
  return `waits ${between(at, notBefore)}: as published`
}

function between(from: number, to: number): string {
  return `${formatDuration(to - from)} until ${shownFrom(to, from)}`
}

function tellerOf(type: string): Teller {
  return Object.hasOwn(tellers, type) ? tellers[type]! : ({ ...fields }) => ({ head: JSON.stringify(fields) })
}

function answered({ at, response: answer }: Fields): string {
  if (answer === undefined) return 'no response yet'
  const end = answer.status === 0 && answer.error === undefined ? 'connection broken' : undefined
  return `${end ?? statusText(answer.status, answer.error)}${took(at, answer.at)}`
}

function outcomeText({ at }: Fields, outcome: Outcome): string {
  return `${statusText(outcome.status, outcome.error)}${took(at, outcome.at)}`
}

function took(from: number, to: number): string {
  return to > from ? ` after ${formatDuration(to - from)}` : ''
}

/** Formats a status: `200`, `503 Service Unavailable`, or `no response: connection reset`. */
export function statusText(status: number, error: string | undefined): string {
  if (status === 0) return error ? `no response: ${error}` : 'no response'
  if (error === undefined || error === '' || error === String(status)) return String(status)
  return error.startsWith(`${status} `) ? error : `${status} (${error})`
}

function publishedAs({ kind, sourceMessageId }: Fields): string {
  if (kind === 'message') return 'published'
  return `${kind.replace('-', ' ')}${sourceMessageId === undefined ? '' : ` about ${shortId(sourceMessageId)}`}:`
}

function kindWords({ kind }: Fields): string {
  return kind === 'message' ? '' : `${kind.replace('-', ' ')} `
}

function methodOf({ method }: Fields): string {
  return method === 'POST' ? '' : ` ${method}`
}

function traits(entry: Fields): (string | undefined)[] {
  return [
    entry.urlGroup && `group ${wordOf(entry.urlGroup)}`,
    entry.queue && `queue ${wordOf(entry.queue)}`,
    entry.scheduleId && `schedule ${wordOf(entry.scheduleId)}`,
    entry.flowControlKey && `flow control ${wordOf(entry.flowControlKey)}`,
    entry.labels?.length ? `label ${entry.labels.map(wordOf).join(' ')}` : undefined,
  ]
}

function stepText({ stepId, stepName, runId }: Fields): string {
  return `step ${stepId} ${wordOf(stepName)} of run ${shortId(runId)}`
}

/** Formats a state: `RUN_STARTED` becomes `run started`. */
function lower(state: string): string {
  return plainText(state).toLowerCase().replaceAll('_', ' ')
}

function commandLine(argv: readonly unknown[]): string {
  const words = argv.slice(0, 16).map((word) => excerpt(wordOf(word), 60))
  return `${words.join(' ')}${argv.length > 16 ? ` … (${argv.length} arguments)` : ''}`
}

function replyText(reply: unknown): string {
  if (reply === null || reply === undefined) return 'nil'
  if (typeof reply !== 'object') return wordOf(reply)
  const { status, integer } = reply as { status?: unknown; integer?: unknown }
  if (status !== undefined) return String(wordOf(status))
  if (integer !== undefined) return String(integer)
  return Array.isArray(reply)
    ? `[${reply.slice(0, 8).map(replyText).join(', ')}${reply.length > 8 ? ', …' : ''}]`
    : wordOf(reply)
}

function byOf(via: string): string | undefined {
  if (via === 'request') return undefined
  if (via === 'direct') return 'run by the test'
  return via === 'resp' ? 'over a connection' : `in a ${via}`
}
