import type { Bytes } from '../kernel/bytes.js'
import type { Duration } from '../kernel/duration.js'
import type { HeaderList } from '../kernel/http.js'
import type { SignatureFault } from './fault-values.js'
import type { DeliveryInjectionPoint, InjectionPoint, RequestInjectionPoint } from './points.js'

// Faults and fault rules as plain values, which can be written as JSON.

/** Header names and values, as a test writes them. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[]>>

// The types below are groups of faults. A destination's script accepts the groups whose names end in `Step`. A rule
// accepts all groups.

export type ResponseStep =
  | LatencyFault
  | StatusFault
  | RateLimitedFault
  | {
      /** The fault is a response 489 that forbids retries. */
      readonly kind: 'non-retryable'
      /** Body of the response as text. Default: no body. */
      readonly body?: string
    }
  | {
      /** No fault: the request or delivery passes unchanged. */
      readonly kind: 'pass'
    }

/** A response with this status. */
export interface StatusFault {
  /** The fault is a response with this status. */
  readonly kind: 'status'
  /** HTTP status of the response, from 200 to 599. */
  readonly status: number
  /** Headers of the response, by name. Several headers with the same name are a list: `{ link: ['a', 'b'] }`. */
  readonly headers?: HeaderRecord
  /**
   * Body as text. Default for a delivery, or for a status below 300: no body. Default for other responses: the error
   * body of the affected service.
   */
  readonly body?: string
}

type LatencyFault =
  | {
      /** The fault is an additional wait of about `waitMs`. */
      readonly kind: 'latency'
      /** Additional milliseconds of virtual time. */
      readonly waitMs: number
      /** Maximum random deviation from `waitMs` in both directions, in milliseconds. Default 0. */
      readonly jitterMs?: number
    }
  | {
      /** The fault is an additional wait of random length. */
      readonly kind: 'latency'
      /** Minimum of the random wait, in milliseconds of virtual time. */
      readonly minMs: number
      /** Maximum of the random wait, in milliseconds of virtual time. */
      readonly maxMs: number
    }

/** `Retry-After` of a 429 response. */
export interface RetryAfter {
  /** Form of the header: whole seconds, an HTTP date, or no such header. */
  readonly form: 'seconds' | 'date' | 'none'
  /**
   * Milliseconds until the limit is reset. Other headers of the response use this value too, such as the header with
   * the time of the reset.
   */
  readonly waitMs: number
}

/** A response 429 because a limit was exceeded. It has the headers of that limit. */
export interface RateLimitedFault {
  /** The fault is a response 429. */
  readonly kind: 'rate-limited'
  /**
   * Exceeded limit. The response has the headers of this limit. `chat`: limit of a chat model. `daily`: limit per day.
   * `burst`: limit per second.
   */
  readonly limit: 'chat' | 'daily' | 'burst'
  /** Value of the `Retry-After` header. Default: no such header. */
  readonly retryAfter?: RetryAfter
}

export type ConnectionStep =
  | {
      /** The fault is a reset of the connection. */
      readonly kind: 'reset'
    }
  | {
      /** The fault is a refused connection. */
      readonly kind: 'refused'
    }
  | {
      /** The fault is a host name that DNS does not resolve. */
      readonly kind: 'unresolved-host'
    }
  | {
      /** The fault is an invalid TLS certificate. */
      readonly kind: 'bad-certificate'
    }
  | {
      /** The fault is a connection without any response. */
      readonly kind: 'hang'
      /** Milliseconds until the connection closes. Default: the timeout of a delivery, or 5 minutes for a request. */
      readonly forMs?: number
    }

export type BodyStep =
  | {
      /** The fault is a response with headers but without its body. */
      readonly kind: 'half-open'
      /** Milliseconds until the connection closes. Default: the timeout of a delivery, or 5 minutes for a request. */
      readonly forMs?: number
    }
  | {
      /** The fault is a connection that breaks within the response body. */
      readonly kind: 'truncate'
      /** Number of bytes of the response body that arrive. */
      readonly afterBytes: number
    }
  | {
      /** The fault is a complete response body that is not valid JSON. */
      readonly kind: 'corrupt-json'
    }
  | {
      /** The fault is a response body that arrives slowly. */
      readonly kind: 'slow-body'
      /** Number of bytes that arrive per second of virtual time. */
      readonly bytesPerSecond: number
    }
  | {
      /** The fault is a response with a wrong `Content-Type`. */
      readonly kind: 'wrong-content-type'
      /** Value of the `Content-Type` header, such as `text/html`. */
      readonly type: string
    }
export type BodyFault = {
  /** The fault is an error reply to a store command. */
  readonly kind: 'error-reply'
  /** Text of the error reply, such as `OOM command not allowed`. */
  readonly error: string
}

