import { type Bytes, fromArray, isAscii, toArray, utf8 } from '../../kernel/bytes.js'
import { errorText } from '../../kernel/error-text.js'
import { type HeaderList, headerOf, noHeaders } from '../../kernel/http.js'
import type { RawOutcome } from '../message/message.js'
import { type HeaderRecord, networkErrors } from './delivery-script.js'

export type { RawOutcome } from '../message/message.js'

// Converts between plain values, which the queue uses, and the `Request` and `Response` objects of handlers.

export function requestOf(
  delivery: { readonly headers: HeaderList; readonly body: Bytes },
  given: string,
  method: string,
  signal: AbortSignal | undefined,
): Request {
  const { body } = delivery
  const { url, headers } = withCredentials(given, delivery.headers)
  const init: RequestInit = { method, headers, ...(signal !== undefined && { signal }) }
  if (body === '') return new Request(url, init)
  // Pass ASCII text as a string, which is cheaper than bytes. Do this only with a Content-Type: for a string body
  // without one, `Request` adds a Content-Type itself.
  const isText = isAscii(body) && headers.some(([name]) => name === 'Content-Type')
  return new Request(url, { ...init, body: isText ? body : toArray(body) })
}

/** Moves user and password from a URL to a header, because `Request` and `fetch` reject a URL that contains them. */
export function withCredentials(url: string, headers: HeaderList): { url: string; headers: [string, string][] } {
  const list = headers as [string, string][]
  if (!/^https?:\/\/[^/?#]*@/i.test(url)) return { url, headers: list }
  const parsed = new URL(url)
  const credentials = `${decodeURIComponent(parsed.username)}:${decodeURIComponent(parsed.password)}`
  parsed.username = ''
  parsed.password = ''
  if (headerOf(headers, 'authorization') !== undefined) return { url: parsed.href, headers: list }
  return { url: parsed.href, headers: [...list, ['Authorization', `Basic ${btoa(utf8(credentials))}`]] }
}

export function rawResponse(
  status: number,
  headers?: HeaderRecord,
  body?: string | Uint8Array | object | null,
): RawOutcome {
  if (headers === undefined && body === undefined) return plainStatus(status)
  const list: [string, string][] = []
  for (const [name, value] of Object.entries(headers ?? {})) {
    for (const one of [value].flat()) list.push([name, one])
  }
  if (body === undefined || body === null) return { status, headers: list, body: '' as Bytes }
  if (typeof body === 'string') return { status, headers: list, body: utf8(body) }
  if (ArrayBuffer.isView(body)) {
    return { status, headers: list, body: fromArray(new Uint8Array(body.buffer, body.byteOffset, body.byteLength)) }
  }
  const json = jsonOf(body)
  if (headerOf(list, 'content-type') === undefined) list.push(['content-type', 'application/json'])
  return { status, headers: list, body: utf8(json) }
}

/** Types of objects that `JSON.stringify()` converts to `{}` without an error. */
const noData = /^\[object (?:ArrayBuffer|Blob|File|FormData|Map|Promise|ReadableStream|Response|Set|URLSearchParams)\]$/

/**
 * Converts a body to JSON.
 * @throws TypeError when JSON cannot represent the body, with advice
 */
function jsonOf(body: unknown): string {
  const what = Object.prototype.toString.call(body)
  if (typeof body === 'object' && noData.test(what)) {
    throw new TypeError(
      `The body must be a string, a Uint8Array or a JSON value (got ${what.slice(8, -1)}). Return new Response(body) instead.`,
    )
  }
  let json: string | undefined
  try {
    json = JSON.stringify(body)
  } catch (error) {
    throw new TypeError(`The body cannot be serialized as JSON: ${errorText(error)}`)
  }
  if (json === undefined) throw new TypeError(`The body cannot be serialized as JSON: it is a ${typeof body}.`)
  return json
}

const plainStatuses = new Map<number, RawOutcome>()

/**
 * Returns a response that has a status and nothing else. All responses with one status share one object, because a fast
 * destination may send millions of them.
 */
export function plainStatus(status: number): RawOutcome {
  let reply = plainStatuses.get(status)
  if (reply === undefined) {
    reply = { status, headers: noHeaders, body: '' as Bytes }
    plainStatuses.set(status, reply)
  }
  return reply
}

export function failedOutcome(error: string): RawOutcome {
  return { status: 0, headers: noHeaders as HeaderList, body: '' as Bytes, error }
}

export function hostname(url: string): string {
  // A host name may end in a dot, which names the DNS root. Remove the dot, so that comparisons ignore it.
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : url
}

export function networkErrorText(error: unknown): string {
  try {
    return textOfNetworkError(error)
  } catch {
    return errorText(error)
  }
}

function textOfNetworkError(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? errorText(cause.code) : ''
  if (code === 'ECONNREFUSED') return networkErrors.refused
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') return networkErrors.reset
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return networkErrors.unresolved
  return cause instanceof Error && cause.message !== '' ? cause.message : errorText(cause)
}
