import type { Bytes } from '../kernel/bytes.js'
import type { Duration } from '../kernel/duration.js'
import type { HeaderList } from '../kernel/http.js'
import type { SignatureFault } from './fault-values.js'
import type { DeliveryInjectionPoint, InjectionPoint, RequestInjectionPoint } from './points.js'

// Faults and fault rules as plain values, which can be written as JSON.

/** Header names and values, as a test writes them. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[]>>

// ---- faults by group: a script accepts the types named `…Step`, a rule accepts all of them

export type ResponseStep =
  | LatencyFault
  | StatusFault
  | RateLimitedFault
  | { readonly kind: 'non-retryable'; readonly body?: string }
  | { readonly kind: 'pass' }

/** A response with this status. Without `body`, the affected service's own error body is sent. */
export interface StatusFault {
  readonly kind: 'status'
  readonly status: number
  readonly headers?: HeaderRecord
  readonly body?: string
}

type LatencyFault =
  | { readonly kind: 'latency'; readonly waitMs: number; readonly jitterMs?: number }
  | { readonly kind: 'latency'; readonly minMs: number; readonly maxMs: number }

/** Form of `Retry-After` in a 429 response: seconds, an HTTP date, or no such header. */
export interface RetryAfter {
  readonly form: 'seconds' | 'date' | 'none'
  readonly waitMs: number
}

/** A response 429 with the headers of one of the three limits. */
export interface RateLimitedFault {
  readonly kind: 'rate-limited'
  readonly limit: 'chat' | 'daily' | 'burst'
  readonly retryAfter?: RetryAfter
}

export type ConnectionStep =
  | { readonly kind: 'reset' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'unresolved-host' }
  | { readonly kind: 'bad-certificate' }
  | { readonly kind: 'hang'; readonly forMs?: number }

export type BodyStep =
  | { readonly kind: 'half-open'; readonly forMs?: number }
  | { readonly kind: 'truncate'; readonly afterBytes: number }
  | { readonly kind: 'corrupt-json' }
  | { readonly kind: 'slow-body'; readonly bytesPerSecond: number }
  | { readonly kind: 'wrong-content-type'; readonly type: string }
export type BodyFault = { readonly kind: 'error-reply'; readonly error: string }

export type OrderStep =
  | { readonly kind: 'lost-ack' }
  | { readonly kind: 'late-response'; readonly byMs?: number }
  | DuplicateFault
  | DelayFault
export type OrderFault = { readonly kind: 'reorder'; readonly withinMs: number } | { readonly kind: 'drop' }

interface DuplicateFault {
  readonly kind: 'duplicate'
  /** Number of additional deliveries or requests. Default 1. */
  readonly copies?: number
  /** Milliseconds between a response and the next repetition. Default 0. */
  readonly afterMs?: number
  /** Whether all repetitions happen at the same instant, before the first response. Default false. */
  readonly concurrent?: boolean
}

interface DelayFault {
  readonly kind: 'delay'
  readonly waitMs: number
  readonly then?: DeliveryFault
}

export type CredentialStep =
  | { readonly kind: 'bad-signature'; readonly flaw: SignatureFault }
  | { readonly kind: 'clock-skew'; readonly byMs: number }
export type CredentialFault = { readonly kind: 'revoked-token' } | { readonly kind: 'quota-exceeded' }

export type StreamFault =
  | { readonly kind: 'cut-stream'; readonly afterEvents: number }
  | { readonly kind: 'stall-stream'; readonly afterEvents: number; readonly forMs?: number }

export type ServiceFault =
  | { readonly kind: 'stale-read'; readonly versions: number }
  | { readonly kind: 'restart'; readonly downMs?: number }
  | { readonly kind: 'outage'; readonly region?: string; readonly status?: number }

/** A fault of one delivery or of its response. A destination's script accepts these faults as steps. */
export type DeliveryFault = ResponseStep | ConnectionStep | BodyStep | OrderStep | CredentialStep

/** A fault as plain data: what goes wrong. */
export type Fault = DeliveryFault | BodyFault | OrderFault | CredentialFault | StreamFault | ServiceFault

// ---- rules ----------------------------------------------------------------------------------------------------------

/** The `kind` of a fault, such as `lost-ack`. */
export type FaultKind = Fault['kind']
/** The fault of one kind. */
export type FaultOf<K extends FaultKind> = Extract<Fault, { kind: K }>

