import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { Account } from '../../../src/kernel/account.js'
import type { RawRequest, RawResponse } from '../../../src/protocol/service.js'
import { ReplyError } from '../../../src/store/command/reply.js'
import { Crowd } from '../../../src/store/resp/crowd.js'
import type { RespHost } from '../../../src/store/resp/resp-connection.js'
import type { ClusterRuntime } from './cluster/cluster-runtime.js'
import { handedOver, nodeOf } from './cluster/load-cluster.js'
import { InspectorLinks } from './inspector/inspector-links.js'
import { isPagePath } from './inspector/page-response.js'
import { isEveryAddress, listenOn } from './listen-addresses.js'
import { listenFailure } from './listen-failure.js'
import { listener, refuse, sendError, targetOf } from './listener.js'
import { type Guard, originRejection } from './origin-check.js'
import type { LocatedRedis } from './real-redis/placed.js'
import type { RedisPort } from './redis-port/redis-port.js'
import { logRequest } from './request-log.js'
import { servedTarget } from './root-store.js'
import type { Plan, ServerOptions } from './server-options.js'
import { Connections, ended, timeouts } from './sockets.js'
import type { Lock } from './state/lock.js'
import type { OpenStateFile } from './state/open-state.js'
import type { StateWriter } from './state/state-writer.js'
import { Tenants } from './tenants.js'
import { Turns } from './turns.js'

/** Default time in which running requests can finish after `close()`, in milliseconds of host time. */
const usualGrace = 2_000

/** Path of a request as the server serves it, and whether web pages of any site may request it. */
interface Addressed {
  readonly method: string
  readonly target: string
  readonly path: string
  readonly isOpen: boolean
}

/** A running server: its listening sockets, its tenants, and its state file. */
export class Serving {
  readonly #plan: Plan
  readonly #options: ServerOptions
  readonly tenants: Tenants
  /** Account of the memory of all clients, over HTTP and the Redis protocol. */
  readonly #crowd: Crowd
  readonly #turns = new Turns()
  readonly #connections: Connections
  readonly #guard: Guard
  readonly #serve: RequestListener
  /** What follows from the latest method and target, because consecutive requests mostly have the same ones. */
  #latest: Addressed = { method: '', target: '', path: '', isOpen: false }
  #servers: readonly Server[] = []
  #isOpen = false
  #lock: Lock | undefined
  #keeper: StateWriter | undefined
  #closing: Promise<void> | undefined
  origin = ''
  port = 0
  links: InspectorLinks | undefined
  node: ClusterRuntime | undefined
  native: RedisPort | undefined
  engine: LocatedRedis | undefined
  /** After `close()`: whether the state file contains all changes. */
  isKept = true

  constructor(plan: Plan, options: ServerOptions) {
    const { world, limits, controlToken, scene, isWide, tell, hosts } = plan
    const buffered = new Account(limits.buffered)
    this.#plan = plan
    this.#options = options
    this.tenants = new Tenants(world, limits.maxTenants, controlToken, scene, isWide, tell, buffered)
    this.tenants.hosts = hosts
    this.#crowd = new Crowd(buffered)
    this.#connections = new Connections(limits)
    this.#guard = { hosts, mayList: true }
    this.#serve = this.#listener()
  }

