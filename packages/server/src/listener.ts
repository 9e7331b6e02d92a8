import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Account } from '../../../src/kernel/account.js'
import { type Bytes, latin1 } from '../../../src/kernel/bytes.js'
import { ConnectionBroken, type HeaderList, isHeader } from '../../../src/kernel/http.js'
import { HeldChunks, ReaderTooSlow, readsInPlace } from '../../../src/protocol/event-stream.js'
import type { Exchange, RawRequest, RawResponse } from '../../../src/protocol/service.js'
import { Crowd } from '../../../src/store/resp/crowd.js'
import { bulky, inBulk } from './bulk.js'
import { BodyRoom, bodyOf, Stranger } from './incoming.js'
import { HeldStream, Outgoing } from './outgoing.js'
import {
  BodyRefused,
  BodyTooLarge,
  BufferFull,
  defaultLimits,
  maxUnwanted,
  type ResolvedLimits,
} from './server-limits.js'

/** Reports a request whose exchange failed because of a bug. */
export type ReportBug = (error: unknown, call: RawRequest) => void

export interface ListenerOptions {
  readonly limits?: Pick<ResolvedLimits, 'maxBodyBytes' | 'maxStreams' | 'requestTimeout'>
  /** Account of the memory of all connections: arriving bodies and pending responses. */
  readonly crowd?: Crowd
  /** Returns the response to a request that is rejected before its body is read, otherwise `undefined`. */
  readonly turnsAway?: (call: RawRequest) => RawResponse | Promise<RawResponse> | undefined
  /**
   * Returns whether the response to a request does not depend on its body, for example because its token is invalid.
   * This function is called before a large body is read completely.
   */
  readonly isUnwanted?: (call: RawRequest) => boolean
  /** Schedules a request, so that all connections get their share of the event loop. Default: runs it immediately. */
  readonly takeTurn?: (call: RawRequest, connection: Socket, run: () => void) => void
}

/**
 * Returns a request listener for `node:http`. The listener does not use the classes `Request` and `Response`, because
 * they would halve the throughput.
 * @param origin returns the origin for the URLs of requests; the `Host` header is not used
 */
export function listener(
  origin: () => string,
  exchange: Exchange,
  reportBug: ReportBug,
  {
    limits = defaultLimits,
    crowd = new Crowd(new Account(defaultLimits.buffered)),
    turnsAway = () => undefined,
    isUnwanted = () => false,
    takeTurn = (_call, _connection, run) => run(),
  }: ListenerOptions = {},
): RequestListener {
  const streams: OpenStreams = { count: 0, limit: limits.maxStreams, held: new HeldChunks(crowd.buffered) }
  const outgoing = new Outgoing(crowd, limits.requestTimeout)
  const queues = new Queues(takeTurn)
  const ways: Ways = { streams, outgoing, crowd, takeTurn }
  const longestBody = Math.min(limits.maxBodyBytes, crowd.buffered.limit)
  return (request, response) => {
    // Ignore a pipelined request if an earlier request has closed the connection. Node.js passes on pipelined requests
    // together.
    if (request.socket.destroyed) return
    const head = endToEnd(request.rawHeaders)
    const call = new NodeCall(request, response, head.headers, origin())
    let room: BodyRoom | undefined
    // A request with a body is scheduled when its last byte has arrived. Until then it blocks no other request, because
    // its body may never be complete.
    if (head.bodyLength === 0) serveInTurn(exchange)
    else serve((asked) => turnedAway(asked) ?? arrived())
    function turnedAway(asked: RawRequest): RawResponse | Promise<RawResponse> | undefined {
      const answer = turnsAway(asked)
      if (answer !== undefined) leaveBody(response, head.bodyLength)
      return answer
    }
    function arrived(): ReturnType<Exchange> | undefined {
      const { bodyLength } = head
      if (bodyLength !== undefined) {
        if (bodyLength > longestBody) throw new BodyTooLarge(longestBody)
        if (bodyLength > maxUnwanted && isUnwanted(call)) return unread()
      }
      room = new BodyRoom(crowd)
      bodyOf(request, room, longestBody, () => isUnwanted(call), maxUnwanted).then(
        (body) => {
          call.bytes = body
          serveInTurn(exchange)
        },
        (error) => {
          if (error instanceof Stranger) serveInTurn(unread)
          else failed(error)
        },
      )
      return undefined
    }
    /** Runs the request without its body, so that the service rejects it. */
    function unread(): ReturnType<Exchange> {
      leaveBody(response, head.bodyLength)
      return exchange(call)
    }
    function serveInTurn(answering: Exchange): void {
      queues.run(call, request.socket, () => {
        if (request.socket.destroyed) room?.release()
        else serve(answering)
      })
    }
    function serve(answering: (call: RawRequest) => ReturnType<Exchange> | undefined): void {
      try {
        const answer = answering(call)
        if (answer === undefined) return
        if (answer instanceof Promise) answer.then(answered).catch(failed)
        else answered(answer)
      } catch (error) {
        failed(error)
      }
    }
    function answered(answer: RawResponse): void {
      room?.release()
      send(answer, call, response, ways)
    }
    function failed(error: unknown): void {
      room?.release()
      if (error instanceof ConnectionBroken) request.socket.resetAndDestroy()
      else if (error instanceof BodyRefused) refuseBody(response, error)
      else if (!response.destroyed && !response.writableEnded) {
        reportBug(error, call)
        if (response.headersSent) response.destroy()
        else sendError(response, 500, error instanceof CannotBeSent ? error.message : ourMistake)
      }
    }
  }
}

