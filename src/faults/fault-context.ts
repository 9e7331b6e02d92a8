import type { Bytes } from '../kernel/bytes.js'
import type { Clock } from '../kernel/clock.js'
import type { Task } from '../kernel/time.js'
import type { DeliveryFault, FaultOf, HeaderRecord } from './fault.js'
import type { DeliveryInjectionPoint, InjectionPoint, RequestInjectionPoint } from './points.js'

// What a fault can do where it strikes. Each kind of moment is a small interface: the service that has the moment passes
// it in, the row of the fault acts on it. So a row knows neither the protocol nor a service.

export type Phase = 'before' | 'after'

type Maybe<T> = T | Promise<T>

/** What every moment offers. */
interface FaultContext {
  readonly phase: Phase
  /** A whole number below a bound, from the rule's own stream of chance. */
  draw(below: number): number
  /** Records what came of it, in place of the row's sentence. */
  tell(effect: string): void
}

// ---- a request, or the opening of an event stream ---------------------------------------------------------------

/** An answer as faults see it: the status line and headers, and a body that may come in parts. */
export interface FaultyResponse {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Bytes | ReadableStream<Uint8Array> | null
}

/** A fault that the service answers in its own words. */
export type WordedFault =
  | { readonly kind: 'status'; readonly status: number; readonly text: string }
  | FaultOf<'rate-limited' | 'quota-exceeded'>

export interface RequestFaultContext extends FaultContext {
  readonly task: Task
  readonly clock: Clock
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal | undefined
  /** Lets the layer underneath answer: the next fault, or at last the service. */
  onwards(): Promise<FaultyResponse>
  /** An answer in the words of the service. */
  worded(fault: WordedFault): FaultyResponse
  /** The service's refusal of a call without a valid token. */
  refusedToken(): FaultyResponse
  /** Cuts off what is in flight; the service is down for this long. */
  restart(downMs: number): void
}

/** Throws `ConnectionBroken` where no answer arrives. */
export type OnRequest<F> = (fault: F, moment: RequestFaultContext) => Maybe<FaultyResponse>

// ---- a delivery -------------------------------------------------------------------------------------------------

/** What comes of a delivery. */
export interface FaultyOutcome {
  /** 0 without an answer. */
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Bytes
  /** Why there is no answer. */
  readonly error?: string
  /** What really happened where the queue saw less. */
  readonly note?: string
  /** Nothing will come: the attempt ends with its timeout. */
  readonly never?: true
}

/** A delivery that the queue knows nothing of. */
export interface DeliveryCopy {
  sleep(ms: number): Promise<void>
  deliver(): Maybe<FaultyOutcome>
}

/** An attempt that has begun. */
export interface AttemptFaultContext extends FaultContext {
  /** Milliseconds until the attempt is given up. */
  readonly timeout: number
  /** In the vendor's words. */
  readonly nonRetryableHeader: string
  now(): number
  sleep(ms: number): Promise<void>
  /** Lets the layer underneath answer: the next fault, or at last a handler, a script or the network. */
  onwards(): Maybe<FaultyOutcome>
  answer(status: number, headers?: HeaderRecord, body?: string): FaultyOutcome
  rateLimited(fault: FaultOf<'rate-limited'>): FaultyOutcome
  /** What is wrong with the signature. */
  sign(wrong: { readonly flaw?: string; readonly skewMs?: number }): void
  /** Continues with another fault. */
  play(fault: DeliveryFault): Maybe<FaultyOutcome>
  /** Delivers once more, as work of its own: after this many milliseconds, or alongside what runs. */
  again(afterMs: number, run: (copy: DeliveryCopy) => Promise<void>, when?: 'now'): void
}

/** A delivery that is due and has not begun. */
export interface DueFaultContext {
  readonly now: number
  /** When the window of the rule closes, `undefined` when it has no end. */
  readonly until: number | undefined
  /** Logs the strike; one that holds nothing up may skip it. */
  log(effect?: string): void
  /** Holds it for this long, after what held it before. */
  wait(ms: number, reason: string): void
  /** Holds it until then. */
  waitUntil(at: number, reason: string): void
  /** Holds it until a later one has gone, at most for this long. */
  waitForNext(withinMs: number): void
  vanish(): void
}

