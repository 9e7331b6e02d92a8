import type { ServiceName } from '../kernel/traffic-log.js'

export const queueRegions = ['us-east-1', 'eu-central-1'] as const
/** The name of a region of the queue. */
export type QueueRegion = (typeof queueRegions)[number]
export const defaultRegion: QueueRegion = 'eu-central-1'

/** Base addresses of the three services, without trailing slashes; each may carry a path prefix. */
export interface SandboxUrls {
  readonly store: string
  /** The default region's address. */
  readonly queue: string
  readonly mgmt: string
  /** The queue's address in each region. */
  readonly regions: Readonly<Record<QueueRegion, string>>
}

/** Where the services are; what is not given has a default. */
export interface UrlOptions {
  /** One address for all three services: `{base}/store`, `{base}/queue`, `{base}/mgmt`. */
  readonly base?: string | undefined
  readonly store?: string | undefined
  readonly queue?: string | undefined
  readonly mgmt?: string | undefined
  readonly regions?: Partial<Record<QueueRegion, string>> | undefined
  /** Where a server speaks the native protocol of the data store: `redis://127.0.0.1:6379`. For `env` alone. */
  readonly redis?: string | undefined
}

/** @param name of a sandbox beside others: `https://{name}.store.test` */
export function sandboxUrlsOf(options: UrlOptions = {}, name?: string): SandboxUrls {
  const base = options.base === undefined ? undefined : checked(options.base)
  // A name that stands in no host may be anything.
  const host = name === undefined || base !== undefined ? '' : `${hostLabel(name)}.`
  const queue =
    options.queue === undefined ? (base ? `${base}/queue` : `https://${host}queue.test`) : checked(options.queue)
  const region = (name: QueueRegion): string => {
    const given = options.regions?.[name]
    if (given !== undefined) return checked(given)
    if (base === undefined && options.queue === undefined) return `https://${name}.${host}queue.test`
    return name === defaultRegion ? queue : `${queue}-${name}`
  }
  return {
    store:
      options.store === undefined ? (base ? `${base}/store` : `https://${host}store.test`) : checked(options.store),
    queue,
    mgmt: options.mgmt === undefined ? (base ? `${base}/mgmt` : `https://${host}mgmt.test`) : checked(options.mgmt),
    regions: { 'us-east-1': region('us-east-1'), 'eu-central-1': region('eu-central-1') },
  }
}

export interface ServiceUrl {
  readonly service: ServiceName
  readonly region: QueueRegion | undefined
  readonly base: string
  /** Undecoded, begins with `/`. */
  readonly path: string
  /** Undecoded, without `?`. */
  readonly query: string
}

/** Finds out which service a url belongs to; `undefined` for all other origins. */
export type Locate = (url: string) => ServiceUrl | undefined

export function locator(addresses: SandboxUrls): Locate {
  const places: [base: string, service: ServiceName, region: QueueRegion | undefined][] = [
    [addresses.store, 'store', undefined],
    [addresses.queue, 'queue', defaultRegion],
    ...queueRegions.map((name): [string, ServiceName, QueueRegion] => [addresses.regions[name], 'queue', name]),
    [addresses.mgmt, 'stats', undefined],
  ]
  // The longest base first, or `…/queue-us-east-1` would be hidden by a base that begins the same way.
  places.sort((a, b) => b[0].length - a[0].length)
  const find = (url: string): ServiceUrl | undefined => {
    for (const [base, service, region] of places) {
      if (!url.startsWith(base) || !endsBase(url, base.length)) continue
      const { path, query } = pathAndQuery(url, base.length)
      return { service, region, base, path, query }
    }
    return undefined
  }
  // Asked twice for each request: whether it belongs here, and where.
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

/** Turns urls below one set of addresses into those below another; `undefined` for all other urls. */
export function relocator(from: SandboxUrls, to: SandboxUrls): (url: string) => string | undefined {
  const locate = locator(from)
  return (url) => {
    const found = locate(url)
    if (found === undefined) return undefined
    const { service, region } = found
    const base = service === 'stats' ? to.mgmt : service === 'store' ? to.store : undefined
    // The plain address of the queue stands for its default region.
    const queue = found.base === from.queue || region === undefined ? to.queue : to.regions[region]
    return (base ?? queue) + url.slice(found.base.length)
  }
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

/** `HTTPS://Store.Test:443/a` → `https://store.test/a`, leaving the rest of the url as it is written. */
function normalOrigin(url: string): string {
  const match = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)(.*)$/is.exec(url)
  if (!match || !URL.canParse(match[1]!)) return url
  return new URL(match[1]!).origin + match[2]
}

/** Ends a sentence about a Redis or Valkey that was given where none can be. */
export const engineUrls =
  'one in the place of the data store is had with createRealRedisSandbox() or createShadowSandbox() of stuntdouble/real-redis, or with serve --real-redis or --shadow-redis.'

function checked(address: string): string {
  // Not shown: it may have a password.
  if (/^(?:redis|valkey)s?:/i.test(address)) {
    throw new TypeError(`A Redis or Valkey is not an address of a service: ${engineUrls}`)
  }
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new TypeError(
      `${JSON.stringify(address)} is not an address of a service: give an http or https url, such as 'https://store.test'.`,
    )
  }
  return normalOrigin(address).replace(/\/+$/, '')
}

function hostLabel(name: string): string {
  if (/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i.test(name)) return name.toLowerCase()
  throw new TypeError(`${JSON.stringify(name)} cannot be part of a host name: use letters, digits and hyphens.`)
}
