import nock from 'nock'
import { type Bytes, fromArray, isUtf8, toArray, utf8 } from '../kernel/bytes.js'
import { gateOf } from '../kernel/clock.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import { checkPeer, installedVersion, isOlder, oldestPeers } from '../kernel/peers.js'
import { baseUrlsOf } from '../protocol/address.js'
import { isRealHost, realMgmtUrls } from '../protocol/dialect.js'
import type { RawRequest, RawResponse } from '../protocol/service.js'
import { rawRequestOf } from '../protocol/web.js'
import type { Sandbox } from '../sandbox/sandbox.js'
import { refuseLookups } from './lookup.js'
import { type Blocking, blockRealHosts, mayReachRealHosts, type RealHostOptions, strayed } from './real-hosts.js'

// nock 13 has the same functions as nock 14, so the version decides. CommonJS has only `__filename`, and ES modules have
// only `import.meta.url`.
const version = installedVersion('nock', typeof __filename === 'string' ? __filename : import.meta.url)
checkPeer('stuntdouble/nock', version === undefined || !isOlder(version, oldestPeers.nock), {
  peer: 'nock',
  instead: 'use stuntdouble/fetch',
})

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/**
 * Creates nock scopes for the sandbox's URLs and the hosts of `sandbox.outbound`, for clients over `fetch`, `http` and
 * `https`. The scopes stay active until you call the returned function, `using` ends, or the sandbox is disposed. Other
 * scopes and `disableNetConnect()` are unaffected. Requests to the vendor's real hosts that no scope matches are
 * rejected; `realHosts: 'allow'` lets them pass. `nock.isDone()` and `nock.pendingMocks()` report only other scopes.
 * nock does not support event streams: they fail with an error that names an alternative.
 * @example
 * using sandbox = createSandbox()
 * nockScopes(sandbox)
 * const redis = new Redis({ url: sandbox.urls.store, token: sandbox.tokens.store })
 * await redis.set('greeting', 'hello')
 */
export function nockScopes(
  sandbox: Pick<Sandbox, 'exchange' | 'onDispose' | 'owns'> &
    Blocking &
    Partial<Pick<Sandbox, 'outbound' | 'clock' | 'onReset'>>,
  options: RealHostOptions = {},
): (() => void) & Disposable {
  checkOptionNames('nockScopes()', options, { realHosts: true })
  const real = realMgmtUrls.filter((url) => sandbox.owns(url))
  const origins = new Set([...baseUrlsOf(sandbox.urls), ...real].map((address) => new URL(address).origin))
  const answering: Answering = {
    takes: (_, url) => sandbox.owns(url),
    // nock never yields to the event loop, so a loop of requests would starve the host's timers.
    exchange: async (call) => {
      const answer = await sandbox.exchange(call)
      const gate = sandbox.clock && gateOf(sandbox.clock)
      if (gate?.closesAfterResponse()) await gate.turn()
      return answer
    },
  }
  const removals = [...origins].map((origin) => answerAt(origin, answering, {}))
  // A scope has one scheme and port. With another one, a request to the vendor's management API passes nock. Its look-up
  // fails, so that it does not reach the vendor.
  const endRefusals = refuseLookups((hostname) => {
    if (!isRealHost(hostname) || !sandbox.owns(`https://${hostname}`)) return undefined
    return new Error(`A request to ${hostname} was blocked. Use ${real.join(' or ')}, where nockScopes() responds.`)
  })
  const endBlock = mayReachRealHosts(sandbox, options) ? () => {} : blockRealHosts((host) => strayed(host, sandbox))
  const foreign: (() => void)[] = []
  const forget = (): void => {
    for (const remove of foreign.splice(0)) remove()
  }
  // nock can intercept a host only after the host was registered. So each host of `sandbox.outbound` is registered as a
  // whole. A request for which the host has no response continues to the real host.
  const follow = (): void => {
    forget()
    const { outbound } = sandbox
    if (outbound === undefined) return
    const stop = outbound.onOrigin((origin) => void foreign.push(answerAt(origin, outbound, { allowUnmocked: true })))
    foreign.push(stop)
  }
  follow()
  const stop = sandbox.onReset?.(follow)
  const restore = (): void => {
    stop?.()
    forget()
    endRefusals()
    endBlock()
    for (const remove of removals.splice(0)) remove()
  }
  sandbox.onDispose(restore)
  return Object.assign(restore, { [Symbol.dispose]: restore })
}

