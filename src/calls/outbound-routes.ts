import { AddressPattern, withoutQuery } from '../kernel/address-pattern.js'
import { nearestName } from '../kernel/nearest-name.js'
import type { RecorderList } from '../queue/destinations/recorder.js'
import type { OutboundRequest } from './outbound-request.js'
import type { OutboundResponderFn } from './outbound-responses.js'
import type { OutboundStep } from './outbound-steps.js'

export interface OutboundRoute {
  readonly text: string
  readonly method: string | undefined
  readonly pattern: AddressPattern
  handler: OutboundResponderFn | undefined
  script: OutboundStep[]
  recorders: RecorderList<OutboundRequest>[]
}

/** An optional method before the pattern: `POST https://bank.test/*`. */
const withMethod = /^([A-Za-z]+)\s+(.*)$/

/**
 * Parses a pattern with its optional method.
 * @throws TypeError when the pattern is not a URL
 */
export function parsedPattern(text: string): Pick<OutboundRoute, 'method' | 'pattern'> {
  const [, method, url = text] = withMethod.exec(text) ?? []
  return { method: method?.toUpperCase(), pattern: new AddressPattern(url) }
}

export function isFor(
  { method, pattern }: Pick<OutboundRoute, 'method' | 'pattern'>,
  called: string,
  url: string,
): boolean {
  return (method === undefined || method === called) && pattern.matches(url)
}

/** Registrations by pattern. Exact patterns win over wildcards, and later registrations win over earlier ones. */
export class Routes {
  #routes: OutboundRoute[] = []

  get all(): readonly OutboundRoute[] {
    return this.#routes
  }

  /**
   * Returns the registration for a pattern, and creates it if necessary. The returned registration then counts as the
   * latest one.
   * @throws TypeError when the pattern is not a URL
   */
  at(given: string | URL): OutboundRoute {
    const text = String(given)
    const known = this.#routes.find((route) => route.text === text)
    if (known !== undefined) {
      this.#routes = [...this.#routes.filter((route) => route !== known), known]
      return known
    }
    const route: OutboundRoute = { text, ...parsedPattern(text), handler: undefined, script: [], recorders: [] }
    this.#routes.push(route)
    return route
  }

  /** Removes the registration of a pattern, or without a pattern all registrations. */
  off(given?: string | URL): void {
    this.#routes = given === undefined ? [] : this.#routes.filter(({ text }) => text !== String(given))
  }

  /** Returns the registrations that match a request, in order of precedence. */
  for(method: string, url: string): readonly OutboundRoute[] {
    if (this.#routes.length === 0) return this.#routes
    const matching = this.#routes.filter((route) => isFor(route, method, url)).reverse()
    return [...matching.filter(({ pattern }) => pattern.exact), ...matching.filter(({ pattern }) => !pattern.exact)]
  }

  /**
   * Finds a registration that a request almost matches: the host is the same, but the method or the path differs.
   * `wrong` names this difference.
   */
  near(method: string, url: string): { readonly route: OutboundRoute; readonly wrong: 'method' | 'path' } | undefined {
    const host = hostOf(url)
    const near = this.#routes.filter(({ pattern }) => hostOf(pattern.text) === host)
    const otherMethod = near.find(({ method: wanted, pattern }) => wanted !== method && pattern.matches(url))
    if (otherMethod !== undefined) return { route: otherMethod, wrong: 'method' }
    const nearest = nearestName(
      withoutQuery(url),
      near.map(({ pattern }) => pattern.text),
    )
    const route = near.find(({ pattern }) => pattern.text === nearest) ?? near[0]
    return route && { route, wrong: 'path' }
  }
}

function hostOf(url: string): string {
  const host = /^https?:\/\/([^/]*)/i.exec(withoutQuery(url))?.[1]?.toLowerCase()
  return host?.slice(host.lastIndexOf('@') + 1) ?? ''
}