/**
 * Counts the scheduled requests of each connection that have not run yet. While this count is above 0, no more data is
 * read from the connection.
 */
class Queues {
  readonly #takeTurn: NonNullable<ListenerOptions['takeTurn']>
  readonly #lengths = new WeakMap<Socket, number>()

  constructor(takeTurn: NonNullable<ListenerOptions['takeTurn']>) {
    this.#takeTurn = takeTurn
  }

  run(call: RawRequest, connection: Socket, run: () => void): void {
    let isWaiting = false
    let hasRun = false
    this.#takeTurn(call, connection, () => {
      hasRun = true
      if (isWaiting) this.#count(connection, -1)
      run()
    })
    if (hasRun) return
    isWaiting = true
    this.#count(connection, 1)
  }

  #count(connection: Socket, by: 1 | -1): void {
    const length = (this.#lengths.get(connection) ?? 0) + by
    this.#lengths.set(connection, length)
    if (length === 0) connection.resume()
    else if (length === 1 && by === 1) connection.pause()
  }
}

/**
 * Handles a body that is not read. After a small body the connection stays open, and after a large body it is closed.
 */
function leaveBody(response: ServerResponse, bodyLength: number | undefined): void {
  if (bodyLength === undefined || bodyLength > maxUnwanted) response.shouldKeepAlive = false
}

/** Response to a request that failed because of a bug. The stack goes to `onError`, not to the client. */
const ourMistake =
  'stuntdouble failed while it processed this request. This is a bug; report it with the output of the server.'

/** Headers that concern the connection or the framing of the body, not the request. */
const ofConnection = new Set('connection keep-alive transfer-encoding content-length trailer expect upgrade'.split(' '))

export interface Head {
  readonly headers: HeaderList
  /** Length of the body in bytes, as announced; 0 without a body, and `undefined` for a chunked body. */
  readonly bodyLength: number | undefined
}

/** Returns the end-to-end headers of a message, without those that concern the connection. */
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

class NodeCall implements RawRequest {
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

