import { AddressPattern, withoutQuery } from '../kernel/address-pattern.js'
import { nearestName } from '../kernel/nearest-name.js'
import type { RecorderList } from '../queue/destinations/recorder.js'
import type { OutboundRequest } from './outbound-request.js'
import type { OutboundResponderFn } from './outbound-responses.js'
import type { OutboundStep } from './outbound-steps.js'

/** What was registered for one pattern. */
export interface OutboundRoute {
  /** As it was written. */
  readonly text: string
  readonly method: string | undefined
  readonly pattern: AddressPattern
  handler: OutboundResponderFn | undefined
  script: OutboundStep[]
  recorders: RecorderList<OutboundRequest>[]
}

/** `POST https://bank.test/*`: a method may stand in front. */
const withMethod = /^([A-Za-z]+)\s+(.*)$/

/** What a pattern that a test has written stands for. @throws TypeError for no address */
export function parsedPattern(text: string): Pick<OutboundRoute, 'method' | 'pattern'> {
  const [, method, url = text] = withMethod.exec(text) ?? []
  return { method: method?.toUpperCase(), pattern: new AddressPattern(url) }
}

/** Whether a call is one of those that a pattern stands for. */
export function isFor(
  { method, pattern }: Pick<OutboundRoute, 'method' | 'pattern'>,
  called: string,
  url: string,
): boolean {
  return (method === undefined || method === called) && pattern.matches(url)
}

/** Registrations by pattern; exact ones win over wildcards, later ones over earlier ones. */
export class Routes {
  #routes: OutboundRoute[] = []

  get all(): readonly OutboundRoute[] {
    return this.#routes
  }

  /** The registration for a pattern, which is the latest from now on. @throws TypeError for what is no address */
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

  /** Forgets one, or all. */
  off(given?: string | URL): void {
    this.#routes = given === undefined ? [] : this.#routes.filter(({ text }) => text !== String(given))
  }

  /** Those for a call, the one that counts first. */
  for(method: string, url: string): readonly OutboundRoute[] {
    if (this.#routes.length === 0) return this.#routes
    const matching = this.#routes.filter((route) => isFor(route, method, url)).reverse()
    return [...matching.filter(({ pattern }) => pattern.exact), ...matching.filter(({ pattern }) => !pattern.exact)]
  }

  /** Those for the same host that a call does not match, and why: another method, or another path. */
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
