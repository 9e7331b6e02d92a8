import { findRoute, type RouterContext } from 'rou3'
import type { FaultSource } from '../faults/fault.js'
import type { Bytes } from '../kernel/bytes.js'
import { type Clock, gateOf, letOutsideContinue } from '../kernel/clock.js'
import { hostPause } from '../kernel/host.js'
import { areSame, ConnectionBroken, decodeSegment, type HeaderList, LatestHeaders, noHeaders } from '../kernel/http.js'
import type { InputJournal } from '../kernel/input-journal.js'
import { SandboxDisposed } from '../kernel/running-task.js'
import type { Task } from '../kernel/time.js'
import type { EntryBase, LoggedResponse, RequestEntry, ServiceName, TrafficLog } from '../kernel/traffic-log.js'
import type { Locate, QueueRegion, ServiceUrl } from './address.js'
import { json, RoutedRequest, sentTo, storeTokenQuery, tokenOf } from './call.js'
import { type Dialect, dialectsOf, neutralDialect, otherDialects } from './dialect.js'
import { DialectDetector } from './dialect-detector.js'
import { type EndpointRoute, routesOf } from './endpoint-routes.js'
import { type FaultyRequest, injectionsFor, serveFaulty } from './request-faults.js'
import type { Exchange, LateResponse, RawRequest, RawResponse, Service } from './service.js'

export interface GatewayOptions {
  readonly locate: Locate
  readonly dialect: Dialect
  /** Receives one warning for each kind of name that the dialect of the sandbox does not accept. */
  readonly warn?: ((sentence: string) => void) | undefined
  /** Returns the service to which a URL belongs, the same object for each URL of a service. */
  serviceAt(location: ServiceUrl): Service
  readonly clock: Clock
  readonly traffic: TrafficLog
  /** Records requests, so that they can be replayed. */
  readonly journal?: InputJournal | undefined
  readonly faults?: FaultSource | undefined
  /** Function that explains why a token was rejected. The explanation becomes a note in the entry of the request. */
  readonly explainToken?: ExplainsToken | undefined
  /** The region whose requests are logged without a region. */
  readonly homeRegion?: QueueRegion | undefined
}

/** Returns a message that says where an unknown token probably comes from, or `undefined`. */
export type ExplainsToken = (service: 'queue' | 'store', token: string) => string | undefined

/** Runs asynchronous work as part of the present task of the clock, or as a new task if there is none. */
type Waiting = (work: (task: Task) => Promise<RawResponse>) => Promise<RawResponse>

/**
 * Creates the function that processes all requests: it finds the service, logs the request, finds the endpoint, checks
 * the token, runs the endpoint and logs the response. If the endpoint need not wait, the whole request is processed
 * synchronously. Requests at the same virtual instant are therefore processed in the order of their arrival.
 */
