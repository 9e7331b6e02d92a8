import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Account } from '../../../src/kernel/account.js'
import { defaultPolicy } from '../../../src/policy/policy.js'
import type { Answer, Call } from '../../../src/protocol/service.js'
import { publicOnes } from '../../../src/sandbox/credentials.js'
import { checkNames } from '../../../src/sandbox/options.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.js'
import type { Scenario } from '../../../src/scenarios/scenario.js'
import { ReplyError } from '../../../src/store/command/reply.js'
import { Crowd } from '../../../src/store/native/crowd.js'
import type { Porter } from '../../../src/store/native/wire.js'
import { addressOf, isEveryAddress, isLoopbackAddress, listenOn } from './addresses.js'
import { handedOver, nodeOf } from './cluster/joined.js'
import type { ClusterNode } from './cluster/node.js'
import type { ClusterOptions } from './cluster/options.js'
import type { Node } from './cluster/tenure.js'
import { defaultHost, defaultPort } from './config.js'
import { type EngineChoice, engineWorld } from './engine/options.js'
import type { PlacedEngine } from './engine/placed.js'
import { type Guard, listedHost, refusal } from './guard.js'
import { heapLimit } from './heap.js'
import { InspectorLinks } from './inspector/link.js'
import { isPagePath } from './inspector/page-answer.js'
import { defaultLimits, type ServerLimits } from './limits.js'
import { listenFailure } from './listen-failure.js'
import { listener, refuse, sendError, targetOf } from './listener.js'
import type { Certificate, RedisPort } from './redis-port/redis-port.js'
import { type LoggedRequest, logRequest } from './request-log.js'
import { sceneOf } from './scene/opened.js'
import { Connections, ended, timeouts } from './sockets.js'
import { readState } from './state/file.js'
import { StateKeeper } from './state/keeper.js'
import { fileOf } from './state/lock.js'
import { locked, restore } from './state/taken.js'
import { Tenants } from './tenants.js'
import { Turns } from './turns.js'

export type { ClusterOptions } from './cluster/options.js'
export type { Node } from './cluster/tenure.js'
export { type InspectOptions, inspect } from './inspector/inspect.js'
export type { Failure } from './inspector/visit.js'
export type { ServerLimits } from './limits.js'
export type { LoggedRequest } from './request-log.js'

export interface ServerOptions
  extends Omit<SandboxOptions, 'base' | 'name' | 'store' | 'queue' | 'mgmt' | 'regions'>,
    EngineChoice {
  /** Address to listen on. Default `localhost`, both of its addresses, so that nobody else can reach it. */
  readonly host?: string
  /**
   * Names and addresses by which clients call this server, beside `localhost`, the address that they reach and `host`: the
   * name of its service in Docker Compose or Kubernetes, or of a machine. A name that is not listed is refused, because somebody
   * else could answer for it.
   */
  readonly allowHosts?: readonly string[]
  /** Default 4010; 0 takes a free one. */
  readonly port?: number
  /**
   * Port of the native protocol of the data store (RESP2 and RESP3), on the same address; 0 takes a free one. Without it
   * there is none. A tenant's user is `w1/default`; without a tenant it is of `main`.
   */
  readonly redisPort?: number
  /** A certificate and its key, both PEM: the native protocol is spoken over TLS then. */
  readonly redisTls?: Certificate
  /** Receives what went wrong inside, `console.error` by default. */
  readonly report?: (text: string) => void
  /** What the control API asks for as a bearer token. Default: nothing on this machine, else one derived from `secret`. */
  readonly controlToken?: string
  /**
   * The secret from which tokens and keys of each tenant are derived, unless they are given. At least 16 characters. Default: on this
   * machine none, with public defaults; where other machines can call, a random one.
   */
  readonly secret?: string
  readonly limits?: Partial<ServerLimits>
  /** Receives every request that is over, with tokens taken out. */
  readonly log?: (request: LoggedRequest) => void
  /**
   * Keeps every tenant in this file and takes them from it at the start. Written atomically, at most 200 ms after a
   * change; a damaged file is refused and left as it is.
   */
  readonly state?: string
  /** Moves all times of a tenant in the state file back that is ahead of a real clock, instead of refusing it. */
  readonly shift?: boolean
  /** What every new tenant begins with, and again after a reset: its initial state, its destinations and its faults. */
  readonly scenario?: Scenario
  /**
   * Makes it one node of a cluster, whose tenants outlive it: an engine keeps them, and whichever node is asked for a tenant
   * hands the request on to the one that has it. Not with `state`, `redisPort` and `scenario`.
   */
  readonly cluster?: ClusterOptions
  /** Starts although `NODE_ENV` is `production`. */
  readonly iKnow?: boolean
}

