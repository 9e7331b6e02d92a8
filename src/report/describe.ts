import { type Bytes, text } from '../kernel/bytes.js'
import { formatDuration } from '../kernel/duration.js'
import { plural } from '../kernel/plural.js'
import type { AttemptOutcome, Entry, EntryOf, RedactedFields } from '../kernel/traffic-log.js'
import { hidden, hiddenInRun, type Redaction, standardRedaction } from './redaction.js'
import { excerpt, excerptBytes, plainText, quoted } from './safe-text.js'
import { timeSeenFrom } from './shown-times.js'
import { storeChangeLines } from './store-changes.js'

export interface EntryWording {
  /** Number of bytes of a body that are shown, 0 for none. */
  readonly bodies: number
  /** Returns the name by which a message is shown. */
  readonly name: (messageId: string) => string
  /** Redaction that hides secrets. Default: hides everything that looks like a secret. */
  readonly redaction?: Redaction
}

/**
 * Text of one entry. `head` is one line that states what happened. `details` are more lines. They state, for example,
 * why and until when a message waits.
 */
export interface EntryDescription {
  readonly head: string
  readonly details: readonly string[]
}

const wordLength = 60
const urlLength = 200

/**
 * Describes an entry of the traffic log as text that is safe to print. Entries of an unknown type are listed field by
 * field.
 * @param told reason for waiting that the text of the previous attempt already contains. This text omits it
 */
export function describeEntry(entry: Entry, wording: EntryWording, told?: string): EntryDescription {
  const { redaction = standardRedaction } = wording
  const urlOf = (url: string): string => urlText(url, redaction)
  switch (entry.type) {
    case 'request':
      return request(entry, wording)
    case 'outbound':
      return call(entry, wording)
    case 'command':
      return {
        head: `${commandLine(entry.argv, redaction)}${via(entry)} → ${outcomeOfCommand(entry, redaction)}`,
        details: entry.note === undefined ? [] : [phrase(entry.note, 300, redaction)],
      }
    case 'keyspace':
      return {
        head: `key ${word(text(entry.key), redaction)}: ${plainText(entry.event)}`,
        details: entry.reason === undefined ? [] : [phrase(entry.reason, 300, redaction)],
      }
    case 'published':
      return published(entry, wording)
    case 'attempt':
      return attempt(entry, wording, told)
    case 'message':
      return {
        head: `${wording.name(entry.messageId)} ${plainText(entry.state)}${entry.reason ? `: ${phrase(entry.reason, 300, redaction)}` : ''}`,
        details: [],
      }
    case 'dead-letter':
      return {
        head: `dead letter ${plainText(entry.dlqId)}: ${wording.name(entry.messageId)} to ${urlOf(entry.url)}, ${responseText(entry.status, entry.error, redaction)}`,
        details: [],
      }
    case 'bulk-action':
      return { head: bulkActionText(entry, redaction), details: [] }
    case 'workflow':
      return {
        head: `workflow run ${plainText(entry.runId)} of ${urlOf(entry.url)}: ${plainText(entry.state)}`,
        details: [],
      }
    case 'step':
      return { head: `${stepText(entry, redaction)} ${entry.planned ? 'planned' : 'submitted'}`, details: [] }
    case 'wait':
      return {
        head: `${stepText(entry, redaction)} waits for event ${word(entry.eventId, redaction)}, until ${timeSeenFrom(entry.until, entry.at)}`,
        details: [],
      }
    case 'notify':
      return { head: notifyText(entry, redaction), details: [] }
    case 'invoke':
      return {
        head: `${stepText(entry, redaction)} invokes workflow run ${plainText(entry.invokedRunId)} of ${urlOf(entry.url)}`,
        details: [],
      }
    case 'setting':
      return { head: redaction.text(setting(entry)), details: [] }
    case 'flow-control':
      return { head: flowDecision(entry, wording), details: [] }
    case 'clock':
      return { head: timeMove(entry), details: [] }
    case 'dropped':
      return { head: droppedText(entry), details: [] }
    case 'fault':
      return {
        head: `fault ${plainText(entry.fault)}${entry.rule === undefined ? '' : ` of rule ${word(entry.rule, redaction)}`} injected at ${plainText(entry.point)}${entry.target ? ` for ${urlOf(entry.target)}` : ''}`,
        details:
          entry.effect === undefined
            ? []
            : [excerpt(redaction.text(entry.effect.replace(/\bmsg_\w+/g, wording.name)), 300)],
      }
    default:
      return { head: redaction.text(anyFields(entry)), details: [] }
  }
}

