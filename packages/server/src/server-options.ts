import { createHmac, randomBytes } from 'node:crypto'
import { milliseconds } from '../../../src/kernel/duration.js'
import { checkOptionNames } from '../../../src/kernel/nearest-name.js'
import { shownValue } from '../../../src/kernel/shown-value.js'
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

// Checks the options of a server and converts them to a plan.

/** Options of `startServer()`. */
export interface ServerOptions extends Omit<SandboxOptions, 'name' | 'urls'>, RealRedisChoice {
  /**
   * Address to listen on. Default `localhost`, which means both loopback addresses, so that no other machine can
   * connect.
   */
  readonly host?: string
  /**
   * Additional host names and addresses of this server, such as its service name in Docker Compose or Kubernetes.
   * `localhost`, `host` and the address that a client reaches are always allowed. Requests with any other host name are
   * rejected, because that name could also belong to another machine.
   */
  readonly allowHosts?: readonly string[]
  /** Port to listen on. Default 4010; 0 selects a free port. */
  readonly port?: number
  /**
   * Port of the Redis protocol (RESP2 and RESP3), on the same address; 0 selects a free port. Default: none. The user
   * name contains the tenant, such as `w1/default` for tenant `w1`. A user name without a tenant belongs to `main`.
   */
  readonly redisPort?: number
  /**
   * Lets clients of the Redis protocol run commands without a password, as user `default` of tenant `main`. Needs
   * `redisPort`, and a `host` that only this machine can reach. Default `false`.
   */
  readonly redisNoAuth?: boolean
  /** Certificate and private key in PEM, which turn on TLS for the Redis protocol. */
  readonly redisTls?: Certificate
  /** Receives internal errors and warnings as text. Default `console.error`. */
  readonly onError?: (text: string) => void
  /** Bearer token of the control API. Default: none on a loopback address, otherwise a token derived from `secret`. */
  readonly controlToken?: string
  /**
   * Secret of at least 16 characters. The tokens and keys of each tenant are derived from it, unless you set them.
   * Default: on a loopback address no secret, so that the public default tokens are valid; otherwise a random secret.
   */
  readonly secret?: string
  /** Limits of requests, connections, tenants and memory. Default: the defaults of `ServerLimits`. */
  readonly limits?: Partial<ServerLimits>
  /** Receives an entry for every finished request, with tokens removed. */
  readonly onRequest?: (request: RequestLogEntry) => void
  /**
   * File in which all tenants are saved, and from which they are loaded at the start. It is written atomically, at most
   * 200 ms after a change. If the file is damaged, the server does not start, and the file is not changed.
   */
  readonly state?: string
  /**
   * Accepts a state file whose tenants are ahead of a real clock. The times of these tenants are moved back to now.
   * Default: such a file is rejected.
   */
  readonly rebaseTime?: boolean
  /**
   * Scenario for every new tenant: its initial state, destinations and faults. After a reset, a tenant gets them again.
   */
  readonly scenario?: Scenario
  /**
   * Makes the server a node of a cluster. The cluster keeps its tenants in Redis, so that they outlive the node. Every
   * node forwards requests to the node that owns the tenant. Excludes `state`, `redisPort` and `scenario`.
   */
  readonly cluster?: ClusterOptions
  /** Allows the start when `NODE_ENV` is `production`. Default `false`. */
  readonly allowProduction?: boolean
}

/**
 * Names of the options that a server has but a sandbox does not. The type makes the compiler check that the list is
 * complete.
 */
const serverNames: Readonly<Record<Exclude<keyof ServerOptions, keyof SandboxOptions>, true>> = {
  host: true,
  allowHosts: true,
  port: true,
  redisPort: true,
  redisNoAuth: true,
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

/** The checked options of a server, with their defaults. */
export interface Plan {
  readonly host: string
  readonly port: number
  /** Resolved address of `host`. */
  readonly address: string
  /** Host names and addresses by which clients may call the server, in addition to those of this machine. */
  readonly hosts: readonly string[]
  /** Whether other machines can connect. */
  readonly isWide: boolean
  /** Options of the sandbox of each tenant. */
  readonly world: SandboxOptions
  readonly secret: string | undefined
  readonly controlToken: string | undefined
  readonly limits: ResolvedLimits
  readonly scene: TenantScenario | undefined
  readonly tell: (text: string) => void
}

/**
 * Checks the options and returns the plan.
 * @throws TypeError for invalid options, so that the start fails instead of the first request
 */
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
    const { state, redisPort, realRedis } = options
    const { checkCluster } = await import('./cluster/cluster-options.js')
    checkCluster(cluster, { state, redisPort, realRedis, scenario }, isWide && given.secret === undefined)
  }
  if (options.redisNoAuth !== undefined) checkNoAuth(options, isWide, host)
  const secret = given.secret ?? (isWide ? randomBytes(24).toString('base64url') : undefined)
  createSandbox({ ...given, urls: { base: 'http://localhost' } }).dispose()
  const limits = resolvedLimits(options.limits)
  const scene = scenario === undefined ? undefined : await openTenantScenario(scenario, given)
  // Limit the traffic log, because a server may run for days.
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

