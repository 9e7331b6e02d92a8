import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Account } from '../../../src/kernel/account.js'
import { type Bytes, latin1 } from '../../../src/kernel/bytes.js'
import { ConnectionBroken, type HeaderList, isHeader } from '../../../src/kernel/http.js'
import { HeldChunks, ReaderTooSlow, readsInPlace } from '../../../src/protocol/event-stream.js'
import type { Exchange, RawRequest, RawResponse } from '../../../src/protocol/service.js'
import { Crowd } from '../../../src/store/resp/crowd.js'
import { bulky, inBulk } from './bulk.js'
import { type BodyReceiver, BodyRoom, receiveBody, Stranger } from './incoming.js'
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
  /** Returns whether a request may run immediately, without `takeTurn`. Default: `takeTurn` decides. */
  readonly mayRunNow?: () => boolean
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
    mayRunNow = () => false,
  }: ListenerOptions = {},
): RequestListener {
  const ways: Ways = {
    exchange,
    reportBug,
    turnsAway,
    isUnwanted,
    takeTurn,
    mayRunNow,
    streams: { count: 0, limit: limits.maxStreams, held: new HeldChunks(crowd.buffered) },
    outgoing: new Outgoing(crowd, limits.requestTimeout),
    queues: new Queues(takeTurn),
    crowd,
    longestBody: Math.min(limits.maxBodyBytes, crowd.buffered.limit),
  }
  const latest = new LatestHead()
  return (request, response) => {
    // Ignore a pipelined request if an earlier request has closed the connection. Node.js passes on pipelined requests
    // together.
    if (request.socket.destroyed) return
    const headers = latest.headersOf(request.rawHeaders)
    const call = new NodeCall(request, response, headers, latest.urlOf(origin(), targetOf(request)))
    new ServedRequest(ways, call, latest.bodyLength, request, response).begin()
  }
}

/** Functions and accounts that all requests of a listener use. */
interface Ways extends Required<Pick<ListenerOptions, 'turnsAway' | 'isUnwanted' | 'takeTurn' | 'mayRunNow'>> {
  readonly exchange: Exchange
  readonly reportBug: ReportBug
  readonly streams: OpenStreams
  readonly outgoing: Outgoing
  readonly queues: Queues
  readonly crowd: Crowd
  readonly longestBody: number
}

/**
 * One request, from its head until its response. This is a class, because functions inside of the listener would be
 * created anew for every request.
 */
class ServedRequest implements BodyReceiver {
  readonly #ways: Ways
  readonly #call: NodeCall
  readonly #bodyLength: number | undefined
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  #room: BodyRoom | undefined

  constructor(
    ways: Ways,
    call: NodeCall,
    bodyLength: number | undefined,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    this.#ways = ways
    this.#call = call
    this.#bodyLength = bodyLength
    this.#request = request
    this.#response = response
    this.#room = undefined
  }

  /**
   * A request with a body is scheduled when its last byte has arrived. Until then it blocks no other request, because
   * its body may never be complete.
   */
  begin(): void {
    if (this.#bodyLength === 0) {
      this.#serveInTurn()
      return
    }
    try {
      const answer = this.#ways.turnsAway(this.#call)
      if (answer === undefined) this.#receive()
      else {
        this.#leaveBody()
        this.#answer(answer)
      }
    } catch (error) {
      this.failed(error)
    }
  }

  #receive(): void {
    const { longestBody, crowd } = this.#ways
    const length = this.#bodyLength
    if (length !== undefined) {
      if (length > longestBody) throw new BodyTooLarge(longestBody)
      if (length > maxUnwanted && this.isUnwanted()) {
        this.#leaveBody()
        this.#serve()
        return
      }
    }
    const room = new BodyRoom(crowd)
    this.#room = room
    receiveBody(this.#request, room, longestBody, this)
  }

  isUnwanted(): boolean {
    return this.#ways.isUnwanted(this.#call)
  }

  arrived(body: Bytes): void {
    this.#call.bytes = body
    this.#serveInTurn()
  }

  #leaveBody(): void {
    leaveBody(this.#response, this.#bodyLength)
  }

  #serveInTurn(): void {
    if (this.#ways.mayRunNow()) this.#serveIfConnected()
    else this.#ways.queues.run(this.#call, this.#request.socket, () => this.#serveIfConnected())
  }

  #serveIfConnected(): void {
    if (this.#request.socket.destroyed) this.#room?.release()
    else this.#serve()
  }

