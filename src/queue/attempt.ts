import { type Bytes, text, toArray } from '../kernel/bytes.js'
import type { AttemptEntry, AttemptOutcome, EntryStamp, MessageKind } from '../kernel/traffic.js'
import { type HeaderList, headerOf } from './headers.js'
import type { Message } from './message.js'

/** Builds what is costly about a delivery, when somebody looks. */
export interface DeliveryWriter {
  headers(attempt: Attempt): HeaderList
}

/**
 * One delivery attempt: the entry in the traffic log and the request that a destination gets. Headers, and with them
 * the signature, are made when they are first read.
 */
export class Attempt implements AttemptEntry, EntryStamp {
  seq = 0
  at = 0
  cause = 0
  outcome?: AttemptOutcome
  readonly message: Message
  readonly retried: number
  /** The signing key in force when the attempt began. */
  readonly key: string
  readonly #writer: DeliveryWriter
  #headers: HeaderList | undefined

  constructor(message: Message, key: string, writer: DeliveryWriter) {
    this.message = message
    this.retried = message.retried
    this.key = key
    this.#writer = writer
    this.#wait = message.wait?.reason
    this.#byHand = message.releasedByHand
    this.#flowWait = message.ticket?.since
  }

  readonly #wait: string | undefined
  readonly #byHand: boolean
  readonly #flowWait: number | undefined

  get type(): 'attempt' {
    return 'attempt'
  }

  get messageId(): string {
    return this.message.id
  }

  get kind(): MessageKind {
    return this.message.kind
  }

  get url(): string {
    return this.message.url
  }

  get method(): string {
    return this.message.method
  }

  get maxRetries(): number {
    return this.message.maxRetries
  }

  get why(): string {
    const turn = this.retried === 0 ? 'first attempt' : `retry ${this.retried} of ${this.maxRetries}`
    return this.#byHand ? `${turn}, delivered now on request` : turn
  }

  get waited(): string | undefined {
    const { message } = this
    const parts: string[] = []
    if (!this.#byHand) {
      if (this.#wait !== undefined) parts.push(this.#wait)
      else if (this.retried === 0 && message.notBefore > message.time) {
        parts.push(
          `${message.settings.notBefore === undefined ? 'delay' : 'not-before,'} ${(message.notBefore - message.time) / 1000} s as published`,
        )
      }
    }
    if (this.#flowWait !== undefined && this.at > this.#flowWait) {
      parts.push(
        `${(this.at - this.#flowWait) / 1000} s in the wait list of flow-control key ${message.settings.flowControl?.key}`,
      )
    }
    return parts.length === 0 ? undefined : parts.join(', then ')
  }

  get headers(): HeaderList {
    this.#headers ??= this.#writer.headers(this)
    return this.#headers
  }

  /** GET is delivered without a body. [queue.md 3.1, choice] */
  get body(): Bytes {
    return this.method === 'GET' ? ('' as Bytes) : this.message.body
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return toArray(this.body)
  }

  header(name: string): string | undefined {
    return headerOf(this.headers, name.toLowerCase())
  }

  text(): string {
    return text(this.body)
  }

  json(): unknown {
    try {
      return JSON.parse(this.text())
    } catch {
      throw new TypeError(
        `The delivery of ${this.messageId} to ${this.url} has no JSON body: ${JSON.stringify(this.text().slice(0, 80))}. Read it with .text() or .bytes.`,
      )
    }
  }

  toJSON(): EntryStamp & AttemptEntry {
    const {
      seq,
      at,
      cause,
      type,
      messageId,
      kind,
      url,
      method,
      retried,
      maxRetries,
      why,
      waited,
      headers,
      body,
      outcome,
    } = this
    return {
      seq,
      at,
      cause,
      type,
      messageId,
      kind,
      url,
      method,
      retried,
      maxRetries,
      why,
      ...(waited !== undefined && { waited }),
      headers,
      body,
      ...(outcome && { outcome }),
    }
  }
}
