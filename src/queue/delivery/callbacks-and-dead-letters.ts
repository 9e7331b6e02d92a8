import { Account } from '../../kernel/account.js'
import { type Bytes, toBase64, utf8 } from '../../kernel/bytes.js'
import { headerMap } from '../../kernel/http.js'
import { type Page, type RecordQuery, Records } from '../../kernel/indexed-records.js'
import { loggedAsJson } from '../../kernel/views.js'
import type { ResolvedPolicy } from '../../policy/policy.js'
import {
  type Draft,
  fieldsThrough,
  type Message,
  type MessageView,
  type RawOutcome,
  weightOfMessage,
} from '../message/message.js'
import type { CallbackSettings } from '../settings/message-settings.js'

export interface Reported {
  readonly message: Message
  /** Number of retries before the reported attempt. 0 if the callback reports the first attempt. */
  readonly retried: number
  readonly reply: RawOutcome
  /** ID of the dead letter, for a failure callback. */
  readonly dlqId?: string
  /** `seq` of the attempt in the traffic log. */
  readonly cause: number
}

/**
 * Returns a callback: a message that reports an attempt to a callback URL. The queue delivers callbacks like other
 * messages. [queue.md 3.2, 5.4]
 */
export function callbackDraft(reported: Reported, callback: CallbackSettings, policy: ResolvedPolicy): Draft {
  const { message, cause } = reported
  const kind = reported.dlqId === undefined ? 'callback' : 'failure-callback'
  return {
    kind,
    url: callback.url,
    body: utf8(JSON.stringify(callbackBody(reported, policy))),
    settings: callback.settings,
    origin: { callerIp: message.origin.callerIp, region: message.origin.region, cause },
    source: message,
    part: message.part?.reporter(kind),
  }
}

/**
 * Returns the body of a callback. The fields have the same order as in a body that was captured from the service.
 * [queue.md 5.4]
 */
export function callbackBody(
  { message, retried, reply, dlqId }: Reported,
  policy: ResolvedPolicy,
): Record<string, unknown> {
  const { origin } = message
  const time = (at: number): string | number => (policy.callbackTimestampType === 'string' ? String(at) : at)
  const body = {
    status: reply.status,
    header: headerMap(reply.headers),
    body: toBase64(reply.body),
    retried,
    sourceMessageId: message.id,
    ...(origin.urlGroup !== undefined && { topicName: origin.urlGroup }),
    ...(origin.endpointName !== undefined && { endpointName: origin.endpointName }),
    url: message.url,
    method: message.method,
    sourceHeader: headerMap(message.headers),
    sourceBody: toBase64(message.body),
    maxRetries: message.maxRetries,
    notBefore: time(message.notBefore),
    createdAt: time(message.createdAt),
    ...(origin.scheduleId !== undefined && { scheduleId: origin.scheduleId }),
    callerIP: origin.callerIp,
    ...(dlqId !== undefined && { dlqId }),
  }
  return message.part === undefined ? body : message.part.reported(body)
}

/** Truncates a response body to the plan's maximum message size, which is in bytes. [queue.md 5.4, 5.6] */
export function truncated(reply: RawOutcome, maxMessageSize: number): RawOutcome {
  return reply.body.length <= maxMessageSize ? reply : { ...reply, body: reply.body.slice(0, maxMessageSize) as Bytes }
}

/** The fields of a dead letter. */
export interface DeadLetterView extends Pick<DeadLetter, 'id' | 'createdAt'> {
  /** Public fields of the message that failed permanently. */
  readonly message: MessageView
  /** Last response of the destination, or the reason why there is none. */
  readonly response: Pick<DeadLetter['response'], 'status' | 'error' | 'body'>
}

/** Message that failed permanently, with its last response. [queue.md 5.5] */
export class DeadLetter {
  static {
    loggedAsJson(DeadLetter)
  }

  /** ID in the form `<milliseconds>-<n>`. */
  readonly id: string
  /** @internal */
  readonly seq: number
  /** Time at which the message failed permanently, in virtual milliseconds. */
  readonly createdAt: number
  /** Message that failed permanently. */
  readonly message: Message
  /** Last response of the destination, or the reason why there is none. */
  readonly response: RawOutcome
  /** @internal */
  gone = false

  /** @internal */
  constructor(id: string, seq: number, createdAt: number, message: Message, response: RawOutcome) {
    this.id = id
    this.seq = seq
    this.createdAt = createdAt
    this.message = message
    this.response = response
  }

  toJSON(): DeadLetterView {
    const { id, createdAt, message, response } = this
    const { status, error, body } = response
    return {
      id,
      createdAt,
      message: message.toJSON(),
      response: { status, ...(error !== undefined && { error }), body },
    }
  }
}

/** Dead-letter queue: dead letters that are younger than the retention period, oldest first. */
export class DeadLetters {
  readonly #byId = new Map<string, DeadLetter>()
  readonly #records = new Records<DeadLetter>({
    ...fieldsThrough<DeadLetter>(),
    dlqIds: (letter) => letter.id,
    responseStatus: (letter) => String(letter.response.status),
    workflowRunId: ({ message }) => message.part?.runId,
    workflowUrl: ({ message }) => message.part?.runUrl,
    workflowCreatedAt: ({ message }) => message.part && String(message.part.runCreatedAt),
  })
  readonly #retention: number
  readonly #now: () => number
  readonly #kept: Account
  #sequence = 0
  #latest = -1
  #atLatest = 0

  /**
   * @param kept limits the memory for dead letters; if the limit is exceeded, the oldest are deleted before their
   * retention ends
   */
  constructor(now: () => number, retention: number, kept: Account = new Account(Number.POSITIVE_INFINITY)) {
    this.#now = now
    this.#retention = retention
    this.#kept = kept
  }

  get size(): number {
    this.#prune()
    return this.#byId.size
  }

  /**
   * Adds a dead letter.
   * @param known `id` and `time` (in milliseconds) of a dead letter that is loaded from a dump; add the oldest dead
   *   letter first
   */
  add(message: Message, reply: RawOutcome, known?: { readonly id: string; readonly time: number }): DeadLetter {
    this.#prune()
    const now = known?.time ?? this.#now()
    this.#atLatest = now === this.#latest ? this.#atLatest + 1 : 0
    if (known !== undefined) this.#atLatest = Math.max(this.#atLatest, Number(known.id.split('-')[1]))
    this.#latest = now
    const letter = new DeadLetter(known?.id ?? `${now}-${this.#atLatest}`, ++this.#sequence, now, message, reply)
    this.#byId.set(letter.id, letter)
    this.#records.add(letter)
    this.#kept.put(weightOf(letter))
    while (this.#kept.held > this.#kept.limit && this.#byId.size > 1) this.delete(this.#records.first()!)
    return letter
  }

  get(id: string): DeadLetter | undefined {
    this.#prune()
    return this.#byId.get(id)
  }

  delete(letter: DeadLetter): void {
    if (!this.#byId.delete(letter.id)) return
    this.#kept.release(weightOf(letter))
    this.#records.delete(letter)
  }

  select(wanted: RecordQuery<DeadLetter>): Page<DeadLetter> {
    this.#prune()
    return this.#records.select(wanted)
  }

  #prune(): void {
    const oldest = this.#now() - this.#retention
    for (
      let first = this.#records.first();
      first !== undefined && first.createdAt < oldest;
      first = this.#records.first()
    ) {
      this.delete(first)
    }
  }
}

function weightOf({ message, response }: DeadLetter): number {
  return weightOfMessage(message) + response.body.length
}
