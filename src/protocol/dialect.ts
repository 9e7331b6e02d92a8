import { type QueueRegion, queueRegions } from './address.js'

/**
 * The words of one vendor. Services speak neutral words only; these are put on and taken off at the gateway.
 * Rows: store.md 0, queue.md 0.2, statistics.md 0.
 */
export interface Dialect {
  readonly name: string
  /** Prefix of the service's own headers, requests, answers, deliveries and callbacks: `Service-Retries`. */
  readonly headerPrefix: string
  /** Query parameter that carries the queue's token. */
  readonly queueTokenQuery: string
  /** Claim `iss` of delivery signatures. */
  readonly issuer: string
  /** User agent of deliveries. */
  readonly userAgent: string
  /** Path segment of the queue in the management API: `/v2/{segment}/stats/{id}`. */
  readonly managementQueueSegment: string
  /** Address of the documentation that error texts point to, without scheme. */
  readonly docs: string
  /** How a real data store is had for a while without an account, as a command. */
  readonly trialStore?: string
  /** The vendor's real addresses: never called, only recognised, so that a test cannot hit production by accident. */
  readonly productionHosts: readonly string[]
  /** Names under which the SDKs look for their settings in the environment. */
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
  }
  /** The public client libraries that speak these words. */
  readonly packages: {
    readonly store: string
    readonly ratelimit: string
    readonly lock: string
    readonly queue: string
    readonly workflow: string
    readonly python: string
    readonly go: string
  }
  /** Errors that the queue SDK throws, for messages that explain what a user will see. */
  readonly sdkErrors: {
    readonly any: string
    readonly burst: string
    readonly daily: string
    readonly chat: string
  }
  /** Of `auto`: the two that are understood. Where a request speaks both, the vendor's wins. */
  readonly both?: readonly [neutral: Dialect, vendor: Dialect]
}

/** The dialect without names of the vendor. */
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

/** Answers each request in the words in which it came, in neutral ones where it has none. */
export const autoDialect: Dialect = {
  ...neutralDialect,
  name: 'auto',
  both: [neutralDialect, upstashDialect],
}

/** Those with words of their own. */
const known: readonly Dialect[] = [neutralDialect, upstashDialect]

const dialects: Readonly<Record<string, Dialect>> = {
  auto: autoDialect,
  neutral: neutralDialect,
  upstash: upstashDialect,
}

/** Every name of a dialect, the default first. */
export const dialectNames = ['auto', 'neutral', 'upstash'] as const

/** The name of a dialect. */
export type DialectName = (typeof dialectNames)[number]

export function dialectOf(given: DialectName | Dialect): Dialect {
  if (typeof given === 'object' && given !== null) return given
  const found = Object.hasOwn(dialects, given) ? dialects[given] : undefined
  if (found) return found
  throw new TypeError(
    `There is no dialect ${JSON.stringify(given)}. Use auto, neutral or upstash, or give a Dialect object.`,
  )
}

/** The dialects whose words count: one, or the neutral one and the vendor's. */
export function dialectsOf(dialect: Dialect): readonly Dialect[] {
  return dialect.both ?? [dialect]
}

/** The vendor's words where both count: for clients that have no words, such as those of the native protocol. */
export function vendorOf(dialect: Dialect): Dialect {
  return dialect.both?.[1] ?? dialect
}

/** Known dialects whose words mean nothing in this one. */
export function otherDialects(dialect: Dialect): readonly Dialect[] {
  const own = dialectsOf(dialect)
  return known.filter(({ headerPrefix }) => own.every((one) => one.headerPrefix !== headerPrefix))
}

/** The service's own headers or query parameters, by lower-case neutral name without prefix. */
export type Settings = ReadonlyMap<string, string>

/** The values of those that came several times. */
export type SettingLists = ReadonlyMap<string, readonly string[]>

/**
 * The path of a management request in neutral words: `/v2/queue/stats/{id}`. Where only the vendor's word counts, the two
 * change places, so that the neutral one is as unknown as it is to the vendor.
 */
export function neutralManagementPath(path: string, dialect: Dialect): string {
  const neutral = neutralDialect.managementQueueSegment
  const words = dialectsOf(dialect).map(({ managementQueueSegment }) => managementQueueSegment)
  const [root, version, segment = '', ...rest] = path.split('/')
  if (words.includes(segment)) return segment === neutral ? path : [root, version, neutral, ...rest].join('/')
  return segment === neutral ? [root, version, words[0], ...rest].join('/') : path
}

const caseBit = 0x20

/** `service-retries` → `retries`; `undefined` for a name that is not the service's own. */
export function settingName(name: string, dialect: Dialect): string | undefined {
  const prefix = dialect.headerPrefix
  // The first letter tells most names apart, and every header of every request is asked.
  if ((name.charCodeAt(0) | caseBit) !== (prefix.charCodeAt(0) | caseBit)) return undefined
  const lower = name.toLowerCase()
  return lower.startsWith(prefix.toLowerCase()) ? lower.slice(prefix.length) : undefined
}

/** `Retries` → `Service-Retries` in the vendor's words. */
export function ownHeader(name: string, dialect: Dialect): string {
  return dialect.headerPrefix + name
}

/** A variable that leads an SDK to a real service. */
export interface RealHost {
  readonly variable: string
  readonly host: string
}

/** Whether a host is one of these or below one of them. */
export function isUnder(host: string, names: readonly string[]): boolean {
  return names.some((name) => host === name || host.endsWith(`.${name}`))
}

/** Whether a host is a real address of any vendor, whose words the sandbox may speak or not. */
export function isRealHost(host: string): boolean {
  // A name may end in the dot of the root.
  const name = host.replace(/\.$/, '')
  return known.some(({ productionHosts }) => isUnder(name, productionHosts))
}

/** Which of the sandbox's addresses stands in for a real host: `qstash-us-east-1.upstash.io` is a queue. */
export function realServiceAt(host: string): 'store' | 'queue' | 'mgmt' {
  if (/^qstash\b/i.test(host)) return 'queue'
  return /^(?:api|developer)\./i.test(host) ? 'mgmt' : 'store'
}

/** The variables among those that any SDK reads whose url is one of the vendor's real addresses. */
export function realHostsIn(env: Readonly<Record<string, string | undefined>>): readonly RealHost[] {
  const found: RealHost[] = []
  for (const { environment, productionHosts } of known) {
    const { storeUrl, queueUrl } = environment
    const regional = queueRegions.map((region) => regionalName(queueUrl, region))
    // Name by name: reading a whole environment asks the operating system for each.
    for (const variable of [...storeUrl, queueUrl, ...regional]) {
      const url = env[variable]
      if (url === undefined || !URL.canParse(url)) continue
      const host = new URL(url).hostname
      if (isUnder(host, productionHosts)) found.push({ variable, host })
    }
  }
  return found
}

/** The name under which a client that was told a region looks first: `US_EAST_1_QUEUE_URL`. */
export function regionalName(name: string, region: QueueRegion): string {
  return `${region.replaceAll('-', '_').toUpperCase()}_${name}`
}
