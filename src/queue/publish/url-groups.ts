import { bindMethods } from '../../kernel/bind-methods.js'
import { type HeaderList, noHeaders } from '../../kernel/http.js'
import { stated } from '../../kernel/portable.js'
import { loggedAsJson } from '../../kernel/views.js'
import type { ResolvedPolicy, ResolvedQueueLimits } from '../../policy/policy.js'
import type { RawSettings } from '../settings/message-settings.js'
import { refusals } from '../settings/queue-rejections.js'
import { checkName, checkReach, checkUrl } from '../settings/url.js'

/** An endpoint of a URL group: its URL and its optional name. */
export interface UrlGroupEndpoint {
  /** URL to which messages of the group are delivered. */
  readonly url: string
  /** Name of the endpoint within its group. Default: none. */
  readonly name?: string | undefined
}

/** Default headers of a URL group, by purpose. */
export interface GroupDefaults {
  /** Default settings. They were set by headers of the service, such as `Service-Retries`. */
  readonly settings: RawSettings
  readonly contentType: string | undefined
  /** Default headers that destinations receive: all headers that are not headers of the service. */
  readonly headers: HeaderList
}

/** The fields of a URL group. */
export type UrlGroupView = Pick<UrlGroup, 'name' | 'createdAt' | 'updatedAt' | 'endpoints'>

/** A URL group of the queue. */
export class UrlGroup {
  static {
    loggedAsJson(UrlGroup)
  }

  /** Name of the URL group, to which messages can be published instead of a URL. */
  readonly name: string
  /** Creation time in virtual milliseconds. */
  createdAt: number
  /** Endpoints of the group. A publish creates one message for each. [queue.md 8] */
  endpoints: readonly UrlGroupEndpoint[] = []
  /**
   * Default headers in the form in which they were set. API responses show them.
   * @internal
   */
  shownDefaults: Readonly<Record<string, string | readonly string[]>> | undefined
  /** @internal */
  defaults: RawSettings | undefined
  /** @internal */
  contentType: string | undefined
  /**
   * Default headers for deliveries. The effect is the same as if each publisher had sent them. [service.md, Message
   * queue 5]
   * @internal
   */
  headers: HeaderList = noHeaders
  /** Time of the latest change in virtual milliseconds. */
  updatedAt: number

  /** @internal */
  constructor(name: string, createdAt: number) {
    this.name = name
    this.createdAt = createdAt
    this.updatedAt = createdAt
  }

  toJSON(): UrlGroupView {
    const { name, createdAt, updatedAt, endpoints } = this
    return { name, createdAt, updatedAt, endpoints: endpoints.map(stated) }
  }
}

/** URL groups, also called topics. [queue.md 8] */
export class UrlGroups {
  static {
    bindMethods(UrlGroups)
  }

  readonly #groups = new Map<string, UrlGroup>()
  readonly #now: () => number
  readonly #policy: ResolvedPolicy
  readonly #limits: ResolvedQueueLimits

  /** @internal */
  constructor(now: () => number, policy: ResolvedPolicy, limits: ResolvedQueueLimits) {
    this.#now = now
    this.#policy = policy
    this.#limits = limits
  }

  /** @internal */
  get(name: string): UrlGroup | undefined {
    return this.#groups.get(name)
  }

