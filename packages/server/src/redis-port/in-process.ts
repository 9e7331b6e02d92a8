import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { gateOf } from '../../../../src/kernel/clock.js'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { RespConnection } from '../../../../src/store/resp/resp-connection.js'
import { StoreEngine } from '../../../../src/store/store-engine.js'
import { storeInternals } from '../../../../src/store/store-internals.js'
import { databaseOf, homeOf, porterOf, serveStream } from './connections.js'
import { streamPair } from './stream-pair.js'

// Connects clients in this process to a store, with the Redis protocol but without a port.

/** Options of connections in this process. */
export interface RedisConnectionOptions {
  /** User of a connection until it sends AUTH. Default: the standard user. */
  readonly user?: string
  /** Name of the database, if it is one of the databases that the option `databases` of the sandbox added. */
  readonly database?: string
}

/**
 * Type for the `Connector` option of ioredis. The type that ioredis declares cannot be used, because it has protected
 * members, which only classes of ioredis satisfy.
 */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Connector = new (options: any) => any

/** Client address of connections in this process. */
const ownAddress = '127.0.0.1:0'

/**
 * Connects ioredis to the store of a sandbox, without a port or server. To end the connection, close only the client.
 * @throws TypeError for a user that the store does not have, and RangeError for an unknown database
 * @example
 * import { Redis as IORedis } from 'ioredis'
 *
 * const redis = new IORedis({ Connector: ioredisConnector(sandbox) })
 * await redis.set('greeting', 'hello')
 * redis.disconnect()
 */
export function ioredisConnector(sandbox: Sandbox, options: RedisConnectionOptions = {}): Connector {
  const user = userOf(sandbox, options, 'ioredisConnector()')
  const { database } = options
  return class {
    #stream: Duplex | undefined

    async connect(): Promise<Duplex> {
      const [near, far] = streamPair(() => gateOf(sandbox.clock))
      this.#stream = near
      // Report the error asynchronously. Otherwise the client's call of `write()` would throw it.
      const wire = serveStream(far, porterOf(sandbox, undefined, database), ownAddress, {
        report: (error) => void Promise.reject(error),
      })
      wire.welcome(homeOf(sandbox, undefined, database), user)
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

/**
 * A private socket on this machine. Pass `path` to a client that connects to it, such as `socket: { path, tls: false
 * }` of node-redis.
 */
export interface RedisSocket extends AsyncDisposable {
  /** Path of the socket file, on Windows the name of the pipe. */
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
 * Opens the store of a sandbox at a private socket: a file that only this user can access, or a pipe on Windows. The
 * socket accepts connections until `close()` is called or the sandbox is disposed.
 * @throws TypeError for a user that the store does not have, and RangeError for an unknown database
 * @example
 * const { path } = await openRedisSocket(sandbox)
 * const client = await createClient({ socket: { path, tls: false } }).connect()
 * await client.set('greeting', 'hello')
 * await client.close()
 */
export async function openRedisSocket(sandbox: Sandbox, options: RedisConnectionOptions = {}): Promise<RedisSocket> {
  const user = userOf(sandbox, options, 'openRedisSocket()')
  const { database } = options
  const open = new Map<Socket, RespConnection>()
  const server = createServer((socket) => {
    const wire = serveStream(socket, porterOf(sandbox, undefined, database), ownAddress)
    open.set(socket, wire)
    socket.on('close', () => open.delete(socket))
    wire.welcome(homeOf(sandbox, undefined, database), user)
  })
  const isWindows = process.platform === 'win32'
  const folder = isWindows ? undefined : await mkdtemp(join(tmpdir(), 'stuntdouble-'))
  const path =
    folder === undefined ? `\\\\.\\pipe\\stuntdouble-${randomBytes(16).toString('hex')}` : join(folder, 'store')
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  // The listening socket must not keep the process alive.
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
  checkOptionNames(by, options, { user: true, database: true })
  const { user = 'default', database } = options
  const { engine } = storeInternals.of(databaseOf(sandbox, database))
  if (!(engine instanceof StoreEngine)) {
    throw new TypeError(
      `${by}: this sandbox belongs to another copy of the package, perhaps because one copy is loaded with import and the other with require(). Load 'stuntdouble' and 'stuntdouble/redis' in the same way.`,
    )
  }
  if (engine.access.userNamed(user) !== undefined) return user
  throw new TypeError(
    `${by}: the store has no user ${JSON.stringify(user)}. Create the user with ACL SETUSER first, or omit the user.`,
  )
}
