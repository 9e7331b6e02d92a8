import { type Option, type ParsedArguments, textOf, UsageError } from '@stuntdouble/command-line'
import type { ClockMode } from '../../../src/kernel/clock.js'
import { parseDuration } from '../../../src/kernel/duration.js'
import { instant } from '../../../src/kernel/instant.js'
import { dialectNames } from '../../../src/protocol/dialect.js'
import { devUsers, userOf } from '../../../src/queue/signing/public-users.js'
import { defaultStart } from '../../../src/sandbox/sandbox.js'
import { defaultHost, defaultPort } from './listen-addresses.js'
import { policyFrom, policyHint } from './policy-arguments.js'
import type { ServerLimits } from './server-limits.js'
import type { ServerOptions } from './server-options.js'

/**
 * Environment variable for `--secret`. Other users of a machine can read the arguments of a process, but not its
 * environment.
 */
export const secretVariable = 'STUNTDOUBLE_SECRET'
export const controlTokenVariable = 'STUNTDOUBLE_CONTROL_TOKEN'
const clusterSecretVariable = 'STUNTDOUBLE_CLUSTER_SECRET'
/** Environment variable with the URL of a tenant's control API, for programs that advance time or read faults. */
export const controlVariable = 'STUNTDOUBLE_CONTROL_URL'
/** Environment variable for `--cluster`, because its URL may contain a password. */
const clusterVariable = 'STUNTDOUBLE_CLUSTER_URL'

type Name =
  | 'host'
  | 'port'
  | 'redis-port'
  | 'redis-no-auth'
  | 'redis-cert'
  | 'redis-key'
  | 'dialect'
  | 'clock'
  | 'seed'
  | 'start-at'
  | 'store-token'
  | 'store-readonly-token'
  | 'queue-token'
  | 'queue-readonly-token'
  | 'signing-key'
  | 'next-signing-key'
  | 'mgmt-user'
  | 'mgmt-key'
  | 'deliver-to'
  | 'policy'
  | 'allow-host'
  | 'databases'
  | 'dev-user'
  | 'control-token'
  | 'secret'
  | 'log'
  | 'max-body-bytes'
  | 'max-buffered'
  | 'request-timeout'
  | 'max-streams'
  | 'max-connections'
  | 'max-tenants'
  | 'max-traffic-entries'
  | 'state'
  | 'rebase-time'
  | 'scenario'
  | 'watch'
  | 'real-redis'
  | 'shadow-redis'
  | 'allow-redis-host'
  | 'cluster'
  | 'cluster-secret'
  | 'cluster-node-url'
  | 'cluster-public-url'
  | 'cluster-lease'
  | 'allow-production'

/** Names that `--dev-user` accepts. Each name selects the token and signing keys of a public user. */
const publicUsers = devUsers.map(({ token }) => userOf(token))