/** Formats a bulk action: `bulk action act_… to cancel 2 messages (label a): FINISHED`. */
export function bulkActionText(
  { actionId, resource, total, filter, state }: EntryOf<'bulk-action'>,
  redaction: Redaction,
): string {
  const records = plural(total, resource === 'messages' ? 'message' : 'workflow run')
  const filters = Object.entries(filter).map(
    ([name, values]) =>
      `${name} ${values.slice(0, 5).join(', ')}${values.length > 5 ? ` … (${values.length} values)` : ''}`,
  )
  const shown = filters.length === 0 ? '' : ` (${phrase(filters.join('; '), 200, redaction)})`
  return `bulk action ${plainText(actionId)} to cancel ${records}${shown}: ${state}`
}

function stepText(
  entry: { readonly runId: string; readonly stepId: number; readonly stepName: string },
  redaction: Redaction,
): string {
  return `step ${entry.stepId} ${word(entry.stepName, redaction)} of workflow run ${plainText(entry.runId)}`
}

function notifyText({ eventId, runIds, runId, kept }: EntryOf<'notify'>, redaction: Redaction): string {
  const event = `event ${word(eventId, redaction)}`
  if (kept) return `${event} is kept for workflow run ${plainText(runId!)}`
  return runIds.length === 0
    ? `${event}: no run waits for it`
    : `${event} reaches ${plural(runIds.length, 'workflow run')}`
}

/** Quotes and shortens a name that a user chose. */
function word(given: string, redaction: Redaction): string {
  return quoted(given, wordLength, (text) => redaction.text(text))
}

/** Redacts and shortens a text that this package wrote. The text may quote user input. */
function phrase(given: string, most: number, redaction: Redaction): string {
  if (given.length <= maxSearched) return excerpt(redaction.text(given), most)
  return excerpt(redaction.text(given.slice(0, maxSearched)), most, given.length)
}

/** Number of characters of a long text that are searched for secrets. A timeline prints only a few hundred of them. */
const maxSearched = 100_000

function flowDecision(entry: EntryOf<'flow-control'>, wording: EntryWording): string {
  const { redaction = standardRedaction } = wording
  const who =
    entry.flowControlKey === undefined
      ? 'the overall limit'
      : `flow-control key ${word(entry.flowControlKey, redaction)}`
  const what = entry.decision === 'held' ? 'holds' : 'admits'
  return `${who} ${what} ${wording.name(entry.messageId)}: ${phrase(entry.reason, 200, redaction)}`
}

function timeMove(entry: EntryOf<'clock'>): string {
  const call = `clock.${plainText(entry.move)}${entry.count > 1 ? ` (${entry.count} times)` : ''}`
  if (entry.to === undefined) return `${call} (in progress)`
  const by = entry.to - entry.at
  return by === 0
    ? `${call}: time does not move`
    : `${call}: ${formatDuration(by)} to ${timeSeenFrom(entry.to, entry.at)}`
}

/** Returns a text about dropped entries: their number, and the limit of the log. */
export function droppedText({ count, limit, unit }: Pick<EntryOf<'dropped'>, 'count' | 'limit' | 'unit'>): string {
  const kept =
    unit === 'bytes' ? `${limit} bytes (policy.maxTrafficBytes)` : `${limit} entries (policy.maxTrafficEntries)`
  return `${plural(count, 'earlier entry was', 'earlier entries were')} dropped: the log keeps ${kept}`
}

export function urlText(url: string, redaction: Redaction = standardRedaction): string {
  const start = redaction.url(url.slice(0, 8192))
  return excerpt(url.length > 8192 ? start + url.slice(8192) : start, urlLength)
}

/** Formats a command as a user would type it in a shell. */
export function commandLine(argv: readonly Bytes[], redaction: Redaction): string {
  const first = argv.slice(0, 16)
  const words = first.map((word) => startOf(word))
  // After its start, a long argument can only be secret as a script, and scripts call commands by ASCII names.
  const whole = first.map((word, index) => (isLong(word) ? word : words[index]!))
  const isSecret = redaction.isSecretCommand(whole)
  const safe = isSecret ? redaction.words(whole, words) : words
  const hide = isSecret ? undefined : (given: string): string => redaction.text(given)
  const shown = safe.map((word, index) => quoted(word, wordLength, hide, longLength(first[index]!)))
  if (argv.length > shown.length) shown.push(`… (${argv.length} words)`)
  return shown.join(' ')
}

