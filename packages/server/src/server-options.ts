import { createHmac, randomBytes } from 'node:crypto'
import { milliseconds } from '../../../src/kernel/duration.js'
import { checkOptionNames } from '../../../src/kernel/nearest-name.js'
import { defaultPolicy } from '../../../src/policy/policy.js'
import { publicOnes } from '../../../src/sandbox/credentials.js'
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.js'
import { checkNames, checkNested } from '../../../src/sandbox/sandbox-options.js'
import type { Scenario } from '../../../src/scenarios/written-scenario.js'
import type { ClusterOptions } from './cluster/cluster-options.js'
import { heapLimit } from './heap-watch.js'
import { addressOf, defaultHost, defaultPort, isLoopbackAddress } from './listen-addresses.js'
import { listenFailure } from './listen-failure.js'
import { listedHost } from './origin-check.js'
import { type RealRedisChoice, withRealRedis } from './real-redis/real-redis-options.js'
import type { Certificate } from './redis-port/redis-port.js'
import type { RequestLogEntry } from './request-log.js'
import { defaultLimits, type ResolvedLimits, type ServerLimits } from './server-limits.js'
import { openTenantScenario } from './tenant-scenario/open-tenant-scenario.js'
import type { TenantScenario } from './tenant-scenario/tenant-scenario.js'

// What a server is started with, and what that comes to.

/** Options of `startServer()`. */
export interface ServerOptions extends Omit<SandboxOptions, 'name' | 'urls'>, RealRedisChoice {
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
  readonly onError?: (text: string) => void
  /** What the control API asks for as a bearer token. Default: nothing on this machine, else one derived from `secret`. */
  readonly controlToken?: string
  /**
   * The secret from which tokens and keys of each tenant are derived, unless they are given. At least 16 characters. Default: on this
   * machine none, with public defaults; where other machines can call, a random one.
   */
  readonly secret?: string
  readonly limits?: Partial<ServerLimits>
  /** Receives every request that is over, with tokens taken out. */
  readonly onRequest?: (request: RequestLogEntry) => void
  /**
   * Keeps every tenant in this file and takes them from it at the start. Written atomically, at most 200 ms after a
   * change; a damaged file is refused and left as it is.
   */
  readonly state?: string
  /** Moves all times of a tenant in the state file back that is ahead of a real clock, instead of refusing it. */
  readonly rebaseTime?: boolean
  /** What every new tenant begins with, and again after a reset: its initial state, its destinations and its faults. */
  readonly scenario?: Scenario
  /**
   * Makes it one node of a cluster, whose tenants outlive it: an engine keeps them, and whichever node is asked for a tenant
   * hands the request on to the one that has it. Not with `state`, `redisPort` and `scenario`.
   */
  readonly cluster?: ClusterOptions
  /** Starts although `NODE_ENV` is `production`. */
  readonly allowProduction?: boolean
}

/** What is no option of a sandbox; the compiler keeps it complete. */
const serverNames: Readonly<Record<Exclude<keyof ServerOptions, keyof SandboxOptions>, true>> = {
  host: true,
  allowHosts: true,
  port: true,
  redisPort: true,
  redisTls: true,
  onError: true,
  controlToken: true,
  limits: true,
  onRequest: true,
  state: true,
  rebaseTime: true,
  scenario: true,
  cluster: true,
  allowProduction: true,
  realRedis: true,
  shadowRedis: true,
  onDifference: true,
  allowRedisHosts: true,
}

/** What the options come to, checked. */
export interface Plan {
  readonly host: string
  readonly port: number
  /** The address that `host` stands for. */
  readonly address: string
  /** Names and addresses by which clients may call the server, beside those of this machine. */
  readonly hosts: readonly string[]
  /** Whether other machines can call. */
  readonly isWide: boolean
  /** Options of each tenant's sandbox. */
  readonly world: SandboxOptions
  readonly secret: string | undefined
  readonly controlToken: string | undefined
  readonly limits: ResolvedLimits
  readonly scene: TenantScenario | undefined
  readonly tell: (text: string) => void
}

