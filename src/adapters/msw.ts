import * as msw from 'msw'
import { checkOptionNames } from '../kernel/nearest-name.js'
import { checkPeer } from '../kernel/peers.js'
import type { Sandbox } from '../sandbox/sandbox.js'
import { type Blocking, blockRealHosts, mayReachRealHosts, type RealHostOptions, strayed } from './real-hosts.js'

// An import of single names would fail before this check if an old version does not export them.
checkPeer('stuntdouble/msw', msw.HttpHandler !== undefined, { peer: 'msw', instead: 'use stuntdouble/fetch' })

/**
 * Returns msw handlers for Node.js and browsers, which you combine with your own:
 * `setupServer(...mswHandlers(sandbox), http.get('https://shop.test/me', …))`.
 * The returned handlers respond for the sandbox's URLs, including event streams, and for hosts registered in
 * `sandbox.outbound`. If two handlers match a URL, msw uses the first. This function never starts msw, because a second
 * `setupServer` would shadow the first. Until the sandbox is disposed, requests to the vendor's real hosts that no
 * handler handles are rejected; `realHosts: 'allow'` lets them pass.
 * @example
 * const server = setupServer(...mswHandlers(sandbox), http.get('https://shop.test/me', () => HttpResponse.json({})))
 * server.listen()
 * await redis.set('greeting', 'hello')
 * server.close()
 */
export function mswHandlers(
  sandbox: Pick<Sandbox, 'owns' | 'fetch' | 'onDispose'> & Blocking & Partial<Pick<Sandbox, 'outbound'>>,
  options: RealHostOptions = {},
): msw.HttpHandler[] {
  checkOptionNames('mswHandlers()', options, { realHosts: true })
  if (!mayReachRealHosts(sandbox, options)) blockUntilDisposed(sandbox)
  const owned = ({ url }: Request): boolean => sandbox.owns(url)
  const foreign = ({ method, url }: Request): boolean => sandbox.outbound?.takes(method, url) === true
  return [
    new Taking(owned, (request) => sandbox.fetch(request)),
    new Taking(foreign, (request) => sandbox.outbound!.fetch(request)),
  ]
}

const blocked = new WeakSet<object>()

/** Blocks requests to real hosts until the sandbox is disposed. Handlers have no life cycle of their own. */
function blockUntilDisposed(sandbox: Blocking & Pick<Sandbox, 'onDispose'>): void {
  if (blocked.has(sandbox)) return
  blocked.add(sandbox)
  sandbox.onDispose(blockRealHosts((host) => strayed(host, sandbox)))
}

/**
 * msw handler that accepts a request if `takes(request)` returns true. msw before 2.12 accepts no predicate as the path
 * of a handler.
 */
class Taking extends msw.HttpHandler {
  readonly #takes: (request: Request) => boolean

  constructor(takes: (request: Request) => boolean, answer: (request: Request) => Promise<Response>) {
    super(/.+/, /.*/, ({ request }) => answer(request).catch((error) => networkError(error, request)))
    this.#takes = takes
  }

  override async parse({ request }: { readonly request: Request }): ReturnType<msw.HttpHandler['parse']> {
    return { match: { matches: this.#takes(request), params: {} }, cookies: {} }
  }
}

/**
 * Returns the response that makes msw break the connection. Any other error is thrown again: msw assumes that the
 * handler has a bug, and responds 500.
 */
function networkError(error: unknown, request: Request): Response {
  const broken = error instanceof TypeError && error.message === 'fetch failed'
  if (broken || request.signal.aborted) return msw.HttpResponse.error()
  throw error
}

/**
 * Lets requests below a URL pass to the network, for a stuntdouble server on 127.0.0.1.
 * With `onUnhandledRequest: 'error'`, msw would block these requests.
 * @example
 * const server = setupServer(...mswHandlers(sandbox), ...passthroughHandlers('http://127.0.0.1:4010'))
 * server.listen({ onUnhandledFrame: 'error' })
 * server.close()
 */
export function passthroughHandlers(url: string | URL): msw.HttpHandler[] {
  const { origin, pathname } = new URL(url)
  const below = pathname.replace(/\/$/, '')
  const inside = ({ url }: Request): boolean => {
    const asked = new URL(url)
    return asked.origin === origin && (asked.pathname === below || asked.pathname.startsWith(`${below}/`))
  }
  return [new Taking(inside, async () => msw.passthrough())]
}
