import type { APIRequestContext, BrowserContext, Page, Request, Route } from '@playwright/test'
import { type Bytes, fromArray, isAscii, latin1 } from '../kernel/bytes.js'
import { ConnectionBroken } from '../kernel/http.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import type { RawRequest, RawResponse } from '../protocol/service.js'
import type { Sandbox } from '../sandbox/sandbox.js'
import { type Blocking, isRealUrl, mayReachRealHosts, type RealHostOptions, strayed } from './real-hosts.js'

/** Members of a sandbox that the Playwright adapter needs. */
export type Bridged = Pick<Sandbox, 'exchange' | 'owns'> &
  Blocking &
  Partial<Pick<Sandbox, 'outbound'>> & {
    /**
     * Returns whether a request reaches the sandbox over the network, so that Playwright need not intercept the
     * request.
     */
    readonly leaves?: (request: Request) => boolean
  }

/** Options of `routeSandbox()`. */
export interface RouteOptions extends RealHostOptions {
  /**
   * Function that serves the body of an event stream and returns the URL of this stream. `route.fulfill()` does not
   * accept a stream, so the page is redirected to that URL. Without this function, event streams of a page fail with a
   * message in the console.
   */
  readonly serveStream?: (answer: RawResponse) => string
}

/**
 * Routes requests of a context's pages, popups and workers to the sandbox. A request is routed if its URL belongs to
 * the sandbox or to a host registered in `sandbox.outbound`. Requests to the vendor's real hosts are aborted, and fail
 * the test of a fixture. All other requests go to the network.
 * @returns a function that ends the routing
 * @example
 * const stop = await routeSandbox(page, sandbox)
 * await page.goto('/')
 * await stop()
 */
export async function routeSandbox(
  context: BrowserContext | Page,
  sandbox: Bridged,
  options: RouteOptions = {},
): Promise<() => Promise<void>> {
  checkOptionNames('routeSandbox()', options, { serveStream: true, realHosts: true })
  const blocks = !mayReachRealHosts(sandbox, options)
  const owned = ({ href }: URL): boolean =>
    sandbox.owns(href) || sandbox.outbound?.knows(href) === true || (blocks && isRealUrl(href))
  const handler = (route: Route): Promise<void> => bridged(route, sandbox, options)
  await context.route(owned, handler)
  return () => context.unroute(owned, handler)
}

async function bridged(route: Route, sandbox: Bridged, options: RouteOptions): Promise<void> {
  const request = route.request()
  if (sandbox.leaves?.(request) === true) return route.fallback()
  if (isPreflight(request)) {
    await route.fulfill({ status: 204, headers: preflightHeaders(request) })
    return
  }
  const [isOurs, call] = [sandbox.owns(request.url()), new RoutedCall(request)]
  if (!isOurs && sandbox.outbound?.takes(call.method, call.url) !== true) {
    if (!isRealUrl(call.url) || mayReachRealHosts(sandbox, options)) return route.fallback()
    strayed(new URL(call.url).host, sandbox)
    return route.abort('blockedbyclient')
  }
  try {
    const answer = isOurs ? sandbox.exchange(call) : sandbox.outbound!.exchange(call, { outside: true })
    await fulfil(route, await answer, options)
  } catch (error) {
    if (!(error instanceof ConnectionBroken)) throw error
    await route.abort(networkErrors[error.code])
  }
}

const networkErrors = {
  ECONNRESET: 'connectionreset',
  ETIMEDOUT: 'timedout',
  ECONNREFUSED: 'connectionrefused',
  ENOTFOUND: 'namenotresolved',
  CERT_HAS_EXPIRED: 'failed',
} as const

async function fulfil(route: Route, answer: RawResponse, { serveStream }: RouteOptions): Promise<void> {
  const headers = readable(answer.headers, route.request())
  const { status, body } = answer
  if (typeof body === 'string' || body === null) {
    const bytes = body ?? ''
    await route.fulfill({ status, headers, body: isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1') })
    return
  }
  if (serveStream === undefined) {
    await body.cancel()
    throw new Error(
      "Playwright's route.fulfill() does not support event streams. Use the fixtures of stuntdouble/playwright, which serve them, or point the page at startServer().",
    )
  }
  // The redirect leads to a stream on this machine. Browsers let a public page send requests to this machine only with
  // a permission.
  const page = route.request().serviceWorker() === null ? route.request().frame().page() : undefined
  await page
    ?.context()
    .grantPermissions(['local-network-access'])
    .catch(() => undefined)
  await route.fulfill({ status: 303, headers: { ...headers, location: serveStream(answer) } })
}

class RoutedCall implements RawRequest {
  readonly method: string
  readonly url: string
  readonly headers: RawRequest['headers']
  readonly #body: Buffer | null

  constructor(request: Request) {
    this.method = request.method()
    this.url = request.url()
    // `request.headers()` has no cookies, but the services do not read cookies. `allHeaders()` would need another round
    // trip to the browser.
    this.headers = Object.entries(request.headers())
    this.#body = request.postDataBuffer()
  }

  body(): Bytes {
    return this.#body === null ? latin1('') : fromArray(this.#body)
  }
}

function isPreflight(request: Request): boolean {
  return request.method() === 'OPTIONS' && request.headers()['access-control-request-method'] !== undefined
}

function preflightHeaders(request: Request): Record<string, string> {
  const { origin = '*', ...headers } = request.headers()
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': headers['access-control-request-method'] ?? '*',
    'access-control-allow-headers': headers['access-control-request-headers'] ?? '*',
    'access-control-max-age': '600',
  }
}

/** Adds headers that allow pages of other origins to read the response, unless the service sets them itself. */
function readable(headers: RawResponse['headers'], request: Request): Record<string, string> {
  const { origin } = request.headers()
  const out: Record<string, string> = {}
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    out[key] = out[key] === undefined ? value : `${out[key]}${key === 'set-cookie' ? '\n' : ', '}${value}`
  }
  if (origin !== undefined) out['access-control-allow-origin'] ??= '*'
  return out
}

const sending = ['fetch', 'get', 'head', 'post', 'put', 'patch', 'delete'] as const

function methodOf(name: (typeof sending)[number], target: string | Request, options: { method?: string } = {}): string {
  if (name !== 'fetch') return name.toUpperCase()
  return (options.method ?? (typeof target === 'string' ? 'GET' : target.method())).toUpperCase()
}

/**
 * Redirects requests of an `APIRequestContext` to a server, if their URL belongs to the sandbox or to an external host.
 * Playwright's routes do not intercept such requests.
 * @param served returns the URL on the server, or `undefined` if the request must not be redirected
 * @returns a function that ends the redirection
 * @example
 * const stop = routeRequests(context.request, (url) => (sandbox.owns(url) ? url : undefined))
 * stop()
 */
export function routeRequests(
  request: APIRequestContext,
  served: (url: string, method: string) => string | undefined,
): () => void {
  const before = sending.map((name) => [name, Object.getOwnPropertyDescriptor(request, name)] as const)
  for (const name of sending) {
    const original = request[name].bind(request) as (url: unknown, options?: object) => Promise<unknown>
    const replacement = (target: string | Request, options?: object): Promise<unknown> => {
      const url = typeof target === 'string' ? target : target.url()
      return original(served(url, methodOf(name, target, options)) ?? target, options)
    }
    Object.defineProperty(request, name, { value: replacement, configurable: true, writable: true })
  }
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(request, name)
      else Object.defineProperty(request, name, descriptor)
    }
  }
}
