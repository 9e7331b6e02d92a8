import { type Bytes, isUtf8, latin1, text, toBase64, utf8 } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import type { ResolvedPolicy } from '../../policy/policy.js'
import { binary, jsonText } from '../../protocol/call.js'
import type { RawResponse, ServiceRequest } from '../../protocol/service.js'
import { replyError, replyTooLarge, replyTooMuchWork } from '../command/errors.js'
import { NilArray, type Reply, type ReplyError, Status, WorkExceeded } from '../command/reply.js'
import type { StoreEngine } from '../store-engine.js'

/** Length of the longest string in every supported JavaScript engine. */
export const maxString = 536_870_888

/** Error when an encoded reply exceeds the remaining bytes of the response. */
export class ResponseTooLarge extends Error {}

function noRoom(): never {
  throw new ResponseTooLarge('a reply does not fit into its response')
}

/** Number of bytes of a reply that are encoded for one unit of work. Each byte is examined, joined and written. */
const bytesPerUnit = 16
/** Units of work for an element of a reply, in addition to its bytes. */
const unitsPerElement = 2
/** Number of bytes per additional unit of work, for a string with characters to decode or escape. */
const specialBytesPerUnit = 5

/** Converts a bulk string to a JSON string literal. */
type StringForm = (bytes: Bytes, work?: Work) => string

