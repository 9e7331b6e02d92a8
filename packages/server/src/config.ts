import { type ParsedArguments, textOf, UsageError } from '@stuntdouble/command-line'
import type { BooleanArgDef, StringArgDef } from 'citty'
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

/** Other users of a machine see the words of a command, but not its environment. */
export const secretVariable = 'STUNTDOUBLE_SECRET'
export const controlTokenVariable = 'STUNTDOUBLE_CONTROL_TOKEN'
const clusterSecretVariable = 'STUNTDOUBLE_CLUSTER_SECRET'
/** The address of a tenant's control API, for commands that move time or read faults. */
export const controlVariable = 'STUNTDOUBLE_CONTROL_URL'
/** An address with a password in it. */
const clusterVariable = 'STUNTDOUBLE_CLUSTER_URL'

type Name =
  | 'host'
  | 'port'
  | 'redis-port'
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

/** As their tokens name them. */
const publicUsers = devUsers.map(({ token }) => userOf(token))

/** The options of `stuntdouble serve`. */
export const serveArguments: Readonly<Record<Name, (StringArgDef & { type: 'string' }) | BooleanArgDef>> = {
  host: { type: 'string', valueHint: 'ADDRESS', default: defaultHost, description: 'address to listen on' },
  port: { type: 'string', valueHint: 'N', default: String(defaultPort), description: 'port; 0 takes a free one' },
  'redis-port': {
    type: 'string',
    valueHint: 'N',
    description:
      'port for the native protocol of the data store, as redis-cli and ioredis speak it; 0 takes a free one',
  },
  'redis-cert': { type: 'string', valueHint: 'FILE', description: 'certificate of that port, PEM: it speaks TLS then' },
  'redis-key': { type: 'string', valueHint: 'FILE', description: 'private key of the certificate, PEM' },
  dialect: {
    type: 'string',
    valueHint: dialectNames.join('|'),
    default: 'auto',
    description: 'words of headers, paths and texts; with auto those of each request',
  },
  clock: {
    type: 'string',
    valueHint: 'manual|auto|real',
    default: 'real',
    description: 'who moves time; with real it is the time of the host',
  },
  seed: { type: 'string', valueHint: 'N', default: '1', description: 'replays everything that is left to chance' },
  'start-at': {
    type: 'string',
    valueHint: 'ISO',
    description: 'virtual time at the start, for a clock that is not real',
  },
  'store-token': { type: 'string', valueHint: 'T', description: 'standard token of the data store' },
  'store-readonly-token': { type: 'string', valueHint: 'T', description: 'read-only token of the data store' },
  'queue-token': { type: 'string', valueHint: 'T', description: 'token of the queue' },
  'queue-readonly-token': { type: 'string', valueHint: 'T', description: 'read-only token of the queue' },
  'signing-key': { type: 'string', valueHint: 'K', description: 'current signing key of deliveries' },
  'next-signing-key': { type: 'string', valueHint: 'K', description: 'next signing key of deliveries' },
  'mgmt-user': { type: 'string', valueHint: 'U', description: 'user of the management API' },
  'mgmt-key': { type: 'string', valueHint: 'K', description: 'key of the management API' },
  'deliver-to': {
    type: 'string',
    valueHint: 'loopback|none|any|host,host',
    default: 'loopback',
    description: 'hosts that deliveries may reach',
  },
  policy: {
    type: 'string',
    valueHint: policyHint,
    description:
      'a choice where public sources are silent or disagree, its value as JSON: queueLimits.maxRetries=5; may be given several times',
  },
  'allow-host': {
    type: 'string',
    valueHint: 'HOST,HOST',
    description: 'names by which clients call it, such as that of its service in Docker Compose',
  },
  'dev-user': {
    type: 'string',
    valueHint: publicUsers.join('|'),
    description: "a user of the vendor's own development server, whose token and keys are public",
  },
  'control-token': {
    type: 'string',
    valueHint: 'T',
    description: `what the control API asks for, also as ${controlTokenVariable}; derived from the secret where other machines can call`,
  },
  secret: {
    type: 'string',
    valueHint: 'S',
    description: `what the tokens of each tenant are derived from, also as ${secretVariable}; random where other machines can call`,
  },
  log: { type: 'boolean', description: 'print a JSON line for each request, without secrets' },
  'max-body-bytes': { type: 'string', valueHint: 'BYTES', description: 'most bytes of one request' },
  'max-buffered': {
    type: 'string',
    valueHint: 'BYTES',
    description: 'most bytes on their way, of all clients together',
  },
  'request-timeout': {
    type: 'string',
    valueHint: 'DURATION',
    description: 'time in which a request has to arrive, its body included',
  },
  'max-streams': { type: 'string', valueHint: 'N', description: 'most event streams at once' },
  'max-connections': {
    type: 'string',
    valueHint: 'N',
    description: 'most connections of the native protocol at once',
  },
  'max-tenants': { type: 'string', valueHint: 'N', description: 'most tenants at once' },
  'max-traffic-entries': {
    type: 'string',
    valueHint: 'N',
    description: 'most entries in the traffic log of each tenant',
  },
  state: {
    type: 'string',
    valueHint: 'FILE',
    description: 'keep every tenant in this file, and begin with what it holds',
  },
  'rebase-time': { type: 'boolean', description: 'move all times of a state back if it is ahead of the clock' },
  scenario: {
    type: 'string',
    valueHint: 'FILE|NAME',
    description:
      'what every new tenant begins with: state, destinations and faults of a scenario, or of a shipped one by its name',
  },
  watch: { type: 'boolean', description: 'read the scenario again whenever its file changes' },
  'real-redis': {
    type: 'string',
    valueHint: 'URL',
    description: 'an empty Redis or Valkey that holds what the data store holds, such as redis://127.0.0.1:6379',
  },
  'shadow-redis': {
    type: 'string',
    valueHint: 'URL',
    description: 'an empty Redis or Valkey that is told every command as well: what it answers otherwise is printed',
  },
  'allow-redis-host': {
    type: 'string',
    valueHint: 'HOST,HOST',
    description: 'hosts of engines that may be elsewhere than on this machine: they are written to and flushed',
  },
  cluster: {
    type: 'string',
    valueHint: 'REDIS-URL',
    description: `be one node of many, whose tenants a Redis or Valkey keeps: redis://, or rediss:// for TLS; servers of one Redis Cluster with commas; also as ${clusterVariable}`,
  },
  'cluster-secret': {
    type: 'string',
    valueHint: 'S',
    description: `what nodes sign with, the same for all, also as ${clusterSecretVariable}`,
  },
  'cluster-node-url': {
    type: 'string',
    valueHint: 'URL',
    description: 'where the other nodes call this one; by default where it listens',
  },
  'cluster-public-url': {
    type: 'string',
    valueHint: 'URL',
    description: 'where clients call, such as the load balancer, the same for all nodes; by default where it listens',
  },
  'cluster-lease': {
    type: 'string',
    valueHint: 'DURATION',
    description: 'time after which the tenants of a node that is gone are taken over; 1500ms by default',
  },
  'allow-production': { type: 'boolean', description: 'start even if NODE_ENV is production' },
}

