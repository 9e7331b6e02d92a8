import type { AnyHandler } from 'msw'
import * as msw from 'msw/experimental'
import { checkOptionNames } from '../kernel/nearest-name.js'
import { checkPeer } from '../kernel/peers.js'
import type { Sandbox } from '../sandbox/sandbox.js'
import { type Blocking, isRealUrl, mayReachRealHosts, type RealHostOptions, strayed } from './real-hosts.js'

// All msw APIs that are marked as experimental are used only in this file.

checkPeer('stuntdouble/msw/fast', msw.defineNetwork !== undefined && msw.HttpNetworkFrame !== undefined, {
  peer: 'msw',
  oldest: [3, 0],
  instead: 'use mswHandlers() from stuntdouble/msw',
})

type Fetch = typeof globalThis.fetch

/** Options of `fastNetwork()`. */
export interface FastNetworkOptions extends RealHostOptions {
  /** Your own handlers, for all requests that are not sent to the sandbox. */
  readonly handlers?: readonly AnyHandler[]
  /** Strategy for requests without a handler. Default `warn`. */
  readonly onUnhandledFrame?: msw.DefineNetworkOptions<[FetchSource]>['onUnhandledFrame']
}

/**
 * Creates a network of msw 3 that intercepts only `fetch`. Requests to the sandbox and to hosts registered in
 * `sandbox.outbound` go to the sandbox directly. All other requests go to your handlers. Requests to the vendor's real
 * hosts that no handler handles are rejected. If a client does not use
 * `fetch`, use `setupServer(...mswHandlers(sandbox))` instead.
 * @example
 * const network = fastNetwork(sandbox, { handlers: [http.get('https://shop.test/me', () => HttpResponse.json({}))] })
 * network.enable()
 * await redis.set('greeting', 'hello')
 * network.disable()
 */
export function fastNetwork(
  sandbox: Answering & Pick<Sandbox, 'onDispose'>,
  options: FastNetworkOptions = {},
): msw.NetworkApi<[FetchSource]> {
  checkOptionNames('fastNetwork()', options, { handlers: true, onUnhandledFrame: true, realHosts: true })
  const { handlers = [], onUnhandledFrame = 'warn' } = options
  const source = new FetchSource(sandbox, options)
  sandbox.onDispose(() => source.disable())
  return msw.defineNetwork({ sources: [source], handlers: [...handlers], onUnhandledFrame, context: { quiet: true } })
}

type Answering = Pick<Sandbox, 'owns' | 'fetch'> & Blocking & Partial<Pick<Sandbox, 'outbound'>>

/** Passes each call of the global `fetch` to msw, as a frame (msw's word for an intercepted request). */
export class FetchSource extends msw.NetworkSource<FetchFrame> {
  readonly #sandbox: Answering
  readonly #options: RealHostOptions
  #end: (() => void) | undefined

  constructor(sandbox: Answering, options: RealHostOptions = {}) {
    super()
    this.#sandbox = sandbox
    this.#options = options
  }

  enable(): void {
    const before = globalThis.fetch
    let isActive = true
    const replacement: Fetch = (input, init) => {
      if (!isActive) return before.call(globalThis, input, init)
      const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
      if (this.#sandbox.owns(url)) return this.#sandbox.fetch(input, init)
      const request = new Request(input, init)
      const { outbound } = this.#sandbox
      return outbound?.takes(request.method, request.url) ? outbound.fetch(request) : this.#handled(request, before)
    }
    globalThis.fetch = replacement
    this.#end = () => {
      isActive = false
      // If other code has wrapped `fetch` in the meantime, the wrapper stays. This replacement then passes all requests
      // on to the previous `fetch`.
      if (globalThis.fetch === replacement) globalThis.fetch = before
    }
  }

  override disable(): void {
    void super.disable()
    this.#end?.()
    this.#end = undefined
  }

  /** Returns the previous `fetch`, for requests that no handler handles. It rejects requests to real hosts. */
  #blocking(before: Fetch): Fetch {
    if (mayReachRealHosts(this.#sandbox, this.#options)) return before
    return async (input, init) => {
      const { url } = input as Request
      if (isRealUrl(url)) throw new Error(strayed(new URL(url).host, this.#sandbox))
      return before.call(globalThis, input, init)
    }
  }

  #handled(request: Request, before: Fetch): Promise<Response> {
    const { signal } = request
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      this.queue(new FetchFrame(request, this.#blocking(before), resolve, reject)).catch(reject)
    })
  }
}

/** One `fetch` request that msw's handlers process. */
export class FetchFrame extends msw.HttpNetworkFrame {
  readonly #before: Fetch
  readonly #resolve: (response: Response | Promise<Response>) => void
  readonly #reject: (reason: unknown) => void

  constructor(
    request: Request,
    before: Fetch,
    resolve: (response: Response | Promise<Response>) => void,
    reject: (reason: unknown) => void,
  ) {
    super({ request })
    this.#before = before
    this.#resolve = resolve
    this.#reject = reject
  }

  respondWith(response?: Response): void {
    if (response === undefined) this.passthrough()
    else if (response.type === 'error') this.#reject(new TypeError('fetch failed', { cause: response }))
    else {
      Object.defineProperty(response, 'url', { value: this.data.request.url })
      this.#resolve(response)
    }
  }

  passthrough(): void {
    const { request } = this.data
    // Remove the marker that msw's bypass() adds.
    const accepted = request.headers
      .get('accept')
      ?.split(/,\s*/)
      .filter((type) => type !== 'msw/passthrough')
    if (accepted?.length === 0) request.headers.delete('accept')
    else if (accepted) request.headers.set('accept', accepted.join(', '))
    this.#resolve(this.#before.call(globalThis, request))
  }

  errorWith(reason?: unknown): void {
    if (reason instanceof Response) this.respondWith(reason)
    else if (reason instanceof Error && reason.name === 'InternalError') {
      this.#reject(new TypeError('fetch failed', { cause: reason }))
    } else {
      // An error that a handler throws is a bug of the test. The client gets the same response as with `setupServer()`.
      const { name, message, stack } = reason instanceof Error ? reason : new Error(String(reason))
      this.#resolve(Response.json({ name, message, stack }, { status: 500, statusText: 'Unhandled Exception' }))
    }
  }
}