export function createGateway(options: GatewayOptions): Exchange {
  const hearing = new DialectDetector(options.dialect, options.warn)
  const tokens = tokenParameters(options.dialect)
  const asked = new LatestRedacted()
  const answered = new LatestHeaders()
  const routes = new Map<Service, Routes>()
  return (call) => {
    const location = options.locate(call.url)
    if (location === undefined) {
      throw new Error(
        `exchange(): the URL must belong to the sandbox (got ${call.url}). Check sandbox.owns(url) first.`,
      )
    }
    const body = call.body()
    const track = <T>(work: (task: Task) => Promise<T>): Promise<T> =>
      options.clock.track(`request ${call.method} ${location.path}`, work)
    if (typeof body === 'string') return answer(call, body, location, track)
    const gate = gateOf(options.clock)
    const answered = track(async (task) => {
      const bytes = await soon(body)
      while (!gate.isOpen) await gate.turn()
      return bytes === undefined ? undefined : answer(call, bytes, location, (work) => work(task))
    }).then((given) => given ?? body.then((bytes) => answer(call, bytes, location, track)))
    return gate.leaving(answered)
  }

  function answer(
    call: RawRequest,
    body: Bytes,
    location: ServiceUrl,
    waiting: Waiting,
  ): RawResponse | Promise<RawResponse> {
    const { traffic, clock, journal, homeRegion, faults } = options
    const number = journal?.request(call, body)
    const { region, database, service } = location
    const elsewhere = homeRegion === undefined || region === homeRegion ? undefined : region
    const entry = traffic.keeps ? logRequest(call, body, service, elsewhere, database) : undefined
    const routed = new RoutedRequest(call, body, location, hearing, entry?.seq ?? 0, journal, number)
    const target = routesFor(options.serviceAt(location))
    target.route(routed)
    const faulty =
      faults === undefined || faults.isInactive ? undefined : injectionsFor(faults, routed, target.service, clock)
    if (faulty !== undefined) return answerFaulty(faulty, target, routed, entry, waiting)
    let served: RawResponse | LateResponse | Promise<RawResponse>
    try {
      served = target.serve(routed)
    } catch (error) {
      return fail(error, routed, entry)
    }
    if (served instanceof Promise || 'respond' in served) return answerLater(served, routed, entry, waiting)
    if (served.status === 401 && entry !== undefined) explainRefusal(entry, routed)
    return finish(served, routed, entry)
  }

  // The parts of a response are functions of their own, so that a request that need not wait creates no functions.

  function answerFaulty(
    faulty: FaultyRequest,
    target: Routes,
    call: RoutedRequest,
    entry: Received | undefined,
    waiting: Waiting,
  ): Promise<RawResponse> {
    const { clock } = options
    return waiting((task) => {
      const serve = (): RawResponse | Promise<RawResponse> => arrived(target.serve(call), call, task)
      return finishLater(serveFaulty({ ...faulty, call, task, clock, serve }), call, entry)
    })
  }

  function answerLater(
    served: LateResponse | Promise<RawResponse>,
    call: RoutedRequest,
    entry: Received | undefined,
    waiting: Waiting,
  ): Promise<RawResponse> {
    return waiting((task) => finishLater(Promise.resolve(arrived(served, call, task)), call, entry))
  }

  function finishLater(
    served: Promise<RawResponse>,
    call: RoutedRequest,
    entry: Received | undefined,
  ): Promise<RawResponse> {
    return gateOf(options.clock).after(
      served,
      (given) => finish(given, call, entry),
      (error) => fail(error, call, entry),
    )
  }

  function finish(given: RawResponse, call: RoutedRequest, entry: Received | undefined): RawResponse {
    const { traffic, clock } = options
    const { dialect, note } = call.speech
    const headers = inVendorWords(given.headers, dialect)
    const sent = sentTo(call, headers === given.headers ? given : { ...given, headers })
    if (entry !== undefined) {
      if (note !== undefined) entry.note ??= note
      entry.response = logged(sent, answered.once(sent.headers), clock.now())
      traffic.complete(entry)
    }
    letOutsideContinue(clock)
    return sent
  }

  function fail(error: unknown, call: RoutedRequest, entry: Received | undefined): RawResponse {
    const { traffic, clock } = options
    if (error instanceof SandboxDisposed) return finish(json({ error: error.message }, 503), call, entry)
    if (error instanceof ConnectionBroken) {
      if (entry !== undefined) {
        entry.response = { at: clock.now(), status: 0, headers: [], body: undefined }
        traffic.complete(entry)
      }
      letOutsideContinue(clock)
    }
    throw error
  }

  function explainRefusal(entry: Received, call: RoutedRequest): void {
    const { service } = call
    if (service === 'stats') return
    const token = tokenOf(call, service === 'queue' ? call.dialect.queueTokenQuery : storeTokenQuery)
    const note = token === undefined ? undefined : options.explainToken?.(service, token)
    if (note !== undefined) entry.note = note
  }

  function routesFor(service: Service): Routes {
    let found = routes.get(service)
    if (found === undefined) {
      found = new Routes(service)
      routes.set(service, found)
    }
    return found
  }

  function logRequest(
    call: RawRequest,
    body: Bytes,
    service: ServiceName,
    region: QueueRegion | undefined,
    database: string | undefined,
  ): Received {
    const url = call.url.includes('token=') ? call.url.replace(tokens, '$1***') : call.url
    const entry = new Received(service, call.method, url, asked.once(call.headers), body)
    if (region !== undefined) entry.region = region
    if (database !== undefined) entry.database = database
    options.traffic.adopt(entry)
    return entry
  }
}

