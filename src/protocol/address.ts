import type { ServiceName } from '../kernel/traffic-log.js'

export const queueRegions = ['us-east-1', 'eu-central-1'] as const
/** The name of a region of the queue. */
export type QueueRegion = (typeof queueRegions)[number]
export const defaultRegion: QueueRegion = 'eu-central-1'

/** Base URLs of the three services, without trailing slashes. Each can have a path prefix. */
export interface SandboxUrls {
  /** URL of the data store. */
  readonly store: string
  /** URL of the queue in the default region. */
  readonly queue: string
  /** URL of the management API, which has the usage statistics. */
  readonly mgmt: string
  /** URL of the queue in each region. */
  readonly regions: Readonly<Record<QueueRegion, string>>
  /** URL of each added database of the data store, by name. Empty without the option `databases`. */
  readonly databases: Readonly<Record<string, string>>
}

/** Base URLs of the services. An omitted URL has a default. */
export interface UrlOptions {
  /** Common base URL of all services: `{base}/store`, `{base}/queue`, `{base}/mgmt`. */
  readonly base?: string | undefined
  /** URL of the data store. Default: `{base}/store`, or `https://store.test` without `base`. */
  readonly store?: string | undefined
  /** URL of the queue in the default region. Default: `{base}/queue`, or `https://queue.test` without `base`. */
  readonly queue?: string | undefined
  /**
   * URL of the management API, which has the usage statistics. Default: `{base}/mgmt`, or `https://mgmt.test` without
   * `base`.
   */
  readonly mgmt?: string | undefined
  /**
   * URLs of the queue by region. The default URL of a region is derived from the URL of the queue:
   * `https://us-east-1.queue.test` or `{base}/queue-us-east-1`.
   */
  readonly regions?: Partial<Record<QueueRegion, string>> | undefined
  /**
   * URLs of the databases that the option `databases` adds, by name. The default URL of a database is
   * `https://store-us.test` or `{base}/store-us`, for a database `us`.
   */
  readonly databases?: Readonly<Record<string, string>> | undefined
  /**
   * URL of a server with the Redis protocol: `redis://127.0.0.1:6379`. It is used only for the variable `REDIS_URL` in
   * `env`.
   */
  readonly redis?: string | undefined
  /** Whether `redis` needs no password for tenant `main`, so that `REDIS_URL` has none. Default `false`. */
  readonly redisNoAuth?: boolean | undefined
}

/**
 * Returns the base URLs of a sandbox.
 * @param name name of the sandbox, which becomes part of the host: `https://{name}.store.test`
 * @param databases names of the databases that are added to the data store
 */
export function sandboxUrlsOf(options: UrlOptions = {}, name?: string, databases: readonly string[] = []): SandboxUrls {
  const base = options.base === undefined ? undefined : checked(options.base)
  // Without `base`, the name becomes part of the host, so it must be valid there. With `base`, the name can have any
  // characters.
  const host = name === undefined || base !== undefined ? '' : `${hostLabel(name)}.`
  const queue =
    options.queue === undefined ? (base ? `${base}/queue` : `https://${host}queue.test`) : checked(options.queue)
  const region = (name: QueueRegion): string => {
    const given = options.regions?.[name]
    if (given !== undefined) return checked(given)
    if (base === undefined && options.queue === undefined) return `https://${name}.${host}queue.test`
    return name === defaultRegion ? queue : `${queue}-${name}`
  }
  const store =
    options.store === undefined ? (base ? `${base}/store` : `https://${host}store.test`) : checked(options.store)
  const database = (name: string): string => {
    const given = options.databases?.[name]
    if (given !== undefined) return checked(given)
    if (options.store !== undefined)
      return new URL(store).pathname === '/' ? `${store}/store-${name}` : `${store}-${name}`
    return base === undefined ? `https://${host}store-${hostLabel(name, 'databases')}.test` : `${store}-${name}`
  }
  const urls = {
    store,
    queue,
    mgmt: options.mgmt === undefined ? (base ? `${base}/mgmt` : `https://${host}mgmt.test`) : checked(options.mgmt),
    regions: { 'us-east-1': region('us-east-1'), 'eu-central-1': region('eu-central-1') },
    databases: Object.fromEntries(databases.map((name) => [name, database(name)])),
  }
  checkDatabaseUrls(urls)
  return urls
}

function checkDatabaseUrls({ databases, store, queue, mgmt, regions }: SandboxUrls): void {
  const taken = new Set([store, queue, mgmt, ...Object.values(regions)])
  for (const [name, url] of Object.entries(databases)) {
    if (taken.has(url)) {
      throw new TypeError(`urls.databases.${name} must differ from the other URLs (got ${JSON.stringify(url)}).`)
    }
    taken.add(url)
  }
}

/** Returns the base URL of every service, region and database of a sandbox. */
export function baseUrlsOf({ store, queue, mgmt, regions, databases }: SandboxUrls): readonly string[] {
  return [store, queue, mgmt, ...Object.values(regions), ...Object.values(databases)]
}

export interface ServiceUrl {
  readonly service: ServiceName
  readonly region: QueueRegion | undefined
  /** Name of the added database of the data store. */
  readonly database: string | undefined
  readonly base: string
  /** Undecoded path, which begins with `/`. */
  readonly path: string
  /** Undecoded query, without `?`. */
  readonly query: string
}

