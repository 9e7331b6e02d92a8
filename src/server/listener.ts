import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Account } from '../kernel/account.js'
import { type Bytes, latin1 } from '../kernel/bytes.js'
import { ConnectionBroken, type HeaderList, isHeader } from '../kernel/http.js'
import { HeldChunks, ReaderTooSlow, readsInPlace } from '../protocol/event-stream.js'
import type { Answer, Call, Exchange } from '../protocol/service.js'
import { bulky, inBulk } from './bulk.js'
import { BodyTooLarge, defaultLimits, type ServerLimits } from './limits.js'

/** What the listener says about a request that an exchange failed on by mistake. */
export type ReportBug = (error: unknown, call: Call) => void

/**
 * An exchange behind `node:http`, without `Request` and `Response`: they would halve the throughput.
 * @param turnsAway the answer for a call whose body is not worth reading
 * @param buffered the account of bytes on their way
 * @param origin of the server, as the exchange knows it; the `Host` header plays no part
 */
export function listener(
  origin: () => string,
  exchange: Exchange,
  reportBug: ReportBug,
  limits: Pick<ServerLimits, 'body' | 'streams'> = defaultLimits,
  turnsAway: (call: Call) => Answer | Promise<Answer> | undefined = () => undefined,
  buffered: Account = new Account(Number.POSITIVE_INFINITY),
): RequestListener {
  const streams: OpenStreams = { count: 0, limit: limits.streams, held: new HeldChunks(buffered) }
  return (request, response) => {
    const head = endToEnd(request.rawHeaders)
    const call = new NodeCall(request, response, head.headers, origin())
    // A request runs from its last byte on: what is still under way holds nothing up, and may never arrive.
    serve(head.bodyLength === 0 ? exchange : (asked) => turnsAway(asked) ?? arrived())
    function arrived(): undefined {
      if (head.bodyLength !== undefined && head.bodyLength > limits.body) throw new BodyTooLarge(limits.body)
      read(request, limits.body).then((body) => {
        call.bytes = body
        serve(exchange)
      }, failed)
    }
    function serve(answering: (call: Call) => ReturnType<Exchange> | undefined): void {
      try {
        const answer = answering(call)
        if (answer === undefined) return
        if (answer instanceof Promise) answer.then((given) => send(given, call, response, streams)).catch(failed)
        else send(answer, call, response, streams)
      } catch (error) {
        failed(error)
      }
    }
    function failed(error: unknown): void {
      if (error instanceof ConnectionBroken) request.socket.resetAndDestroy()
      else if (error instanceof BodyTooLarge) refuseBody(response, error)
      else if (!response.destroyed && !response.writableEnded) {
        reportBug(error, call)
        if (response.headersSent) response.destroy()
        else sendPlain(response, 500, error instanceof CannotBeSent ? error.message : ourMistake)
      }
    }
  }
}

/** The stack is for whoever runs the server, and goes where `report` says. */
const ourMistake =
  'stuntdouble failed while it answered this request. This is a bug: please report it with what the server printed.'

/** Headers that are about the connection, or about how the body is framed, not about the request. */
const ofConnection = new Set('connection keep-alive transfer-encoding content-length trailer expect upgrade'.split(' '))

export interface Head {
  readonly headers: HeaderList
  /** As the client announced it, in bytes; 0 when there is none, `undefined` when it comes in chunks. */
  readonly bodyLength: number | undefined
}

/** What a message says from one end to the other, without what is about the connection. */
export function endToEnd(raw: readonly string[]): Head {
  const headers: [string, string][] = []
  let bodyLength: number | undefined = 0
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!
    const value = raw[index + 1]!
    const lower = name.toLowerCase()
    if (lower === 'content-length') bodyLength = Number(value)
    else if (lower === 'transfer-encoding') bodyLength = undefined
    if (!ofConnection.has(lower)) headers.push([name, value])
  }
  return { headers, bodyLength }
}

