import type { FaultFacts } from '../faults/fault.js'
import type { WordedFault } from '../faults/fault-context.js'
import type { RequestInjectionPoint } from '../faults/points.js'
import type { Bytes } from '../kernel/bytes.js'
import type { HeaderList } from '../kernel/http.js'
import type { ServiceName } from '../kernel/traffic-log.js'
import type { Dialect, SettingLists, Settings } from './dialect.js'
import type { DetectedDialect } from './dialect-detector.js'

/** A request as an adapter hands it in: the narrow waist of the library. */
export interface RawRequest {
  /** Upper case. */
  readonly method: string
  /** Absolute, undecoded, exactly as the client wrote it as far as the adapter can tell. */
  readonly url: string
  readonly headers: HeaderList
  body(): Bytes | Promise<Bytes>
  /** Aborted when the client goes away: ends event streams. */
  readonly signal?: AbortSignal | undefined
}

/** The answer. One to HEAD has no body: the gateway makes sure of it. */
export interface RawResponse {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Bytes | ReadableStream<Uint8Array> | null
}

/** A function that responds to a request. */
export type Exchange = (call: RawRequest) => RawResponse | Promise<RawResponse>

/** A call on its way through one service: located, read, its vendor words taken off. `U` is whom the service lets in. */
export interface ServiceRequest<U = unknown> {
  readonly method: string
  /** Undecoded path below the service's base address, beginning with `/`, without the query, in neutral words. */
  readonly path: string
  /** Undecoded query without `?`, as it arrived, empty when there is none. */
  readonly query: string
  /** Decoded path parameters of the endpoint's pattern. */
  readonly params: Readonly<Record<string, string>>
  /** For a pattern that ends in `**`: the undecoded rest of the path. */
  readonly rest: string
  /** All headers as they arrived. */
  readonly headers: HeaderList
  /** A header by its name, any case. */
  header(name: string): string | undefined
  /**
   * The service's own headers, for the queue over its own query parameters, by neutral name without prefix:
   * `retries`, `encoding`, `forward-x-id`.
   */
  readonly settings: Settings
  /** Of the headers to forward those that came several times, value by value. */
  readonly lists: SettingLists | undefined
  /** In whose words it is answered: those that it speaks, else the neutral ones. */
  readonly dialect: Dialect
  /** It has not a single word of any dialect. */
  readonly isUnmarked: boolean
  /** What a list of headers in its body says. */
  hear(headers: HeaderList): DetectedDialect
  readonly body: Bytes
  /** Region of the address that was called, for the queue. */
  readonly region: string | undefined
  /** The base address that was called, without a trailing slash. */
  readonly base: string
  readonly signal: AbortSignal | undefined
  /** To be told when the reader of its event stream has gone. */
  left(): void
  /** `seq` of the request's entry in the traffic log: the cause of what follows. */
  readonly cause: number
  /** Who calls, as `authorize` found out. */
  user: U
}

/** One row of a service's endpoint table. */
export interface Endpoint<S, U = unknown> {
  readonly method: string | readonly string[]
  /** `/v2/topics/:name/endpoints`; a pattern that ends in `/**` takes the rest of the path undecoded. */
  readonly path: string
  readonly auth: 'bearer' | 'basic' | 'none'
  /** One line for the generated reference. */
  readonly summary: string
  /** Whether it opens an event stream. */
  readonly opensStream?: boolean
  /** `daily`: its calls count against the limit of the day, and not against the one that holds back bursts. */
  readonly limit?: 'daily' | 'burst'
  run(call: ServiceRequest<U>, service: S): RawResponse | Promise<RawResponse>
  /** A point of its own, whose rules are asked before those of every request to the service. */
  readonly point?: RequestInjectionPoint
  /** What rules may ask about a call of this endpoint, beside what `ServiceFaults` tells; found out when a rule asks. */
  facts?(call: ServiceRequest<U>, service: S): FaultFacts
}

/** A service as the gateway sees it: a table and the service's own way to say no. */
export interface Service<S = unknown, U = unknown> {
  readonly name: ServiceName
  readonly state: S
  readonly endpoints: readonly Endpoint<S, U>[]
  /** Whether the fixed parts of paths may come in any case; names, ids and destinations keep theirs. */
  readonly anyCase?: boolean
  /** Sets `call.user` or answers with the refusal. */
  authorize(call: ServiceRequest<U>, auth: 'bearer' | 'basic'): RawResponse | undefined
  /** Counts a call that was let in. Throws what `failure` answers, when a limit is reached. */
  count?(endpoint: Endpoint<S, U>): void
  notFound(call: ServiceRequest): RawResponse
  methodNotAllowed(call: ServiceRequest, allowed: readonly string[]): RawResponse
  /** The answer for a protocol error thrown by an endpoint; `undefined` for anything that is not one. */
  failure(error: unknown): RawResponse | undefined
  /** What faults need of the service; without it faults are answered in plain words. */
  readonly faults?: ServiceFaults<S>
}

export interface ServiceFaults<S> {
  answer(fault: WordedFault, call: ServiceRequest, state: S): RawResponse
  /** What rules may ask about any call of the service; found out when a rule asks. */
  facts?(call: ServiceRequest, state: S): FaultFacts
  /** The service restarts: what is in flight is cut off. */
  restart?(until: number, state: S): void
}