/**
 * Maximum number of turns of the host's event loop for which the gateway waits for a body. A body whose bytes have all
 * arrived can be read in fewer turns.
 */
const turnsOfBody = 100

/**
 * Returns a body, or `undefined` if it is still arriving. A request begins to run when its last byte has arrived. A
 * complete request therefore blocks virtual time immediately, and a request whose body never ends does not block
 * virtual time forever. The limit counts turns of the event loop, so it does not depend on speed.
 */
export async function soon(body: Promise<Bytes>): Promise<Bytes | undefined> {
  let isOver = false
  const arrives = body.finally(() => {
    isOver = true
  })
  const patience = async (): Promise<undefined> => {
    for (let turn = 0; turn < turnsOfBody && !isOver; turn++) await hostPause()
  }
  return Promise.race([arrives, patience()])
}

/**
 * The log entry of a request. This is a class, because merging an object literal with the common fields takes several
 * times as long.
 */
class Received implements RequestEntry, EntryBase {
  readonly type = 'request'
  seq = 0
  at = 0
  declare cause?: number
  declare region?: string
  declare database?: string
  declare note?: string
  declare response?: LoggedResponse
  declare endedAfterSeq?: number

  constructor(
    readonly service: ServiceName,
    readonly method: string,
    readonly url: string,
    readonly headers: HeaderList,
    readonly body: Bytes,
  ) {}
}