/** Conditions of a rule. A rule matches if all given conditions hold. */
export interface FaultMatch {
  readonly service?: 'store' | 'queue' | 'stats'
  /** Path of the API below the service's base URL; `*` matches any characters: `/v2/publish/*`. */
  readonly path?: string
  readonly method?: string
  /** URL of the request or the destination; `*` matches any characters. Without `?`, any query matches. */
  readonly url?: string
  /** Name of a store command, in any case. */
  readonly command?: string
  /** Key of the command, as a Redis pattern: `*`, `?`, `[a-z]`. */
  readonly key?: string
  readonly urlGroup?: string
  readonly endpointName?: string
  readonly queue?: string
  readonly label?: string
  /** Headers of the request or the message: names in any case; `*` matches any characters. */
  readonly headers?: Readonly<Record<string, string>>
  /** Number of the delivery attempt, 1 for the first, or a range that includes both ends. */
  readonly attempt?: number | { readonly from?: number; readonly to?: number }
  readonly messageId?: string
  readonly tenant?: string
  readonly flowControlKey?: string
  readonly scheduleId?: string
  readonly region?: string
  /** URL of the workflow; `*` matches any characters. */
  readonly workflow?: string
  /**
   * Name of the workflow step that the delivery contains or results from, or that waits. The first delivery of a run
   * has the name `init`.
   */
  readonly step?: string
  /** Type of the step, as the SDK names it: `Initial`, `Run`, `SleepFor`, `Call`, `Wait`, `Invoke` … */
  readonly stepType?: string
  /** ID of the workflow run. */
  readonly runId?: string
}

/** Injection points of requests to a service. Outbound requests of the app and opened streams are excluded. */
type ServiceRequest = Exclude<RequestInjectionPoint, 'outbound.request' | 'stream.open'>
type RequestOrDelivery = Exclude<RequestInjectionPoint, 'stream.open'> | DeliveryInjectionPoint

/** Injection points at which each kind of fault has an effect. The compiler compares this type with the definitions. */
interface PointsByKind {
  latency: RequestOrDelivery | 'stream.open' | 'stream.event' | 'schedule.fire'
  status: RequestOrDelivery | 'stream.open'
  'rate-limited': Exclude<RequestOrDelivery, 'store.request' | 'stats.request'>
  'non-retryable': DeliveryInjectionPoint
  pass: InjectionPoint
  reset: Exclude<InjectionPoint, 'schedule.fire'>
  refused: RequestOrDelivery | 'stream.open'
  'unresolved-host': RequestOrDelivery | 'stream.open'
  'bad-certificate': RequestOrDelivery | 'stream.open'
  hang: RequestOrDelivery | 'stream.open'
  'half-open': RequestOrDelivery
  truncate: RequestOrDelivery
  'corrupt-json': RequestOrDelivery | 'stream.event'
  'slow-body': RequestOrDelivery
  'wrong-content-type': RequestOrDelivery | 'stream.open'
  'error-reply': 'store.command'
  'lost-ack': RequestOrDelivery | 'store.command'
  'late-response': RequestOrDelivery
  duplicate: Exclude<RequestOrDelivery, 'stats.request'> | 'schedule.fire' | 'stream.event'
  reorder: DeliveryInjectionPoint
  delay: DeliveryInjectionPoint | 'schedule.fire'
  drop: DeliveryInjectionPoint | 'schedule.fire' | 'stream.event'
  'bad-signature': DeliveryInjectionPoint
  'clock-skew': DeliveryInjectionPoint
  'revoked-token': ServiceRequest | 'outbound.request' | 'stream.open'
  'quota-exceeded': 'store.command' | Exclude<ServiceRequest, 'stats.request'>
  'cut-stream': 'stream.open'
  'stall-stream': 'stream.open'
  'stale-read': 'store.command'
  restart: ServiceRequest | DeliveryInjectionPoint
  outage: RequestOrDelivery
}

/** Injection points at which a fault of this kind has an effect. */
export type PointOf<K extends FaultKind> = PointsByKind[K]

/** Faults that have an effect at this injection point. */
export type FaultAt<P extends InjectionPoint> = {
  [K in FaultKind]: P extends PointsByKind[K] ? FaultOf<K> : never
}[FaultKind]

/** Optional fields of a fault rule: all fields except the fault and the injection points. */
export interface FaultConditions {
  /** Name for error messages and for `faults.remove(name)`. */
  readonly name?: string
  readonly match?: FaultMatch
  /** Start of the period in which the rule applies: ISO text, or a duration after the rule was added. */
  readonly from?: Duration | string
  /** End of this period, exclusive: ISO text, or a duration after the rule was added. */
  readonly until?: Duration | string
  /** Cron pattern of the minutes in which the rule applies, in UTC or the time zone of `CRON_TZ=`. */
  readonly cron?: string
  /** Number of matches to skip before the first injection. */
  readonly skip?: number
  /** Maximum number of injections. */
  readonly times?: number
  /**
   * Interval between injections, counted in matches after the skipped matches. For example, 2 injects at the first,
   * third and fifth match.
   */
  readonly every?: number
  /** Probability of an injection: `times` of `outOf` matches, drawn from the seed. */
  readonly chance?: readonly [times: number, outOf: number]
  /**
   * Whether the fault is injected before or after the request is processed. With `before`, the request is not
   * processed; with `after`, only its response is affected. The default depends on the fault.
   */
  readonly phase?: 'before' | 'after'
}

