import { Account } from '../../kernel/account.js'
import { type Page, type RecordField, type RecordQuery, Records } from '../../kernel/indexed-records.js'
import { weightOfHeaders } from '../../kernel/weight.js'
import { hostsOf, pathOf } from '../settings/url.js'
import { type LogDetail, LogEntry, type Message } from './message.js'
import type { LoggedState } from './state.js'

/** What messages, log entries and dead letters are found by. [queue.md 1.5, 1.9, 1.10] */
export const messageFields: Readonly<Record<string, RecordField<Message>>> = {
  messageIds: (message) => message.id,
  url: (message) => message.url,
  host: (message) => hostsOf(message.url),
  path: (message) => pathOf(message.url),
  topicName: (message) => message.origin.urlGroup,
  scheduleId: (message) => message.origin.scheduleId,
  queueName: (message) => message.settings.queue,
  label: (message) => message.settings.labels,
  flowControlKey: (message) => message.settings.flowControl?.key,
  callerIp: (message) => message.origin.callerIp,
}

/** The same fields of something that belongs to a message. */
export function fieldsThrough<T extends { readonly message: Message }>(): Record<string, RecordField<T>> {
  return Object.fromEntries(
    Object.entries(messageFields).map(([name, field]) => [name, (record: T) => field(record.message)]),
  )
}

/** Of what a sandbox keeps, the log of messages has at most so much; so have dead letters, and what is known for deduplication. */
export const messagesShare: number = 1 / 16

/** The log of all messages, newest last, within its retention. */
export class MessageLog {
  readonly #records = new Records<LogEntry>({ ...fieldsThrough<LogEntry>(), state: (entry) => entry.state })
  readonly #retention: number
  readonly #onForgotten: (message: Message) => void
  readonly #kept: Account
  #sequence = 0
  #prunedAt = -1

  /**
   * @param onForgotten called when the last entry about a message leaves the log
   * @param kept what it may hold: beyond it the oldest entries go before their time
   */
  constructor(
    retention: number,
    onForgotten: (message: Message) => void,
    kept: Account = new Account(Number.POSITIVE_INFINITY),
  ) {
    this.#retention = retention
    this.#onForgotten = onForgotten
    this.#kept = kept
  }

  write(message: Message, state: LoggedState, now: number, detail?: LogDetail): LogEntry {
    if (now !== this.#prunedAt) this.prune(now)
    const entry = new LogEntry(++this.#sequence, now, message, state, detail)
    message.lastLog = entry
    message.state = state
    this.#records.add(entry)
    this.#kept.put(weightOf(entry))
    if (this.#kept.held > this.#kept.limit) this.#makeRoom(entry)
    return entry
  }

  #makeRoom(newest: LogEntry): void {
    for (let first = this.#records.first(); first !== newest && first !== undefined; first = this.#records.first()) {
      if (this.#kept.held <= this.#kept.limit) return
      this.#drop(first)
    }
  }

  #drop(first: LogEntry): void {
    this.#records.delete(first)
    this.#kept.release(weightOf(first))
    if (first.message.lastLog === first) this.#onForgotten(first.message)
  }

  /** Drops what is older than the retention. */
  prune(now: number): void {
    this.#prunedAt = now
    for (let first = this.#records.first(); first !== undefined; first = this.#records.first()) {
      if (first.createdAt >= now - this.#retention) return
      this.#drop(first)
    }
  }

  select(wanted: RecordQuery<LogEntry>, now: number): Page<LogEntry> {
    this.prune(now)
    return this.#records.select(wanted)
  }

  /** Entries about one message, oldest first, without asking an index. */
  about(message: Message): readonly LogEntry[] {
    const entries: LogEntry[] = []
    for (let entry = message.lastLog; entry !== undefined && !entry.gone; entry = entry.previous) entries.unshift(entry)
    return entries
  }
}

/** What an entry takes, and the indexes that find it. */
const entryBytes = 100
/** What a message takes beside what it brought, told by its first entry. */
const messageBytes = 400

function weightOf({ previous, message, detail }: LogEntry): number {
  const weight = entryBytes + (detail?.response?.body.length ?? 0)
  return previous === undefined ? weight + weightOfMessage(message) : weight
}

export function weightOfMessage({ url, body, settings }: Message): number {
  return messageBytes + url.length + body.length + weightOfHeaders(settings.headers)
}