/** Options of `stuntdouble serve`, by name. */
export const serveArguments: Readonly<Record<Name, Option>> = {
  host: { type: 'string', valueHint: 'ADDRESS', default: defaultHost, description: 'address to listen on' },
  port: { type: 'string', valueHint: 'N', default: String(defaultPort), description: 'port; 0 selects a free one' },
  'redis-port': {
    type: 'string',
    group: 'store',
    valueHint: 'N',
    description: 'port for the Redis protocol (redis-cli, ioredis); 0 selects a free one',
  },
  'redis-no-auth': {
    type: 'boolean',
    group: 'store',
    description: 'accept Redis clients without a password, on a loopback address only',
  },
  'redis-cert': {
    type: 'string',
    group: 'store',
    valueHint: 'FILE',
    description: 'PEM certificate that turns on TLS for the Redis port',
  },
  'redis-key': {
    type: 'string',
    group: 'store',
    valueHint: 'FILE',
    description: 'PEM private key of the certificate',
  },
  dialect: {
    type: 'string',
    valueHint: dialectNames.join('|'),
    default: 'auto',
    description: 'spelling of headers and paths; auto follows the request',
  },
  clock: {
    type: 'string',
    valueHint: 'manual|auto|real',
    default: 'real',
    description: 'clock mode; real uses system time',
  },
  seed: { type: 'string', valueHint: 'N', default: '1', description: 'seed of every random choice' },
  'start-at': {
    type: 'string',
    valueHint: 'ISO',
    description: 'virtual time at the start, for --clock manual and auto',
  },
  databases: {
    type: 'string',
    group: 'store',
    valueHint: 'NAMES',
    description: 'databases to add to the store of each tenant, with commas between them',
  },
  'store-token': { type: 'string', group: 'store', valueHint: 'T', description: 'standard token of the store' },
  'store-readonly-token': {
    type: 'string',
    group: 'store',
    valueHint: 'T',
    description: 'read-only token of the store',
  },
  'queue-token': { type: 'string', group: 'queue', valueHint: 'T', description: 'token of the queue' },
  'queue-readonly-token': {
    type: 'string',
    group: 'queue',
    valueHint: 'T',
    description: 'read-only token of the queue',
  },
  'signing-key': {
    type: 'string',
    group: 'queue',
    valueHint: 'K',
    description: 'current signing key of deliveries',
  },
  'next-signing-key': {
    type: 'string',
    group: 'queue',
    valueHint: 'K',
    description: 'next signing key of deliveries',
  },
  'mgmt-user': { type: 'string', group: 'security', valueHint: 'U', description: 'user of the management API' },
  'mgmt-key': { type: 'string', group: 'security', valueHint: 'K', description: 'key of the management API' },
  'deliver-to': {
    type: 'string',
    valueHint: 'HOSTS',
    default: 'loopback',
    description: 'hosts to deliver to: loopback, none, any, HOST,HOST',
  },
  policy: {
    type: 'string',
    valueHint: policyHint,
    description: 'set a policy, as in queueLimits.maxRetries=5; repeatable',
  },
  'allow-host': {
    type: 'string',
    group: 'security',
    valueHint: 'HOSTS',
    description: 'additional host names of this server, with commas between them',
  },
  'dev-user': {
    type: 'string',
    group: 'queue',
    valueHint: 'NAME',
    description: `public user: ${publicUsers.join(', ')}`,
  },
  'control-token': {
    type: 'string',
    group: 'security',
    valueHint: 'T',
    description: `token of the control API; or ${controlTokenVariable}`,
  },
  secret: {
    type: 'string',
    group: 'security',
    valueHint: 'S',
    description: `secret that all tokens are derived from; or ${secretVariable}`,
  },
  log: { type: 'boolean', description: 'print a JSON line for each request, without secrets' },
  'max-body-bytes': {
    type: 'string',
    group: 'security',
    valueHint: 'BYTES',
    description: 'maximum size of a request body (default 128 MiB)',
  },
  'max-buffered': {
    type: 'string',
    group: 'security',
    valueHint: 'BYTES',
    description: 'maximum bytes in transit, all clients (default 512 MiB or heap / 4)',
  },
  'request-timeout': {
    type: 'string',
    group: 'security',
    valueHint: 'DURATION',
    description: 'time in which a request must arrive with its body (default 2m)',
  },
  'max-streams': {
    type: 'string',
    group: 'security',
    valueHint: 'N',
    description: 'maximum number of open event streams (default 1000)',
  },
  'max-connections': {
    type: 'string',
    group: 'security',
    valueHint: 'N',
    description: 'maximum number of Redis protocol connections (default 10000)',
  },
  'max-tenants': {
    type: 'string',
    group: 'security',
    valueHint: 'N',
    description: 'maximum number of tenants (default 1000)',
  },
  'max-traffic-entries': {
    type: 'string',
    group: 'security',
    valueHint: 'N',
    description: 'maximum traffic log entries per tenant (default 200000)',
  },
  state: {
    type: 'string',
    valueHint: 'FILE',
    description: 'load all tenants from this file at the start and save them to it',
  },
  'rebase-time': { type: 'boolean', description: 'accept a state from the future and move its times to now' },
  scenario: {
    type: 'string',
    valueHint: 'FILE|NAME',
    description: 'start tenants with a scenario: its state, destinations and faults',
  },
  watch: { type: 'boolean', description: 'reload the scenario when its file changes' },
  'real-redis': {
    type: 'string',
    group: 'real Redis',
    valueHint: 'URL',
    description: 'Redis or Valkey for the data of the store; empty at the start',
  },
  'shadow-redis': {
    type: 'string',
    group: 'real Redis',
    valueHint: 'URL',
    description: 'empty Redis or Valkey to compare replies with; prints differences',
  },
  'allow-redis-host': {
    type: 'string',
    group: 'real Redis',
    valueHint: 'HOSTS',
    description: 'other hosts whose Redis may be written to and flushed',
  },
  cluster: {
    type: 'string',
    group: 'cluster',
    valueHint: 'REDIS-URL',
    description: `Redis that keeps all tenants; or ${clusterVariable}`,
  },
  'cluster-secret': {
    type: 'string',
    group: 'cluster',
    valueHint: 'S',
    description: `secret shared by all nodes; or ${clusterSecretVariable}`,
  },
  'cluster-node-url': {
    type: 'string',
    group: 'cluster',
    valueHint: 'URL',
    description: 'URL of this node for other nodes (default: address it listens on)',
  },
  'cluster-public-url': {
    type: 'string',
    group: 'cluster',
    valueHint: 'URL',
    description: 'URL for clients, same on all nodes (default: URL of this server)',
  },
  'cluster-lease': {
    type: 'string',
    group: 'cluster',
    valueHint: 'DURATION',
    description: 'time until tenants of a silent node are taken over (default 1500ms)',
  },
  'allow-production': { type: 'boolean', description: 'start even if NODE_ENV is production' },
}