/** Strikes the attempt; the only kind of fault that a script can name as its step. */
export interface AttemptAction<F> {
  readonly meets: (fault: F, moment: AttemptFaultContext) => Maybe<FaultyOutcome>
  /** The delivery reaches the destination, which then answers with this: it counts as arrived. */
  readonly arrives?: true
  /** The fault with which it ends. */
  readonly next?: (fault: F) => DeliveryFault | undefined
  /** What a rule does instead, before the attempt begins. */
  readonly holds?: HoldAction<F>['holds']
  readonly restarts?: undefined
}
/** Strikes before an attempt begins. */
export interface HoldAction<F> {
  readonly holds: (fault: F, moment: DueFaultContext) => void
  readonly meets?: undefined
  readonly restarts?: undefined
}
/** The service restarts around the attempt. */
export interface RestartAction<F> {
  /** @returns how long it is down, in milliseconds */
  readonly restarts: (fault: F) => number
  readonly meets?: undefined
  readonly holds?: undefined
}
export type OnDelivery<F> = AttemptAction<F> | HoldAction<F> | RestartAction<F>

// ---- a command, an event, a schedule ----------------------------------------------------------------------------

/** One command; `R` is a reply of the store. */
export interface CommandFaultContext<R> extends FaultContext {
  run(): R
  /** The reply of a reading command as it was this many changes ago; `undefined` when its keys have not changed that often. */
  past(versions: number): { readonly reply: R } | undefined
  fail(error: string): never
  /** Fails like a store whose plan is used up. */
  failOverQuota(): never
  breakConnection(): never
}
export type OnCommand<F> = <R>(fault: F, moment: CommandFaultContext<R>) => R

/** One event on its way into one stream; what is written here is sent. */
export interface EventFaultContext extends FaultContext {
  line: Bytes
  /** Milliseconds until it is sent. */
  wait: number
  copies: number
  /** The stream breaks off after it. */
  breaks: boolean
}
export type OnEvent<F> = (fault: F, moment: EventFaultContext) => void

/** One trigger of a schedule; what is written here happens. */
export interface FireFaultContext extends FaultContext {
  readonly scheduleId: string
  /** How often it publishes. */
  times: number
  /** Milliseconds until the first time. */
  wait: number
  /** Milliseconds between the times. */
  apart: number
}
export type OnTrigger<F> = (fault: F, moment: FireFaultContext) => void

// ---- all of them ------------------------------------------------------------------------------------------------

/** What a row may do at each point. */
export interface ActionsAt<F>
  extends Record<RequestInjectionPoint, OnRequest<F>>,
    Record<DeliveryInjectionPoint, OnDelivery<F>>,
    Record<'store.command', OnCommand<F>>,
    Record<'stream.event', OnEvent<F>>,
    Record<'schedule.fire', OnTrigger<F>> {}

/** Every point has its kind of action. */
export type ActionAt<P extends InjectionPoint, F> = ActionsAt<F>[P]

type OnService = 'store.request' | 'queue.request' | 'stats.request' | 'workflow.wait'

/** The same at the requests of every service, and at the calls that the app makes to other hosts. */
export function atRequestsAndOutbound<F>(action: OnRequest<F>): Pick<ActionsAt<F>, OnService | 'outbound.request'> {
  return { ...atRequests(action), 'outbound.request': action }
}

/** The same at the requests of every service. */
export function atRequests<F>(action: OnRequest<F>): Pick<ActionsAt<F>, OnService> {
  return { 'store.request': action, 'queue.request': action, 'stats.request': action, 'workflow.wait': action }
}

/** The same for messages, for callbacks, and for those of workflow runs. */
export function atDeliveries<A extends object>(action: A): Record<DeliveryInjectionPoint, A> {
  return { 'queue.delivery': action, 'queue.callback': action, 'workflow.step': action, 'workflow.call': action }
}
