import { type QueueRegion, queueRegions, withoutRootDot } from './address.js'

/**
 * The names that one vendor uses for headers, parameters, environment variables, hosts and packages. Services use
 * neutral names only; the gateway translates requests and responses. Tables: store.md 0, queue.md 0.2, statistics.md 0.
 */
export interface Dialect {
  /** Name of the dialect, such as `neutral` or `upstash`. */
  readonly name: string
  /** Prefix of the service's own headers in requests, responses, deliveries and callbacks: `Service-Retries`. */
  readonly headerPrefix: string
  /** Query parameter that carries the token of the queue. */
  readonly queueTokenQuery: string
  /** Claim `iss` of delivery signatures. */
  readonly issuer: string
  /** User agent of deliveries. */
  readonly userAgent: string
  /** Path segment of the queue in the management API: `/v2/{segment}/stats/{id}`. */
  readonly managementQueueSegment: string
  /** Host and path of the documentation in error texts, without a scheme. */
  readonly docs: string
  /** Shell command that creates a temporary real data store without an account. */
  readonly trialStore?: string
  /**
   * The vendor's real hosts. They are only recognized, never contacted, so that a test cannot reach production by
   * accident.
   */
  readonly productionHosts: readonly string[]
  /**
   * URL of the vendor's real management API. Clients have this URL in their code, so an intercepted request to its host
   * goes to the sandbox.
   */
  readonly realMgmtUrl?: string
  /** Environment variables that the SDKs read. */
  readonly environment: {
    readonly storeUrl: readonly string[]
    readonly storeToken: readonly string[]
    readonly disableTelemetry: string
    readonly queueUrl: string
    readonly queueToken: string
    readonly queueCurrentSigningKey: string
    readonly queueNextSigningKey: string
    readonly queueRegion: string
    readonly queueDev: string
    readonly queueDevPort: string
    readonly mgmtUrl: string
    readonly mgmtUser: string
    readonly mgmtKey: string
  }
  /** Public client libraries that use this dialect. */
  readonly packages: {
    readonly store: string
    readonly ratelimit: string
    readonly lock: string
    readonly queue: string
    readonly workflow: string
    readonly python: string
    readonly go: string
  }
  /** Names of the SDK's error classes, for messages that predict which error a user will see. */
  readonly sdkErrors: {
    readonly any: string
    readonly burst: string
    readonly daily: string
    readonly chat: string
  }
  /**
   * The two dialects that `auto` accepts; other dialects do not have this field. If a request contains names of both,
   * the vendor's names apply.
   */
  readonly both?: readonly [neutral: Dialect, vendor: Dialect]
}

/**
 * The two dialects that `auto` accepts. Other dialects do not have this field. If a request contains names of both
 * dialects, the vendor's names apply.
 */
export const neutralDialect: Dialect = {
  name: 'neutral',
  headerPrefix: 'Service-',
  queueTokenQuery: 'service_token',
  issuer: 'Service',
  userAgent: 'Service-Queue',
  managementQueueSegment: 'queue',
  docs: 'docs.service.test',
  productionHosts: [],
  environment: {
    storeUrl: ['SERVICE_REDIS_REST_URL'],
    storeToken: ['SERVICE_REDIS_REST_TOKEN'],
    disableTelemetry: 'SERVICE_DISABLE_TELEMETRY',
    queueUrl: 'QUEUE_URL',
    queueToken: 'QUEUE_TOKEN',
    queueCurrentSigningKey: 'QUEUE_CURRENT_SIGNING_KEY',
    queueNextSigningKey: 'QUEUE_NEXT_SIGNING_KEY',
    queueRegion: 'QUEUE_REGION',
    queueDev: 'QUEUE_DEV',
    queueDevPort: 'QUEUE_DEV_PORT',
    mgmtUrl: 'SERVICE_API_URL',
    mgmtUser: 'SERVICE_EMAIL',
    mgmtKey: 'SERVICE_API_KEY',
  },
  packages: {
    store: 'the SDK',
    ratelimit: 'the ratelimit library',
    lock: 'the lock library',
    queue: 'queue SDK',
    workflow: 'workflow SDK',
    python: 'Python SDK',
    go: 'Go SDK',
  },
  sdkErrors: {
    any: 'QueueError',
    burst: 'QueueRatelimitError',
    daily: 'QueueDailyRatelimitError',
    chat: 'QueueChatRatelimitError',
  },
}