/** Option `--control-token` of commands that connect to a running server. */
export const controlTokenOption: Option = {
  type: 'string',
  valueHint: 'T',
  description: `token of the control API; or ${controlTokenVariable}`,
}

/** Converts parsed arguments to the options of a server. @throws UsageError for an invalid value */
export function serverOptions(given: ParsedArguments): ServerOptions {
  const clock = oneOf('clock', given, ['manual', 'auto', 'real'] as const satisfies readonly ClockMode[])
  const user = devUser(text('dev-user', given))
  return {
    host: text('host', given)!,
    port: port(text('port', given)!),
    ...redis(given),
    ...cluster(given),
    dialect: oneOf('dialect', given, dialectNames),
    clock,
    seed: text('seed', given)!,
    ...startAt(text('start-at', given), clock),
    deliverTo: deliver(text('deliver-to', given)!),
    ...policy(given),
    ...limits(given),
    ...(given.log === true && { onRequest: (request) => console.log(JSON.stringify(request)) }),
    ...listed('allowHosts', text('allow-host', given)),
    ...listed('databases', text('databases', given)),
    ...listed('allowRedisHosts', text('allow-redis-host', given)),
    allowProduction: given['allow-production'] === true,
    rebaseTime: given['rebase-time'] === true,
    ...named(fromEnvironment(given), {
      controlToken: 'control-token',
      secret: 'secret',
      state: 'state',
      realRedis: 'real-redis',
      shadowRedis: 'shadow-redis',
    }),
    tokens: {
      ...user?.tokens,
      ...named(given, {
        store: 'store-token',
        storeReadonly: 'store-readonly-token',
        queue: 'queue-token',
        queueReadonly: 'queue-readonly-token',
        mgmtUser: 'mgmt-user',
        mgmtKey: 'mgmt-key',
      }),
    },
    signingKeys: { ...user?.signingKeys, ...named(given, { current: 'signing-key', next: 'next-signing-key' }) },
  }
}

