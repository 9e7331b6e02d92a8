import { type Bytes, fromArray, isAscii, latin1, toArray, utf8 } from '../kernel/bytes.js'
import type { Gate } from '../kernel/gate.js'
import { ConnectionBroken } from '../kernel/http.js'
import { standardHeaders } from '../kernel/standard-headers.js'
import type { Exchange, RawRequest, RawResponse } from './service.js'

// Converts between `Request` and `Response` of the host and the plain values of the engine. Creating a `Request` takes
// longer than most responses take. So a `Request` is created only if this module cannot read the input or its body
// itself.

export function rawRequest(input: Request | string | URL, init?: RequestInit): RawRequest {
  const body = init?.body
  // A GET or HEAD request must not have a body. The constructor of `Request` throws the error that `fetch` would throw.
  if (body && init && /^(get|head)$/i.test(init.method ?? 'GET')) return rawRequestOf(new Request(input, init))
  if (typeof input === 'object' && !(input instanceof URL)) return rawRequestOf(init ? new Request(input, init) : input)
  if (body !== undefined && body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    return rawRequestOf(new Request(input, withDuplex(init!)))
  }
  const headers = pairsOf(init?.headers)
  if (typeof body === 'string' && !headers.some(([name]) => name.toLowerCase() === 'content-type')) {
    headers.push(['content-type', 'text/plain;charset=UTF-8'])
  }
  const bytes = typeof body === 'string' ? utf8(body) : body ? fromArray(body as Uint8Array) : latin1('')
  return {
    method: (init?.method ?? 'GET').toUpperCase(),
    url: asSent(String(input)),
    headers,
    body: () => bytes,
    signal: init?.signal ?? undefined,
  }
}

export function rawRequestOf(request: Request): RawRequest {
  return {
    method: request.method.toUpperCase(),
    url: request.url,
    headers: standardHeaders([...request.headers], request.body !== null),
    body: async () => (request.body === null ? latin1('') : fromArray(new Uint8Array(await request.arrayBuffer()))),
    signal: request.signal,
  }
}

/** Statuses for which the constructor of `Response` accepts no body. */
const bodiless = new Set([101, 204, 205, 304])

export function responseOf(answer: RawResponse): Response {
  const init = { status: answer.status, headers: answer.headers as [string, string][] }
  if (answer.body === null || bodiless.has(answer.status)) return new Response(null, init)
  if (typeof answer.body !== 'string') return new Response(answer.body as ReadableStream<Uint8Array<ArrayBuffer>>, init)
  const bytes = answer.body as Bytes
  // ASCII text can be passed as a string. If the headers had no content type, `Response` would add one for a string,
  // but not for bytes.
  if (isAscii(bytes) && answer.headers.some(([name]) => name === 'content-type')) return new Response(bytes, init)
  return new Response(toArray(bytes), init)
}

/**
 * Implements `fetch` with a function that processes requests. As `fetch` does, it returns `Response` objects, and
 * rejects when the signal is aborted.
 */
export async function fetchThrough(
  gate: Gate,
  exchange: Exchange,
  input: Request | string | URL,
  init?: RequestInit,
): Promise<Response> {
  const call = rawRequest(input, init)
  call.signal?.throwIfAborted()
  while (!gate.isOpen) await gate.turn()
  let waits = true
  try {
    const answered = exchange(call)
    if (!(answered instanceof Promise)) return responseOf(answered)
    // The gateway logs an asynchronous response and then waits for the gate. So this function must not wait for the
    // gate again.
    waits = false
    return responseOf(await (call.signal ? untilAborted(answered, call.signal) : answered))
  } catch (error) {
    throw error instanceof ConnectionBroken ? new TypeError('fetch failed', { cause: error }) : error
  } finally {
    if (waits && gate.closesAfterResponse()) await gate.turn()
  }
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

const writtenAsSent = /^[a-z]+:\/\/[a-z0-9.:[\]-]+\/(?:[\w!$&'()*+,;=:@%~/?-]|\.(?![./]|%2e))*$/

/** Returns a URL in the form in which a client sends it: spaces are encoded and dot segments are resolved. */
function asSent(url: string): string {
  return writtenAsSent.test(url) ? url : new URL(url).href
}

function pairsOf(headers: RequestInit['headers']): [string, string][] {
  if (headers === undefined) return []
  if (headers instanceof Headers) return [...headers]
  if (Array.isArray(headers)) return headers.map(([name, value]) => [name!, value!])
  return Object.entries(headers as Record<string, string>)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, String(value)])
}

/** Returns the options of a request with `duplex`, which hosts require if the body is a stream. */
function withDuplex(init: RequestInit): RequestInit {
  return { ...init, duplex: 'half' } as RequestInit
}
