import type { FaultFacts } from '../faults/fault.js'
import type { WordedFault } from '../faults/fault-context.js'
import type { RequestInjectionPoint } from '../faults/points.js'
import type { Bytes } from '../kernel/bytes.js'
import type { HeaderList } from '../kernel/http.js'
import type { ServiceName } from '../kernel/traffic-log.js'
import type { Dialect, SettingLists, Settings } from './dialect.js'
import type { DetectedDialect } from './dialect-detector.js'

/** A request as an adapter passes it to the sandbox. */
export interface RawRequest {
  /** HTTP method in upper case. */
  readonly method: string
  /** Absolute and undecoded URL, as the client wrote it, as far as the adapter knows. */
  readonly url: string
  /** Headers in their order, as the client sent them. */
  readonly headers: HeaderList
  body(): Bytes | Promise<Bytes>
  /** Aborted when the client disconnects, which ends event streams. */
  readonly signal?: AbortSignal | undefined
}

/** A response. The gateway removes the body of a response to HEAD. */
export interface RawResponse {
  /** HTTP status of the response. */
  readonly status: number
  /** Headers in their order. A name can occur several times. */
  readonly headers: HeaderList
  /** Body as a byte string or a stream of bytes, or `null` for no body. */
  readonly body: Bytes | ReadableStream<Uint8Array> | null
}

/** A function that responds to a request. */
export type Exchange = (call: RawRequest) => RawResponse | Promise<RawResponse>

/**
 * A request on its way through one service: located, read, and translated to the neutral dialect. `U` is the type of
 * its user.
 */
export interface ServiceRequest<U = unknown> {
  readonly method: string
  /** Undecoded path below the service's base URL, in the neutral dialect. It begins with `/` and has no query. */
  readonly path: string
  /** Undecoded query without `?`, as received; empty if there is none. */
  readonly query: string
  /** Decoded path parameters of the endpoint's pattern. */
  readonly params: Readonly<Record<string, string>>
  /** Part of the path that `**` at the end of the pattern matches, undecoded. */
  readonly rest: string
  /** All headers, as received. */
  readonly headers: HeaderList
  /** Returns a header by its name, in any case. */
  header(name: string): string | undefined
  /**
   * The service's own headers, and for the queue its query parameters, by neutral name without prefix: `retries`,
   * `encoding`, `forward-x-id`.
   */
  readonly settings: Settings
  /** Values of each header to forward that occurred several times. */
  readonly lists: SettingLists | undefined
  /** Dialect of the response: that of the request, or the neutral one. */
  readonly dialect: Dialect
  /** Whether the request has no names of any dialect. */
  readonly isUnmarked: boolean
  /** Detects the dialect of a list of headers in the body. */
  hear(headers: HeaderList): DetectedDialect
  readonly body: Bytes
  /** Region of the URL, for the queue. */
  readonly region: string | undefined
  /** Base URL of the request, without a trailing slash. */
  readonly base: string
  readonly signal: AbortSignal | undefined
  /** Records that the reader of the event stream has disconnected. */
  left(): void
  /** `seq` of the request's log entry, which is the cause of what follows. */
  readonly cause: number
  /** User of the request, set by `authorize`. */
  user: U
}

/** One row of a service's endpoint table. */
export interface Endpoint<S, U = unknown> {
  readonly method: string | readonly string[]
  /**
   * Pattern: `/v2/topics/:name/endpoints`. A pattern that ends in `/**` matches the rest of the path, which stays
   * undecoded.
   */
  readonly path: string
  readonly auth: 'bearer' | 'basic' | 'none'
  /** Description for the generated reference, in one line. */
  readonly summary: string
  /** Whether the endpoint opens an event stream. */
  readonly opensStream?: boolean
  /** Limit that requests to this endpoint count against: the limit per day, or the limit for bursts. */
  readonly limit?: 'daily' | 'burst'
  run(call: ServiceRequest<U>, service: S): RawResponse | Promise<RawResponse>
  /** Additional injection point, whose rules are evaluated before those of every request to the service. */
  readonly point?: RequestInjectionPoint
  /**
   * Returns facts of a request to this endpoint, in addition to those of `ServiceFaults`. Called only when a rule needs
   * them.
   */
  facts?(call: ServiceRequest<U>, service: S): FaultFacts
}

/** A service as the gateway sees it: an endpoint table and the service's own error responses. */
export interface Service<S = unknown, U = unknown> {
  readonly name: ServiceName
  readonly state: S
  readonly endpoints: readonly Endpoint<S, U>[]
  /**
   * Whether the case of the fixed segments of paths is ignored. The case of names, IDs and destinations always matters.
   */
  readonly anyCase?: boolean
  /** Sets `call.user`, or returns the response that rejects the request. */
  authorize(call: ServiceRequest<U>, auth: 'bearer' | 'basic'): RawResponse | undefined
  /** Counts an authorized request. At a limit, it throws an error that `failure` converts. */
  count?(endpoint: Endpoint<S, U>): void
  notFound(call: ServiceRequest): RawResponse
  methodNotAllowed(call: ServiceRequest, allowed: readonly string[]): RawResponse
  /** Returns the response for a protocol error of an endpoint, or `undefined` for other errors. */
  failure(error: unknown): RawResponse | undefined
  /** What faults need from the service. Without it, fault responses have a generic body. */
  readonly faults?: ServiceFaults<S>
}

export interface ServiceFaults<S> {
  answer(fault: WordedFault, call: ServiceRequest, state: S): RawResponse
  /** Returns facts of any request to the service. Called only when a rule needs them. */
  facts?(call: ServiceRequest, state: S): FaultFacts
  /** Restarts the service, which breaks all requests in flight. */
  restart?(until: number, state: S): void
}