/** Returns the arguments. A secret or control token that is not among them is taken from the environment. */
export function fromEnvironment(given: ParsedArguments): ParsedArguments {
  const secret = process.env[secretVariable] || undefined
  const token = process.env[controlTokenVariable] || undefined
  return {
    ...given,
    ...(secret !== undefined && given.secret === undefined && { secret }),
    ...(token !== undefined && given['control-token'] === undefined && { 'control-token': token }),
  }
}

function text(name: Name, given: ParsedArguments): string | undefined {
  return textOf(given, name, serveArguments[name].valueHint ?? '')
}

function devUser(name: string | undefined): Pick<ServerOptions, 'tokens' | 'signingKeys'> | undefined {
  if (name === undefined) return undefined
  const user = devUsers[publicUsers.indexOf(name)]
  if (user === undefined) {
    throw new UsageError(`--dev-user must be one of ${publicUsers.join(', ')} (got ${JSON.stringify(name)}).`)
  }
  return { tokens: { queue: user.token }, signingKeys: { current: user.current, next: user.next } }
}

function policy({ policy: given = [] }: ParsedArguments): Pick<ServerOptions, 'policy'> {
  const words = given as readonly string[]
  return words.length === 0 ? {} : { policy: policyFrom(words) }
}

function limits(given: ParsedArguments): Pick<ServerOptions, 'limits'> {
  const of = {
    maxBodyBytes: 'max-body-bytes',
    buffered: 'max-buffered',
    requestTimeout: 'request-timeout',
    maxStreams: 'max-streams',
    maxConnections: 'max-connections',
    maxTenants: 'max-tenants',
    maxTrafficEntries: 'max-traffic-entries',
  } as const satisfies Readonly<Record<keyof ServerLimits, Name>>
  const set: { -readonly [Limit in keyof ServerLimits]?: number } = {}
  for (const [limit, name] of Object.entries(of) as [keyof ServerLimits, Name][]) {
    const value = text(name, given)
    if (value === undefined) continue
    if (name === 'request-timeout') set[limit] = duration(name, value)
    else if (!/^[1-9]\d{0,14}$/.test(value)) {
      throw new UsageError(`--${name} must be a whole number of 1 or more (got ${JSON.stringify(value)}).`)
    } else set[limit] = Number(value)
  }
  return { limits: set }
}

/** Parses a duration option: milliseconds as digits, or a text such as `90s`. @returns milliseconds */
function duration(name: Name, value: string): number {
  const milliseconds = /^\d{1,15}$/.test(value) ? Number(value) : parseDuration(value)
  if (milliseconds !== undefined && milliseconds > 0) return milliseconds
  throw new UsageError(`--${name} must be a duration such as 90s or 2m (got ${JSON.stringify(value)}).`)
}

function oneOf<const T extends string>(name: Name, given: ParsedArguments, values: readonly T[]): T {
  const value = text(name, given)
  const found = values.find((candidate) => candidate === value)
  if (found !== undefined) return found
  throw new UsageError(`--${name} must be one of ${values.join(', ')} (got ${JSON.stringify(value)}).`)
}

export function port(value: string, name = 'port'): number {
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value)
  throw new UsageError(`--${name} must be a number from 0 to 65535 (got ${JSON.stringify(value)}).`)
}

function redis(given: ParsedArguments): Pick<ServerOptions, 'redisPort' | 'redisNoAuth'> {
  const [number, cert, key] = [text('redis-port', given), text('redis-cert', given), text('redis-key', given)]
  const noAuth = given['redis-no-auth'] === true
  if (number === undefined) {
    if (noAuth) throw new UsageError('--redis-no-auth needs --redis-port. Add a port, such as --redis-port 6379.')
    if (cert === undefined && key === undefined) return {}
    throw new UsageError('--redis-cert and --redis-key need --redis-port. Add a port, such as --redis-port 6379.')
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError(
      '--redis-cert and --redis-key must be given together. Add the missing one, or omit both for a port without TLS.',
    )
  }
  return { redisPort: port(number, 'redis-port'), ...(noAuth && { redisNoAuth: true }) }
}