  /** Created on first use, because an AbortController costs more than a small response. */
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

/**
 * Returns the path and query of a request, without decoding them. A client that uses this server as a proxy sends the
 * whole URL. Then the origin is removed.
 */
export function targetOf(request: IncomingMessage): string {
  const target = request.url ?? '/'
  return target.startsWith('/') ? target : target.replace(/^[a-z]+:\/\/[^/?]*/i, '')
}

/**
 * If a response has more than this many bytes, available memory is checked before the response is sent. Smaller
 * responses are counted only if the socket does not accept them immediately.
 */
const largeAnswer = 65_536

interface Ways {
  readonly streams: OpenStreams
  readonly outgoing: Outgoing
  readonly crowd: Crowd
  readonly takeTurn: NonNullable<ListenerOptions['takeTurn']>
}

function send(answer: RawResponse, call: RawRequest, response: ServerResponse, ways: Ways): void {
  const { streams, outgoing, crowd } = ways
  const { body } = answer
  const [status, list] = [statusOf(answer), headersOf(answer)]
  if (typeof body !== 'string' && body !== null) {
    if (streams.count < streams.limit) void sendStream(status, list, body, call, response, ways)
    else refuseStream(body, response, streams.limit)
    return
  }
  if (body !== null && body.length > largeAnswer && !crowd.makesRoom(body.length))
    throw new BufferFull(
      'The request was processed, but the memory limit leaves no space for its response. Request less at a time',
    )
  if (call.method !== 'HEAD' && status !== 204 && status !== 304) {
    list.push('content-length', String(body === null ? 0 : body.length))
  }
  response.writeHead(status, list)
  if (body === null) response.end()
  else {
    response.end(body, 'latin1')
    if (response.writableLength > 0) outgoing.hold(response, body.length)
  }
}

/** Sends the head immediately and each chunk when it is available. A client that disconnects cancels the stream. */
async function sendStream(
  status: number,
  headers: string[],
  body: ReadableStream<Uint8Array>,
  call: RawRequest,
  response: ServerResponse,
  { streams, outgoing, crowd, takeTurn }: Ways,
): Promise<void> {
  const held = new HeldStream(response, crowd, streams.held)
  readsInPlace(body, held)
  const reader = body.getReader()
  streams.count++
  const forget = (): void => {
    response.off('close', forget)
    streams.count--
  }
  response.on('close', forget)
  // While this function waits for `drain`, the stream may drop its reader, because the reader is slow. End the
  // connection then.
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
      // Reading may compute the chunk, so schedule it like a request.
      const { done, value } = await new Promise<ReadableStreamReadResult<Uint8Array>>((resolve, reject) => {
        takeTurn(call, response.req.socket, () => void reader.read().then(resolve, reject))
      })
      if (done) break
      if (value.length >= bulky) await new Promise<void>((resolve) => inBulk(value.length, resolve))
      if (!response.write(value)) {
        // A chunk that several streams share is counted only once.
        if (!held.holds(value)) outgoing.hold(response, value.length)
        await drained(response)
        outgoing.taken(response)
      }
      held.letGo(value)
    }
    response.end()
  } catch {
    if (response.destroyed) return
    // The stream failed. Send the written data, then break the connection. The client then sees that the response is
    // incomplete.
    if (response.socket === null) response.destroy()
    else response.socket.destroySoon()
  }
}

/**
 * Error for a response that HTTP cannot express. Such values should already have been rejected when the response was
 * created.
 */
class CannotBeSent extends Error {}

function statusOf({ status }: RawResponse): number {
  if (Number.isInteger(status) && status >= 200 && status <= 999) return status
  throw new CannotBeSent(`The response cannot be sent: ${status} is not an HTTP status.`)
}

function headersOf({ headers }: RawResponse): string[] {
  const list: string[] = []
  for (const [name, value] of headers) {
    if (!isHeader(name, value)) {
      throw new CannotBeSent(
        `The response cannot be sent: its header ${JSON.stringify(name)} contains characters that HTTP does not allow.`,
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
  sendError(
    response,
    503,
    `The server has ${limit} open event streams, which is its limit. Close one, or start the server with a larger --max-streams.`,
  )
}

/** Rejects a request without reading the rest of its body, and closes the connection. */
function refuseBody(response: ServerResponse, { status, message }: BodyRefused): void {
  if (response.headersSent) return
  response.setHeader('connection', 'close')
  if (status === 503) response.setHeader('retry-after', '1')
  sendError(response, status, message)
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

/** Rejects a request whose body may not have arrived. */
export function refuse(request: IncomingMessage, response: ServerResponse, why: string): void {
  leaveBody(response, endToEnd(request.rawHeaders).bodyLength)
  sendError(response, 403, why)
}

/** Sends an error as JSON, as the services and the control API do. */
export function sendError(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
}