class NodeCall implements Call {
  readonly url: string
  #request: IncomingMessage
  #response: ServerResponse
  #abort: AbortController | undefined
  bytes: Bytes = latin1('')

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    readonly headers: HeaderList,
    origin: string,
  ) {
    this.#request = request
    this.#response = response
    this.url = origin + targetOf(request)
  }

  get method(): string {
    return this.#request.method ?? 'GET'
  }

  body(): Bytes {
    return this.bytes
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

function read(request: IncomingMessage, limit: number): Promise<Bytes> {
  return new Promise((resolve, reject) => {
    let body = ''
    // Cheaper than an encoding of the stream, whose decoder looks for chars that are cut in two.
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString('latin1')
      if (body.length <= limit) return
      body = ''
      request.removeAllListeners('data')
      reject(new BodyTooLarge(limit))
    })
    request.on('end', () => resolve(latin1(body)))
    // Comes after an error, too.
    request.on('close', () => {
      if (request.complete) return
      reject(new ConnectionBroken('ECONNRESET', 'The client went away while it sent its request.'))
    })
  })
}

function send(answer: Answer, call: Call, response: ServerResponse, streams: OpenStreams): void {
  const { body } = answer
  const [status, list] = [statusOf(answer), headersOf(answer)]
  if (typeof body !== 'string' && body !== null) {
    if (streams.count < streams.limit) void sendStream(status, list, body, response, streams)
    else refuseStream(body, response, streams.limit)
    return
  }
  if (call.method !== 'HEAD' && status !== 204 && status !== 304) {
    list.push('content-length', String(body === null ? 0 : body.length))
  }
  response.writeHead(status, list)
  if (body === null) response.end()
  else response.end(body, 'latin1')
}

/** Sends the head at once and each chunk as it comes; a client that goes away cancels the stream. */
async function sendStream(
  status: number,
  headers: string[],
  body: ReadableStream<Uint8Array>,
  response: ServerResponse,
  streams: OpenStreams,
): Promise<void> {
  const { held } = streams
  readsInPlace(body, held)
  const reader = body.getReader()
  streams.count++
  const forget = (): void => {
    response.off('close', forget)
    streams.count--
  }
  response.on('close', forget)
  // Noticed while it waits for the reader, too, who takes nothing of what else there is.
  reader.closed.catch((error) => {
    if (!(error instanceof ReaderTooSlow) || response.destroyed) return
    forget()
    response.destroy()
  })
  response.once('close', () => void reader.cancel().catch(() => undefined))
  response.writeHead(status, headers)
  response.flushHeaders()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (value.length >= bulky) await new Promise<void>(inBulk)
      const isTaken = response.write(value)
      if (!isTaken) await drained(response)
      held.letGo(value)
    }
    response.end()
  } catch {
    if (response.destroyed) return
    // The stream broke off: the client shall see that it is not complete, and what was sent before that.
    if (response.socket === null) response.destroy()
    else response.socket.destroySoon()
  }
}

/** An answer that HTTP has no form for. What makes answers refuses such values; this is the last door. */
class CannotBeSent extends Error {}

function statusOf({ status }: Answer): number {
  if (Number.isInteger(status) && status >= 200 && status <= 999) return status
  throw new CannotBeSent(`The answer cannot be sent: ${status} is not an HTTP status.`)
}

/** Names and values by turns. */
function headersOf({ headers }: Answer): string[] {
  const list: string[] = []
  for (const [name, value] of headers) {
    if (!isHeader(name, value)) {
      throw new CannotBeSent(
        `The answer cannot be sent: its header ${JSON.stringify(name)} has characters that HTTP does not allow.`,
      )
    }
    list.push(name, value)
  }
  return list
}

interface OpenStreams {
  count: number
  readonly limit: number
  readonly held: HeldChunks
}

function refuseStream(body: ReadableStream<Uint8Array>, response: ServerResponse, limit: number): void {
  void body.cancel().catch(() => undefined)
  sendPlain(
    response,
    503,
    `${limit} event streams are open already. Close one, or start the server with a larger limit.`,
  )
}

/** The rest of the body is not read, so the connection cannot be used again. */
function refuseBody(response: ServerResponse, error: BodyTooLarge): void {
  response.setHeader('connection', 'close')
  sendPlain(response, 413, error.message)
}

export function drained(response: ServerResponse): Promise<void> {
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
