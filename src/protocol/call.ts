import { type Bytes, fromBase64, text, utf8 } from '../kernel/bytes.js'
import { type HeaderList, headerOf } from '../kernel/http.js'
import type { InputJournal } from '../kernel/input-journal.js'
import type { ServiceUrl } from './address.js'
import { type Dialect, neutralManagementPath } from './dialect.js'
import type { DetectedDialect, DialectDetector } from './dialect-detector.js'
import type { Endpoint, RawRequest, RawResponse, ServiceRequest } from './service.js'

// One call as a service gets it: its parts, the token that it brings, and what can be answered.

/** A call that was located; the router adds what the pattern of its endpoint says. */
export class RoutedRequest implements ServiceRequest {
  /** Written anew by the router where the case of its fixed parts does not matter. */
  path: string
  readonly query: string
  readonly service: ServiceUrl['service']
  readonly region: string | undefined
  readonly base: string
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  /** Set by the router; `undefined` when no endpoint takes the method and path. */
  endpoint: Endpoint<unknown> | undefined
  params: Readonly<Record<string, string>> = {}
  /** Segments of the path before those that its pattern does not know. */
  segmentsBeforeRest = 0
  user: unknown = undefined
  /** Found out when it is asked for. Not `#private`: endpoints make objects that inherit from calls. */
  private heard: DetectedDialect | undefined
  private isWatched = false

  constructor(
    private readonly call: RawRequest,
    readonly body: Bytes,
    private readonly location: ServiceUrl,
    private readonly hearing: DialectDetector,
    readonly cause: number,
    /** Hears what becomes of the request of this number. */
    private readonly journal?: InputJournal | undefined,
    private readonly number?: number | undefined,
  ) {
    const { service, path, query } = location
    this.path = service === 'stats' ? neutralManagementPath(path, hearing.of) : path
    this.query = query
    this.service = service
    this.region = location.region
    this.base = location.base
    this.method = call.method
    this.url = call.url
    this.headers = call.headers
  }

  /** The same call without its token. */
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

  /** A server makes it when it is asked for; the journal hears of it first. */
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
    this.heard ??= this.hearing.request({
      method: this.method,
      url: this.url,
      headers: this.headers,
      path: this.location.path,
      query: this.location.query,
      service: this.service,
    })
    return this.heard
  }

  hear(headers: HeaderList): DetectedDialect {
    return this.hearing.headers(headers)
  }

  header(name: string): string | undefined {
    return headerOf(this.headers, name)
  }
}

/** The token of `Authorization: Bearer …`; a bare token without the word is accepted, as the store does. [store.md 6.1] */
export function bearerToken(call: ServiceRequest): string | undefined {
  const header = call.header('authorization')?.trim()
  if (!header) return undefined
  return header.replace(/^bearer\s+/i, '')
}

/** The value of a query parameter, decoded; `undefined` when it is absent. */
export function queryToken(call: ServiceRequest, name: string): string | undefined {
  if (!call.query.includes(name)) return undefined
  return new URLSearchParams(call.query).get(name) ?? undefined
}

/** User name and password of `Authorization: Basic …`. */
export function basicCredentials(call: ServiceRequest): { user: string; password: string } | undefined {
  const match = /^basic\s+(.*)$/i.exec(call.header('authorization')?.trim() ?? '')
  const decoded = match ? fromBase64(match[1]!) : undefined
  if (decoded === undefined) return undefined
  const plain = text(decoded as Bytes)
  const colon = plain.indexOf(':')
  return colon === -1 ? undefined : { user: plain.slice(0, colon), password: plain.slice(colon + 1) }
}

/** The query parameter in which the store takes a token. [store.md 6.1] */
export const storeTokenQuery = '_token'

/** The token of a call that may bring it in a query parameter as well, which goes before the header. */
export function tokenOf(call: ServiceRequest, parameter: string): string | undefined {
  return queryToken(call, parameter) ?? bearerToken(call)
}

/** Shared, because answers are kept in the traffic log. */
const jsonType = ['content-type', 'application/json'] as const
const binaryType = ['content-type', 'application/octet-stream'] as const

export function json(value: unknown, status = 200, headers: HeaderList = []): RawResponse {
  return jsonText(utf8(JSON.stringify(value)), status, headers)
}

/** An answer whose JSON text is already there. */
export function jsonText(body: Bytes, status = 200, headers: HeaderList = []): RawResponse {
  return { status, headers: [jsonType, ...headers], body }
}

export function binary(body: Bytes, status = 200, headers: HeaderList = []): RawResponse {
  return { status, headers: [binaryType, ...headers], body }
}

export function empty(status = 200, headers: HeaderList = []): RawResponse {
  return { status, headers, body: null }
}

/** The answer as it is sent: one to HEAD has no body. */
export function sentTo({ method }: Pick<RawRequest, 'method'>, answer: RawResponse): RawResponse {
  return method === 'HEAD' ? { ...answer, body: null } : answer
}

/** A protocol error of the queue and the statistics API: thrown anywhere below an endpoint, answered in one place. */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: HeaderList = [],
  ) {
    super(message)
  }
}