  list(): readonly UrlGroup[] {
    return [...this.#groups.values()]
  }

  /**
   * Adds endpoints, and creates the group if it does not exist. An endpoint replaces the existing endpoint with the
   * same name, or else the existing endpoint with the same URL.
   */
  upsert(name: string, endpoints: readonly UrlGroupEndpoint[]): UrlGroup {
    checkName(name, 'url group name')
    if (endpoints.length === 0) throw refusals.invalid('endpoints', 'at least one endpoint is required')
    for (const endpoint of endpoints) {
      checkUrl(endpoint.url, 'endpoint')
      checkReach(endpoint.url, this.#policy)
    }
    const known = this.#groups.get(name)
    const merged = merge(known?.endpoints ?? [], endpoints)
    this.#checkQuota(known === undefined, merged.length)
    const group = known ?? new UrlGroup(name, this.#now())
    group.endpoints = merged
    group.updatedAt = this.#now()
    this.#groups.set(name, group)
    return group
  }

  #checkQuota(isNew: boolean, endpoints: number): void {
    const { enforceQuotas, quotaStatus } = this.#policy
    if (!enforceQuotas) return
    const { urlGroups, endpointsPerGroup } = this.#limits
    if (isNew && this.#groups.size >= urlGroups) throw refusals.quota('maxTopics', urlGroups, quotaStatus)
    if (endpoints > endpointsPerGroup) throw refusals.quota('maxEndpointsPerTopic', endpointsPerGroup, quotaStatus)
  }

  /** Removes endpoints by name or URL. If no endpoint is left, the group is deleted. @internal */
  remove(
    name: string,
    endpoints: readonly { readonly url?: string | undefined; readonly name?: string | undefined }[],
  ): void {
    const group = this.#groups.get(name)
    if (group === undefined) throw refusals.notFound('topic', name)
    if (endpoints.some((given) => !given.name && !given.url))
      throw refusals.invalid('endpoints', 'each endpoint must have a name or a url')
    const names = new Set(endpoints.flatMap((given) => given.name || []))
    const urls = new Set(endpoints.flatMap((given) => (given.name ? [] : given.url)))
    group.endpoints = group.endpoints.filter(
      ({ name, url }) => !(name !== undefined && names.has(name)) && !urls.has(url),
    )
    group.updatedAt = this.#now()
    if (group.endpoints.length === 0) this.#groups.delete(name)
  }

  /** Replaces the default headers. @internal */
  setDefaults(
    name: string,
    { settings, contentType, headers }: GroupDefaults,
    shown: Readonly<Record<string, string | readonly string[]>>,
  ): void {
    const group = this.#groups.get(name)
    if (group === undefined) throw refusals.notFound('topic', name)
    group.defaults = settings.size === 0 ? undefined : settings
    group.contentType = contentType
    group.headers = headers
    group.shownDefaults = Object.keys(shown).length === 0 ? undefined : shown
    group.updatedAt = this.#now()
  }

  delete(name: string): void {
    this.#groups.delete(name)
  }
}

function merge(before: readonly UrlGroupEndpoint[], given: readonly UrlGroupEndpoint[]): readonly UrlGroupEndpoint[] {
  const endpoints = [...before]
  const names = new Places(endpoints, ({ name }) => name)
  const urls = new Places(endpoints, ({ url }) => url)
  for (const endpoint of given) {
    const name = endpoint.name === '' ? undefined : endpoint.name
    const at = names.first(name) ?? urls.first(endpoint.url) ?? endpoints.length
    const known = endpoints[at]
    endpoints[at] = { url: endpoint.url, name: name ?? known?.name }
    for (const places of [names, urls]) places.changed(at, known)
  }
  return endpoints
}

/** Index that finds endpoints by name or URL. Searching a long list would be slow. */
class Places {
  readonly #places = new Map<string, { first: number; count: number }>()

  constructor(
    readonly list: readonly UrlGroupEndpoint[],
    readonly keyOf: (endpoint: UrlGroupEndpoint) => string | undefined,
  ) {
    for (const at of list.keys()) this.changed(at, undefined)
  }

  first(value: string | undefined): number | undefined {
    return value === undefined ? undefined : this.#places.get(value)?.first
  }

  /** Updates the index. Call it after the endpoint at a position was replaced. */
  changed(at: number, before: UrlGroupEndpoint | undefined): void {
    const [old, value] = [before && this.keyOf(before), this.keyOf(this.list[at]!)]
    if (old === value) return
    if (old !== undefined) this.#leave(at, old)
    if (value === undefined) return
    const known = this.#places.get(value)
    if (known === undefined) this.#places.set(value, { first: at, count: 1 })
    else {
      known.first = Math.min(known.first, at)
      known.count++
    }
  }

  #leave(at: number, value: string): void {
    const known = this.#places.get(value)!
    if (--known.count === 0) this.#places.delete(value)
    // Search the list for the next endpoint with the same value, which is slow but rarely necessary.
    else if (known.first === at)
      known.first = this.list.findIndex((other, index) => index > at && this.keyOf(other) === value)
  }
}
