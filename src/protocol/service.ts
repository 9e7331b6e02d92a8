import type { FaultFacts } from '../faults/fault.js'
import type { WordedFault } from '../faults/fault-context.js'
import type { RequestInjectionPoint } from '../faults/points.js'
import type { Bytes } from '../kernel/bytes.js'
import type { HeaderList } from '../kernel/http.js'
import type { ServiceName } from '../kernel/traffic-log.js'
import type { Dialect, SettingLists, Settings } from './dialect.js'
import type { DetectedDialect } from './dialect-detector.js'

/** A request that an adapter passes to the sandbox. */
export interface RawRequest {
  /** HTTP method in upper case. */
  readonly method: string
  /** Absolute URL, not decoded. If the adapter knows how the client wrote the URL, it keeps that spelling. */
  readonly url: string
  /** Headers in their order, as the client sent them. */
  readonly headers: HeaderList
  body(): Bytes | Promise<Bytes>
  /** Aborted when the client disconnects. The abort ends event streams. */
  readonly signal?: AbortSignal | undefined
}

/** A response of a service. For a HEAD request, the gateway removes the body. */
export interface RawResponse {
  /** HTTP status of the response. */
  readonly status: number
  /** Headers in their order. A name can occur several times. */
  readonly headers: HeaderList
  /** Body as a byte string or a stream of bytes, or `null` for no body. */
  readonly body: Bytes | ReadableStream<Uint8Array> | null
}

/** A response that is sent later. Until then, the request waits in virtual time. */
export interface LateResponse {
  /** Milliseconds of virtual time until the response. */
  readonly afterMs: number
  /** Returns the response at that time. */
  respond(): RawResponse
}

/** A function that responds to a request. */
export type Exchange = (call: RawRequest) => RawResponse | Promise<RawResponse>

/**
 * A request that the gateway passes to an endpoint. Its whole body has arrived. The names of headers and parameters are
 * translated to the neutral dialect. `U` is the type of `user`.
 */
export interface ServiceRequest<U = unknown> {
  readonly method: string
  /** Undecoded path below the service's base URL, in the neutral dialect. It begins with `/` and has no query. */
  readonly path: string
  /** Undecoded query without `?`, as received; empty if there is none. */
  readonly query: string
  /** Decoded path parameters of the endpoint's pattern. */
  readonly params: Readonly<Record<string, string>>
  /** Part of the path that `**` of the pattern matches, not decoded. */
  readonly rest: string
  readonly headers: HeaderList
  /** Returns a header by its name, in any case. */
  header(name: string): string | undefined
  /**
   * The service's own headers. For the queue, also its query parameters. A key is the neutral name without prefix, such
   * as `retries`, `encoding` or `forward-x-id`.
   */
  readonly settings: Settings
  /** Values of each header that occurs several times in the request and must be forwarded, by neutral name. */
  readonly lists: SettingLists | undefined
  /**
   * Dialect for the response: the dialect of the request, or the neutral dialect if the request contains no names of a
   * dialect.
   */
  readonly dialect: Dialect
  /** Whether the request contains no name of any dialect. */
  readonly isUnmarked: boolean
  /** Detects the dialect of headers that are in the request body, such as the headers of a message in a batch. */
  hear(headers: HeaderList): DetectedDialect
  readonly body: Bytes
  /** Region of the queue to which the URL belongs; `undefined` for other services. */
  readonly region: string | undefined
  /** Added database of the data store to which the URL belongs; `undefined` for the first one and other services. */
  readonly database: string | undefined
  /** Base URL of the request, without a trailing slash. */
  readonly base: string
  readonly signal: AbortSignal | undefined
  /** Records that the reader of the event stream has disconnected. */
  left(): void
  /** `seq` of the request's log entry. Entries that result from the request have this `seq` as their cause. */
  readonly cause: number
  /** User of the request, set by `authorize`. */
  user: U
}

/** An endpoint of a service: a row in the table of its endpoints. */
export interface Endpoint<S, U = unknown> {
  readonly method: string | readonly string[]
  /**
   * Pattern: `/v2/topics/:name/endpoints`. If a pattern ends in `/**`, the end of the path can be any text, which is
   * not decoded.
   */
  readonly path: string
  readonly auth: 'bearer' | 'basic' | 'none'
  /** Description for the generated reference, in one line. */
  readonly summary: string
  readonly opensStream?: boolean
  /**
   * Limit that applies to requests of this endpoint: `daily` for the limit per day, or `burst` for the limit per
   * second.
   */
  readonly limit?: 'daily' | 'burst'
  run(call: ServiceRequest<U>, service: S): RawResponse | LateResponse | Promise<RawResponse>
  /**
   * Additional injection point of this endpoint. Its rules are evaluated before the rules for all requests to the
   * service.
   */
  readonly point?: RequestInjectionPoint
  /**
   * Returns additional facts of a request to this endpoint. Called only if a rule needs a fact that `ServiceFaults`
   * does not return.
   */
  facts?(call: ServiceRequest<U>, service: S): FaultFacts
}

/** A service with the members that the gateway uses. */
export interface Service<S = unknown, U = unknown> {
  readonly name: ServiceName
  readonly state: S
  readonly endpoints: readonly Endpoint<S, U>[]
  /**
   * Whether upper and lower case are the same in fixed segments of paths. Case always matters in names, IDs and
   * destinations.
   */
  readonly anyCase?: boolean
  /** Sets `call.user`, or returns the response that rejects the request. */
  authorize(call: ServiceRequest<U>, auth: 'bearer' | 'basic'): RawResponse | undefined
  /**
   * Counts a request that was authorized. If a limit is exceeded, throws an error that `failure()` converts to a
   * response.
   */
  count?(endpoint: Endpoint<S, U>): void
  notFound(call: ServiceRequest): RawResponse
  methodNotAllowed(call: ServiceRequest, allowed: readonly string[]): RawResponse
  /** Returns the response for an error that an endpoint threw, or `undefined` if it is not a protocol error. */
  failure(error: unknown): RawResponse | undefined
  /** Functions for fault rules. Without them, responses of faults have a generic body. */
  readonly faults?: ServiceFaults<S>
}

export interface ServiceFaults<S> {
  answer(fault: WordedFault, call: ServiceRequest, state: S): RawResponse
  /** Returns facts of any request to the service. Called only when a rule needs them. */
  facts?(call: ServiceRequest, state: S): FaultFacts
  /** Restarts the service, which breaks all requests in flight. */
  restart?(until: number, state: S): void
}
