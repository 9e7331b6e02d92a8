import { findRoute, type RouterContext } from 'rou3'
import type { FaultSource } from '../faults/fault.js'
import type { Bytes } from '../kernel/bytes.js'
import { type Clock, gateOf, letOutsideContinue } from '../kernel/clock.js'
import { hostPause } from '../kernel/host.js'
import { ConnectionBroken, decodeSegment, type HeaderList, LatestHeaders } from '../kernel/http.js'
import type { InputJournal } from '../kernel/input-journal.js'
import { SandboxDisposed } from '../kernel/running-task.js'
import type { Task } from '../kernel/time.js'
import type { EntryBase, LoggedResponse, RequestEntry, ServiceName, TrafficLog } from '../kernel/traffic-log.js'
import type { Locate, QueueRegion, ServiceUrl } from './address.js'
import { json, RoutedRequest, sentTo, storeTokenQuery, tokenOf } from './call.js'
import { type Dialect, dialectsOf, neutralDialect, otherDialects } from './dialect.js'
import { DialectDetector } from './dialect-detector.js'
import { type EndpointRoute, routesOf } from './endpoint-routes.js'
import { injectionsFor, serveFaulty } from './request-faults.js'
import type { Exchange, RawRequest, RawResponse, Service } from './service.js'

export interface GatewayOptions {
  readonly locate: Locate
  readonly dialect: Dialect
  /** Is told, once for each kind, of words that mean nothing here. */
  readonly warn?: ((sentence: string) => void) | undefined
  readonly services: readonly Service[]
  readonly clock: Clock
  readonly traffic: TrafficLog
  /** Where requests are written down, so that they can be made again. */
  readonly journal?: InputJournal | undefined
  /** What goes wrong. */
  readonly faults?: FaultSource | undefined
  /** What its author should know of a request that was refused for its token. */
  readonly explainToken?: ExplainsToken | undefined
  /** Which region's queue is among the services, and who serves the other. */
  readonly regions?: { readonly home: QueueRegion; serviceAt(region: QueueRegion): Service } | undefined
}

/** Says in a sentence where a token came from that a service does not know; `undefined` when nobody knows. */
export type ExplainsToken = (service: 'queue' | 'store', token: string) => string | undefined

/** Runs work that takes time as a task of the clock: the one that is there, or a new one. */
type Waiting = (work: (task: Task) => Promise<RawResponse>) => Promise<RawResponse>

/**
 * The path of one request: address, log, route, token, endpoint, log. Everything that can be answered without waiting
 * is, so that two requests at the same virtual instant are served in the order in which they arrived.
 */