/**
 * A fault rule: one fault, with where, when and how often it is injected. The type allows only points at which the
 * fault has an effect.
 */
export type FaultRule = FaultConditions &
  (
    | { [P in InjectionPoint]: { readonly on: P; readonly fault: FaultAt<P> } }[InjectionPoint]
    | { [K in FaultKind]: { readonly on: readonly PointOf<K>[]; readonly fault: FaultOf<K> } }[FaultKind]
  )

/** A rule that `faults.add()` has not checked yet, so its fault may have no effect at its points. */
export interface UncheckedRule extends FaultConditions {
  readonly on: InjectionPoint | readonly InjectionPoint[]
  readonly fault: Fault
}

// ---- how services evaluate rules
// ---------------------------------------------------------------------------------------

/** Facts that a service knows at an injection point. Rules read them with `factOf()`. */
export interface FaultFacts {
  readonly service?: 'store' | 'queue' | 'stats' | undefined
  readonly path?: string | undefined
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** For a publish: URL of the message's destination, which a condition can match in addition to the request's URL. */
  readonly destination?: string | undefined
  /** Arguments of one command, beginning with its name. */
  readonly argv?: readonly Bytes[] | undefined
  /** Names of the commands, in upper case. */
  readonly commands?: readonly string[] | undefined
  /** Whether the command reads keys and does not write any. */
  readonly reads?: boolean | undefined
  /** Keys or channels of the commands. */
  readonly keys?: readonly Bytes[] | undefined
  readonly urlGroup?: string | undefined
  readonly endpointName?: string | undefined
  readonly queue?: string | undefined
  readonly labels?: readonly string[] | undefined
  readonly attempt?: number | undefined
  readonly messageId?: string | undefined
  readonly flowControlKey?: string | undefined
  readonly scheduleId?: string | undefined
  readonly region?: string | undefined
  readonly workflow?: string | undefined
  readonly step?: string | undefined
  readonly stepType?: string | undefined
  readonly runId?: string | undefined
  readonly headers?: HeaderList | undefined
  /**
   * Returns facts that are costly to compute, such as facts from a body. It is called only if a rule needs a fact that
   * is not set here.
   */
  readonly more?: (() => FaultFacts) | undefined
}

/** A rule whose fault is injected now. */
export interface Injection<F extends Fault = Fault> {
  readonly fault: F
  readonly phase: 'before' | 'after'
  /** Whether the fault determines the response. The service and later rules are then skipped. */
  readonly answers: boolean
  /** Draws a whole number below a bound from the rule's own random stream. */
  draw(below: number): number
  /** Injection point at which the rule matched. */
  readonly point: InjectionPoint
  /** End of the period in which the rule applies, in milliseconds; `undefined` if the period has no end. */
  readonly until: number | undefined
  /**
   * Writes the injection into the traffic log.
   * @param cause `seq` of the entry that is affected
   * @param effect description of the effect
   */
  log(cause: number | undefined, target: string, effect?: string): InjectionRecord
}

/** Log entry of an injection. A service adds to it when the effect becomes known later. */
export interface InjectionRecord {
  effect?: string
}

export type FaultService = 'store' | 'queue' | 'stats'

/** The fault rules of a sandbox, as services use them. */
export interface FaultSource {
  /** Whether the sandbox has no rules and no service is down. Services then skip all other checks. */
  readonly isInactive: boolean
  /** Points that have rules. A service checks this object before it collects the facts for `injections()`. */
  readonly activeByPoint: { readonly [P in InjectionPoint]?: unknown }
  /**
   * Returns the rules to inject at a point, in the order in which they were added. A rule that determines the response
   * is the last.
   */
  injections(point: InjectionPoint, facts: FaultFacts): readonly Injection[] | undefined
  /**
   * Evaluates several points of one event in order. No rule is evaluated twice, and a rule that determines the response
   * ends the evaluation.
   */
  injectionsAt(points: readonly InjectionPoint[], facts: FaultFacts): readonly Injection[] | undefined
  /**
   * Services that are down after a restart, with the instant at which each is available again. `undefined` if no
   * service is down.
   */
  readonly downUntil: { readonly [S in FaultService]?: number } | undefined
  markDown(service: FaultService, until: number): void
  /** Calls `changed` with the number of rules with this kind of fault, immediately and after every change. */
  watch(kind: FaultKind, changed: (count: number) => void): void
}
