import { type Bytes, text, toArray } from '../../kernel/bytes.js'
import { sha256Bytes } from '../../kernel/digest.js'
import type { HeaderList } from '../../kernel/http.js'
import type {
  AttemptEntry,
  AttemptOutcome,
  EntryBase,
  MessageKind,
  PublishedEntry,
  RedactedFields,
  StoreDiff,
} from '../../kernel/traffic-log.js'
import { loggedAsJson } from '../../kernel/views.js'
import type { Draft, Message, RawOutcome } from './message.js'
import type { RetryWait } from './state.js'

// Traffic-log entries about a message: `published` entries and `attempt` entries.

/**
 * `published` entry of the traffic log. Its fields are getters that read the message. If many messages are pending,
 * copies of the fields would need most of the memory.
 */
export class Published implements PublishedEntry, EntryBase {
  static {
    loggedAsJson(Published)
  }

  seq = 0
  at = 0
  cause = 0

  constructor(
    private readonly message: Message,
    readonly deduplicated: boolean,
    private readonly draft: Draft = message,
  ) {}

  get type(): 'published' {
    return 'published'
  }

  get messageId(): string {
    return this.message.id
  }

  get kind(): MessageKind {
    return this.draft.kind
  }

  get url(): string {
    return this.draft.url
  }

  get method(): string {
    return this.draft.settings.method
  }

  get headers(): HeaderList {
    return this.draft.settings.headers
  }

  get body(): Bytes {
    return this.draft.body
  }

  get maxRetries(): number {
    return this.draft.settings.retries
  }

  get notBefore(): number {
    return this.message.notBefore
  }

  toJSON(): EntryBase & PublishedEntry {
    const { seq, at, cause, type, messageId, kind, url, method, headers, body, maxRetries, notBefore, deduplicated } =
      this
    // Omit `redact`, the list of redacted fields. The log already redacts these fields, so its readers do not need the
    // list.
    const optional = Object.entries(optionalReaders)
      .map(([name, read]) => [name, read(this.draft)] as const)
      .filter(([name, value]) => value !== undefined && name !== 'redact')
    return {
      seq,
      at,
      cause,
      type,
      messageId,
      kind,
      url,
      method,
      headers,
      body,
      maxRetries,
      notBefore,
      deduplicated,
      ...Object.fromEntries(optional),
    }
  }
}

type Optional =
  | 'urlGroup'
  | 'endpointName'
  | 'queue'
  | 'scheduleId'
  | 'flowControlKey'
  | 'labels'
  | 'callback'
  | 'failureCallback'
  | 'retryDelay'
  | 'deduplicationId'
  | 'contentBasedDeduplication'
  | 'sourceMessageId'
  | 'stepSettings'
  | 'redact'

/**
 * Functions that return the optional fields of the entry. A getter of the class is not possible here: without a value,
 * the field must be absent, but a getter would exist and return `undefined`.
 */
const optionalReaders: { readonly [Name in Optional]: (draft: Draft) => PublishedEntry[Name] } = {
  urlGroup: (draft) => draft.origin.urlGroup,
  endpointName: (draft) => draft.origin.endpointName,
  queue: (draft) => draft.settings.queue,
  scheduleId: (draft) => draft.origin.scheduleId,
  flowControlKey: (draft) => draft.settings.flowControl?.key,
  labels: (draft) => draft.settings.labels,
  callback: (draft) => draft.settings.callback?.url,
  failureCallback: (draft) => draft.settings.failureCallback?.url,
  retryDelay: (draft) => draft.settings.retryDelay?.text,
  deduplicationId: (draft) => draft.settings.deduplicationId,
  contentBasedDeduplication: (draft) => draft.settings.contentBasedDeduplication || undefined,
  sourceMessageId: (draft) => draft.source?.id,
  stepSettings: (draft) => draft.part?.stepSettings,
  redact: hiddenFields,
}
for (const [name, read] of Object.entries(optionalReaders)) {
  Object.defineProperty(Published.prototype, name, {
    get(this: { draft: Draft }) {
      return read(this.draft)
    },
  })
}

/**
 * Returns the fields to redact. They come from the options of the publish, or from the trigger of the workflow run. The
 * body of a callback contains the message that it reports. If that message has redacted fields, the whole body is
 * redacted.
 */
export function hiddenFields({
  settings,
  source,
  part,
}: Pick<Draft, 'settings' | 'source' | 'part'>): RedactedFields | undefined {
  return (
    settings.redact ??
    part?.redact ??
    (source?.settings.redact && { body: true, allHeaders: false, headers: new Set() })
  )
}