  /** Starts the server. If the start fails, it closes everything that was opened. */
  async start(): Promise<void> {
    const { state } = this.#options
    const file = state === undefined ? undefined : await openStateFile(state)
    this.#lock = file?.lock
    try {
      await this.#placeEngine()
      const kept = file?.read()
      await this.#listen()
      await this.#joinCluster()
      await this.#openNativePort()
      if (kept !== undefined) file?.restore(kept, this.tenants, this.#options.rebaseTime ?? false)
    } catch (error) {
      await this.#giveUp()
      throw error
    }
    this.#keeper = file?.keep(this.tenants, this.#plan.tell)
    this.#isOpen = true
  }

  async #giveUp(): Promise<void> {
    if (this.#servers.length > 0) {
      await Promise.all([ended(this.#servers, this.tenants, 0), this.native?.close(0)])
      this.node?.end()
    }
    await Promise.all([this.#lock?.release(), this.engine?.close()])
  }

  async #placeEngine(): Promise<void> {
    const { realRedis: engine, shadowRedis: twin } = this.#options
    const chosen = engine ?? twin
    if (chosen === undefined) return
    const { placed } = await import('./real-redis/placed.js')
    this.engine = await placed(chosen, this.#options, this.tenants, this.#plan.tell)
  }

  async #listen(): Promise<void> {
    const { host, port, address, limits, controlToken } = this.#plan
    // `import … from 'node:http'` would also load the HTTP client of `fetch`, because an import reads every export. That
    // takes ten times as long as `node:http` itself.
    const { createServer } = process.getBuiltinModule('node:http')
    const create = (): Server =>
      this.#connections.count(createServer(timeouts(limits), (request, response) => this.#answer(request, response)))
    const listening = await listenOn(address, port, create).catch((error) => {
      throw listenFailure(error, host, port)
    })
    this.#servers = listening.servers
    this.port = listening.port
    this.tenants.watchMemory()
    this.origin = `http://${nameOf(host, address)}:${listening.port}`
    this.links = new InspectorLinks(controlToken, this.origin)
    const base = this.#options.cluster?.publicUrl
    this.tenants.origin = base === undefined ? this.origin : new URL(base).origin
  }

  async #joinCluster(): Promise<void> {
    const { world, limits, address, tell } = this.#plan
    const { cluster } = this.#options
    if (cluster !== undefined)
      this.node = await nodeOf(cluster, world, this.tenants, limits, address, this.origin, tell)
  }

  async #openNativePort(): Promise<void> {
    const { host, address, limits, tell } = this.#plan
    const { redisPort, redisTls, redisNoAuth = false } = this.#options
    if (redisPort === undefined) return
    const tenants = (): Tenants => {
      if (this.#isOpen) return this.tenants
      throw new ReplyError('LOADING The server is starting.')
    }
    const porter: RespHost = {
      enter: (name, password) => {
        const entered = tenants().enter(name, password)
        return entered === undefined && redisNoAuth ? enteredAnyway(this.tenants, name) : entered
      },
    }
    const at = {
      address,
      port: redisPort,
      tls: redisTls,
      ...(redisNoAuth && { guest: () => tenants().enterWithoutPassword() }),
      most: limits.maxConnections,
      patience: limits.requestTimeout,
      crowd: this.#crowd,
      turns: this.#turns,
      report: (error: unknown) =>
        tell(`stuntdouble: the Redis port failed: ${error instanceof Error ? error.stack : error}`),
      tell,
    }
    const { openRedisPort } = await import('./redis-port/redis-port.js')
    this.native = await openRedisPort(at, porter).catch((error) => {
      throw listenFailure(error, host, redisPort, 'redisPort (--redis-port)')
    })
    const scheme = redisTls === undefined ? 'redis' : 'rediss'
    this.tenants.redisNoAuth = redisNoAuth
    this.tenants.redis = `${scheme}://${nameOf(host, address)}:${this.native.port}`
  }

  #listener(): RequestListener {
    const { tenants } = this
    const { limits, tell } = this.#plan
    return listener(
      () => tenants.origin,
      (call) => this.#linkFor(call) ?? (this.node === undefined ? tenants : this.node.front).exchange(call),
      (error, call) =>
        tell(`stuntdouble: ${call.method} ${call.url} failed: ${error instanceof Error ? error.stack : error}`),
      {
        limits,
        crowd: this.#crowd,
        turnsAway: (call) =>
          this.#linkFor(call) ?? (this.node === undefined ? tenants : this.node.front).turnsAway(call),
        // On a node of a cluster, read the body of every request to a tenant. Only the owner of the tenant knows the
        // tokens of the tenant, and the owner may be another node.
        isUnwanted: (call) =>
          (this.node === undefined || tenants.nameOf(call) === undefined) && tenants.isUnwanted(call),
        takeTurn: (call, connection, run) => this.#turns.take(groupOf(tenants.targetOf(call)), connection, run),
        mayRunNow: () => this.#turns.isFree,
      },
    )
  }

  #linkFor(call: RawRequest): RawResponse | undefined {
    const { tenants } = this
    if (!tenants.isOwnPath(call)) return undefined
    return this.links?.answer(call, tenants.targetOf(call), (asked) => tenants.mayControl(asked))
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#isOpen) {
      response.setHeader('Retry-After', '1')
      sendError(response, 503, 'The server is starting.')
      return
    }
    const { onRequest: log } = this.#options
    if (log !== undefined) logRequest(request, response, log)
    const { path, isOpen } = this.#addressed(request.method ?? '', targetOf(request))
    request.url = path
    if (path.startsWith('/_')) for (const [name, value] of unreadable) response.setHeader(name, value)
    const refused = isOpen ? undefined : this.#rejection(request, path)
    if (refused === undefined) this.#serve(request, response)
    else refuse(request, response, refused)
  }

