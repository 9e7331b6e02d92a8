import { type Bytes, fromBase64, text, utf8 } from '../kernel/bytes.js'
import { type HeaderList, headerOf } from '../kernel/http.js'
import type { InputJournal } from '../kernel/input-journal.js'
import type { ServiceUrl } from './address.js'
import { type Dialect, neutralManagementPath } from './dialect.js'
import type { DetectedDialect, DialectDetector } from './dialect-detector.js'
import type { Endpoint, RawRequest, RawResponse, ServiceRequest } from './service.js'

// One request as a service receives it, helpers for its tokens, and constructors of responses.

/** A request to a service, as the endpoints see it. The router sets its endpoint and its path parameters. */
export class RoutedRequest implements ServiceRequest {
  /**
   * Path of the request. If the service ignores case, the router spells the fixed segments as in the endpoint's
   * pattern.
   */
  path: string
  readonly query: string
  readonly service: ServiceUrl['service']
  readonly region: string | undefined
  readonly database: string | undefined
  readonly base: string
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  /** Endpoint that the router found, or `undefined` if no endpoint has this method and path. */
  endpoint: Endpoint<unknown> | undefined
  params: Readonly<Record<string, string>> = {}
  /** Number of path segments before the part that `**` matches, if the pattern of the endpoint ends in `**`. */
  segmentsBeforeRest = 0
  user: unknown = undefined
  /**
   * Dialect of the request, detected on first use. The field is not `#private`: endpoints use objects whose prototype
   * is a request, and these objects could not read it.
   */
  private heard: DetectedDialect | undefined
  private isWatched = false

  constructor(
    private readonly call: RawRequest,
    readonly body: Bytes,
    private readonly location: ServiceUrl,
    private readonly hearing: DialectDetector,
    readonly cause: number,
    /** Journal that records events of the request, such as its abort, under the request's `number`. */
    private readonly journal?: InputJournal | undefined,
    private readonly number?: number | undefined,
  ) {
    const { service, path, query } = location
    this.path = service === 'stats' ? neutralManagementPath(path, hearing.of) : path
    this.query = query
    this.service = service
    this.region = location.region
    this.database = location.database
    this.base = location.base
    this.method = call.method
    this.url = call.url
    this.headers = call.headers
  }

  /** Returns a copy of the request without its token. */
  withoutToken(): RoutedRequest {
    const headers = this.headers.filter(([name]) => name.toLowerCase() !== 'authorization')
    const call: RawRequest = { method: this.method, url: this.url, headers, body: () => this.body }
    const location = { ...this.location, query: '' }
    const copy = new RoutedRequest(call, this.body, location, this.hearing, this.cause)
    copy.path = this.path
    copy.heard = this.speech
    return copy
  }

  get rest(): string {
    return this.path
      .split('/')
      .slice(this.segmentsBeforeRest + 1)
      .join('/')
  }

  /**
   * Signal that is aborted when the client disconnects. The server creates it on first use. The journal listens first,
   * because it must record an abort before other listeners run.
   */
  get signal(): AbortSignal | undefined {
    const { journal, number } = this
    const { signal } = this.call
    if (signal === undefined || journal === undefined || this.isWatched) return signal
    this.isWatched = true
    if (signal.aborted) journal.note('gone', number!)
    else signal.addEventListener('abort', () => journal.note('aborted', number!), { once: true })
    return signal
  }

  left(): void {
    this.journal?.note('left', this.number!)
  }

  get settings(): ServiceRequest['settings'] {
    return this.speech.settings
  }

  get lists(): ServiceRequest['lists'] {
    return this.speech.lists
  }

  get dialect(): Dialect {
    return this.speech.dialect
  }

  get isUnmarked(): boolean {
    return this.speech.isUnmarked
  }

  get speech(): DetectedDialect {
    this.heard ??= this.hearing.request(this, this.location.path)
    return this.heard
  }

  hear(headers: HeaderList): DetectedDialect {
    return this.hearing.headers(headers)
  }

  header(name: string): string | undefined {
    return headerOf(this.headers, name)
  }
}

/** Returns a request with another URL. It reads everything else from the given request when it is needed. */
export function moved(call: RawRequest, url: string): RawRequest {
  return {
    method: call.method,
    url,
    headers: call.headers,
    body: () => call.body(),
    get signal() {
      return call.signal
    },
  }
}

/**
 * Returns the token of `Authorization: Bearer …`. As in the store, a token without the word `Bearer` is accepted.
 * [store.md 6.1]
 */
export function bearerToken(call: ServiceRequest): string | undefined {
  const header = call.header('authorization')?.trim()
  if (!header) return undefined
  // Nearly all clients write this spelling, for which no pattern is needed.
  if (header.startsWith('Bearer ')) return header.slice(7).trimStart()
  return header.replace(/^bearer\s+/i, '')
}

/** Returns the decoded value of a query parameter, or `undefined` if it is absent. */
export function queryToken(call: ServiceRequest, name: string): string | undefined {
  if (!call.query.includes(name)) return undefined
  return new URLSearchParams(call.query).get(name) ?? undefined
}

export function basicCredentials(call: ServiceRequest): { user: string; password: string } | undefined {
  const match = /^basic\s+(.*)$/i.exec(call.header('authorization')?.trim() ?? '')
  const decoded = match ? fromBase64(match[1]!) : undefined
  if (decoded === undefined) return undefined
  const plain = text(decoded as Bytes)
  const colon = plain.indexOf(':')
  return colon === -1 ? undefined : { user: plain.slice(0, colon), password: plain.slice(colon + 1) }
}

/** Query parameter that carries a token of the store. [store.md 6.1] */
export const storeTokenQuery = '_token'

/** Returns the token of a request. A query parameter takes precedence over the header. */
export function tokenOf(call: ServiceRequest, parameter: string): string | undefined {
  return queryToken(call, parameter) ?? bearerToken(call)
}

/** All responses use these two header objects. The traffic log keeps all responses, so shared objects save memory. */
const jsonType = ['content-type', 'application/json'] as const
const binaryType = ['content-type', 'application/octet-stream'] as const

export function json(value: unknown, status = 200, headers: HeaderList = []): RawResponse {
  return jsonText(utf8(JSON.stringify(value)), status, headers)
}

/** Returns a response whose body is serialized JSON. */
export function jsonText(body: Bytes, status = 200, headers: HeaderList = []): RawResponse {
  return { status, headers: [jsonType, ...headers], body }
}

export function binary(body: Bytes, status = 200, headers: HeaderList = []): RawResponse {
  return { status, headers: [binaryType, ...headers], body }
}

export function empty(status = 200, headers: HeaderList = []): RawResponse {
  return { status, headers, body: null }
}

/** Returns the response that is sent: without a body if the method is HEAD. */
export function sentTo({ method }: Pick<RawRequest, 'method'>, answer: RawResponse): RawResponse {
  return method === 'HEAD' ? { ...answer, body: null } : answer
}

/**
 * Protocol error of the queue and the statistics API. Endpoints throw it, and the service converts it to a response.
 */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: HeaderList = [],
  ) {
    super(message)
  }
}