export type OrderStep =
  | {
      /** The fault is a response that is lost after the request was processed. */
      readonly kind: 'lost-ack'
    }
  | {
      /** The fault is a response that arrives too late. */
      readonly kind: 'late-response'
      /**
       * For a delivery: milliseconds between its timeout and its response. For a request: milliseconds by which the
       * response is delayed. Default 1000.
       */
      readonly byMs?: number
    }
  | DuplicateFault
  | DelayFault
export type OrderFault =
  | {
      /** The fault is a delivery that waits until a later delivery has ended. */
      readonly kind: 'reorder'
      /** Maximum wait in milliseconds of virtual time. */
      readonly withinMs: number
    }
  | {
      /** The fault is a delivery, fire or event that is dropped. */
      readonly kind: 'drop'
    }

interface DuplicateFault {
  /** The fault is a repeated request, delivery, fire or event. */
  readonly kind: 'duplicate'
  /** Number of additional deliveries or requests. Default 1. */
  readonly copies?: number
  /** Milliseconds between a response and the next repetition. Default 0. */
  readonly afterMs?: number
  /** Whether all repetitions happen at the same instant, before the first response. Default false. */
  readonly concurrent?: boolean
}

interface DelayFault {
  /** The fault is a delivery or fire that begins later. */
  readonly kind: 'delay'
  /** Delay in milliseconds of virtual time. */
  readonly waitMs: number
  /** Fault that follows the delay. Only scripts accept this field. Default: the delivery continues normally. */
  readonly then?: DeliveryFault
}

export type CredentialStep =
  | {
      /** The fault is a delivery with a defect in its signature. */
      readonly kind: 'bad-signature'
      /**
       * Defect of the signature: a name from `signatureFlaws`, or `rotated` for a signature with the next signing key.
       */
      readonly flaw: SignatureFault
    }
  | {
      /** The fault is a signing clock that differs from the clock of the receiver. */
      readonly kind: 'clock-skew'
      /** Milliseconds by which the signing clock is ahead. Negative if it is behind. */
      readonly byMs: number
    }
export type CredentialFault =
  | {
      /** The fault is a token that is rejected as if it had been revoked. */
      readonly kind: 'revoked-token'
    }
  | {
      /** The fault is an exceeded quota of the plan. */
      readonly kind: 'quota-exceeded'
    }

export type StreamFault =
  | {
      /** The fault is an event stream that breaks off. */
      readonly kind: 'cut-stream'
      /** Number of events that arrive before the break. Confirmations of subscriptions do not count. */
      readonly afterEvents: number
    }
  | {
      /** The fault is an event stream that stalls but stays open. */
      readonly kind: 'stall-stream'
      /** Number of events that arrive before the stall. Confirmations of subscriptions do not count. */
      readonly afterEvents: number
      /** Duration of the stall in milliseconds of virtual time. Default: the stall never ends. */
      readonly forMs?: number
    }

export type ServiceFault =
  | {
      /** The fault is a read that returns earlier values of its keys. */
      readonly kind: 'stale-read'
      /**
       * Number of changes that the read does not see, counted back from the latest change of its keys. From 1 to 1000.
       */
      readonly versions: number
      /** Whether reads of requests with the newest sync token get the present values. Default: every read is stale. */
      readonly unlessSynced?: true
    }
  | {
      /** The fault is a restart of the service. */
      readonly kind: 'restart'
      /** Milliseconds of virtual time for which the service is down. Default 0. */
      readonly downMs?: number
    }
  | {
      /** The fault is an unavailable service or region. */
      readonly kind: 'outage'
      /** Region of the queue that is unavailable. Default: the whole service. */
      readonly region?: string
      /** HTTP status of the responses, from 200 to 599. Default: connections are refused. */
      readonly status?: number
    }

/** A fault of one delivery or of its response. A destination's script accepts these faults as steps. */
export type DeliveryFault = ResponseStep | ConnectionStep | BodyStep | OrderStep | CredentialStep

/** A fault as plain data: what goes wrong. */
export type Fault = DeliveryFault | BodyFault | OrderFault | CredentialFault | StreamFault | ServiceFault

/** The `kind` of a fault, such as `lost-ack`. */
export type FaultKind = Fault['kind']
/** The faults with the kind `K`: `FaultOf<'delay'>` is a delay. */
export type FaultOf<K extends FaultKind> = Extract<Fault, { kind: K }>