/** Returns the text of a short argument, and the start of a long one. */
function startOf(word: Bytes): string {
  return text(isLong(word) ? (word.slice(0, maxSearched) as Bytes) : word)
}

function isLong(word: Bytes): boolean {
  return word.length > maxSearched
}

function longLength(word: Bytes): number | undefined {
  return isLong(word) ? word.length : undefined
}

export function outcomeOfCommand(entry: EntryOf<'command'>, redaction: Redaction): string {
  if (entry.error !== undefined) return `error: ${excerpt(errorText(entry, redaction), 200)}`
  return redaction.hidesReply(entry.argv) ? hidden : replyText(redaction.reply(entry.argv, entry.reply), redaction)
}

function errorText(entry: EntryOf<'command'>, redaction: Redaction): string {
  // Only the error of a secret command can quote an argument that has to be hidden.
  if (!redaction.isSecretCommand(entry.argv.map((word) => (isLong(word) ? word : text(word)))))
    return redaction.text(entry.error!)
  return redaction.errorOf(
    entry.argv.map((word) => text(word)),
    entry.error!,
  )
}

/**
 * Formats the outcome of a request or an attempt: `200`, `503 Service Unavailable`, or `no response: connection reset`.
 */
export function responseText(status: number, error: string | undefined, redaction: Redaction): string {
  const reason = error === undefined ? '' : phrase(error, 200, redaction)
  if (status === 0) return reason ? `no response: ${reason}` : 'no response'
  if (reason === '' || reason === String(status)) return String(status)
  return reason.startsWith(`${status} `) ? reason : `${status} (${reason})`
}

/** Formats a wait: `12s until 09:00:12.000`. */
export function waitText(from: number, until: number): string {
  return `${formatDuration(until - from)} until ${timeSeenFrom(until, from)}`
}

/** Formats a changed setting: `schedule nightly created: cron "0 3 * * *", to https://…`. */
function setting(entry: EntryOf<'setting'>): string {
  const value = Object.entries(entry.value ?? {}).map(
    ([name, what]) => `${plainText(name)} ${quoted(String(what), urlLength)}`,
  )
  const what = `${entry.resource.replace('-', ' ')} ${quoted(entry.name, wordLength)} ${plainText(entry.change.replaceAll('-', ' '))}`
  return value.length === 0 ? what : `${what}: ${value.join(', ')}`
}

function request(entry: EntryOf<'request'>, wording: EntryWording): EntryDescription {
  const { response: answer, note } = entry
  const redaction = wording.redaction ?? standardRedaction
  const { url, answer: fields } = redaction.request(entry)
  const end = answer === undefined ? '(no response yet)' : answer.status === 0 ? 'connection broken' : answer.status
  const took = answer !== undefined && answer.at > entry.at ? ` after ${formatDuration(answer.at - entry.at)}` : ''
  const details: string[] = []
  const retry = retryOf(entry)
  if (retry !== undefined) details.push(`retry ${retry} of the client`)
  if (wording.bodies > 0 && answer !== undefined && answer.status >= 400 && answer.body) {
    details.push(`response: ${bodyText(answer.body, wording, fields)}`)
  }
  if (note !== undefined) details.push(phrase(note, 300, redaction))
  return { head: `${plainText(entry.method)} ${excerpt(url, urlLength)} → ${end}${took}`, details }
}

/** Returns the number of the retry that a client states in its telemetry: 1 for its second attempt. [store.md 2.1] */
function retryOf({ service, headers }: EntryOf<'request'>): number | undefined {
  if (service !== 'store') return undefined
  const value = headers.find(([name]) => /^(?:service|upstash)-telemetry-retry$/i.test(name))?.[1]
  return value !== undefined && /^[1-9]\d{0,3}$/.test(value) ? Number(value) : undefined
}

