import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { gateOf } from '../../../../src/kernel/clock.js'
import type { Gate } from '../../../../src/kernel/gate.js'
import { hostTurn } from '../../../../src/kernel/host.js'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { RespConnection } from '../../../../src/store/resp/resp-connection.js'
import { StoreEngine } from '../../../../src/store/store-engine.js'
import { storeInternals } from '../../../../src/store/store-internals.js'
import { homeOf, porterOf, serveStream } from './connections.js'

// The data store for clients of the native protocol in this process, without a port.

/** Whom connections are, before they send AUTH. */
export interface RedisConnectionOptions {
  /** A user of the data store. Default: the standard user. */
  readonly user?: string
}

/**
 * What `new Redis({ Connector })` of ioredis takes. Its own type has protected members, which nothing but its own classes
 * fits.
 */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Connector = new (options: any) => any

/** Where connections in this process come from. */
const ownAddress = '127.0.0.1:0'

/**
 * Connects ioredis with the data store of a sandbox: no port, no server, nothing to close but the client.
 * @throws TypeError for a user that the data store does not have
 * @example
 * import { Redis as IORedis } from 'ioredis'
 *
 * const redis = new IORedis({ Connector: ioredisConnector(sandbox) })
 * await redis.set('greeting', 'hello')
 * redis.disconnect()
 */
export function ioredisConnector(sandbox: Sandbox, options: RedisConnectionOptions = {}): Connector {
  const user = userOf(sandbox, options, 'ioredisConnector()')
  return class {
    #stream: Duplex | undefined

    async connect(): Promise<Duplex> {
      const [near, far] = streamPair(() => gateOf(sandbox.clock))
      this.#stream = near
      // Thrown here, it would reach the client within its call of `write()`.
      const wire = serveStream(far, porterOf(sandbox), ownAddress, { report: (error) => void Promise.reject(error) })
      wire.welcome(homeOf(sandbox), user)
      const forget = sandbox.onDispose(() => wire.abandon())
      far.once('close', forget)
      return near
    }

    check(): boolean {
      return true
    }

    disconnect(): void {
      this.#stream?.end()
    }
  }
}

/** A private socket of this machine: `path` for clients that open it themselves, such as `socket: { path, tls: false }` of node-redis. */
export interface RedisSocket extends AsyncDisposable {
  readonly path: string
  /**
   * Closes the socket and its connections.
   * @example
   * const socket = await openRedisSocket(sandbox)
   * await socket.close()
   */
  close(): Promise<void>
}

/**
 * Opens the data store of a sandbox at a private socket: a file that only this user can reach, on Windows a pipe. It
 * takes connections until it is closed or the sandbox is disposed of.
 * @throws TypeError for a user that the data store does not have
 * @example
 * const { path } = await openRedisSocket(sandbox)
 * const client = await createClient({ socket: { path, tls: false } }).connect()
 * await client.set('greeting', 'hello')
 * await client.close()
 */
export async function openRedisSocket(sandbox: Sandbox, options: RedisConnectionOptions = {}): Promise<RedisSocket> {
  const user = userOf(sandbox, options, 'openRedisSocket()')
  const open = new Map<Socket, RespConnection>()
  const server = createServer((socket) => {
    const wire = serveStream(socket, porterOf(sandbox), ownAddress)
    open.set(socket, wire)
    socket.on('close', () => open.delete(socket))
    wire.welcome(homeOf(sandbox), user)
  })
  const isWindows = process.platform === 'win32'
  const folder = isWindows ? undefined : await mkdtemp(join(tmpdir(), 'stuntdouble-'))
  const path =
    folder === undefined ? `\\\\.\\pipe\\stuntdouble-${randomBytes(16).toString('hex')}` : join(folder, 'store')
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  // A socket that nobody uses any more keeps no process alive.
  server.unref()
  let closing: Promise<unknown> | undefined
  const stop = (): void => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    closing = Promise.all([closed, folder && rm(folder, { recursive: true, force: true })])
  }
  const close = async (): Promise<void> => {
    forget()
    if (closing === undefined) stop()
    for (const socket of open.keys()) socket.destroy()
    await closing
  }
  const forget = sandbox.onDispose(() => {
    stop()
    for (const [socket, wire] of open) {
      wire.abandon()
      socket.unref()
    }
  })
  return { path, close, [Symbol.asyncDispose]: close }
}

function userOf(sandbox: Sandbox, options: RedisConnectionOptions, by: string): string {
  checkOptionNames(by, options, { user: true })
  const { user = 'default' } = options
  const { engine } = storeInternals.of(sandbox.store)
  if (!(engine instanceof StoreEngine)) {
    throw new TypeError(
      `${by}: this sandbox comes of another copy of the package, perhaps because one is imported and the other required. Load 'stuntdouble' and 'stuntdouble/redis' in the same way.`,
    )
  }
  if (engine.access.userNamed(user) !== undefined) return user
  throw new TypeError(
    `${by}: the data store has no user ${JSON.stringify(user)}. Make one with ACL SETUSER first, or leave it out.`,
  )
}

/** Two ends of one connection, with the methods of a socket that clients call. */
function streamPair(gate: () => Gate): [Duplex, Duplex] {
  const near = new ClientEnd(gate)
  const far = new End()
  near.other = far
  far.other = near
  return [near, far]
}

class End extends Duplex {
  other!: End
  readonly connecting = false
  /** Bytes that were sent and have not come yet. */
  #coming = 0
  #taken: (() => void) | undefined

  constructor() {
    // As a socket: an end that is closed closes the other one.
    super({ allowHalfOpen: false })
  }

  override _read(): void {
    const taken = this.#taken
    this.#taken = undefined
    taken?.()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const { other } = this
    other.#coming += chunk.length
    other.whenReady(() => other.#take(chunk))
    if (other.#hasRoom) done()
    else other.#taken = done
  }

  override _final(done: () => void): void {
    const { other } = this
    other.whenReady(() => {
      if (!other.destroyed) other.push(null)
    })
    done()
  }

  get #hasRoom(): boolean {
    return this.destroyed || this.readableEnded || this.#coming + this.readableLength < this.readableHighWaterMark
  }

  #take(chunk: Buffer): void {
    this.#coming -= chunk.length
    if (!this.destroyed && !this.readableEnded) this.push(chunk)
    if (this.#hasRoom) this._read()
  }

  /** Runs what brings something to this end. */
  protected whenReady(bring: () => void): void {
    bring()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { other } = this
    // As a socket: the other end hears of it later, and what was sent before has come.
    void hostTurn().then(() => {
      if (!other.destroyed && !other.readableEnded) other.destroy()
    })
    done(error)
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  setTimeout(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

/**
 * The end of the client. A socket brings nothing within a call of `write()`: until that returns, ioredis does not know
 * which command a reply belongs to. Commands go the other way at once: they are there before a test moves the clock.
 */
class ClientEnd extends End {
  readonly #gate: () => Gate
  /** Resolves when the latest of what comes may come. */
  #ready: Promise<void> = Promise.resolve()

  constructor(gate: () => Gate) {
    super()
    this.#gate = gate
  }

  protected override whenReady(bring: () => void): void {
    const gate = this.#gate()
    if (gate.closesAfterResponse()) {
      const earlier = this.#ready
      this.#ready = gate.turn().then(() => earlier)
    }
    void this.#ready.then(bring)
  }
}