/**
 * Creates the headers of a delivery, including its signature. Headers are created only on demand, because signing is
 * expensive.
 */
export interface DeliveryWriter {
  headers(attempt: Attempt): HeaderList
}

/** Reason why an attempt did not start immediately. */
interface WaitReason {
  readonly rule: string | undefined
  readonly byHand: boolean
  /** Time at which flow control began to hold the message. */
  readonly heldSince: number | undefined
}

/** Change that a fault makes to a signature: a flaw such as `expired`, or a clock skew in milliseconds. */
export interface SigningFault {
  readonly flaw?: string
  readonly skewMs?: number
}

/**
 * Delivery attempt. The same object is the entry in the traffic log and the request that a destination receives.
 * Headers, signature and texts are created when they are first read.
 */
export class Attempt implements AttemptEntry, EntryBase {
  static {
    loggedAsJson(Attempt)
  }

  /** Number of the entry in the log. The first entry has number 1, and each later entry has a higher number. */
  seq = 0
  at = 0
  /** `seq` of the entry that led to this one, 0 if there is none. */
  cause = 0
  endedAfterSeq?: number
  declare fault?: string
  declare store?: StoreDiff
  /** Message that the attempt delivers. */
  readonly message: Message
  /** Number of the retry: 0 for the first attempt, 1 for the first retry. */
  readonly retried: number
  /** Number of the attempt within its message, from 1. */
  readonly number: number
  /**
   * Signing key that was current when the attempt began.
   * @internal
   */
  readonly key: string
  /** Virtual time at which the attempt ended, in milliseconds. 0 until then. */
  endedAt = 0
  /** Response of the destination, or the reason why there is none. `undefined` until the attempt has ended. */
  reply: RawOutcome | undefined
  /** @internal */
  next: RetryWait | undefined
  /** Fact about the attempt that the queue itself cannot know, such as `the handler ran, its response was lost`. */
  note: string | undefined
  /**
   * Change that a fault makes to the signature. Must be set before the headers are created.
   * @internal
   */
  declare signing?: SigningFault
  readonly #writer: DeliveryWriter
  readonly #waiting: WaitReason | undefined
  #state: AttemptOutcome['state'] | undefined
  #error: string | undefined
  #headers: HeaderList | undefined

  /**
   * @param number number of the attempt; default: the next number of the message; for a copy of an attempt, pass the
   *   number of the original
   * @internal
   */
  constructor(message: Message, key: string, writer: DeliveryWriter, number: number = ++message.attempts) {
    this.message = message
    this.retried = message.retried
    this.number = number
    this.key = key
    this.#writer = writer
    const { delivery } = message
    const { wait, asked } = delivery
    const byHand = asked === 'attempt'
    const heldSince = delivery.is === 'planned' ? delivery.heldSince : undefined
    if (wait !== undefined || byHand || heldSince !== undefined)
      this.#waiting = { rule: wait?.reason, byHand, heldSince }
  }

  /**
   * Ends the attempt.
   * @param error text of the failure; `undefined` for a success
   * @internal
   */
  end(
    at: number,
    reply: RawOutcome,
    state: AttemptOutcome['state'],
    next: RetryWait | undefined,
    error?: string | undefined,
  ): void {
    this.endedAt = at
    this.reply = reply
    this.#state = state
    this.#error = error
    this.next = next
    this.note = reply.note
  }

  /** Result of the attempt. `undefined` until the attempt has ended. */
  get outcome(): AttemptOutcome | undefined {
    const { endedAt: at, reply, next, note } = this
    const state = this.#state
    if (reply === undefined || state === undefined) return undefined
    const { status, headers, body } = reply
    const outcome: { -readonly [Key in keyof AttemptOutcome]: AttemptOutcome[Key] } = {
      at,
      status,
      headers,
      body,
      state,
    }
    const error = this.#error
    if (error !== undefined) outcome.error = error
    if (next !== undefined) outcome.next = { at: at + next.delay, delayMs: next.delay, reason: next.reason }
    if (note !== undefined) outcome.note = note
    return outcome
  }

  /** The entry is an attempt to deliver a message. */
  get type(): 'attempt' {
    return 'attempt'
  }

  /** ID of the message (`msg_…`). */
  get messageId(): string {
    return this.message.id
  }

  /** Kind of the message: published by the app, a callback or a failure callback. */
  get kind(): MessageKind {
    return this.message.kind
  }

  /** URL of the destination. */
  get url(): string {
    return this.message.url
  }

  /** HTTP method of the delivery. */
  get method(): string {
    return this.message.method
  }

