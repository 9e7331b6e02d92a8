import type { Bytes } from '../kernel/bytes.js'
import type { Duration } from '../kernel/duration.js'
import type { HeaderList } from '../kernel/http.js'
import type { SignatureFault } from './fault-values.js'
import type { DeliveryInjectionPoint, InjectionPoint, RequestInjectionPoint } from './points.js'

// Faults as plain values: what goes wrong, and where. Everything here can be written as JSON.

/** Header names to values, as a test writes them. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[]>>

// ---- the values, family by family: a script can name the steps, rules can have all ----------------------------------

export type ResponseStep =
  | LatencyFault
  | StatusFault
  | RateLimitedFault
  | { readonly kind: 'non-retryable'; readonly body?: string }
  | { readonly kind: 'pass' }

/** An answer with this status; without a body, in the words of whatever is struck. */
export interface StatusFault {
  readonly kind: 'status'
  readonly status: number
  readonly headers?: HeaderRecord
  readonly body?: string
}

type LatencyFault =
  | { readonly kind: 'latency'; readonly waitMs: number; readonly jitterMs?: number }
  | { readonly kind: 'latency'; readonly minMs: number; readonly maxMs: number }

/** `retryAfter` of a 429: seconds, an HTTP date, or no such header. */
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
  /** How many more times it happens. Default 1. */
  readonly copies?: number
  /** How long after the answer to the one before. Default 0. */
  readonly afterMs?: number
  /** All at the same instant, before the first has been answered. */
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

/** What can happen to one delivery or its answer: the steps of a destination's script. */
export type DeliveryFault = ResponseStep | ConnectionStep | BodyStep | OrderStep | CredentialStep

/** A fault as plain data: what goes wrong. */
export type Fault = DeliveryFault | BodyFault | OrderFault | CredentialFault | StreamFault | ServiceFault

// ---- rules ----------------------------------------------------------------------------------------------------------

/** The `kind` of a fault, such as `lost-ack`. */
export type FaultKind = Fault['kind']
/** The fault of one kind. */
export type FaultOf<K extends FaultKind> = Extract<Fault, { kind: K }>

/** Conditions for a rule to strike; all that are given must hold. */
export interface FaultMatch {
  readonly service?: 'store' | 'queue' | 'stats'
  /** Path of the API below the service's address, `*` for any characters: `/v2/publish/*`. */
  readonly path?: string
  readonly method?: string
  /** Url of the request or of the destination, `*` for any characters; without `?` any query. */
  readonly url?: string
  /** Name of a command of the store, any case. */
  readonly command?: string
  /** A key of the command, as a pattern of the store: `*`, `?`, `[a-z]`. */
  readonly key?: string
  readonly urlGroup?: string
  readonly endpointName?: string
  readonly queue?: string
  readonly label?: string
  /** Headers of the request or the message, names in any case, `*` for any characters. */
  readonly headers?: Readonly<Record<string, string>>
  /** Number of the delivery attempt, 1 for the first, or a range of them with both ends. */
  readonly attempt?: number | { readonly from?: number; readonly to?: number }
  readonly messageId?: string
  readonly tenant?: string
  readonly flowControlKey?: string
  readonly scheduleId?: string
  readonly region?: string
  /** Url of the workflow that the run is one of, `*` for any characters. */
  readonly workflow?: string
  /** Name of the step that a delivery of a run carries, is made for, or that waits; `init` for the first. */
  readonly step?: string
  /** Its kind, as the SDK names it: `Initial`, `Run`, `SleepFor`, `Call`, `Wait`, `Invoke` … */
  readonly stepType?: string
  /** Id of the run. */
  readonly runId?: string
}

/** A service's requests: everything but the calls of the app and the opening of streams. */
type ServiceRequest = Exclude<RequestInjectionPoint, 'outbound.request' | 'stream.open'>
type RequestOrDelivery = Exclude<RequestInjectionPoint, 'stream.open'> | DeliveryInjectionPoint

/** Where each fault has something to do. The tables of the faults have exactly these rows, which the compiler checks. */
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

/** The points at which a fault of this kind has something to do. */
export type PointOf<K extends FaultKind> = PointsByKind[K]

/** The faults that have something to do at this point. */
export type FaultAt<P extends InjectionPoint> = {
  [K in FaultKind]: P extends PointsByKind[K] ? FaultOf<K> : never
}[FaultKind]

