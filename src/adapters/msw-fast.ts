import type { AnyHandler } from 'msw'
import {
  type DefineNetworkOptions,
  defineNetwork,
  HttpNetworkFrame,
  type NetworkApi,
  NetworkSource,
} from 'msw/experimental'
import { checkOptionNames } from '../kernel/nearest-name.js'
import type { Sandbox } from '../sandbox/sandbox.js'

// What msw marks as experimental stays in this file.

type Fetch = typeof globalThis.fetch

/** Options of `fastNetwork()`. */
export interface FastNetworkOptions {
  /** Your own handlers, for everything that is not the sandbox's. */
  readonly handlers?: readonly AnyHandler[]
  /** What becomes of a request that no handler takes. Default `warn`. */
  readonly onUnhandledFrame?: DefineNetworkOptions<[FetchSource]>['onUnhandledFrame']
}

/**
 * A network of msw 3 that sees `fetch` only: requests to the sandbox, and to what `sandbox.outbound` has registered, go there
 * at once, all others to your handlers. For
 * suites whose clients use nothing but `fetch`; others take `setupServer(...mswHandlers(sandbox))`.
 * @example
 * const network = fastNetwork(sandbox, { handlers: [http.get('https://shop.test/me', () => HttpResponse.json({}))] })
 * network.enable()
 * await redis.set('greeting', 'hello')
 * network.disable()
 */
export function fastNetwork(
  sandbox: Pick<Sandbox, 'owns' | 'fetch' | 'onDispose'> & Partial<Pick<Sandbox, 'outbound'>>,
  options: FastNetworkOptions = {},
): NetworkApi<[FetchSource]> {
  checkOptionNames('fastNetwork()', options, { handlers: true, onUnhandledFrame: true })
  const { handlers = [], onUnhandledFrame = 'warn' } = options
  const source = new FetchSource(sandbox)
  sandbox.onDispose(() => source.disable())
  return defineNetwork({ sources: [source], handlers: [...handlers], onUnhandledFrame, context: { quiet: true } })
}

type Answering = Pick<Sandbox, 'owns' | 'fetch'> & Partial<Pick<Sandbox, 'outbound'>>

/** The global `fetch` as a source of msw's frames. */
export class FetchSource extends NetworkSource<FetchFrame> {
  readonly #sandbox: Answering
  #end: (() => void) | undefined

  constructor(sandbox: Answering) {
    super()
    this.#sandbox = sandbox
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
      // Somebody who has wrapped it meanwhile keeps it, and it passes everything through.
      if (globalThis.fetch === replacement) globalThis.fetch = before
    }
  }

  override disable(): void {
    void super.disable()
    this.#end?.()
    this.#end = undefined
  }

  #handled(request: Request, before: Fetch): Promise<Response> {
    const { signal } = request
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      this.queue(new FetchFrame(request, before, resolve, reject)).catch(reject)
    })
  }
}

/** One request of `fetch` on its way through the handlers. */
export class FetchFrame extends HttpNetworkFrame {
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
    // What bypass() of msw leaves for itself.
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
      // A handler that throws is a bug of the test's; the client gets what setupServer() would give it.
      const { name, message, stack } = reason instanceof Error ? reason : new Error(String(reason))
      this.#resolve(Response.json({ name, message, stack }, { status: 500, statusText: 'Unhandled Exception' }))
    }
  }
}
