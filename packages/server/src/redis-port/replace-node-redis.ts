import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkPeer } from '../../../../src/kernel/peers.js'
import { followedConnections, isPassword, type OwnPassword } from './followed-connections.js'

/** Options of a client that decide where it connects and how it signs in. */
interface ClientOptions {
  readonly url?: string
  readonly socket?: object
  readonly username?: string
  readonly password?: string
  readonly database?: number
}

interface Client {
  readonly options: ClientOptions
  on(event: string, listener: () => void): unknown
  duplicate(overrides?: ClientOptions): Client
}

/** The members of node-redis that are replaced or called. */
interface NodeRedis {
  createClient(options?: ClientOptions): Client
  createClientPool(options?: ClientOptions, poolOptions?: object): Pick<Client, 'on'>
}

/**
 * Returns the module `redis` with functions `createClient()` and `createClientPool()` whose clients connect to the
 * sandbox of the running test, for every URL, host and path. Clients can be created before the first test.
 * `createCluster()` and `createSentinel()` throw an error. For `jest.mock()` and `vi.mock()`.
 * @param actual the module that is replaced, `redis` or `@redis/client`, version 5 or later
 * @throws TypeError if `actual` is another module
 * @throws Error if node-redis is too old
 * @example
 * vi.mock('redis', async (actual) => (await import('stuntdouble/node-redis')).replaceNodeRedis(await actual()))
 */
export function replaceNodeRedis<Actual extends object>(actual: Actual): Actual {
  const redis = membersOf(actual)
  const createClient = (options: ClientOptions = {}): Client =>
    followed(redis.createClient(toRunning(options, redis)), redis)
  const createClientPool = (options: ClientOptions = {}, poolOptions?: object): unknown => {
    const pool = redis.createClientPool(toRunning(options, redis), poolOptions)
    pool.on('error', () => {})
    return pool
  }
  const replaced: object = {
    createClient,
    createClientPool,
    createCluster: () => refuse('createCluster()'),
    createSentinel: () => refuse('createSentinel()'),
  }
  const { default: own } = actual as { default?: object }
  const module = 'module.exports' in actual ? { 'module.exports': { ...own, ...replaced } } : {}
  return { ...actual, ...replaced, ...(own && { default: { ...own, ...replaced } }), ...module }
}

function refuse(by: string): never {
  throw new Error(`${by}: neither the service nor the sandbox has a cluster or sentinels. Call createClient() instead.`)
}

function membersOf(actual: object): NodeRedis {
  const redis = actual as Partial<NodeRedis> | undefined
  if (typeof redis?.createClient !== 'function') {
    throw new TypeError(
      `replaceNodeRedis(): the argument must be the module redis (got ${String(redis && typeof redis)}). Pass the result of jest.requireActual('redis'), or of the function that vi.mock() passes.`,
    )
  }
  checkPeer('stuntdouble/node-redis', typeof redis.createClientPool === 'function', {
    peer: 'redis',
    instead: 'connect your clients with openRedisSocket() of stuntdouble/redis',
  })
  return redis as NodeRedis
}

/** Prepares a client, and those that it duplicates, for sandboxes that end. */
function followed(client: Client, redis: NodeRedis): Client {
  // Without a listener, node-redis ends the process when a sandbox closes a connection, such as at its reset.
  client.on('error', () => {})
  const duplicate = client.duplicate.bind(client)
  client.duplicate = (overrides = {}) =>
    followed(duplicate('socket' in overrides || 'url' in overrides ? toRunning(overrides, redis) : overrides), redis)
  return client
}

/** Returns the options with another address. As in node-redis, the parts of a URL override other options. */
function toRunning({ url, ...options }: ClientOptions, redis: NodeRedis): ClientOptions {
  // A client that never connects parses the URL, because only node-redis 6 exports a function for it.
  const { username, password, database }: ClientOptions =
    url === undefined ? {} : redis.createClient({ url, socket: { ...options.socket } }).options
  const { host: _host, port: _port, ...socket } = (options.socket ?? {}) as { host?: string; port?: number }
  const merged = {
    ...options,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    socket: { ...socket, path: socketPath(), tls: false },
  }
  if (merged.password !== undefined) passwords.push(isPassword(merged.password))
  return merged
}

const passwords: OwnPassword[] = []

let path: string | undefined

/**
 * Returns the path of a private socket that leads to the running test. The first call opens it, for the life of the
 * process. It accepts connections immediately, because a client may connect right after its creation.
 */
function socketPath(): string {
  if (path !== undefined) return path
  const name = `stuntdouble-${randomBytes(16).toString('hex')}`
  if (process.platform === 'win32') path = `\\\\.\\pipe\\${name}`
  else {
    const folder = mkdtempSync(join(tmpdir(), 'stuntdouble-'))
    path = join(folder, 'store')
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  }
  const isOwn: OwnPassword = (password) => passwords.some((isOne) => isOne(password))
  const server = createServer((socket) => {
    followedConnections.serve(socket, isOwn)
    // Only the client's side of a connection keeps the process alive.
    socket.unref()
  })
  server.listen(path).unref()
  return path
}