/** Returns the service that a URL belongs to, or `undefined` for other origins. */
export type Locate = (url: string) => ServiceUrl | undefined

/** Returns a function that finds the service of a URL. */
export function locator(addresses: SandboxUrls): Locate {
  const places: Pick<ServiceUrl, 'base' | 'service' | 'region' | 'database'>[] = [
    { base: addresses.store, service: 'store', region: undefined, database: undefined },
    { base: addresses.queue, service: 'queue', region: defaultRegion, database: undefined },
    ...queueRegions.map((region) => ({
      base: addresses.regions[region],
      service: 'queue' as const,
      region,
      database: undefined,
    })),
    { base: addresses.mgmt, service: 'stats', region: undefined, database: undefined },
    ...Object.entries(addresses.databases).map(([database, base]) => ({
      base,
      service: 'store' as const,
      region: undefined,
      database,
    })),
  ]
  // One base URL can be the beginning of another: `…/queue` is the beginning of `…/queue-us-east-1`. So compare the
  // longest base URL first.
  places.sort((a, b) => b.base.length - a.base.length)
  const find = (url: string): ServiceUrl | undefined => {
    for (const { base, service, region, database } of places) {
      if (!url.startsWith(base) || !endsBase(url, base.length)) continue
      const { path, query } = pathAndQuery(url, base.length)
      return { service, region, database, base, path, query }
    }
    return undefined
  }
  // The adapter and the gateway both locate the URL of each request. So the latest result is cached.
  let latest = ''
  let found: ServiceUrl | undefined
  return (url) => {
    if (url !== latest) {
      found = find(url) ?? find(normalOrigin(url))
      latest = url
    }
    return found
  }
}

/**
 * Returns a function that replaces the base URL of a URL: a base URL in `from` by its counterpart in `to`. The function
 * returns `undefined` for a URL that is below none of `from`.
 * @param realMgmtUrls URLs of real management APIs, whose counterpart is `to.mgmt`. Only the host name counts: a
 * request with any scheme, port or path must not be forwarded to it
 */
export function relocator(
  from: SandboxUrls,
  to: SandboxUrls,
  realMgmtUrls: readonly string[] = [],
): (url: string) => string | undefined {
  const locate = locator(from)
  const realHosts = realMgmtUrls.map((url) => new URL(url).hostname)
  return (url) => {
    const found = locate(url)
    if (found === undefined) {
      if (realHosts.length === 0 || !URL.canParse(url)) return undefined
      const { hostname, pathname, search } = new URL(url)
      return realHosts.includes(withoutRootDot(hostname)) ? to.mgmt + pathname + search : undefined
    }
    const { service, region, database } = found
    const store = database === undefined ? to.store : to.databases[database]
    if (store === undefined) return undefined
    const base = service === 'stats' ? to.mgmt : service === 'store' ? store : undefined
    // The field `queue` is the URL for the default region, so its counterpart is `to.queue` and not a URL in
    // `to.regions`.
    const queue = found.base === from.queue || region === undefined ? to.queue : to.regions[region]
    return (base ?? queue) + url.slice(found.base.length)
  }
}

/** Returns a host name without the dot of the DNS root, with which it can end. */
export function withoutRootDot(hostname: string): string {
  return hostname.replace(/\.$/, '')
}

function endsBase(url: string, at: number): boolean {
  return at === url.length || url[at] === '/' || url[at] === '?' || url[at] === '#'
}

function pathAndQuery(url: string, from: number): { path: string; query: string } {
  const hash = url.indexOf('#', from)
  const end = hash === -1 ? url.length : hash
  const mark = url.indexOf('?', from)
  if (mark === -1 || mark > end) return { path: url.slice(from, end) || '/', query: '' }
  return { path: url.slice(from, mark) || '/', query: url.slice(mark + 1, end) }
}

/**
 * Normalizes the scheme, host and port of a URL, but not its path: `HTTPS://Store.Test:443/A` → `https://store.test/A`.
 */
function normalOrigin(url: string): string {
  const match = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)(.*)$/is.exec(url)
  if (!match || !URL.canParse(match[1]!)) return url
  return new URL(match[1]!).origin + match[2]
}

/** Second half of an error message for an option that must not be the URL of a Redis or Valkey. */
export const engineUrls =
  'use createRealRedisSandbox() or createShadowSandbox() of stuntdouble/real-redis, or serve --real-redis or --shadow-redis.'

function checked(address: string): string {
  // The message must not contain the URL, which may have a password.
  if (/^(?:redis|valkey)s?:/i.test(address)) {
    throw new TypeError(`A base URL must not be the URL of a Redis or Valkey: ${engineUrls}`)
  }
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new TypeError(
      `A base URL must be an http or https URL such as 'https://store.test' (got ${JSON.stringify(address)}).`,
    )
  }
  return normalOrigin(address).replace(/\/+$/, '')
}

function hostLabel(name: string, option = 'name'): string {
  if (/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i.test(name)) return name.toLowerCase()
  throw new TypeError(
    `${option} must be valid in a host name (got ${JSON.stringify(name)}). Use letters, digits and hyphens.`,
  )
}