  #addressed(method: string, target: string): Addressed {
    const latest = this.#latest
    if (method === latest.method && target === latest.target) return latest
    const path = servedTarget(method, target)
    // Web pages of any site may call the store, as with the service. Check the origin for all other paths, because
    // requests to them can make this machine send requests.
    const isOpen = /^\/[^/_][^/]*\/store(?:-[^/?]*)?(?:[/?]|$)/.test(path)
    this.#latest = { method, target, path, isOpen }
    return this.#latest
  }

  #rejection(request: IncomingMessage, path: string): string | undefined {
    // Do not check a forwarded request, because the node that forwarded and signed it has already checked the origin.
    if (this.node?.front.isPassed(request) === true) return undefined
    return originRejection(request, this.#guard, kindOf(path), this.#plan.controlToken)
  }

  close(grace: number = usualGrace): Promise<void> {
    this.#closing ??= this.#end(grace)
    return this.#closing
  }

  async #end(grace: number): Promise<void> {
    // Hand over the tenants first, so that other nodes can take them over immediately.
    await handedOver(this.node, this.#servers, this.#plan.tell)
    await Promise.all([ended(this.#servers, this.tenants, grace), this.native?.close(grace)])
    this.node?.end()
    await this.engine?.close()
    // Write the state file now, so that it contains the effects of requests that have just finished.
    this.isKept = (await this.#keeper?.close()) ?? true
    // If a write hangs, it may still complete later. Keep the lock until then, so that no other process writes to the
    // file.
    if (this.isKept) await this.#lock?.release()
    else void this.#keeper?.idle().then(() => this.#lock?.release())
  }
}

/**
 * Signs in a client with a wrong password at a port that needs none. As in redis-server, every password of user
 * `default` is right, and AUTH without a user is an error. [redis 7.0]
 * @throws ReplyError for a password without a user
 */
function enteredAnyway(tenants: Tenants, name: string | undefined): ReturnType<RespHost['enter']> {
  if (name === undefined) {
    throw new ReplyError(
      'ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?',
    )
  }
  return name === 'default' || name === 'main/default' ? tenants.enterWithoutPassword() : undefined
}

/** Headers that prevent pages of other sites from loading responses of the server itself as scripts or images. */
const unreadable = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
] as const

/**
 * Returns the group for scheduling a request: the tenant in the path. The tenant may not exist, and the request may not
 * be authorized.
 */
function groupOf(path: string): string {
  return /^\/(?:_control\/)?([^/?#]*)/.exec(path)?.[1] ?? ''
}

function kindOf(path: string): 'control' | 'page' | 'service' {
  if (isPagePath(path)) return 'page'
  return path.startsWith('/_') ? 'control' : 'service'
}

/** Locks a state file. The code is loaded on demand, because most servers have no state file. */
async function openStateFile(path: string): Promise<OpenStateFile> {
  const { openState } = await import('./state/open-state.js')
  return openState(path)
}

/** Returns the host name by which clients on this machine call the server. */
function nameOf(host: string, address: string): string {
  if (isEveryAddress(address) || address === 'localhost') return '127.0.0.1'
  return host.includes(':') ? `[${address}]` : host
}