/** @throws TypeError for mistakes in the options: they must be reported now, not to the first request */
export async function planOf(options: ServerOptions): Promise<Plan> {
  const { host = defaultHost, port = defaultPort, allowHosts = [], cluster, scenario } = options
  checkNames(options, 'startServer()', 'A server', serverNames)
  if (options.redisTls !== undefined) checkOptionNames('redisTls', options.redisTls, { cert: true, key: true })
  checkTenantsOwn(options)
  if (options.limits !== undefined) checkLimits(options.limits)
  const given = worldOf(options)
  checkNested(given)
  refuseProduction(options.allowProduction)
  const address = await addressOf(host).catch((error) => {
    throw listenFailure(error, host, port)
  })
  const isWide = !isLoopbackAddress(address)
  if (isWide) refusePublic(given, host)
  if (cluster !== undefined) {
    const { state, redisPort } = options
    const { checkCluster } = await import('./cluster/cluster-options.js')
    checkCluster(cluster, { state, redisPort, scenario }, isWide && given.secret === undefined)
  }
  const secret = given.secret ?? (isWide ? randomBytes(24).toString('base64url') : undefined)
  createSandbox(given).dispose()
  const limits = resolvedLimits(options.limits)
  const scene = scenario === undefined ? undefined : await openTenantScenario(scenario, given)
  // A server delivers for real, as far as `deliverTo` allows, and may run for days.
  const policy = { maxTrafficEntries: limits.maxTrafficEntries, maxTrafficBytes: mostTraffic(), ...given.policy }
  return {
    host,
    port,
    address,
    hosts: [
      ...allowHosts.map(checkedHost),
      ...[listedHost(host), cluster?.publicUrl && new URL(cluster.publicUrl).hostname].filter(
        (one) => one !== undefined,
      ),
    ],
    isWide,
    world: { fetch: globalThis.fetch, ...given, policy, ...(secret !== undefined && { secret }) },
    secret,
    controlToken: options.controlToken ?? (isWide ? controlTokenOf(secret!) : undefined),
    limits,
    scene,
    tell: options.onError ?? ((text) => console.error(text)),
  }
}

/** @throws TypeError for what a sandbox has and a server cannot give to all of its tenants */
function checkTenantsOwn(options: object): void {
  for (const name of ['name', 'urls'] as const) {
    if (!Object.hasOwn(options, name)) continue
    throw new TypeError(
      `A server has no option "${name}": each tenant has its own, http://localhost:4010/{tenant}/store and so on.`,
    )
  }
}

/** @throws TypeError for a limit that there is not, and for one that is no number */
function checkLimits(limits: Partial<ServerLimits>): void {
  checkOptionNames('limits', limits, Object.keys(defaultLimits))
  for (const [name, limit] of Object.entries(limits)) {
    if (name === 'requestTimeout' || limit === undefined || (typeof limit === 'number' && limit >= 0)) continue
    throw new TypeError(`limits.${name} is a number, 0 or more, got ${JSON.stringify(limit)}.`)
  }
}

/** @throws RangeError for a time that is none */
function resolvedLimits({ requestTimeout, ...given }: Partial<ServerLimits> = {}): ResolvedLimits {
  return {
    ...defaultLimits,
    ...given,
    ...(requestTimeout !== undefined && { requestTimeout: milliseconds(requestTimeout) }),
  }
}

/** The options that a sandbox has as well. */
function worldOf(options: ServerOptions): SandboxOptions {
  const own = Object.entries(options).filter(([name]) => !Object.hasOwn(serverNames, name))
  const world: SandboxOptions = Object.fromEntries(own)
  return options.realRedis === undefined && options.shadowRedis === undefined ? world : withRealRedis(options, world)
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

function refuseProduction(allowProduction = false): void {
  if (allowProduction || process.env.NODE_ENV !== 'production') return
  throw new Error(
    'NODE_ENV is production: a double would take the place of the real service there. Start it elsewhere, or with --allow-production (in a program: allowProduction: true).',
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