/** What is no option of a sandbox; the compiler keeps it complete. */
const serverNames: Readonly<Record<Exclude<keyof ServerOptions, keyof SandboxOptions>, true>> = {
  host: true,
  allowHosts: true,
  port: true,
  redisPort: true,
  redisTls: true,
  report: true,
  controlToken: true,
  limits: true,
  log: true,
  state: true,
  shift: true,
  scenario: true,
  cluster: true,
  iKnow: true,
  engine: true,
  twin: true,
  differs: true,
  allowEngines: true,
}

/** How long requests that run may go on after `close()`, in host milliseconds. */
const usualGrace = 2_000

/** A server of many sandboxes, one for each tenant: `http://HOST:PORT/{tenant}/{store|queue|mgmt}`. */
export interface RunningServer extends AsyncDisposable {
  readonly origin: string
  readonly host: string
  readonly port: number
  /** Of the native protocol, where it is served. */
  readonly redisPort: number | undefined
  /** The bearer token of the control API, where it asks for one. */
  readonly controlToken: string | undefined
  /** The secret of the tenants' tokens: they are the same after a restart with the same one. */
  readonly secret: string | undefined
  /**
   * A link to the inspector. Where the control API asks for a token, it lets in one browser, once, within an hour; reading it
   * again makes another one.
   */
  readonly inspector: string
  /** The sandbox of a tenant, made on first use with a clock of its own. */
  tenant(name: string): Sandbox
  /**
   * Serves a sandbox that you made yourself, with options of its own, under a name of this server; instead of the one
   * that had the name. It is disposed with the server, or by `drop`.
   * @throws TypeError where other machines can call and its tokens are defaults that everybody knows
   */
  adopt(name: string, sandbox: Sandbox): void
  /** Serves a sandbox no more that goes on elsewhere: it is not disposed. `false` when there is none of this name. */
  release(name: string): boolean
  /** Disposes the sandbox of a tenant; `false` when there is none of this name. */
  drop(name: string): boolean
  /** Addresses and environment of a tenant, who is not made by this. */
  outline(name: string): Pick<Sandbox, 'addresses' | 'env'>
  /** Itself, where it is a node of a cluster: the others know it by this. */
  readonly node: Node | undefined
  /** The tenants that were used so far. */
  readonly tenants: readonly string[]
  /**
   * Another scenario instead of the one it was started with: for new tenants all of it, for those that are there its
   * destinations and faults. Tells how many are there.
   */
  change(scenario: Scenario): number
  /** Resolves when a twin was told everything that has run; at once where there is none. */
  compared(): Promise<void>
  /** After `close()`: whether the state file holds everything; `true` where there is none. */
  readonly isKept: boolean
  /**
   * Lets running requests end for at most two seconds, or for `grace` host milliseconds, ends event streams, and disposes
   * every sandbox.
   */
  close(options?: { readonly grace?: number }): Promise<void>
}