/**
 * Rejects the options that each tenant sets itself.
 * @throws TypeError
 */
function checkTenantsOwn(options: object): void {
  for (const name of ['name', 'urls'] as const) {
    if (!Object.hasOwn(options, name)) continue
    throw new TypeError(
      `startServer(): a server has no option "${name}". Omit it: each tenant has its own name and URLs, such as http://localhost:4010/{tenant}/store.`,
    )
  }
}

/** Checks the limits. @throws TypeError for an unknown limit, and for a limit that is not a number of 0 or more */
function checkLimits(limits: Partial<ServerLimits>): void {
  checkOptionNames('limits', limits, Object.keys(defaultLimits))
  for (const [name, limit] of Object.entries(limits)) {
    if (name === 'requestTimeout' || limit === undefined || (typeof limit === 'number' && limit >= 0)) continue
    throw new TypeError(`limits.${name} must be a number of 0 or more (got ${JSON.stringify(limit)}).`)
  }
}

/**
 * Returns the limits with defaults, and with all durations in milliseconds.
 * @throws RangeError for an invalid duration
 */
function resolvedLimits({ requestTimeout, ...given }: Partial<ServerLimits> = {}): ResolvedLimits {
  return {
    ...defaultLimits,
    ...given,
    ...(requestTimeout !== undefined && { requestTimeout: milliseconds(requestTimeout) }),
  }
}

function worldOf(options: ServerOptions): SandboxOptions {
  const own = Object.entries(options).filter(([name]) => !Object.hasOwn(serverNames, name))
  const world: SandboxOptions = Object.fromEntries(own)
  return options.realRedis === undefined && options.shadowRedis === undefined ? world : withRealRedis(options, world)
}

function checkedHost(given: string): string {
  const host = listedHost(given)
  if (host !== undefined) return host
  throw new TypeError(
    `allowHosts (--allow-host) must be names or addresses without a port, such as "stuntdouble" (got ${JSON.stringify(given)}).`,
  )
}

/** Returns the maximum bytes of a tenant's traffic log. The maximum is lower in a small heap. */
function mostTraffic(): number {
  return Math.min(defaultPolicy.maxTrafficBytes!, Math.floor(heapLimit() / 16))
}

function refuseProduction(allowProduction = false): void {
  if (allowProduction || process.env.NODE_ENV !== 'production') return
  throw new Error(
    'NODE_ENV must not be production, because a double would replace the real service and lose data. Start the server elsewhere, or with --allow-production (in a program: allowProduction: true).',
  )
}

/**
 * Rejects public tokens when other machines can connect. With a public token, any client could publish messages. This
 * machine would then send requests for the client, and the client could read the responses.
 */
function refusePublic(world: SandboxOptions, host: string): void {
  const names = publicOnes(world)
  if (names.length === 0) return
  throw new TypeError(
    `startServer(): ${names.join(', ')} must not be public, because other machines can connect to ${JSON.stringify(host)}. Omit them (and --dev-user) to get tokens that are not public, or listen on localhost.`,
  )
}

/**
 * Checks that a Redis port may do without a password. Real Redis and cluster exclude the port itself, so they are
 * rejected before.
 * @throws TypeError
 */
function checkNoAuth({ redisNoAuth, redisPort }: ServerOptions, isWide: boolean, host: string): void {
  if (typeof redisNoAuth !== 'boolean') {
    throw new TypeError(`redisNoAuth must be true or false (got ${shownValue(redisNoAuth)}).`)
  }
  if (!redisNoAuth) return
  if (isWide) {
    throw new TypeError(
      `redisNoAuth (--redis-no-auth) is not possible with host ${JSON.stringify(host)}, because any machine could then run commands without a password. Omit it, or listen on localhost.`,
    )
  }
  if (redisPort === undefined) {
    throw new TypeError('redisNoAuth (--redis-no-auth) needs redisPort (--redis-port). Add a port, such as 6379.')
  }
}

/** Derives the control token from the secret, so that the user only has to store the secret. */
function controlTokenOf(secret: string): string {
  return createHmac('sha256', secret).update('stuntdouble\0control').digest().subarray(0, 24).toString('base64url')
}
