import { addRoute, createRouter, type RouterContext } from 'rou3'
import type { Endpoint } from './service.js'

/** Endpoint that matches a path, as a position in a list of endpoints. */
export interface EndpointRoute {
  /** Index of the endpoint. */
  readonly index: number
  readonly segments: readonly string[]
  /** Number of segments before the `**` of the pattern, if it has one. */
  readonly restAfter: number
  /** Whether the pattern has named segments. */
  readonly hasNames: boolean
}

/**
 * Method and path of an endpoint. A cache of these does not keep a sandbox in memory, as a cache of endpoints would.
 */
interface RouteKey {
  readonly method: string
  readonly path: string
}

/** The keys of a list of endpoints, and the router for them. */
interface Routes {
  readonly places: readonly RouteKey[]
  readonly router: RouterContext<EndpointRoute>
  readonly anyCase: boolean
}

const known: Routes[] = []

/**
 * Returns the router of a list of endpoints, cached per process. The endpoints of two sandboxes have the same paths,
 * but close over different services.
 */
export function routesOf(endpoints: readonly Endpoint<unknown>[], anyCase: boolean): RouterContext<EndpointRoute> {
  const places = endpoints.map(({ method, path }) => ({ method: String(method), path }))
  const isKnown = (routes: Routes): boolean =>
    routes.anyCase === anyCase &&
    routes.places.length === places.length &&
    routes.places.every(({ method, path }, index) => path === places[index]!.path && method === places[index]!.method)
  let routes = known.find(isKnown)
  if (routes === undefined) {
    routes = { places, router: made(endpoints, anyCase), anyCase }
    known.push(routes)
  }
  return routes.router
}

function made(endpoints: readonly Endpoint<unknown>[], anyCase: boolean): RouterContext<EndpointRoute> {
  const router = createRouter<EndpointRoute>()
  for (const [index, { method, path }] of endpoints.entries()) {
    const segments = path.split('/').slice(1)
    const route: EndpointRoute = {
      index,
      segments,
      restAfter: segments.findIndex((segment) => segment.startsWith('**')),
      hasNames: segments.some((segment) => segment.startsWith(':')),
    }
    const pattern = anyCase ? segments.map(lowerFixed).join('/') : segments.join('/')
    for (const each of [method].flat()) addRoute(router, each, `/${pattern}`, route)
  }
  return router
}

function lowerFixed(segment: string): string {
  return /^(?::|\*\*)/.test(segment) ? segment : segment.toLowerCase()
}