function call(entry: EntryOf<'outbound'>, wording: EntryWording): EntryDescription {
  const { response: answer, possibleCauses } = entry
  const { redaction = standardRedaction } = wording
  const end = answer === undefined ? '(no response yet)' : responseText(answer.status, answer.error, redaction)
  const took = answer !== undefined && answer.at > entry.at ? ` after ${formatDuration(answer.at - entry.at)}` : ''
  const details: string[] = []
  if (possibleCauses !== undefined) details.push(`made by ${possibleCauses.map((seq) => `#${seq}`).join(' or ')}`)
  if (answer?.note !== undefined) details.push(phrase(answer.note, 300, redaction))
  if (wording.bodies > 0 && answer !== undefined && answer.status >= 400 && answer.body) {
    details.push(`response: ${bodyText(answer.body, wording, undefined)}`)
  }
  return { head: `calls ${plainText(entry.method)} ${urlText(entry.url, redaction)} → ${end}${took}`, details }
}

/** Returns the beginning of a body. Returns `***` if the publisher redacts the body. */
function bodyText(
  body: Bytes,
  { bodies, redaction = standardRedaction }: EntryWording,
  fields: RedactedFields | undefined,
): string {
  if (fields?.body === true || redaction.hidesBodies) return hidden
  return excerptBytes(body, bodies, (given) => redaction.text(given))
}

function via({ via, waitedMs: waited }: EntryOf<'command'>): string {
  const by: Partial<Record<typeof via, string>> = { direct: 'by the test', resp: 'over a connection' }
  const told: string[] = via === 'request' ? [] : [by[via] ?? via]
  if (waited !== undefined) told.push(`waited ${formatDuration(waited)}`)
  return told.length === 0 ? '' : ` (${told.join(', ')})`
}

function published(entry: EntryOf<'published'>, wording: EntryWording): EntryDescription {
  const of = entry.sourceMessageId === undefined ? '' : ` about ${wording.name(entry.sourceMessageId)}`
  const kind = entry.kind === 'message' ? 'published' : `${entry.kind.replace('-', ' ')}${of}:`
  const method = entry.method === 'POST' ? '' : `${plainText(entry.method)} `
  const traits = traitsOf(entry, wording.redaction)
  const head = `${kind} ${wording.name(entry.messageId)} to ${method}${urlText(entry.url, wording.redaction)}${traits}`
  const details: string[] = []
  if (wording.bodies > 0 && entry.body !== '') details.push(`body: ${bodyText(entry.body, wording, entry.redact)}`)
  if (entry.deduplicated)
    details.push(
      `a duplicate${duplicateBy(entry, wording.redaction)}: accepted with the ID of the first message, not delivered again`,
    )
  else if (entry.notBefore > entry.at) details.push(`waits ${waitText(entry.at, entry.notBefore)}: as published`)
  return { head, details }
}

/** Returns the reason why a message is a duplicate. Returns `''` if the entry does not contain the reason. */
function duplicateBy(entry: EntryOf<'published'>, redaction: Redaction = standardRedaction): string {
  if (entry.deduplicationId !== undefined) return ` by its deduplication ID ${word(entry.deduplicationId, redaction)}`
  return entry.contentBasedDeduplication === true ? ' by its content' : ''
}

function traitsOf(entry: EntryOf<'published'>, redaction: Redaction = standardRedaction): string {
  const traits: (string | false | undefined)[] = [
    plural(entry.maxRetries, 'retry', 'retries'),
    entry.urlGroup !== undefined &&
      `group ${word(entry.urlGroup, redaction)}${entry.endpointName === undefined ? '' : ` endpoint ${word(entry.endpointName, redaction)}`}`,
    entry.queue !== undefined && `queue ${word(entry.queue, redaction)}`,
    entry.scheduleId !== undefined && `schedule ${word(entry.scheduleId, redaction)}`,
    entry.flowControlKey !== undefined && `flow control ${word(entry.flowControlKey, redaction)}`,
    entry.labels !== undefined &&
      entry.labels.length > 0 &&
      `label ${entry.labels.map((label) => word(label, redaction)).join(' ')}`,
    entry.callback !== undefined && `callback ${urlText(entry.callback, redaction)}`,
    entry.failureCallback !== undefined && `failure callback ${urlText(entry.failureCallback, redaction)}`,
  ]
  return traits
    .filter(Boolean)
    .map((trait) => `, ${trait}`)
    .join('')
}

function attempt(entry: EntryOf<'attempt'>, wording: EntryWording, told: string | undefined): EntryDescription {
  const { outcome } = entry
  const { redaction = standardRedaction } = wording
  const count = `attempt ${entry.retried + 1} of ${Math.max(entry.retried, entry.maxRetries) + 1}`
  const kind = entry.kind === 'message' ? '' : `${entry.kind.replace('-', ' ')} `
  const method = entry.method === 'POST' ? '' : `${plainText(entry.method)} `
  const end =
    outcome === undefined
      ? '(in flight)'
      : `${responseText(outcome.status, outcome.error, redaction)}${took(entry, outcome)}`
  const details: string[] = []
  const waited = untold(entry.waitReason, told)
  if (waited !== undefined) details.push(`had waited: ${phrase(waited, 300, redaction)}`)
  if (!/^(first attempt|retry \d+ of \d+)?$/.test(entry.reason))
    details.push(`because: ${phrase(entry.reason, 300, redaction)}`)
  if (outcome?.note) details.push(phrase(outcome.note, 600, redaction))
  if (outcome !== undefined) details.push(...consequence(outcome, wording, hiddenInRun(entry)))
  if (entry.store !== undefined) details.push(...storeChangeLines(entry.store, wording.redaction))
  return {
    head: `${count} of ${kind}${wording.name(entry.messageId)} to ${method}${urlText(entry.url, wording.redaction)} → ${end}`,
    details,
  }
}

/** Returns the reasons for a wait, without those that the previous attempt or the publish already showed. */
function untold(waited: string | undefined, told: string | undefined): string | undefined {
  const parts = waited?.split(', then ').filter((part) => part !== told && !part.endsWith(' as published'))
  return parts === undefined || parts.length === 0 ? undefined : parts.join(', then ')
}

function took(entry: EntryOf<'attempt'>, outcome: AttemptOutcome): string {
  if (outcome.at === entry.at) return ''
  return ` after ${formatDuration(outcome.at - entry.at)} at ${timeSeenFrom(outcome.at, entry.at)}`
}

/** Maximum number of bytes of one UTF-8 character. */
const maxBytes = 4

function consequence(outcome: AttemptOutcome, wording: EntryWording, fields: RedactedFields | undefined): string[] {
  const lines: string[] = []
  // If a handler threw an error, the note already ends with the response body. So do not print the body again.
  const { note = '' } = outcome
  const isTold = outcome.body.length <= note.length * maxBytes && note.endsWith(text(outcome.body))
  if (wording.bodies > 0 && outcome.state !== 'DELIVERED' && outcome.body !== '' && !isTold) {
    lines.push(`response: ${bodyText(outcome.body, wording, fields)}`)
  }
  const { next } = outcome
  if (next !== undefined && outcome.state === 'CANCELLED') {
    lines.push(
      `canceled; the end is recorded at ${timeSeenFrom(next.at, outcome.at)}, when the next attempt would have been due`,
    )
  } else if (next !== undefined)
    lines.push(
      `waits ${waitText(outcome.at, next.at)}: ${phrase(next.reason, 300, wording.redaction ?? standardRedaction)}`,
    )
  else if (outcome.state === 'FAILED') lines.push('failed permanently')
  else if (outcome.state === 'CANCELLED') lines.push('cancelled')
  return lines
}

function replyText(reply: unknown, redaction: Redaction): string {
  if (reply === null || reply === undefined) return 'nil'
  if (typeof reply === 'string') {
    const bytes = reply as Bytes
    return quoted(startOf(bytes), wordLength, (given) => redaction.text(given), longLength(bytes))
  }
  if (Array.isArray(reply)) {
    const shown = reply.slice(0, 8).map((item) => replyText(item, redaction))
    if (reply.length > shown.length) shown.push(`… (${reply.length} items)`)
    return `[${shown.join(', ')}]`
  }
  if (typeof reply === 'object') {
    const status = (reply as { text?: unknown }).text
    return typeof status === 'string' ? phrase(status, wordLength * 10, redaction) : 'nil'
  }
  return String(reply)
}

/** Describes an entry whose type this version does not know. */
function anyFields(entry: object): string {
  const { seq, at, cause, type, ...rest } = entry as Record<string, unknown>
  const fields = Object.entries(rest)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${plainText(name)} ${quoted(String(value), wordLength)}`)
  return [plainText(String(type)), ...fields].join(' ')
}