/** Waits in virtual time for a late response. If the client disconnects, the wait ends. */
function arrived(
  served: RawResponse | LateResponse | Promise<RawResponse>,
  { signal }: RoutedRequest,
  task: Task,
): RawResponse | Promise<RawResponse> {
  if (served instanceof Promise || !('respond' in served)) return served
  return task.sleep(served.afterMs, signal).then(() => served.respond())
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

class Routes {
  readonly service: Service
  readonly #router: RouterContext<EndpointRoute>
  readonly #anyCase: boolean
  // Method, path and route of the latest request. Clients of the store send most requests to one path.
  #method = ''
  #path = ''
  #latest: EndpointRoute | undefined = undefined

  constructor(service: Service) {
    this.service = service
    this.#anyCase = service.anyCase ?? false
    this.#router = routesOf(service.endpoints, this.#anyCase)
  }

  /**
   * Sets the endpoint of a request. If the service ignores case, replaces the fixed segments of the path by their
   * spelling in the pattern.
   */
  route(call: RoutedRequest): RoutedRequest {
    const found = this.#find(call.method, call.path)
    if (found === undefined) return call
    const { index, segments, restAfter, hasNames } = found
    call.endpoint = this.service.endpoints[index]
    call.segmentsBeforeRest = restAfter
    if (this.#anyCase) call.path = spelled(call.path, segments)
    if (hasNames) call.params = namedIn(call.path, segments)
    return call
  }

  #find(method: string, path: string): EndpointRoute | undefined {
    if (method !== this.#method || path !== this.#path) {
      this.#latest = findRoute(this.#router, method, this.#anyCase ? path.toLowerCase() : path)?.data
      this.#method = method
      this.#path = path
    }
    return this.#latest
  }

  serve(call: RoutedRequest): RawResponse | LateResponse | Promise<RawResponse> {
    try {
      const { endpoint } = call
      if (endpoint === undefined) return this.#refuse(call)
      if (endpoint.auth !== 'none') {
        const refusal = this.service.authorize(call, endpoint.auth)
        if (refusal) return refusal
        this.service.count?.(endpoint)
      }
      const answer = endpoint.run(call, this.service.state)
      if (answer instanceof Promise) return answer.catch((error) => this.#failure(error))
      return 'respond' in answer ? { ...answer, respond: () => this.#respond(answer) } : answer
    } catch (error) {
      return this.#failure(error)
    }
  }

  #respond(late: LateResponse): RawResponse {
    try {
      return late.respond()
    } catch (error) {
      return this.#failure(error)
    }
  }

  #refuse(call: RoutedRequest): RawResponse {
    const allowed = methods.filter((method) => this.#find(method, call.path) !== undefined)
    return allowed.length > 0 ? this.service.methodNotAllowed(call, allowed) : this.service.notFound(call)
  }

  #failure(error: unknown): RawResponse {
    const answer = this.service.failure(error)
    if (answer) return answer
    throw error
  }
}

function isFixed(segment: string): boolean {
  return !segment.startsWith(':') && !segment.startsWith('**')
}

/** Returns a path with the fixed segments in the spelling of the pattern, such as `/v2/publish` for `/V2/Publish`. */
function spelled(path: string, pattern: readonly string[]): string {
  let start = 1
  for (const segment of pattern) {
    if (segment.startsWith('**')) return path
    const end = path.indexOf('/', start)
    if (isFixed(segment) && !path.startsWith(segment, start)) {
      path = path.slice(0, start) + segment + path.slice(start + segment.length)
    }
    if (end === -1) return path
    start = end + 1
  }
  return path
}

/** Returns the decoded values of named segments, such as `:id`. */
function namedIn(path: string, pattern: readonly string[]): Record<string, string> {
  const given = path.split('/')
  const params: Record<string, string> = {}
  pattern.forEach((segment, index) => {
    if (segment.startsWith(':')) params[segment.slice(1)] = decodeSegment(given[index + 1] ?? '')
  })
  return params
}

function inVendorWords(headers: HeaderList, dialect: Dialect): HeaderList {
  if (dialect.headerPrefix === neutralDialect.headerPrefix) return headers
  const prefix = dialect.headerPrefix.toLowerCase()
  return headers.map((header) => {
    const [name, value] = header
    if (name === 'access-control-expose-headers') return [name, vendorName(value, prefix)]
    return name.startsWith('service-') ? [vendorName(name, prefix), value] : header
  })
}

function vendorName(name: string, prefix: string): string {
  return name.replace(/^service-/, prefix)
}

function logged({ status, body }: RawResponse, headers: HeaderList, at: number): LoggedResponse {
  return { at, status, headers, body: body === null ? ('' as Bytes) : typeof body === 'string' ? body : undefined }
}

const credentials = /^authorization$|^proxy-authorization$|^cookie$/i
/** Headers that almost every request has. The log keeps them, so entries share these objects to save memory. */
const bearer = ['authorization', 'Bearer ***'] as const
const jsonBody = ['content-type', 'application/json'] as const

export function withoutCredentials(header: readonly [string, string]): readonly [string, string] {
  const [name, value] = header
  if (name === 'content-type') return value === 'application/json' ? jsonBody : header
  if (name === 'authorization' && value.startsWith('Bearer ')) return bearer
  const { length } = name
  if ((length !== 13 && length !== 19 && length !== 6) || !credentials.test(name)) return header
  const scheme = /^(bearer|basic)\s/i.exec(value)?.[1]
  return [name, scheme ? `${scheme} ***` : '***']
}

/** Like `LatestHeaders`, but without credentials. Headers are redacted only if they differ from the latest ones. */
class LatestRedacted {
  #given: HeaderList = noHeaders
  readonly #redacted = new LatestHeaders()
  #latest: HeaderList = noHeaders

  once(headers: HeaderList): HeaderList {
    if (!areSame(headers, this.#given)) {
      // A copy, because the caller may change its list later.
      this.#given = headers.map(([name, value]) => [name, value])
      this.#latest = this.#redacted.once(headers.map(withoutCredentials))
    }
    return this.#latest
  }
}

/** Matches the token in a query, in all known dialects. A token under the name of another dialect is a secret too. */
function tokenParameters(dialect: Dialect): RegExp {
  const names = [...dialectsOf(dialect), ...otherDialects(dialect)].map(({ queueTokenQuery }) => queueTokenQuery)
  return new RegExp(`([?&](?:_token|${names.join('|')})=)[^&#]*`, 'g')
}