/** What a fault rule has besides its fault and the points of it: all optional. */
export interface FaultConditions {
  /** For messages, and for `faults.remove(name)`. */
  readonly name?: string
  readonly match?: FaultMatch
  /** Strikes from here on: ISO text, or how long after the rule was added. */
  readonly from?: Duration | string
  /** Strikes until here, not including it. */
  readonly until?: Duration | string
  /** Strikes in the minutes that the pattern names, in UTC or the zone of `CRON_TZ=`. */
  readonly cron?: string
  /** Lets this many matches pass first. */
  readonly skip?: number
  /** Strikes this many times, then never again. */
  readonly times?: number
  /** Strikes the first match that is not skipped, and from there every n-th: with 2 the first, the third, the fifth. */
  readonly every?: number
  /** Strikes in `times` of `outOf` cases, decided by the seed. */
  readonly chance?: readonly [times: number, outOf: number]
  /** Before the work (it is not done) or after it (it is done, the answer suffers). Default: as the fault has it. */
  readonly phase?: 'before' | 'after'
}

/** One fault, and where, when and how often it strikes. A fault goes with the points that it can strike at, and no other. */
export type FaultRule = FaultConditions &
  (
    | { [P in InjectionPoint]: { readonly on: P; readonly fault: FaultAt<P> } }[InjectionPoint]
    | { [K in FaultKind]: { readonly on: readonly PointOf<K>[]; readonly fault: FaultOf<K> } }[FaultKind]
  )

/** A rule before it is known whether its fault can strike at its points: rules are checked when they are added. */
export interface UncheckedRule extends FaultConditions {
  readonly on: InjectionPoint | readonly InjectionPoint[]
  readonly fault: Fault
}

// ---- how services ask -------------------------------------------------------------------------------------------

/** What a service knows about a moment at which a fault may strike; rules read it with `factOf`. */
export interface FaultFacts {
  readonly service?: 'store' | 'queue' | 'stats' | undefined
  readonly path?: string | undefined
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** Second url of a publish: where the message is to go. */
  readonly destination?: string | undefined
  /** One command, word by word. */
  readonly argv?: readonly Bytes[] | undefined
  /** Names of the commands, upper case. */
  readonly commands?: readonly string[] | undefined
  /** Whether it is a command that reads keys and writes none. */
  readonly reads?: boolean | undefined
  /** Keys of the commands, or channels. */
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
  /** Facts that are costly to find, such as those in a body. Called only when a rule reads a fact that is missing above. */
  readonly more?: (() => FaultFacts) | undefined
}

/** A rule that strikes now. */
export interface Injection<F extends Fault = Fault> {
  readonly fault: F
  readonly phase: 'before' | 'after'
  /** Whether the layer underneath and rules that were added later no longer matter. */
  readonly answers: boolean
  /** A whole number below a bound, from the rule's own stream of chance. */
  draw(below: number): number
  /** Where it strikes. */
  readonly point: InjectionPoint
  /** When the rule's window closes, `undefined` when it has no end. */
  readonly until: number | undefined
  /**
   * Writes it into the traffic log.
   * @param cause `seq` of the entry that it hits
   * @param effect what comes of it, as a sentence part
   */
  log(cause: number | undefined, target: string, effect?: string): InjectionRecord
}

/** The entry of a strike, for effects that are known later. */
export interface InjectionRecord {
  effect?: string
}

export type FaultService = 'store' | 'queue' | 'stats'

/** Rules as the services see them. */
export interface FaultSource {
  /** There are no rules and no service is down: nothing else needs checking. */
  readonly isInactive: boolean
  /** Points that have rules; checked before the facts for `ask` are gathered. */
  readonly activeByPoint: { readonly [P in InjectionPoint]?: unknown }
  /** The rules that strike, in the order in which they were added; one that answers ends the list. */
  injections(point: InjectionPoint, facts: FaultFacts): readonly Injection[] | undefined
  /** The same at several points of one moment, the first first: no rule is asked twice, one that answers ends it all. */
  injectionsAt(points: readonly InjectionPoint[], facts: FaultFacts): readonly Injection[] | undefined
  /** Services that are down after a restart, and until when; `undefined` while none is. */
  readonly downUntil: { readonly [S in FaultService]?: number } | undefined
  markDown(service: FaultService, until: number): void
  /** Reports how many rules of a kind there are, now and after every change. */
  watch(kind: FaultKind, changed: (count: number) => void): void
}