/** The dialect with the names of the vendor. */
export const upstashDialect: Dialect = {
  name: 'upstash',
  headerPrefix: 'Upstash-',
  queueTokenQuery: 'qstash_token',
  issuer: 'Upstash',
  userAgent: 'Upstash-QStash',
  managementQueueSegment: 'qstash',
  docs: 'upstash.com/docs',
  trialStore: 'curl -X POST https://upstash.com/start-redis',
  productionHosts: ['upstash.io', 'upstash.com'],
  realMgmtUrl: 'https://api.upstash.com',
  environment: {
    storeUrl: ['UPSTASH_REDIS_REST_URL', 'KV_REST_API_URL'],
    storeToken: ['UPSTASH_REDIS_REST_TOKEN', 'KV_REST_API_TOKEN'],
    disableTelemetry: 'UPSTASH_DISABLE_TELEMETRY',
    queueUrl: 'QSTASH_URL',
    queueToken: 'QSTASH_TOKEN',
    queueCurrentSigningKey: 'QSTASH_CURRENT_SIGNING_KEY',
    queueNextSigningKey: 'QSTASH_NEXT_SIGNING_KEY',
    queueRegion: 'QSTASH_REGION',
    queueDev: 'QSTASH_DEV',
    queueDevPort: 'QSTASH_DEV_PORT',
    // The vendor's command line reads the other two. Its base URL is fixed, so nothing of the vendor reads this one.
    mgmtUrl: 'UPSTASH_API_URL',
    mgmtUser: 'UPSTASH_EMAIL',
    mgmtKey: 'UPSTASH_API_KEY',
  },
  packages: {
    store: '@upstash/redis',
    ratelimit: '@upstash/ratelimit',
    lock: '@upstash/lock',
    queue: '@upstash/qstash',
    workflow: '@upstash/workflow',
    python: 'qstash',
    go: 'qstash-go',
  },
  sdkErrors: {
    any: 'QstashError',
    burst: 'QstashRatelimitError',
    daily: 'QstashDailyRatelimitError',
    chat: 'QstashChatRatelimitError',
  },
}

/** Responds to each request in its own dialect, or in the neutral one if it has no names of any dialect. */
export const autoDialect: Dialect = {
  ...neutralDialect,
  name: 'auto',
  both: [neutralDialect, upstashDialect],
}

/** All dialects except `auto`, which has no names of its own. */
const known: readonly Dialect[] = [neutralDialect, upstashDialect]

const dialects: Readonly<Record<string, Dialect>> = {
  auto: autoDialect,
  neutral: neutralDialect,
  upstash: upstashDialect,
}

/** Valid names of the `dialect` option, the default first. */
export const dialectNames = ['auto', 'neutral', 'upstash'] as const

/** The name of a dialect. */
export type DialectName = (typeof dialectNames)[number]

export function dialectOf(given: DialectName | Dialect): Dialect {
  if (typeof given === 'object' && given !== null) return given
  const found = Object.hasOwn(dialects, given) ? dialects[given] : undefined
  if (found) return found
  throw new TypeError(
    `dialect must be 'auto', 'neutral', 'upstash' or a Dialect object (got ${JSON.stringify(given)}).`,
  )
}

/**
 * Returns the dialects that a sandbox accepts: the neutral one and the vendor's for `auto`, otherwise only `dialect`
 * itself.
 */
export function dialectsOf(dialect: Dialect): readonly Dialect[] {
  return dialect.both ?? [dialect]
}

/**
 * Returns the dialect for clients whose requests contain no names of a dialect, such as clients of the Redis protocol.
 * It is the vendor's dialect if the sandbox accepts two.
 */
export function vendorOf(dialect: Dialect): Dialect {
  return dialect.both?.[1] ?? dialect
}

/** Returns all known dialects that `dialect` does not accept. */
export function otherDialects(dialect: Dialect): readonly Dialect[] {
  const own = dialectsOf(dialect)
  return known.filter(({ headerPrefix }) => own.every((one) => one.headerPrefix !== headerPrefix))
}