/**
 * Starts a server and resolves when it listens.
 * @throws Error where `NODE_ENV` is `production`, because a double in the place of the service loses data
 * @throws TypeError for tokens that everybody knows where other machines can call
 * @throws Error where it cannot listen: with the `code` of the system, and what to give instead
 * @example
 * await using server = await startServer({ port: 0 })
 * const { env, clock } = server.tenant('main')
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const {
    host = defaultHost,
    allowHosts = [],
    port = defaultPort,
    redisPort,
    redisTls,
    report,
    log,
    iKnow,
    controlToken,
    limits,
    state,
    shift = false,
    scenario,
    engine: engineUrl,
    twin,
    differs,
    allowEngines,
    cluster,
    ...given
  } = options
  checkNames(options, 'startServer()', 'A server', serverNames)
  const world = engineUrl === undefined && twin === undefined ? given : engineWorld(options, given)
  refuseProduction(iKnow)
  const address = await addressOf(host).catch((error) => {
    throw listenFailure(error, host, port)
  })
  const isWide = !isLoopbackAddress(address)
  if (isWide) refusePublic(world, host)
  if (cluster !== undefined)
    (await import('./cluster/options.js')).checkCluster(
      cluster,
      { state, redisPort, scenario },
      isWide && world.secret === undefined,
    )
  const secret = world.secret ?? (isWide ? randomBytes(24).toString('base64url') : undefined)
  // Mistakes in the options must be reported now, not to the first request.
  createSandbox(world).dispose()
  const most = { ...defaultLimits, ...limits }
  const token = controlToken ?? (isWide ? controlTokenOf(secret!) : undefined)
  // A server delivers for real, as far as `deliver` allows, and may run for days.
  const policy = { trafficLimit: most.entries, maxTrafficBytes: mostTraffic(), ...world.policy }
  const scene = scenario === undefined ? undefined : await sceneOf(scenario, world)
  const begin = { fetch: globalThis.fetch, ...world, policy, ...(secret !== undefined && { secret }) }
  const tell = report ?? ((text: string) => console.error(text))
  const buffered = new Account(most.buffered)
  const tenants = new Tenants(begin, most.tenants, token, scene, isWide, tell, buffered)
  const failed = (error: unknown): void =>
    tell(`stuntdouble: the native port failed: ${error instanceof Error ? error.stack : error}`)
  const crowd = new Crowd(buffered)
  const turns = new Turns()
  let clustered: ClusterNode | undefined
  const connections = new Connections(most)
  const linkFor = (call: Call): Answer | undefined =>
    links?.answer(call, tenants.targetOf(call), (asked) => tenants.mayControl(asked))
  const serve = listener(
    () => tenants.origin,
    (call) => linkFor(call) ?? (clustered === undefined ? tenants.exchange(call) : clustered.front.exchange(call)),
    (error, call) =>
      tell(`stuntdouble: ${call.method} ${call.url} failed: ${error instanceof Error ? error.stack : error}`),
    {
      limits: most,
      crowd,
      turnsAway: (call) =>
        linkFor(call) ?? (clustered === undefined ? tenants.turnsAway(call) : clustered.front.turnsAway(call)),
      // A tenant of a cluster may be elsewhere, and its owner knows its tokens.
      isUnwanted: (call) => (clustered === undefined || tenants.nameOf(call) === undefined) && tenants.isUnwanted(call),
      takeTurn: (call, connection, run) => turns.take(groupOf(tenants.targetOf(call)), connection, run),
    },
  )
  const hosts = [
    ...allowHosts.map(checkedHost),
    ...[listedHost(host), cluster?.base && new URL(cluster.base).hostname].filter((one) => one !== undefined),
  ]
  tenants.hosts = hosts
  const guard: Guard = { hosts, mayList: true }
  let isOpen = false
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (!isOpen) {
      response.setHeader('Retry-After', '1')
      sendError(response, 503, 'The server is starting.')
      return
    }
    if (log !== undefined) logRequest(request, response, log)
    const path = targetOf(request)
    // The store answers any page, as the service does; the rest can make this machine send requests.
    const open = /^\/[^/_][^/]*\/store(?:[/?]|$)/.test(path)
    // Another node has let in what it hands on, and has signed that.
    const isPassed = clustered?.front.isPassed(request) === true
    const refused = open || isPassed ? undefined : refusal(request, guard, kindOf(path), token)
    if (path.startsWith('/_')) for (const [name, value] of unreadable) response.setHeader(name, value)
    if (refused === undefined) serve(request, response)
    else refuse(request, response, refused)
  }
  const file = state === undefined ? undefined : fileOf(state)
  const lock = file === undefined ? undefined : await locked(file)
  let origin = ''
  let links: InspectorLinks | undefined
  let keeper: StateKeeper | undefined
  let native: RedisPort | undefined
  let engine: PlacedEngine | undefined
  const { servers, port: taken } = await begun(
    async () => {
      const chosen = engineUrl ?? twin
      if (chosen !== undefined) {
        const { placed } = await import('./engine/placed.js')
        engine = await placed(chosen, options, tenants, tell)
      }
      const kept = file === undefined ? {} : readState(file)
      const listening = await listenOn(address, port, () =>
        connections.count(createServer(timeouts(most), answer)),
      ).catch((error) => {
        throw listenFailure(error, host, port)
      })
      tenants.watchMemory()
      origin = `http://${nameOf(host, address)}:${listening.port}`
      links = new InspectorLinks(token, origin)
      tenants.origin = cluster?.base === undefined ? origin : new URL(cluster.base).origin
      try {
        if (cluster !== undefined) clustered = await nodeOf(cluster, begin, tenants, most, address, origin, tell)
        if (redisPort !== undefined) {
          const porter: Porter = {
            enter(name, password) {
              if (isOpen) return tenants.enter(name, password)
              throw new ReplyError('LOADING The server is starting.')
            },
          }
          const { openRedisPort } = await import('./redis-port/redis-port.js')
          const at = {
            address,
            port: redisPort,
            tls: redisTls,
            most: most.connections,
            patience: most.arrival,
            crowd,
            turns,
            report: failed,
            tell,
          }
          native = await openRedisPort(at, porter).catch((error) => {
            throw listenFailure(error, host, redisPort, 'redisPort (--redis-port)')
          })
          tenants.redis = `${redisTls === undefined ? 'redis' : 'rediss'}://${nameOf(host, address)}:${native.port}`
        }
        for (const [tenant, dump] of Object.entries(kept)) restore(tenants, file!, tenant, dump, shift)
      } catch (error) {
        await Promise.all([ended(listening.servers, tenants, 0), native?.close(0)])
        clustered?.end()
        throw error
      }
      keeper = file === undefined ? undefined : new StateKeeper(file, tenants, tell)
      return listening
    },
    () => Promise.all([lock?.release(), engine?.close()]),
  )
  isOpen = true
  let isKept = true
  let closing: Promise<void> | undefined
  const close = ({ grace = usualGrace }: { readonly grace?: number } = {}): Promise<void> => {
    // Other nodes go on with its tenants at once, so they end here before anything else does.
    closing ??= handedOver(clustered, servers, tell)
      .then(() => Promise.all([ended(servers, tenants, grace), native?.close(grace)]))
      // Even requests that were answered in the meantime are kept.
      .then(async () => {
        clustered?.end()
        await engine?.close()
        isKept = (await keeper?.close()) ?? true
        // A hanging write may still complete: until then nobody else writes.
        if (isKept) await lock?.release()
        else void keeper?.idle().then(() => lock?.release())
      })
    return closing
  }
  const own = (): Tenants => {
    if (clustered === undefined) return tenants
    throw new TypeError(
      'The tenants of a cluster are at the nodes that own them: reach them over the network, with connect(url, { tenant }).',
    )
  }
  return {
    origin,
    host,
    port: taken,
    redisPort: native?.port,
    controlToken: token,
    secret,
    get inspector() {
      return links!.next()
    },
    tenant: (tenant) => own().get(tenant),
    adopt: (tenant, sandbox) => own().adopt(tenant, sandbox),
    release: (tenant) => own().release(tenant),
    drop: (tenant) => own().drop(tenant),
    outline: (tenant) => tenants.outline(tenant),
    node: clustered?.node,
    get tenants() {
      return tenants.names
    },
    change: (scenario) => {
      if (scene !== undefined) return scene.change(scenario)
      throw new TypeError('This server was started without a scenario: there is none to change.')
    },
    compared: async () => engine?.compared(),
    get isKept() {
      return isKept
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}

/** Neither a script nor an image of another page is made of what the server says of itself. */
const unreadable = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
] as const