interface Answering {
  takes(method: string, url: string): boolean
  exchange(call: RawRequest): RawResponse | Promise<RawResponse>
}

function answerAt(origin: string, answering: Answering, options: nock.Options): () => void {
  const scope = nock(origin, options).persist()
  const bodies = new WeakMap<object, string>()
  // nock 14 parses the body as JSON before it calls a reply function. This listener stores the body as it was sent.
  scope.on('request', (request: object, _interceptor: unknown, body: string) => bodies.set(request, body))
  // The interceptors are optional, so that nock's list of pending mocks contains only mocks of the test.
  const interceptors = methods.map((method) =>
    scope.intercept((path) => answering.takes(method, origin + path), method).optionally(),
  )
  for (const interceptor of interceptors) {
    interceptor.reply(async function (this: unknown, ...given: readonly unknown[]) {
      const [request] = given
      const call =
        request instanceof Request ? rawRequestOf(request) : callOfNock14((this as Replying).req, origin, bodies)
      return replyOf(await answering.exchange(call))
    } as never)
  }
  return () => {
    scope.persist(false)
    for (const interceptor of interceptors) nock.removeInterceptor(interceptor)
  }
}

/**
 * Returns `[status, body, headers]`, as nock expects them. `headers` is a flat list of names and values, so that a name
 * can occur twice.
 */
async function replyOf({ status, body, headers }: RawResponse): Promise<[number, Buffer, string[]]> {
  if (body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    // A fault can replace a body by a stream.
    // nock sends the stream's content as a whole, or breaks the connection if the stream fails.
    if (!isEventStream(headers)) return [status, await whole(body), headers.flat()]
    await body.cancel()
    throw new Error(
      'nock does not support event streams. Use replaceFetch() from stuntdouble/fetch, mswHandlers() from stuntdouble/msw, or startServer() from stuntdouble/server.',
    )
  }
  const bytes = typeof body === 'string' ? toArray(body) : (body ?? new Uint8Array())
  return [status, Buffer.from(bytes), headers.flat()]
}

async function whole(body: ReadableStream<Uint8Array>): Promise<Buffer> {
  try {
    return Buffer.from(await new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer())
  } catch (error) {
    throw error instanceof TypeError && error.cause !== undefined ? error.cause : error
  }
}

function isEventStream(headers: RawResponse['headers']): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === 'content-type' && value.startsWith('text/event-stream'))
}

/** Type of `this` in a reply function in nock 14. */
interface Replying {
  readonly req: {
    readonly method: string
    readonly path: string
    getHeaders(): Readonly<Record<string, string | number | readonly string[]>>
    once(event: 'close', listener: () => void): unknown
    readonly destroyed: boolean
    readonly res?: unknown
  }
}

function callOfNock14(request: Replying['req'], origin: string, bodies: WeakMap<object, string>): RawRequest {
  const headers = Object.entries(request.getHeaders()).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, String(one)]),
  )
  const length = headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1]
  const bytes = bytesOf(bodies.get(request) ?? '', length)
  const aborting = new AbortController()
  request.once('close', () => {
    if (request.destroyed) aborting.abort()
  })
  return { method: request.method, url: origin + request.path, headers, body: () => bytes, signal: aborting.signal }
}

/**
 * Returns the body as bytes. nock 14 converts a body that is not UTF-8 to hexadecimal digits. Another body can be a
 * text that consists of such digits. The content length shows which kind of body it is.
 */
function bytesOf(shown: string, length: string | undefined): Bytes {
  const isHex = /^(?:[\da-f]{2})+$/.test(shown)
  if (!isHex || length === String(shown.length)) return utf8(shown)
  const bytes = fromArray(Buffer.from(shown, 'hex'))
  return length === String(bytes.length) || !isUtf8(bytes) ? bytes : utf8(shown)
}
