import { AsyncResource } from 'node:async_hooks'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { Duplex } from 'node:stream'
import { errorText } from '../../../src/kernel/error-text.js'
import { lostConnection } from '../../../src/queue/destinations/response.js'

// Runs a request listener of Node.js for one `Request`. Server and client are those of `node:http`; only the socket
// between them is a pair of streams in memory. docs/decisions/node-listeners.md says why.

/**
 * Request listener of Node.js, as `http.createServer()` takes it: an Express app, `app.callback()` of Koa,
 * `fastify.routing`, or any function `(request, response) => …`.
 */
// Frameworks declare their own types of request and response, which do not accept those of Node.js.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type NodeListener = (request: any, response: any) => unknown

/** Headers of one connection, which say nothing to the next one. The length follows from the body. */
const ofConnection = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'trailer', 'te'],
])

/** Statuses for which `Response` refuses a body. */
const withoutBody = new Set([204, 205, 304])

/**
 * Returns a handler for `destinations.on()` and `outbound.on()` that runs a request listener of Node.js, without a port.
 * The listener gets a request as from a server at the URL of the destination: with its host, path and query, and with
 * `socket.encrypted` for `https`. The response has no `Date` header, unless the listener sets it.
 * @throws TypeError when the argument is not a function
 * @example
 * import express from 'express'
 * import { nodeListener } from 'stuntdouble/node'
 *
 * const app = express()
 * app.post('/orders', express.json(), (request, response) => void response.json({ id: request.body.id }))
 * sandbox.destinations.on('https://shop.test/*', nodeListener(app))
 */
export function nodeListener(listener: NodeListener): (request: Request) => Promise<Response> {
  if (typeof listener !== 'function') {
    throw new TypeError(
      `nodeListener(): the argument must be a function (request, response) => … (got ${errorText(listener)}). Pass an Express app, app.callback() of Koa, or app.routing of Fastify after app.ready().`,
    )
  }
  return async (request) => {
    const body = Buffer.from(await request.arrayBuffer())
    return await new Exchange(listener, new URL(request.url).protocol === 'https:').send(request, body)
  }
}

/** One request and its response. */
class Exchange {
  readonly #client: Half
  readonly #server: Half
  /** What the listener threw. */
  #thrown: { readonly error: unknown } | undefined