function cluster(given: ParsedArguments): Pick<ServerOptions, 'cluster'> {
  const engine = text('cluster', given) ?? (process.env[clusterVariable] || undefined)
  const secret = text('cluster-secret', given) ?? process.env[clusterSecretVariable] ?? ''
  const [address, base, lease] = [
    text('cluster-node-url', given),
    text('cluster-public-url', given),
    text('cluster-lease', given),
  ]
  if (engine === undefined) {
    const lonely = (['cluster-secret', 'cluster-node-url', 'cluster-public-url', 'cluster-lease'] as const).find(
      (name) => given[name] !== undefined,
    )
    if (lonely === undefined) return {}
    throw new UsageError(
      `--${lonely} needs --cluster. Add the URL of its Redis, such as --cluster redis://127.0.0.1:6379.`,
    )
  }
  return {
    cluster: {
      url: engine,
      secret,
      ...(address !== undefined && { nodeUrl: address }),
      ...(base !== undefined && { publicUrl: base }),
      ...(lease !== undefined && { lease: duration('cluster-lease', lease) }),
    },
  }
}

/**
 * Returns the start time of the clock. A virtual clock starts at the same instant on every run unless `--start-at` is
 * given. A real clock has no start time.
 */
function startAt(value: string | undefined, clock: ClockMode): { startAt?: number | string } {
  if (value === undefined) return clock === 'real' ? {} : { startAt: defaultStart }
  const at = startOf(value)
  if (clock !== 'real') return { startAt: at }
  throw new UsageError(
    '--start-at needs virtual time, and --clock real uses system time. Add --clock manual or --clock auto, or omit --start-at.',
  )
}

function startOf(value: string): number {
  try {
    return instant(/^\d+$/.test(value) ? Number(value) : value)
  } catch {
    throw new UsageError(`--start-at must be a time such as 2030-01-01T09:00:00Z (got ${JSON.stringify(value)}).`)
  }
}

function listed(
  option: 'allowRedisHosts' | 'allowHosts' | 'databases',
  names: string | undefined,
): Partial<ServerOptions> {
  return names === undefined ? {} : { [option]: names.split(',').map((name) => name.trim()) }
}

function deliver(value: string): 'loopback' | 'none' | 'any' | readonly string[] {
  if (value === 'loopback' || value === 'none' || value === 'any') return value
  const hosts = value.split(',').map((host) => host.trim())
  const wrong = hosts.find((host) => host === '' || !URL.canParse(`http://${host}`) || /[/?#@]/.test(host))
  if (wrong === undefined) return hosts
  throw new UsageError(
    `--deliver-to must be loopback, none, any, or hosts with commas between them (got ${JSON.stringify(value)}).`,
  )
}

/**
 * Returns the values of arguments that need no conversion, by the name of the server option. Arguments that are not on
 * the command line are omitted.
 */
function named<K extends string>(given: ParsedArguments, names: Readonly<Record<K, Name>>): Partial<Record<K, string>> {
  const out: Partial<Record<K, string>> = {}
  for (const [option, name] of Object.entries(names) as [K, Name][]) {
    const value = text(name, given)
    if (value !== undefined) out[option] = value
  }
  return out
}

/**
 * Returns the environment for a command that uses a tenant: the variables of the SDKs, and the URL of the tenant's
 * control API.
 */
export function commandEnvironment(
  origin: string,
  tenant: string,
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return { ...env, [controlVariable]: `${origin.replace(/\/+$/, '')}/_control/${encodeURIComponent(tenant)}` }
}
