import type { Duplex } from 'node:stream'
import { checkPeer } from '../../../../src/kernel/peers.js'
import { followedConnections, isPassword } from './followed-connections.js'

// biome-ignore-start lint/suspicious/noExplicitAny: classes of ioredis, whose types differ between its versions
type Class = new (...args: any[]) => any

/** The members of ioredis that are replaced. */
interface Replaced {
  readonly Redis: Class
  readonly Cluster: Class
}

/** Options of a client that decide how it connects. */
interface ClientOptions {
  readonly Connector?: unknown
  readonly password?: unknown
}
// biome-ignore-end lint/suspicious/noExplicitAny: see above

const noCluster =
  'new Cluster(): neither the service nor the sandbox has the commands of a cluster. Connect with new Redis() instead.'

/**
 * Returns the module `ioredis` with a class `Redis` that connects to the sandbox of the running test, for every host,
 * URL and path. Clients can be created before the first test. For `jest.mock()` and `vi.mock()`.
 * @param actual the module that is replaced, version 5 or later
 * @throws TypeError if `actual` is another module
 * @throws Error if ioredis is too old
 * @example
 * vi.mock('ioredis', async (actual) => (await import('stuntdouble/ioredis')).replaceIoredis(await actual()))
 */
export function replaceIoredis<Actual extends object>(actual: Actual): Actual {
  const { Cluster: ActualCluster, Redis: ActualRedis } = membersOf(actual)

  class Redis extends ActualRedis {
    static createClient(...args: readonly unknown[]): Redis {
      return new Redis(...args)
    }

    constructor(...args: readonly unknown[]) {
      super(...withConnector(args))
    }

    duplicate(override?: object): Redis {
      return new Redis({ ...this.options, ...override })
    }
  }

  class Cluster extends ActualCluster {
    constructor(nodes: unknown, options?: object) {
      super(nodes, { ...options, lazyConnect: true })
    }

    connect(): Promise<never> {
      return Promise.reject(new Error(noCluster))
    }

    // Pipelines call this method before they send commands.
    delayUntilReady(callback: (error: Error) => void): void {
      callback(new Error(noCluster))
    }

    sendCommand(command: { reject(error: Error): void; readonly promise: Promise<unknown> }): Promise<unknown> {
      command.reject(new Error(noCluster))
      return command.promise
    }

    duplicate(nodes: readonly unknown[] = [], options?: object): Cluster {
      return new Cluster(nodes.length > 0 ? nodes : this.startupNodes, { ...this.options, ...options })
    }
  }

  const replaced: Record<string, unknown> = { Redis, Cluster, default: Redis }
  addExports(Redis, ActualRedis, replaced)
  // In CommonJS, the module is the class. Its other exports are properties of the class, such as `Redis.Cluster`.
  if (typeof actual === 'function') return Redis as unknown as Actual
  return { ...actual, ...replaced, ...('module.exports' in actual && { 'module.exports': Redis }) }
}

/** Gives a class the exports that are properties of the actual one. */
function addExports(Redis: Class, Actual: Class, replaced: Record<string, unknown>): void {
  const exported = Object.getOwnPropertyDescriptors(Actual) as Record<string, PropertyDescriptor>
  for (const [name, descriptor] of Object.entries(exported)) {
    if (Object.hasOwn(Redis, name)) continue
    const value = Object.hasOwn(replaced, name) ? { value: replaced[name], enumerable: true } : descriptor
    Object.defineProperty(Redis, name, value)
  }
}

function membersOf(actual: object): Replaced {
  const { Cluster, Redis, default: main } = (actual ?? {}) as Partial<Replaced> & { readonly default?: unknown }
  if (typeof Cluster !== 'function' || (typeof actual !== 'function' && typeof main !== 'function')) {
    throw new TypeError(
      `replaceIoredis(): the argument must be the module ioredis (got ${shown(actual)}). Pass the result of jest.requireActual('ioredis'), or of the function that vi.mock() passes.`,
    )
  }
  checkPeer('stuntdouble/ioredis', typeof Redis === 'function', {
    peer: 'ioredis',
    instead: 'pass the option Connector of stuntdouble/redis to your clients',
  })
  return { Cluster, Redis: Redis as Class }
}

function shown(value: unknown): string {
  return value === null || value === undefined ? String(value) : typeof value
}

/** Connects a client to the running test. Its `duplicate()` passes this class on, in its options. */
class FollowingConnector {
  readonly #password: unknown
  #stream: Duplex | undefined

  constructor({ password }: ClientOptions) {
    this.#password = password
  }

  async connect(): Promise<Duplex> {
    this.#stream = followedConnections.connect(isPassword(this.#password))
    return this.#stream
  }

  check(): boolean {
    return true
  }

  disconnect(): void {
    this.#stream?.end()
  }
}

/**
 * Adds the connector to the arguments of `new Redis()`: up to three, of which one may be an object of options. A
 * connector that the test has passed stays.
 */
function withConnector(args: readonly unknown[]): readonly unknown[] {
  const given = args.filter((arg) => arg !== undefined && arg !== null)
  const at = given.findIndex((arg) => typeof arg === 'object')
  const options: ClientOptions = at === -1 ? {} : (given[at] as object)
  if (options.Connector !== undefined && options.Connector !== null) return args
  const withOwn = { ...options, Connector: FollowingConnector }
  return at === -1 ? [...given, withOwn] : given.with(at, withOwn)
}