  /** Maximum number of retries after the first attempt. */
  get maxRetries(): number {
    return this.message.maxRetries
  }

  get workflowRunId(): string | undefined {
    return this.message.part?.runId
  }

  get reason(): string {
    const turn = this.retried === 0 ? 'first attempt' : `retry ${this.retried} of ${this.maxRetries}`
    return this.#waiting?.byHand === true ? `${turn}, delivered now on request` : turn
  }

  get waitReason(): string | undefined {
    const { message } = this
    const parts: string[] = []
    const { rule, byHand = false, heldSince } = this.#waiting ?? {}
    if (!byHand) {
      if (rule !== undefined) parts.push(rule)
      else if (this.retried === 0 && message.notBefore > message.createdAt) {
        parts.push(
          `${message.settings.notBefore === undefined ? 'delay' : 'not-before,'} ${(message.notBefore - message.createdAt) / 1000} s as published`,
        )
      }
    }
    if (heldSince !== undefined && this.at > heldSince) {
      parts.push(
        `${(this.at - heldSince) / 1000} s in the wait list of flow-control key ${message.settings.flowControl?.key}`,
      )
    }
    return parts.length === 0 ? undefined : parts.join(', then ')
  }

  /** @internal */
  get writer(): DeliveryWriter {
    return this.#writer
  }

  /** Headers that the destination receives, including the signature. */
  get headers(): HeaderList {
    this.#headers ??= this.#writer.headers(this)
    return this.#headers
  }

  /**
   * Body that the destination receives. A GET delivery has no body. This package chose that; public sources leave it
   * open. [queue.md 3.1]
   */
  get body(): Bytes {
    const { message } = this
    if (this.method === 'GET') return '' as Bytes
    return message.part === undefined ? message.body : message.part.body(message)
  }

  /** SHA-256 of the body. */
  get bodyHash(): Bytes {
    const { message } = this
    const known = this.method === 'GET' ? undefined : message.part?.bodyHash(message)
    return known ?? sha256Bytes(this.body)
  }

  /** Body as bytes. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return toArray(this.body)
  }

  get redact(): RedactedFields | undefined {
    return hiddenFields(this.message)
  }

  /**
   * Returns the value of a header, in any case of the name; `undefined` when there is none.
   * @example
   * const orders = sandbox.destinations.record('https://shop.test/orders')
   * sandbox.queue.publish({ to: 'https://shop.test/orders', headers: { 'x-tenant': 'eu' } })
   * await sandbox.clock.drain()
   * expect(orders.last().header('X-Tenant')).toBe('eu')
   */
  header(name: string): string | undefined {
    const lower = name.toLowerCase()
    const values = this.headers.flatMap(([key, value]) => (key.toLowerCase() === lower ? [value] : []))
    return values.length === 0 ? undefined : values.join(', ')
  }

  /**
   * Returns the body as text.
   * @example
   * const orders = sandbox.destinations.record('https://shop.test/orders')
   * sandbox.queue.publish({ to: 'https://shop.test/orders', body: 'hello' })
   * await sandbox.clock.drain()
   * expect(orders.last().text()).toBe('hello')
   */
  text(): string {
    return text(this.body)
  }

  /**
   * Parses the body as JSON.
   * @throws TypeError when the body is not JSON
   * @example
   * const orders = sandbox.destinations.record('https://shop.test/orders')
   * sandbox.queue.publish({ to: 'https://shop.test/orders', body: { id: 42 } })
   * await sandbox.clock.drain()
   * expect(orders.last().json()).toEqual({ id: 42 })
   */
  json(): unknown {
    try {
      return JSON.parse(this.text())
    } catch {
      throw new TypeError(
        `json(): the body of ${this.messageId} to ${this.url} is not JSON (got ${JSON.stringify(this.text().slice(0, 80))}). Read it with text() or bytes.`,
      )
    }
  }

  toJSON(): EntryBase & AttemptEntry {
    const { waitReason: waited, outcome, workflowRunId, fault } = this
    return {
      seq: this.seq,
      at: this.at,
      cause: this.cause,
      type: this.type,
      messageId: this.messageId,
      kind: this.kind,
      url: this.url,
      method: this.method,
      retried: this.retried,
      maxRetries: this.maxRetries,
      reason: this.reason,
      ...(waited !== undefined && { waitReason: waited }),
      ...(workflowRunId !== undefined && { workflowRunId }),
      headers: this.headers,
      body: this.body,
      ...(fault !== undefined && { fault }),
      ...(outcome && { outcome }),
    }
  }
}