/**
 * Values of the service's own headers and query parameters, by neutral name. The names are in lower case and have no
 * prefix: `retries` for `Service-Retries`.
 */
export type Settings = ReadonlyMap<string, string>

/** All values of each header that occurred several times, by neutral name as in `Settings`. */
export type SettingLists = ReadonlyMap<string, readonly string[]>

/**
 * Returns the path of a management request in the neutral dialect: `/v2/queue/stats/{id}`. A sandbox that accepts only
 * the vendor's dialect must reject the neutral path. So the neutral segment is then replaced by the vendor's segment,
 * which no endpoint has.
 */
export function neutralManagementPath(path: string, dialect: Dialect): string {
  const neutral = neutralDialect.managementQueueSegment
  const words = dialectsOf(dialect).map(({ managementQueueSegment }) => managementQueueSegment)
  const [root, version, segment = '', ...rest] = path.split('/')
  if (words.includes(segment)) return segment === neutral ? path : [root, version, neutral, ...rest].join('/')
  return segment === neutral ? [root, version, words[0], ...rest].join('/') : path
}

const caseBit = 0x20

/**
 * Returns the name of a setting without prefix: `service-retries` → `retries`. Returns `undefined` if the header is not
 * one of the service's own headers.
 */
export function settingName(name: string, dialect: Dialect): string | undefined {
  const prefix = dialect.headerPrefix
  // Every header of every request comes here. A comparison of the first letter quickly excludes most of them.
  if ((name.charCodeAt(0) | caseBit) !== (prefix.charCodeAt(0) | caseBit)) return undefined
  const lower = name.toLowerCase()
  return lower.startsWith(prefix.toLowerCase()) ? lower.slice(prefix.length) : undefined
}

/** Returns the header name of a setting in a dialect: `Retries` → `Service-Retries`. */
export function ownHeader(name: string, dialect: Dialect): string {
  return dialect.headerPrefix + name
}

/** An environment variable of an SDK that contains a real host of the service. */
export interface RealHost {
  readonly variable: string
  readonly host: string
}

/** Returns whether `host` is one of `names`, or a subdomain of one of them. */
export function isUnder(host: string, names: readonly string[]): boolean {
  return names.some((name) => host === name || host.endsWith(`.${name}`))
}

/** Returns whether a host is a real host of any vendor, regardless of the sandbox's dialect. */
export function isRealHost(host: string): boolean {
  const name = withoutRootDot(host)
  return known.some(({ productionHosts }) => isUnder(name, productionHosts))
}

/** URLs of the real management APIs of all vendors. */
export const realMgmtUrls: readonly string[] = known.flatMap(({ realMgmtUrl }) => realMgmtUrl ?? [])

/** Returns the service of a real host: `qstash-us-east-1.upstash.io` is a queue. */
export function realServiceAt(host: string): 'store' | 'queue' | 'mgmt' {
  if (/^qstash\b/i.test(host)) return 'queue'
  return /^(?:api|developer)\./i.test(host) ? 'mgmt' : 'store'
}

/** Returns the environment variables of all SDKs that contain a real host. */
export function realHostsIn(env: Readonly<Record<string, string | undefined>>): readonly RealHost[] {
  const found: RealHost[] = []
  for (const { environment, productionHosts } of known) {
    const { storeUrl, queueUrl } = environment
    const regional = queueRegions.map((region) => regionalName(queueUrl, region))
    // Read each variable by its name. Listing the environment would make a system call for each variable.
    for (const variable of [...storeUrl, queueUrl, ...regional]) {
      const url = env[variable]
      if (url === undefined || !URL.canParse(url)) continue
      const host = new URL(url).hostname
      if (isUnder(host, productionHosts)) found.push({ variable, host })
    }
  }
  return found
}

const regionPrefixes: Readonly<Record<QueueRegion, string>> = {
  'us-east-1': 'US_EAST_1_',
  'eu-central-1': 'EU_CENTRAL_1_',
}

/**
 * Returns the name of the environment variable for one region: `US_EAST_1_QUEUE_URL`. If an SDK has a configured
 * region, it reads this variable first.
 */
export function regionalName(name: string, region: QueueRegion): string {
  return regionPrefixes[region] + name
}