/** Conditions of a rule. A rule matches if every condition that is set holds. */
export interface FaultMatch {
  /** Service that receives the request, or `queue` for deliveries and schedules. */
  readonly service?: 'store' | 'queue' | 'stats'
  /** Path of the API below the service's base URL; `*` matches any characters: `/v2/publish/*`. */
  readonly path?: string
  /** HTTP method of the request or the delivery, in any case. */
  readonly method?: string
  /**
   * URL of the request or the destination; `*` matches any characters. A pattern without `?` matches URLs with any
   * query.
   */
  readonly url?: string
  /** Name of a store command, in any case. */
  readonly command?: string
  /** Key of the command, as a Redis pattern: `*`, `?`, `[a-z]`. */
  readonly key?: string
  /** Name of the URL group of the message, the schedule or the request. */
  readonly urlGroup?: string
  /** Name of the endpoint in its URL group. Only deliveries can match. */
  readonly endpointName?: string
  /** Name of the FIFO queue of the message, the schedule or the request. */
  readonly queue?: string
  /** One of the labels of the message. */
  readonly label?: string
  /** Headers of the request or the message: names in any case; `*` matches any characters. */
  readonly headers?: Readonly<Record<string, string>>
  /** Number of the delivery attempt, 1 for the first, or a range that includes both ends. */
  readonly attempt?: number | { readonly from?: number; readonly to?: number }
  /** ID of the message that is delivered or that the request names (`msg_…`). */
  readonly messageId?: string
  /**
   * Name of the sandbox. The rule keeps the name that the sandbox had when the rule was added, even in a fork with
   * another name.
   */
  readonly tenant?: string
  /** Flow-control key of the message, the schedule or the request. */
  readonly flowControlKey?: string
  /** ID of the schedule that fires, that published the message, or that the request names. */
  readonly scheduleId?: string
  /** Region of the queue: `us-east-1` or `eu-central-1`. */
  readonly region?: string
  /** Name of an added database of the data store. Without it, a rule matches requests and commands of all databases. */
  readonly database?: string
  /** URL of the workflow; `*` matches any characters. */
  readonly workflow?: string
  /**
   * Name of the workflow step that the delivery belongs to, or of the step that waits for an event. The first delivery
   * of a run has the name `init`.
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

/**
 * Injection points at which each kind of fault has an effect. The compiler checks that this type agrees with the
 * definitions of the faults.
 */
interface PointsByKind {
  /** Injection points at which the fault can add a wait. */
  latency: RequestOrDelivery | 'stream.open' | 'stream.event' | 'schedule.fire'
  /** Injection points at which the fault can replace a response. */
  status: RequestOrDelivery | 'stream.open'
  /** Injection points at which the fault can respond 429: requests to the queue, outbound requests and deliveries. */
  'rate-limited': Exclude<RequestOrDelivery, 'store.request' | 'stats.request'>
  /** Injection points of deliveries, because only deliveries have retries. */
  'non-retryable': DeliveryInjectionPoint
  /** All injection points, because rules are evaluated at each of them, and the fault ends this evaluation. */
  pass: InjectionPoint
  /** Injection points at which the fault can reset a connection: all points except fires of schedules. */
  reset: Exclude<InjectionPoint, 'schedule.fire'>
  /** Injection points at which the fault can refuse a connection. */
  refused: RequestOrDelivery | 'stream.open'
  /** Injection points at which the fault can make a DNS lookup fail. */
  'unresolved-host': RequestOrDelivery | 'stream.open'
  /** Injection points at which the fault can present an invalid certificate. */
  'bad-certificate': RequestOrDelivery | 'stream.open'
  /** Injection points at which the fault can prevent a response. */
  hang: RequestOrDelivery | 'stream.open'
  /** Injection points at which the fault can hold back a response body. */
  'half-open': RequestOrDelivery
  /** Injection points at which the fault can cut a response body. */
  truncate: RequestOrDelivery
  /** Injection points at which the fault can damage a response body or an event. */
  'corrupt-json': RequestOrDelivery | 'stream.event'
  /** Injection points at which the fault can slow down a response body. */
  'slow-body': RequestOrDelivery
  /** Injection points at which the fault can replace the `Content-Type`. */
  'wrong-content-type': RequestOrDelivery | 'stream.open'
  /** Injection point of store commands, because only commands have error replies. */
  'error-reply': 'store.command'
  /** Injection points at which the fault can lose a response or reply. */
  'lost-ack': RequestOrDelivery | 'store.command'
  /** Injection points at which the fault can delay a response. */
  'late-response': RequestOrDelivery
  /** Injection points at which the fault can repeat a request, delivery, fire or event. */
  duplicate: Exclude<RequestOrDelivery, 'stats.request'> | 'schedule.fire' | 'stream.event'
  /** Injection points at which the fault can change the order of deliveries. */
  reorder: DeliveryInjectionPoint
  /** Injection points at which the fault can delay a delivery or a fire. */
  delay: DeliveryInjectionPoint | 'schedule.fire'
  /** Injection points at which the fault can drop a delivery, a fire or an event. */
  drop: DeliveryInjectionPoint | 'schedule.fire' | 'stream.event'
  /** Injection points of deliveries, because only deliveries have signatures. */
  'bad-signature': DeliveryInjectionPoint
  /** Injection points of deliveries, because only deliveries have signatures with a time. */
  'clock-skew': DeliveryInjectionPoint
  /** Injection points at which the fault can reject the token of a request. */
  'revoked-token': ServiceRequest | 'outbound.request' | 'stream.open'
  /** Injection points at which the fault can report an exceeded quota: requests to store or queue, and commands. */
  'quota-exceeded': 'store.command' | Exclude<ServiceRequest, 'stats.request'>
  /** Injection point of opened event streams, because only they can break off. */
  'cut-stream': 'stream.open'
  /** Injection point of opened event streams, because only they can stall. */
  'stall-stream': 'stream.open'
  /** Injection point of store commands, because only commands read keys. */
  'stale-read': 'store.command'
  /** Injection points at which the fault can restart a service. */
  restart: ServiceRequest | DeliveryInjectionPoint
  /** Injection points at which the fault can make a service or region unavailable. */
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
  /** Conditions of the rule, which must all hold. Default: no conditions. */
  readonly match?: FaultMatch
  /**
   * Start of the period in which the rule applies: ISO text, or a duration such as `'10m'` that begins when the rule is
   * added.
   */
  readonly from?: Duration | string
  /**
   * End of the period in which the rule applies: ISO text, or a duration such as `'1h'` that begins when the rule is
   * added. At that instant, the rule no longer applies.
   */
  readonly until?: Duration | string
  /** Cron pattern of the minutes in which the rule applies, in UTC or the time zone of `CRON_TZ=`. */
  readonly cron?: string
  /** Number of matches to skip before the first injection. */
  readonly skip?: number
  /** Maximum number of injections. */
  readonly times?: number
  /**
   * Interval between injections, counted in matches. For example, with 2 the fault is injected at the first, third and
   * fifth match. Matches that `skip` excludes are not counted.
   */
  readonly every?: number
  /**
   * Probability of an injection as `[times, outOf]`. For example, `[1, 10]` injects at one of ten matches on average.
   * The seed determines which matches.
   */
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

/** Facts that a service knows at an injection point. Rules read them with `factOf()`. */
export interface FaultFacts {
  readonly service?: 'store' | 'queue' | 'stats' | undefined
  readonly path?: string | undefined
  readonly method?: string | undefined
  readonly url?: string | undefined
  /**
   * URL of the destination, if the request publishes a message. The condition `url` matches this URL or the URL of the
   * request.
   */
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
  readonly database?: string | undefined
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
  /** Whether the fault determines the response. If so, later rules and the service's own response are skipped. */
  readonly answers: boolean
  /** Draws a whole number below a bound from the rule's own random stream. */
  draw(below: number): number
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

/** Log entry of an injection. If the effect becomes known only after the injection, the service sets `effect` later. */
export interface InjectionRecord {
  effect?: string
}

export type FaultService = 'store' | 'queue' | 'stats'

/** A service that a fault can restart. Each added database restarts separately from the others. */
export type RestartedService = FaultService | `store/${string}`

/** Returns the name under which a service, or an added database of the data store, is down after a restart. */
export function restartedService(service: FaultService, database: string | undefined): RestartedService {
  return database === undefined ? service : `store/${database}`
}

/** The fault rules of a sandbox, as services use them. */
export interface FaultSource {
  /** Whether the sandbox has no rules and no service is down. Services then skip all other checks. */
  readonly isInactive: boolean
  /** Points that have rules. A service checks this object before it collects the facts for `injections()`. */
  readonly activeByPoint: { readonly [P in InjectionPoint]?: unknown }
  /**
   * Returns the rules whose faults must be injected at a point, oldest first. If a rule determines the response, it is
   * the last rule of the list.
   */
  injections(point: InjectionPoint, facts: FaultFacts): readonly Injection[] | undefined
  /**
   * Evaluates the rules of several points for the same event, in the order of `points`. Each rule is evaluated at most
   * once. After a rule that determines the response, no further fault is injected.
   */
  injectionsAt(points: readonly InjectionPoint[], facts: FaultFacts): readonly Injection[] | undefined
  /**
   * Services that are down after a restart, with the instant at which each is available again. `undefined` if no
   * service is down.
   */
  readonly downUntil: { readonly [S in RestartedService]?: number } | undefined
  markDown(service: RestartedService, until: number): void
  /**
   * Calls `changed` with the number of rules that have this kind of fault: once now, and after every change of the
   * number.
   */
  watch(kind: FaultKind, changed: (count: number) => void): void
}
