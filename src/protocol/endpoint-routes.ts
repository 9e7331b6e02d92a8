import { addRoute, createRouter, type RouterContext } from 'rou3'
import type { Endpoint } from './service.js'

export interface EndpointRoute {
  readonly index: number
  readonly segments: readonly string[]
  /** If the pattern ends in `**`: number of segments before it. */
  readonly restAfter: number
  /** Whether the pattern has segments with a name, such as `:id`. */
  readonly hasNames: boolean
}

/**
 * Method and path of an endpoint. Routers are cached by these keys. A cache with the endpoints themselves would keep
 * their sandboxes in memory.
 */
interface RouteKey {
  readonly method: string
  readonly path: string
}

/** A router, and the list of endpoints that it was built from. */
interface Routes {
  readonly places: readonly RouteKey[]
  readonly router: RouterContext<EndpointRoute>
  readonly anyCase: boolean
}

const known: Routes[] = []

/**
 * Returns the router for a list of endpoints. Routers are cached per process, because the endpoints of all sandboxes
 * have the same methods and paths.
 */
export function routesOf(endpoints: readonly Endpoint<unknown>[], anyCase: boolean): RouterContext<EndpointRoute> {
  // Every new sandbox asks for its routers, so the comparison must not build anything.
  const isKnown = (routes: Routes): boolean =>
    routes.anyCase === anyCase &&
    routes.places.length === endpoints.length &&
    routes.places.every(({ method, path }, index) => {
      const endpoint = endpoints[index]!
      return path === endpoint.path && method === String(endpoint.method)
    })
  let routes = known.find(isKnown)
  if (routes === undefined) {
    const places = endpoints.map(({ method, path }) => ({ method: String(method), path }))
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
