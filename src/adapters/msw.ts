import { type HttpHandler, HttpResponse, http, passthrough } from 'msw'
import type { Sandbox } from '../sandbox/sandbox.js'

/**
 * Handlers for msw, in Node or in a browser, to stand beside your own:
 * `setupServer(...mswHandlers(sandbox), http.get('https://shop.test/me', …))`.
 * They answer for the addresses of the sandbox, event streams included, and for what `sandbox.calls` has registered; of two
 * handlers for a url msw asks the one that stands first. msw itself is never started here: a
 * second `setupServer` would shadow the first.
 */
export function mswHandlers(sandbox: Pick<Sandbox, 'owns' | 'fetch'> & Partial<Pick<Sandbox, 'calls'>>): HttpHandler[] {
  const owned = ({ request }: { request: Request }): boolean => sandbox.owns(request.url)
  const foreign = ({ request }: { request: Request }): boolean =>
    sandbox.calls?.takes(request.method, request.url) === true
  return [
    http.all(owned, ({ request }) => sandbox.fetch(request).catch((error) => networkError(error, request))),
    http.all(foreign, ({ request }) => sandbox.calls!.fetch(request).catch((error) => networkError(error, request))),
  ]
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
 */
export function passthroughHandlers(url: string | URL): HttpHandler[] {
  const { origin, pathname } = new URL(url)
  const below = pathname.replace(/\/$/, '')
  const inside = ({ request }: { request: Request }): boolean => {
    const asked = new URL(request.url)
    return asked.origin === origin && (asked.pathname === below || asked.pathname.startsWith(`${below}/`))
  }
  return [http.all(inside, () => passthrough())]
}