const special = /["\\\x00-\x1f\x80-\xff]/

/** Converts a bulk string to a JSON literal. Each byte of invalid UTF-8 becomes U+FFFD. */
export const plain: StringForm = (bytes, work) => {
  if (!special.test(bytes)) return `"${bytes}"`
  // An escape turns one byte into six, and U+FFFD turns one byte into three. Six times the length of the string must
  // therefore not exceed the longest JavaScript string.
  if (bytes.length > maxString / 6) noRoom()
  work?.charge(Math.floor(bytes.length / specialBytesPerUnit))
  // JSON escapes only ASCII characters, so a byte string of valid UTF-8 need not be decoded.
  const isText = isUtf8(bytes)
  if (!isText) work?.charge(bytes.length)
  const literal = JSON.stringify(isText ? bytes : utf8(text(bytes)))
  work?.charge(Math.floor((literal.length - bytes.length) / bytesPerUnit))
  return literal
}

/**
 * Converts a bulk string to a JSON literal that contains the string as base64. This costs no additional work: encoding
 * takes about as long as the search for characters to escape, which base64 does not need. [measured]
 */
export const base64: StringForm = (bytes) => `"${toBase64(bytes)}"`

/**
 * Encodes a reply as JSON text. A top-level status `OK` is never encoded as base64. [store.md 3.2]
 * @param work the work budget, to which the encoding is charged
 * @param nestedOk form of a status `OK` inside an array. Default: `form`
 * @throws ResponseTooLarge when the encoded reply exceeds `room` bytes
 */
export function json(
  reply: Reply,
  form: StringForm,
  room: number = Number.POSITIVE_INFINITY,
  work?: Work | undefined,
  nestedOk: StringForm = form,
): Bytes {
  const text = reply instanceof Status && reply.text === 'OK' ? '"OK"' : jsonOf(reply, form, room, work, nestedOk)
  if (text.length > room) noRoom()
  return latin1(text)
}

function jsonOf(reply: Reply, form: StringForm, room: number, work: Work | undefined, nestedOk: StringForm): string {
  if (typeof reply === 'string') {
    // The encoded text is at least as long as the reply, so reject a reply that exceeds `room` before encoding it. The
    // growth by escapes is checked after encoding.
    if (reply.length > room) noRoom()
    work?.charge(Math.floor(reply.length / bytesPerUnit))
    return form(reply, work)
  }
  if (typeof reply === 'number' || typeof reply === 'bigint') return String(reply)
  if (reply === null || reply instanceof NilArray) return 'null'
  if (reply instanceof Status) return reply.text === 'OK' ? nestedOk(reply.text) : form(reply.text)
  work?.charge(unitsPerElement * reply.length)
  let out = '['
  for (let index = 0; index < reply.length; index++) {
    out += (index === 0 ? '' : ',') + jsonOf(reply[index]!, form, room - out.length, work, nestedOk)
    if (out.length > room) noRoom()
  }
  return `${out}]`
}

/**
 * Encodes a reply exactly as a TCP client gets it. [store.md 3.3]
 * @throws ResponseTooLarge when the encoded reply exceeds `room` bytes
 */
export function resp2(reply: Reply, room: number = Number.POSITIVE_INFINITY, work?: Work | undefined): Bytes {
  const text = resp2Of(reply, room, work)
  if (text.length > room) noRoom()
  return latin1(text)
}

export function resp2Error(error: Pick<ReplyError, 'message'>): Bytes {
  return utf8(`-${error.message.replace(/[\r\n]/g, ' ')}\r\n`)
}

function resp2Of(reply: Reply, room: number, work: Work | undefined): string {
  if (typeof reply === 'string') {
    if (reply.length > room) noRoom()
    work?.charge(Math.floor(reply.length / bytesPerUnit))
    return `$${reply.length}\r\n${reply}\r\n`
  }
  if (typeof reply === 'number' || typeof reply === 'bigint') return `:${reply}\r\n`
  if (reply === null) return '$-1\r\n'
  if (reply instanceof NilArray) return '*-1\r\n'
  if (reply instanceof Status) return `+${reply.text}\r\n`
  work?.charge(unitsPerElement * reply.length)
  let out = `*${reply.length}\r\n`
  for (const item of reply) {
    out += resp2Of(item, room - out.length, work)
    if (out.length > room) noRoom()
  }
  return out
}

type Limits = Pick<ResolvedPolicy, 'maxResponseSize' | 'maxWork'>

export interface Encoding {
  readonly form: 'json' | 'resp2'
  readonly strings: StringForm
  /** Form of a status `OK` inside an array. Default: `strings`. */
  readonly nestedOk?: StringForm
}

/** Returns the encoding that `Service-Response-Format` and `Service-Encoding` select. [store.md 1.5] */
export function encodingOf(
  call: ServiceRequest,
  { nestedStatus }: Partial<Pick<ResolvedPolicy, 'nestedStatus'>> = {},
): Encoding {
  const form = (call.settings.get('response-format') ?? 'json').toLowerCase()
  const strings = call.settings.get('encoding')?.toLowerCase() === 'base64' ? base64 : plain
  if (form !== 'json' && form !== 'resp2') throw replyError('responseFormat')
  if (form === 'resp2' && strings === base64) throw replyError('base64WithResp2')
  return {
    form: call.path === '/multi-exec' ? 'json' : form,
    strings,
    ...(nestedStatus === 'raw' && { nestedOk: plain }),
  }
}

export function errorIn(error: ReplyError, { form }: Encoding): Bytes {
  return form === 'resp2' ? resp2Error(error) : errorItem(error)
}

/** Remaining bytes for the replies to one request. After one reply did not fit, no further reply is sent. */
export class ResponseBudget {
  readonly #limits: Limits
  readonly #work: Work | undefined
  #left: number
  #isTooMuchWork = false

  /**
   * @param work the work budget, to which the encoding is charged. A reply whose encoding costs more than the remaining
   * work counts as too large.
   */
  constructor(limits: Limits, work?: Work) {
    this.#limits = limits
    this.#work = work
    this.#left = limits.maxResponseSize
  }

  get isFull(): boolean {
    return this.#left < 0
  }

  /** Returns an encoded reply, or nothing if it does not fit. */
  item(reply: Reply, { form, strings, nestedOk }: Encoding): Bytes {
    if (this.isFull) return latin1('')
    try {
      const item =
        form === 'resp2'
          ? resp2(reply, this.#left, this.#work)
          : latin1(`{"result":${json(reply, strings, this.#left, this.#work, nestedOk)}}`)
      this.#left -= item.length
      return item
    } catch (error) {
      this.#isTooMuchWork = error instanceof WorkExceeded
      if (!(error instanceof ResponseTooLarge || this.#isTooMuchWork)) throw error
      this.#left = -1
      return latin1('')
    }
  }

  refusal(hasRun: boolean): ReplyError {
    const { maxResponseSize, maxWork } = this.#limits
    return this.#isTooMuchWork ? replyTooMuchWork(maxWork, hasRun) : replyTooLarge(maxResponseSize, hasRun)
  }
}

export function failed(error: ReplyError, status: number, encoding: Encoding): RawResponse {
  const body = errorIn(error, encoding)
  return encoding.form === 'resp2' ? binary(body, status) : jsonText(body, status)
}

function errorItem(error: ReplyError): Bytes {
  return utf8(`{"error":${JSON.stringify(error.message)}}`)
}

export function errorResponse(error: ReplyError, status: number, call: ServiceRequest): RawResponse {
  return jsonText(errorItem(error), status, corsHeaders(call))
}

/**
 * Header with the latest sync token. All responses until the next write get the same object, so that the traffic log
 * keeps the header in memory only once.
 */
let lastSync: readonly [string, string] = ['service-sync-token', '']

/**
 * Returns the header with the sync token. The token is a short counter, as third parties saw it in responses of the
 * service. [store.md 2.2]
 */
export function syncHeader(store: StoreEngine): readonly [string, string] {
  const token = syncToken(store.writes)
  if (lastSync[1] !== token) lastSync = ['service-sync-token', token]
  return lastSync
}

/** Returns the sync token of a store after this number of writes. */
export function syncToken(writes: number): string {
  return writes.toString(32)
}

export const allowsCredentials = ['access-control-allow-credentials', 'true'] as const

export function corsHeaders(call: ServiceRequest): (readonly [string, string])[] {
  const headers: (readonly [string, string])[] = [allowsCredentials]
  const origin = call.header('origin')
  if (origin !== undefined) {
    headers.push(['access-control-allow-origin', origin], ['access-control-expose-headers', 'service-sync-token'])
  }
  return headers
}