export function createGateway(options: GatewayOptions): Exchange {
  const hearing = new DialectDetector(options.dialect, options.warn)
  const tokens = tokenParameters(options.dialect)
  const asked = new LatestHeaders()
  const answered = new LatestHeaders()
  const routes = new Map<ServiceName, Routes>(options.services.map((service) => [service.name, new Routes(service)]))
  const { home } = options.regions ?? {}
  let away: Routes | undefined
  return (call) => {
    const location = options.locate(call.url)
    if (location === undefined) {
      throw new Error(
        `No service of this sandbox is at ${call.url}. Check sandbox.owns(url) before you pass a request in.`,
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
    const { traffic, clock, journal } = options
    const number = journal?.request(call, body)
    const { region } = location
    const elsewhere = region === undefined || region === home ? undefined : region
    const entry = traffic.keeps ? logRequest(call, body, location.service, elsewhere) : undefined
    const routed = new RoutedRequest(call, body, location, hearing, entry?.seq ?? 0, journal, number)
    const finish = (given: RawResponse): RawResponse => {
      const { dialect, note } = routed.speech
      const sent = sentTo(call, { ...given, headers: inVendorWords(given.headers, dialect) })
      if (entry !== undefined) {
        if (note !== undefined) entry.note ??= note
        entry.response = logged(sent, answered.once(sent.headers), clock.now())
        traffic.complete(entry)
      }
      letOutsideContinue(clock)
      return sent
    }
    const fail = (error: unknown): RawResponse => {
      if (error instanceof SandboxDisposed) return finish(json({ error: error.message }, 503))
      if (error instanceof ConnectionBroken) {
        if (entry !== undefined) {
          entry.response = { at: clock.now(), status: 0, headers: [], body: undefined }
          traffic.complete(entry)
        }
        letOutsideContinue(clock)
      }
      throw error
    }
    const later = (served: Promise<RawResponse>): Promise<RawResponse> => gateOf(clock).after(served, finish, fail)
    const target = elsewhere === undefined ? routes.get(location.service)! : routesAt(elsewhere)
    target.route(routed)
    const { faults } = options
    const struck =
      faults === undefined || faults.isInactive ? undefined : injectionsFor(faults, routed, target.service, clock)
    if (struck !== undefined) {
      const serve = (): RawResponse | Promise<RawResponse> => target.serve(routed)
      return waiting((task) => later(serveFaulty({ ...struck, call: routed, task, clock, serve })))
    }
    let served: RawResponse | Promise<RawResponse>
    try {
      served = target.serve(routed)
    } catch (error) {
      return fail(error)
    }
    if (served instanceof Promise) return waiting(() => later(served))
    if (served.status === 401 && entry !== undefined) explainRefusal(entry, routed)
    return finish(served)
  }

  function explainRefusal(entry: Received, call: RoutedRequest): void {
    const { service } = call
    if (service === 'stats') return
    const token = tokenOf(call, service === 'queue' ? call.dialect.queueTokenQuery : storeTokenQuery)
    const note = token === undefined ? undefined : options.explainToken?.(service, token)
    if (note !== undefined) entry.note = note
  }

  /** Of the queue that is not among the services. */
  function routesAt(region: QueueRegion): Routes {
    if (options.regions === undefined) return routes.get('queue')!
    away ??= new Routes(options.regions.serviceAt(region))
    return away
  }

  function logRequest(call: RawRequest, body: Bytes, service: ServiceName, region: QueueRegion | undefined): Received {
    const url = call.url.includes('token=') ? call.url.replace(tokens, '$1***') : call.url
    const entry = new Received(service, call.method, url, asked.once(call.headers.map(withoutCredentials)), body)
    if (region !== undefined && options.regions !== undefined) entry.region = region
    options.traffic.adopt(entry)
    return entry
  }
}

/** Turns of the host's event loop in which a body that is there, but has to be read, has been read. */
const turnsOfBody = 100

/**
 * A body, `undefined` when it is still under way. A request runs from its last byte on: one that is complete when it is
 * made holds time up at once, and one whose body never ends does not hold it up for ever. Counted, never timed.
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

/** The entry of a request. A class, because putting a literal and its stamp together costs several times as much. */
class Received implements RequestEntry, EntryBase {
  readonly type = 'request'
  seq = 0
  at = 0
  declare cause?: number
  declare region?: string
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

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

class Routes {
  readonly service: Service
  readonly #router: RouterContext<EndpointRoute>
  readonly #anyCase: boolean

  constructor(service: Service) {
    this.service = service
    this.#anyCase = service.anyCase ?? false
    this.#router = routesOf(service.endpoints, this.#anyCase)
  }

  /** Gives the call its endpoint, and writes the fixed parts of its path as the endpoint's pattern has them. */
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
    return findRoute(this.#router, method, this.#anyCase ? path.toLowerCase() : path)?.data
  }

  serve(call: RoutedRequest): RawResponse | Promise<RawResponse> {
    try {
      const { endpoint } = call
      if (endpoint === undefined) return this.#refuse(call)
      if (endpoint.auth !== 'none') {
        const refusal = this.service.authorize(call, endpoint.auth)
        if (refusal) return refusal
        this.service.count?.(endpoint)
      }
      const answer = endpoint.run(call, this.service.state)
      return answer instanceof Promise ? answer.catch((error) => this.#failure(error)) : answer
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

/** A path that matched a pattern but for the case of its fixed parts, with those of the pattern. */
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

/** The segments that a pattern names, decoded. */
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
/** What almost every request has, once for all of them: the log keeps it. */
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

/** Whichever words count: a foreign token is a token, too. */
function tokenParameters(dialect: Dialect): RegExp {
  const names = [...dialectsOf(dialect), ...otherDialects(dialect)].map(({ queueTokenQuery }) => queueTokenQuery)
  return new RegExp(`([?&](?:_token|${names.join('|')})=)[^&#]*`, 'g')
}
