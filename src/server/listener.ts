import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { ConnectionBroken } from '../http/respond.js'
import type { Answer, Call, Exchange } from '../http/service.js'
import { type Bytes, latin1 } from '../kernel/bytes.js'

/** What the listener says about a request that an exchange failed on by mistake. */
export type ReportBug = (error: unknown, call: Call) => void

/**
 * An exchange behind `node:http`, without `Request` and `Response`: they would halve the throughput.
 * @param origin of the server, as the exchange knows it; the `Host` header plays no part
 */
export function listener(origin: () => string, exchange: Exchange, reportBug: ReportBug): RequestListener {
  return (request, response) => {
    const call = new NodeCall(request, response, origin())
    try {
      const answer = exchange(call)
      if (answer instanceof Promise) answer.then((given) => send(given, call, response)).catch(failed)
      else send(answer, call, response)
    } catch (error) {
      failed(error)
    }
    function failed(error: unknown): void {
      if (error instanceof ConnectionBroken) request.socket.resetAndDestroy()
      else if (!response.destroyed && !response.writableEnded) {
        reportBug(error, call)
        if (response.headersSent) response.destroy()
        else sendPlain(response, 500, error instanceof Error ? (error.stack ?? error.message) : String(error))
      }
    }
  }
}

/** Headers that are about the connection, not about the request. */
const ofConnection = /^(?:connection|keep-alive|transfer-encoding|content-length|expect|upgrade)$/i

class NodeCall implements Call {
  readonly url: string
  #request: IncomingMessage
  #response: ServerResponse
  #abort: AbortController | undefined
  #headers: Call['headers'] | undefined

  constructor(request: IncomingMessage, response: ServerResponse, origin: string) {
    this.#request = request
    this.#response = response
    this.url = origin + targetOf(request)
  }

  get method(): string {
    return this.#request.method ?? 'GET'
  }

  get headers(): Call['headers'] {
    this.#headers ??= pairs(this.#request.rawHeaders)
    return this.#headers
  }

  body(): Bytes | Promise<Bytes> {
    const { headers } = this.#request
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return latin1('')
    return read(this.#request)
  }

  /** Made when somebody asks: an AbortController costs more than a small answer. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController()
      this.#abort = abort
      const goneAway = (): void => {
        if (!this.#response.writableFinished) abort.abort()
      }
      if (this.#response.destroyed) goneAway()
      else this.#response.once('close', goneAway)
    }
    return this.#abort.signal
  }
}

/** Path and query of a request, undecoded. A client that takes us for a proxy sends the whole url. */
export function targetOf(request: IncomingMessage): string {
  const target = request.url ?? '/'
  return target.startsWith('/') ? target : target.replace(/^[a-z]+:\/\/[^/?]*/i, '')
}

function pairs(raw: readonly string[]): [string, string][] {
  const headers: [string, string][] = []
  for (let index = 0; index < raw.length; index += 2) {
    if (!ofConnection.test(raw[index]!)) headers.push([raw[index]!, raw[index + 1]!])
  }
  return headers
}

function read(request: IncomingMessage): Promise<Bytes> {
  return new Promise((resolve, reject) => {
    let body = ''
    request.setEncoding('latin1')
    request.on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => resolve(latin1(body)))
    request.on('error', reject)
    request.on('close', () => {
      if (request.complete) return
      reject(new ConnectionBroken('ECONNRESET', 'The client went away while it sent its request.'))
    })
  })
}

function send(answer: Answer, call: Call, response: ServerResponse): void {
  const { status, headers, body } = answer
  if (typeof body !== 'string' && body !== null) {
    void sendStream(answer, body, response)
    return
  }
  const list: string[] = []
  for (const [name, value] of headers) list.push(name, value)
  if (call.method !== 'HEAD' && status !== 204 && status !== 304) {
    list.push('content-length', String(body === null ? 0 : body.length))
  }
  response.writeHead(status, list)
  if (body === null) response.end()
  else response.end(body, 'latin1')
}

/** Sends the head at once and each chunk as it comes; a client that goes away cancels the stream. */
async function sendStream(answer: Answer, body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  const reader = body.getReader()
  response.once('close', () => void reader.cancel().catch(() => undefined))
  response.writeHead(answer.status, answer.headers.flat())
  response.flushHeaders()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (!response.write(value)) await drained(response)
    }
    response.end()
  } catch {
    // The stream broke off: the client shall see that it is not complete.
    response.destroy()
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go)
      response.off('close', go)
      resolve()
    }
    response.once('drain', go)
    response.once('close', go)
  })
}

export function sendPlain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
}
