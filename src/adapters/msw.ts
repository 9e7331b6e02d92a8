import { HttpHandler, HttpResponse, passthrough } from 'msw'
import type { Sandbox } from '../sandbox/sandbox.js'

/**
 * Handlers for msw, in Node or in a browser, to stand beside your own:
 * `setupServer(...mswHandlers(sandbox), http.get('https://shop.test/me', …))`.
 * They answer for the addresses of the sandbox, event streams included, and for what `sandbox.outbound` has registered; of two
 * handlers for a url msw asks the one that stands first. msw itself is never started here: a
 * second `setupServer` would shadow the first.
 * @example
 * const server = setupServer(...mswHandlers(sandbox), http.get('https://shop.test/me', () => HttpResponse.json({})))
 * server.listen()
 * await redis.set('greeting', 'hello')
 * server.close()
 */
export function mswHandlers(
  sandbox: Pick<Sandbox, 'owns' | 'fetch'> & Partial<Pick<Sandbox, 'outbound'>>,
): HttpHandler[] {
  const owned = ({ url }: Request): boolean => sandbox.owns(url)
  const foreign = ({ method, url }: Request): boolean => sandbox.outbound?.takes(method, url) === true
  return [
    new Taking(owned, (request) => sandbox.fetch(request)),
    new Taking(foreign, (request) => sandbox.outbound!.fetch(request)),
  ]
}

/** Takes requests by what they are. A predicate in place of a path says the same, but versions before 2.12 know none. */
class Taking extends HttpHandler {
  readonly #takes: (request: Request) => boolean

  constructor(takes: (request: Request) => boolean, answer: (request: Request) => Promise<Response>) {
    super(/.+/, /.*/, ({ request }) => answer(request).catch((error) => networkError(error, request)))
    this.#takes = takes
  }

  override async parse({ request }: { readonly request: Request }): ReturnType<HttpHandler['parse']> {
    return { match: { matches: this.#takes(request), params: {} }, cookies: {} }
  }
}

/** msw takes whatever a handler throws for a bug and answers 500; a broken connection is an error response to it. */
function networkError(error: unknown, request: Request): Response {
  const broken = error instanceof TypeError && error.message === 'fetch failed'
  if (broken || request.signal.aborted) return HttpResponse.error()
  throw error
}

/**
 * Lets requests below a url through to the network, for a server of ours on 127.0.0.1: msw blocks it, too, when it is
 * told to fail on requests that no handler takes.
 * @example
 * const server = setupServer(...mswHandlers(sandbox), ...passthroughHandlers('http://127.0.0.1:4010'))
 * server.listen({ onUnhandledFrame: 'error' })
 * server.close()
 */
export function passthroughHandlers(url: string | URL): HttpHandler[] {
  const { origin, pathname } = new URL(url)
  const below = pathname.replace(/\/$/, '')
  const inside = ({ url }: Request): boolean => {
    const asked = new URL(url)
    return asked.origin === origin && (asked.pathname === below || asked.pathname.startsWith(`${below}/`))
  }
  return [new Taking(inside, async () => passthrough())]
}