/** The requests of a tenant share their turns; that it exists, or that they may, is not known yet. */
function groupOf(path: string): string {
  return /^\/(?:_control\/)?([^/?#]*)/.exec(path)?.[1] ?? ''
}

function kindOf(path: string): 'control' | 'page' | 'service' {
  if (isPagePath(path)) return 'page'
  return path.startsWith('/_') ? 'control' : 'service'
}

function checkedHost(given: string): string {
  const host = listedHost(given)
  if (host !== undefined) return host
  throw new TypeError(
    `allowHosts (--allow-host) are names or addresses without a port, such as "stuntdouble", not ${JSON.stringify(given)}.`,
  )
}

/** What a tenant keeps of its past: in a small heap less than in an ordinary one. */
function mostTraffic(): number {
  return Math.min(defaultPolicy.maxTrafficBytes!, Math.floor(heapLimit() / 16))
}

function refuseProduction(iKnow = false): void {
  if (iKnow || process.env.NODE_ENV !== 'production') return
  throw new Error(
    'NODE_ENV is production: a double would take the place of the real service there. Start it elsewhere, or with --i-know (in a program: iKnow: true).',
  )
}

/** Whoever publishes makes this machine send requests, and reads the answers. */
function refusePublic(world: SandboxOptions, host: string): void {
  const names = publicOnes(world)
  if (names.length === 0) return
  throw new TypeError(
    `What was given as ${names.join(', ')} is public, and other machines can call ${JSON.stringify(host)}: leave it out for tokens of this server's own, leave out --dev-user, or listen on localhost.`,
  )
}

/** Comes of the secret as well, so that one thing is to be kept. */
function controlTokenOf(secret: string): string {
  return createHmac('sha256', secret).update('stuntdouble\0control').digest().subarray(0, 24).toString('base64url')
}

/** Does it, and gives back what was taken if it fails. */
async function begun<T>(begin: () => Promise<T>, undo: () => Promise<unknown>): Promise<T> {
  try {
    return await begin()
  } catch (error) {
    await undo()
    throw error
  }
}

/** How clients on this machine name the server. */
function nameOf(host: string, address: string): string {
  if (isEveryAddress(address) || address === 'localhost') return '127.0.0.1'
  return host.includes(':') ? `[${address}]` : host
}