  constructor(listener: NodeListener, isEncrypted: boolean) {
    this.#client = new Half()
    this.#server = new ServerHalf(isEncrypted)
    this.#client.other = this.#server
    this.#server.other = this.#client
    // The work of a listener belongs to the delivery that it runs for, also in callbacks of the parser.
    const run = AsyncResource.bind(listener)
    const server = createServer((request, response) => this.#listen(run, request, response))
    server.emit('connection', this.#server)
  }

  #listen(run: NodeListener, request: IncomingMessage, response: ServerResponse): void {
    // The date of this machine would differ in each run.
    response.sendDate = false
    // The connection serves one request. If the response is shorter than it says, the client must see its end.
    response.once('finish', () => this.#server.end())
    const failed = (error: unknown): void => {
      // As in Node.js: an error after the response is reported by the process, and nothing else shows it.
      if (response.writableFinished) throw error
      this.#thrown = { error }
      this.#server.destroy()
    }
    try {
      const result = run(request, response)
      if (isThenable(result)) result.then(undefined, failed)
    } catch (error) {
      failed(error)
    }
  }

  /** Why the connection broke: what the listener threw or passed to `destroy()`, or else what the client saw. */
  #cause(seen: Error): unknown {
    if (this.#thrown !== undefined) return this.#thrown.error
    return this.#server.reason ?? (isReset(seen) ? new Error('it closed the connection') : seen)
  }

  send(request: Request, body: Buffer): Promise<Response> {
    const { signal } = request
    const { method } = request
    const { host, pathname, search } = new URL(request.url)
    return new Promise((resolve) => {
      const createConnection = (): Duplex => this.#client
      const sent = httpRequest({ method, path: pathname + search, setHost: false, createConnection })
      const abort = (): void => void this.#client.destroy()
      const end = (): void => {
        signal.removeEventListener('abort', abort)
        this.#client.destroy()
      }
      sent.once('response', (response) => resolve(this.#received(response, request, end)))
      sent.once('error', (error) => {
        end()
        resolve(signal.aborted ? Response.error() : lostConnection(this.#cause(error)))
      })
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort, { once: true })
      for (const [name, value] of request.headers) if (!ofConnection.has(name)) sent.setHeader(name, value)
      if (!sent.hasHeader('host')) sent.setHeader('host', host)
      sent.removeHeader('connection')
      if (body.length > 0 || sent.hasHeader('content-length')) sent.setHeader('content-length', body.length)
      sent.end(body)
    })
  }

  #received(incoming: IncomingMessage, { url, signal }: Request, end: () => void): Response {
    const { statusCode = 0, rawHeaders } = incoming
    const headers = new Headers()
    for (let at = 0; at < rawHeaders.length; at += 2) {
      if (!ofConnection.has(rawHeaders[at]!.toLowerCase())) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!)
    }
    if (withoutBody.has(statusCode)) incoming.resume().once('close', end)
    const body = withoutBody.has(statusCode) ? null : this.#bodyOf(incoming, signal, end)
    // As a response of `fetch`: with a URL, and with any status that a server can send.
    return Object.defineProperties(new Response(body, { headers }), {
      status: { value: statusCode },
      ok: { value: statusCode >= 200 && statusCode <= 299 },
      url: { value: url },
    })
  }

  #bodyOf(incoming: IncomingMessage, signal: AbortSignal, end: () => void): ReadableStream<Uint8Array> {
    const chunks: AsyncIterator<Uint8Array> = incoming[Symbol.asyncIterator]()
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const { done, value } = await chunks.next()
          if (done !== true) return controller.enqueue(value)
          controller.close()
        } catch (error) {
          // The queue no longer waits for the body of an aborted request, so this is no error.
          if (signal.aborted) controller.close()
          else controller.error(this.#cause(error as Error))
        }
        end()
      },
      cancel: end,
    })
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** Whether an error says only that the other side closed the connection. */
function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
}

/** One end of a connection in memory: what is written here is read at the other end. */
class Half extends Duplex {
  other!: Half
  #taken: (() => void) | undefined
  /** Error with which this end was destroyed. */
  reason: Error | null = null

  constructor() {
    super({ allowHalfOpen: true })
  }

  override _read(): void {
    const taken = this.#taken
    this.#taken = undefined
    taken?.()
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.other.#receive(chunk, done)
  }

  override _final(done: () => void): void {
    this.other.#receive(null, done)
  }

  #receive(chunk: Buffer | null, done: () => void): void {
    if (this.push(chunk) || chunk === null) done()
    else this.#taken = done
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#taken = undefined
    this.reason = error
    done(error)
    // The other end sees a closed connection, and never the error.
    if (!this.other.destroyed) this.other.destroy()
  }

  // Methods of sockets that apps and `node:http` call. There are no packets here, and no time passes.
  address(): object {
    return {}
  }
  setTimeout(): this {
    return this
  }
  setNoDelay(): this {
    return this
  }
  setKeepAlive(): this {
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  destroySoon(): void {
    this.end(() => this.destroy())
  }
}

/** The end of the server, as apps see it in `request.socket`. */
class ServerHalf extends Half {
  readonly remoteAddress = '127.0.0.1'
  readonly remoteFamily = 'IPv4'
  readonly remotePort = 0
  readonly localAddress = '127.0.0.1'
  readonly localPort: number
  /** Only sockets of node:tls have this property. */
  declare readonly encrypted?: true

  constructor(isEncrypted: boolean) {
    super()
    this.localPort = isEncrypted ? 443 : 80
    if (isEncrypted) this.encrypted = true
  }

  override address(): object {
    return { address: this.localAddress, family: 'IPv4', port: this.localPort }
  }
}
