import { createHmac, randomBytes } from 'node:crypto'
import {
  createServer,
  type ServerOptions as HttpOptions,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { hostClearTimeout, hostSetTimeout } from '../kernel/host.js'
import { publicOnes } from '../sandbox/credentials.js'
import type { SandboxDump } from '../sandbox/dump.js'
import { checkNames } from '../sandbox/options.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../sandbox/sandbox.js'
import type { Scenario } from '../scenarios/scenario.js'
import type { Porter } from '../store/native/wire.js'
import { addressOf, isEveryAddress, isLoopbackAddress, listenOn } from './addresses.js'
import { defaultHost, defaultPort } from './config.js'
import { refusal } from './guard.js'
import { inspectorLink } from './inspector/link.js'
import { isPagePath } from './inspector/page-answer.js'
import { defaultLimits, type ServerLimits } from './limits.js'
import { listenFailure } from './listen-failure.js'
import { listener, sendPlain, targetOf } from './listener.js'
import type { Certificate, RedisPort } from './redis-port/redis-port.js'
import { type LoggedRequest, logRequest } from './request-log.js'
import type { Scene } from './scene/scene.js'
import { readState, StateFileError, unusable } from './state/file.js'
import { StateKeeper } from './state/keeper.js'
import { fileOf, type Lock, lockFile } from './state/lock.js'
import { Tenants } from './tenants.js'

export { type InspectOptions, inspect } from './inspector/inspect.js'
export type { Failure } from './inspector/visit.js'
export type { ServerLimits } from './limits.js'
export type { LoggedRequest } from './request-log.js'

export interface ServerOptions extends Omit<SandboxOptions, 'base' | 'name' | 'store' | 'queue' | 'mgmt' | 'regions'> {
  /** Address to listen on. Default `localhost`, both of its addresses, so that nobody else can reach it. */
  readonly host?: string
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
  /** Starts although `NODE_ENV` is `production`. */
  readonly iKnow?: boolean
}

/** What is no option of a sandbox; the compiler keeps it complete. */
const serverNames: Readonly<Record<Exclude<keyof ServerOptions, keyof SandboxOptions>, true>> = {
  host: true,
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
  iKnow: true,
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
  /** The address of the inspector, with the control token in its fragment where there is one. */
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
  /** The tenants that were used so far. */
  readonly tenants: readonly string[]
  /**
   * Another scenario instead of the one it was started with: for new tenants all of it, for those that are there its
   * destinations and faults. Tells how many are there.
   */
  change(scenario: Scenario): number
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
    ...world
  } = options
  checkNames(options, 'startServer()', 'A server', serverNames)
  refuseProduction(iKnow)
  const address = await addressOf(host).catch((error) => {
    throw listenFailure(error, host, port)
  })
  const isWide = !isLoopbackAddress(address)
  if (isWide) refusePublic(world, host)
  const secret = world.secret ?? (isWide ? randomBytes(24).toString('base64url') : undefined)
  // Mistakes in the options must be reported now, not to the first request.
  createSandbox(world).dispose()
  const most = { ...defaultLimits, ...limits }
  const token = controlToken ?? (isWide ? controlTokenOf(secret!) : undefined)
  // A server delivers for real, as far as `deliver` allows, and may run for days.
  const policy = { trafficLimit: most.entries, ...world.policy }
  const scene = scenario === undefined ? undefined : await sceneOf(scenario, world)
  const begin = { fetch: globalThis.fetch, ...world, policy, ...(secret !== undefined && { secret }) }
  const tenants = new Tenants(begin, most.tenants, token, scene, isWide)
  const tell = report ?? ((text: string) => console.error(text))
  const failed = (error: unknown): void =>
    tell(`stuntdouble: the native port failed: ${error instanceof Error ? error.stack : error}`)
  const serve = listener(
    () => tenants.origin,
    (call) => tenants.exchange(call),
    (error, call) =>
      tell(`stuntdouble: ${call.method} ${call.url} failed: ${error instanceof Error ? error.stack : error}`),
    most,
    (call) => tenants.turnsAway(call),
  )
  let isOpen = false
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (!isOpen) {
      sendPlain(response, 503, 'The server is starting.')
      return
    }
    if (log !== undefined) logRequest(request, response, log)
    const path = targetOf(request)
    // The store answers any page, as the service does; the rest can make this machine send requests.
    const open = /^\/[^/_][^/]*\/store(?:[/?]|$)/.test(path)
    const refused = open ? undefined : refusal(request, host, path.startsWith('/_') || isPagePath(path))
    if (refused === undefined) serve(request, response)
    else sendPlain(response, 403, refused)
  }
  const file = state === undefined ? undefined : fileOf(state)
  const lock = file === undefined ? undefined : await locked(file)
  let keeper: StateKeeper | undefined
  let native: RedisPort | undefined
  const { servers, port: taken } = await begun(lock, async () => {
    const kept = file === undefined ? {} : readState(file)
    const listening = await listenOn(address, port, () => createServer(timeouts(most), answer)).catch((error) => {
      throw listenFailure(error, host, port)
    })
    tenants.origin = `http://${nameOf(host, address)}:${listening.port}`
    try {
      if (redisPort !== undefined) {
        const porter: Porter = { enter: (name, password) => (isOpen ? tenants.enter(name, password) : undefined) }
        const { openRedisPort } = await import('./redis-port/redis-port.js')
        const { connections, arrival } = most
        const at = { address, port: redisPort, tls: redisTls, most: connections, patience: arrival, report: failed }
        native = await openRedisPort(at, porter).catch((error) => {
          throw listenFailure(error, host, redisPort, 'redisPort (--redis-port)')
        })
        tenants.redis = `${redisTls === undefined ? 'redis' : 'rediss'}://${nameOf(host, address)}:${native.port}`
      }
      for (const [tenant, dump] of Object.entries(kept)) restore(tenants, file!, tenant, dump, shift)
    } catch (error) {
      await Promise.all([ended(listening.servers, tenants, 0), native?.close(0)])
      throw error
    }
    keeper = file === undefined ? undefined : new StateKeeper(file, tenants, tell)
    return listening
  })
  isOpen = true
  let isKept = true
  let closing: Promise<void> | undefined
  const close = ({ grace = usualGrace }: { readonly grace?: number } = {}): Promise<void> => {
    closing ??= Promise.all([ended(servers, tenants, grace), native?.close(grace)])
      // Even requests that were answered in the meantime are kept.
      .then(async () => {
        isKept = (await keeper?.close()) ?? true
        // A hanging write may still complete: until then nobody else writes.
        if (isKept) await lock?.release()
        else void keeper?.idle().then(() => lock?.release())
      })
    return closing
  }
  return {
    origin: tenants.origin,
    host,
    port: taken,
    redisPort: native?.port,
    controlToken: token,
    secret,
    inspector: inspectorLink(tenants.origin, token),
    tenant: (tenant) => tenants.get(tenant),
    adopt: (tenant, sandbox) => tenants.adopt(tenant, sandbox),
    release: (tenant) => tenants.release(tenant),
    drop: (tenant) => tenants.drop(tenant),
    get tenants() {
      return tenants.names
    },
    change: (scenario) => {
      if (scene !== undefined) return scene.change(scenario)
      throw new TypeError('This server was started without a scenario: there is none to change.')
    },
    get isKept() {
      return isKept
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}

/** Commands may come as paths, and some are long. A client that sends slowly shall not hold a socket for ever. */
function timeouts({ arrival }: ServerLimits): HttpOptions {
  return {
    maxHeaderSize: 1_048_576,
    headersTimeout: Math.min(20_000, arrival),
    requestTimeout: arrival,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: Math.min(10_000, Math.ceil(arrival / 4)),
  }
}

/** Loaded where there is one: most servers have none, and shall be ready soon. */
async function sceneOf(scenario: Scenario, world: SandboxOptions): Promise<Scene> {
  const [{ Scene }, { checkedScenario, givenLoading }] = await Promise.all([
    import('./scene/scene.js'),
    import('../scenarios/scenario.js'),
  ])
  const checked = checkedScenario(scenario, `The scenario ${JSON.stringify(scenario.name)}`)
  await givenLoading(checked)
  const scene = new Scene(checked, world.clock)
  // Mistakes that only show when it begins must be reported now, not to the first request.
  const trial = createSandbox(scene.options(world))
  try {
    scene.begin(trial)
  } catch (cause) {
    const { message } = cause as Error
    throw new TypeError(`The scenario ${JSON.stringify(scenario.name)} cannot begin: ${message}`, { cause })
  } finally {
    trial.dispose()
  }
  return scene
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

/** Open streams end with their sandboxes, idle connections at once, requests that run with their answer or the grace. */
async function ended(servers: readonly Server[], tenants: Tenants, grace: number): Promise<void> {
  tenants.dispose()
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
  // Connections that served a stream or a request that runs are idle a little later.
  let sweep: NodeJS.Timeout
  const swept = (): void => {
    for (const server of servers) server.closeIdleConnections()
    sweep = hostSetTimeout(swept, 10)
  }
  swept()
  const patience = hostSetTimeout(() => {
    for (const server of servers) server.closeAllConnections()
  }, grace)
  await Promise.all(closed)
  hostClearTimeout(patience)
  hostClearTimeout(sweep!)
}

async function locked(file: string): Promise<Lock> {
  const lock = await lockFile(file).catch((error: Error) => {
    throw new StateFileError(`${file} cannot be locked: ${error.message}.`)
  })
  if (lock !== undefined) return lock
  throw new StateFileError(
    `Another server of this machine keeps its state in ${file}. End that one first, or give another file with --state.`,
  )
}

/** Does it under a lock, which is given back if it fails. */
async function begun<T>(lock: Lock | undefined, begin: () => Promise<T>): Promise<T> {
  try {
    return await begin()
  } catch (error) {
    await lock?.release()
    throw error
  }
}

function restore(tenants: Tenants, file: string, tenant: string, dump: SandboxDump, shift: boolean): void {
  try {
    tenants.restore(tenant, dump, { shift })
  } catch (error) {
    throw error instanceof TypeError || error instanceof RangeError ? unusable(file, tenant, error) : error
  }
}

/** How clients on this machine name the server. */
function nameOf(host: string, address: string): string {
  if (isEveryAddress(address) || address === 'localhost') return '127.0.0.1'
  return host.includes(':') ? `[${address}]` : host
}