  #serve(): void {
    try {
      this.#answer(this.#ways.exchange(this.#call))
    } catch (error) {
      this.failed(error)
    }
  }

  #answer(answer: RawResponse | Promise<RawResponse>): void {
    if (answer instanceof Promise) answer.then((sent) => this.#send(sent)).catch((error) => this.failed(error))
    else this.#send(answer)
  }

  #send(answer: RawResponse): void {
    this.#room?.release()
    send(answer, this.#call, this.#response, this.#ways)
  }

  failed(error: unknown): void {
    this.#room?.release()
    const response = this.#response
    if (error instanceof Stranger) {
      // Run the request without its body, so that the service rejects it.
      this.#leaveBody()
      this.#serveInTurn()
    } else if (error instanceof ConnectionBroken) this.#request.socket.resetAndDestroy()
    else if (error instanceof BodyRefused) refuseBody(response, error)
    else if (!response.destroyed && !response.writableEnded) {
      this.#ways.reportBug(error, this.#call)
      if (response.headersSent) response.destroy()
      else sendError(response, 500, error instanceof CannotBeSent ? error.message : ourMistake)
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

/**
 * Consecutive requests of a client mostly have equal heads, except for the length of the body. This class returns the
 * same headers and the same URL for all of them, so that later code recognizes both without comparing them.
 */
class LatestHead {
  #raw: readonly string[] = []
  /** Position of the length of the body in `#raw`, or -1. */
  #lengthAt = -1
  #head: Head = { headers: [], bodyLength: 0 }
  #origin = ''
  #target = ''
  #url = ''
  /** Length of the body that belongs to the latest headers, as in `Head`. */
  bodyLength: number | undefined = 0

  headersOf(raw: readonly string[]): HeaderList {
    if (!this.#isLatest(raw)) {
      this.#raw = raw
      this.#lengthAt = raw.findIndex(
        (_, index) => index % 2 === 1 && raw[index - 1]!.toLowerCase() === 'content-length',
      )
      this.#head = endToEnd(raw)
    }
    this.bodyLength = this.#lengthAt === -1 ? this.#head.bodyLength : Number(raw[this.#lengthAt])
    return this.#head.headers
  }

  #isLatest(raw: readonly string[]): boolean {
    const latest = this.#raw
    if (raw.length !== latest.length) return false
    for (let index = 0; index < raw.length; index++)
      if (raw[index] !== latest[index] && index !== this.#lengthAt) return false
    return true
  }

  urlOf(origin: string, target: string): string {
    if (target !== this.#target || origin !== this.#origin) {
      this.#origin = origin
      this.#target = target
      this.#url = origin + target
    }
    return this.#url
  }
}

class NodeCall implements RawRequest {
  #request: IncomingMessage
  #response: ServerResponse
  #abort: AbortController | undefined
  bytes: Bytes = latin1('')

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    readonly headers: HeaderList,
    readonly url: string,
  ) {
    this.#request = request
    this.#response = response
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

function send(answer: RawResponse, call: RawRequest, response: ServerResponse, ways: Ways): void {
  const { streams, outgoing, crowd } = ways
  const { body } = answer
  const status = statusOf(answer)
  const list = listOf(answer)
  if (typeof body !== 'string' && body !== null) {
    if (streams.count < streams.limit) {
      writeHead(response, status, list)
      void sendStream(body, call, response, ways)
    } else refuseStream(body, response, streams.limit)
    return
  }
  if (body !== null && body.length > largeAnswer && !crowd.makesRoom(body.length))
    throw new BufferFull(
      'The request was processed, but the memory limit leaves no space for its response. Request less at a time',
    )
  if (call.method !== 'HEAD' && status !== 204 && status !== 304) {
    list.push('content-length', String(body === null ? 0 : body.length))
  }
  writeHead(response, status, list)
  if (body === null) response.end()
  else {
    response.end(body, 'latin1')
    if (response.writableLength > 0) outgoing.hold(response, body.length)
  }
}

/** Sends the head immediately and each chunk when it is available. A client that disconnects cancels the stream. */
async function sendStream(
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

function listOf({ headers }: RawResponse): string[] {
  const list: string[] = []
  for (let index = 0; index < headers.length; index++) list.push(headers[index]![0], headers[index]![1])
  return list
}

/** Writes the head of a response. Node.js checks the headers, so they are examined only if it rejects one. */
function writeHead(response: ServerResponse, status: number, list: string[]): void {
  try {
    response.writeHead(status, list)
  } catch (error) {
    for (let index = 0; index < list.length; index += 2) {
      if (isHeader(list[index]!, list[index + 1]!)) continue
      throw new CannotBeSent(
        `The response cannot be sent: its header ${JSON.stringify(list[index])} contains characters that HTTP does not allow.`,
      )
    }
    throw error
  }
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