/** Options of the server out of parsed arguments. @throws UsageError for a value that cannot be used */
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

/** What was given, and what stands in the environment instead. */
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
    throw new UsageError(`--dev-user is one of ${publicUsers.join(', ')}, not ${JSON.stringify(name)}.`)
  }
  return { tokens: { queue: user.token }, signingKeys: { current: user.current, next: user.next } }
}

/** It may be given several times. */
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
      throw new UsageError(`--${name} is a whole number, 1 or more, not ${JSON.stringify(value)}.`)
    } else set[limit] = Number(value)
  }
  return { limits: set }
}

/** Milliseconds, as digits or as a text such as `90s`. */
function duration(name: Name, value: string): number {
  const milliseconds = /^\d{1,15}$/.test(value) ? Number(value) : parseDuration(value)
  if (milliseconds !== undefined && milliseconds > 0) return milliseconds
  throw new UsageError(`--${name} is a duration such as 90s or 2m, not ${JSON.stringify(value)}.`)
}

function oneOf<const T extends string>(name: Name, given: ParsedArguments, values: readonly T[]): T {
  const value = text(name, given)
  const found = values.find((candidate) => candidate === value)
  if (found !== undefined) return found
  throw new UsageError(`--${name} is one of ${values.join(', ')}, not ${JSON.stringify(value)}.`)
}

export function port(value: string, name = 'port'): number {
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value)
  throw new UsageError(`--${name} is a number from 0 to 65535, not ${JSON.stringify(value)}.`)
}

function redis(given: ParsedArguments): Pick<ServerOptions, 'redisPort'> {
  const [number, cert, key] = [text('redis-port', given), text('redis-cert', given), text('redis-key', given)]
  if (number === undefined) {
    if (cert === undefined && key === undefined) return {}
    throw new UsageError('--redis-cert and --redis-key are for --redis-port: add a port, 6379 or another one.')
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError('--redis-cert and --redis-key belong together: give both, or none for a port without TLS.')
  }
  return { redisPort: port(number, 'redis-port') }
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
    throw new UsageError(`--${lonely} is for --cluster: add the address of its engine, such as redis://127.0.0.1:6379.`)
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

/** A clock for tests starts at the same time on every run; a clock for people has theirs. */
function startAt(value: string | undefined, clock: ClockMode): { startAt?: number | string } {
  if (value === undefined) return clock === 'real' ? {} : { startAt: defaultStart }
  const at = startOf(value)
  if (clock !== 'real') return { startAt: at }
  throw new UsageError(
    "--start-at is for a clock that is not real: with --clock real time is the host's. Add --clock manual or --clock auto, or leave --start-at out.",
  )
}

function startOf(value: string): number {
  try {
    return instant(/^\d+$/.test(value) ? Number(value) : value)
  } catch {
    throw new UsageError(`--start-at is a time like 2030-01-01T09:00:00Z, not ${JSON.stringify(value)}.`)
  }
}

function listed(option: 'allowRedisHosts' | 'allowHosts', hosts: string | undefined): Partial<ServerOptions> {
  return hosts === undefined ? {} : { [option]: hosts.split(',').map((host) => host.trim()) }
}

function deliver(value: string): 'loopback' | 'none' | 'any' | readonly string[] {
  if (value === 'loopback' || value === 'none' || value === 'any') return value
  const hosts = value.split(',').map((host) => host.trim())
  const wrong = hosts.find((host) => host === '' || !URL.canParse(`http://${host}`) || /[/?#@]/.test(host))
  if (wrong === undefined) return hosts
  throw new UsageError(
    `--deliver-to is loopback, none, any or hosts with commas between them, not ${JSON.stringify(value)}.`,
  )
}

/** The given ones among options that are passed on as they are. */
function named<K extends string>(given: ParsedArguments, names: Readonly<Record<K, Name>>): Partial<Record<K, string>> {
  const out: Partial<Record<K, string>> = {}
  for (const [option, name] of Object.entries(names) as [K, Name][]) {
    const value = text(name, given)
    if (value !== undefined) out[option] = value
  }
  return out
}

/** The environment of a tenant for any command: what the SDKs read, and where its control API is. */
export function commandEnvironment(
  origin: string,
  tenant: string,
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return { ...env, [controlVariable]: `${origin.replace(/\/+$/, '')}/_control/${encodeURIComponent(tenant)}` }
}
