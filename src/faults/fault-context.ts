import type { Bytes } from '../kernel/bytes.js'
import type { Clock } from '../kernel/clock.js'
import type { Task } from '../kernel/time.js'
import type { DeliveryFault, FaultOf, HeaderRecord } from './fault.js'
import type { DeliveryInjectionPoint, InjectionPoint, RequestInjectionPoint } from './points.js'

// When a fault is injected, the service calls the definition of the fault and passes a context. This file has one
// context type for each kind of event: request, due delivery, delivery attempt, command, stream event and fire. A
// definition uses only these types, so it does not depend on a protocol or service.

export type Phase = 'before' | 'after'

type Maybe<T> = T | Promise<T>

interface FaultContext {
  readonly phase: Phase
  /** Draws a whole number below a bound from the rule's own random stream. */
  draw(below: number): number
  /** Records the effect in the traffic log, in place of the fault's default description. */
  tell(effect: string): void
}

/** An HTTP response that a fault can change: status, headers, and a body that may be a stream. */
export interface FaultyResponse {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Bytes | ReadableStream<Uint8Array> | null
}

/** A fault for which the affected service writes the error response, in its own format. */
export type WordedFault =
  | { readonly kind: 'status'; readonly status: number; readonly text: string }
  | FaultOf<'rate-limited' | 'quota-exceeded'>

export interface RequestFaultContext extends FaultContext {
  readonly task: Task
  readonly clock: Clock
  /** Signal that is aborted when the client disconnects. */
  readonly signal: AbortSignal | undefined
  /** Passes the request to the next fault, or to the service after the last fault. Returns the response. */
  onwards(): Promise<FaultyResponse>
  /** Returns the error response that the service writes for this fault. */
  worded(fault: WordedFault): FaultyResponse
  /** Returns the service's response to a request without a valid token. */
  refusedToken(): FaultyResponse
  /** Breaks all requests in flight and makes the service unavailable for `downMs` milliseconds. */
  restart(downMs: number): void
}

/** Effect of a fault on a request. Throws `ConnectionBroken` when no response arrives. */
export type OnRequest<F> = (fault: F, moment: RequestFaultContext) => Maybe<FaultyResponse>

export interface FaultyOutcome {
  /** HTTP status, or 0 without a response. */
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Bytes
  /** Error text, such as `read: connection reset by peer`, if no response arrived. */
  readonly error?: string
  /** Note for the log about an effect that the queue cannot see, such as a lost response. */
  readonly note?: string
  /** Set if no response ever arrives. The attempt then fails with its timeout. */
  readonly never?: true
}

/** An additional delivery that a fault makes. The queue does not know about it. */
export interface DeliveryCopy {
  sleep(ms: number): Promise<void>
  deliver(): Maybe<FaultyOutcome>
}

/** A delivery attempt that has begun. */
export interface AttemptFaultContext extends FaultContext {
  /** Milliseconds until the attempt times out. */
  readonly timeout: number
  /** Name of the header that forbids retries, in the dialect of the message. */
  readonly nonRetryableHeader: string
  now(): number
  sleep(ms: number): Promise<void>
  /**
   * Continues the attempt: passes it to the next fault, or after the last fault to the script, handler or network.
   * Returns the outcome of the attempt.
   */
  onwards(): Maybe<FaultyOutcome>
  answer(status: number, headers?: HeaderRecord, body?: string): FaultyOutcome
  rateLimited(fault: FaultOf<'rate-limited'>): FaultyOutcome
  sign(wrong: { readonly flaw?: string; readonly skewMs?: number }): void
  /** Continues the attempt with another fault and returns its outcome. */
  play(fault: DeliveryFault): Maybe<FaultyOutcome>
  /**
   * Schedules additional deliveries, which the current attempt does not wait for. They begin `afterMs` milliseconds
   * after this attempt, or immediately if `when` is `'now'`.
   */
  again(afterMs: number, run: (copy: DeliveryCopy) => Promise<void>, when?: 'now'): void
}

/** Context of a delivery that is due, before its attempt begins. */
export interface DueFaultContext {
  readonly now: number
  /** End of the period in which the rule applies, or `undefined` if the period has no end. */
  readonly until: number | undefined
  /**
   * Writes the injection into the log. `waitForNext()` does this itself. A fault that does not delay the delivery need
   * not call this method.
   */
  log(effect?: string): void
  /** Delays the delivery by `ms` milliseconds, in addition to earlier delays. */
  wait(ms: number, reason: string): void
  /** Delays the delivery until the instant `at`, in milliseconds. */
  waitUntil(at: number, reason: string): void
  /** Delays the delivery until a later delivery has ended, for at most `withinMs` milliseconds. */
  waitForNext(withinMs: number): void
  vanish(): void
}

/** Effect on an attempt that has begun. Scripts accept only faults with such an effect. */
export interface AttemptAction<F> {
  readonly meets: (fault: F, moment: AttemptFaultContext) => Maybe<FaultyOutcome>
  /** Set if the destination receives the delivery. The fault then replaces the response or prevents it. */
  readonly arrives?: true
  /** Returns the fault that follows this fault, such as `then` of a delay. */
  readonly next?: (fault: F) => DeliveryFault | undefined
  /**
   * Effect if the fault comes from a rule: it applies before the attempt begins. If the fault comes from a script,
   * `meets` applies instead.
   */
  readonly holds?: HoldAction<F>['holds']
  readonly restarts?: undefined
}
/** Effect on a delivery before its attempt begins. */
export interface HoldAction<F> {
  readonly holds: (fault: F, moment: DueFaultContext) => void
  readonly meets?: undefined
  readonly restarts?: undefined
}
/** Effect that restarts the service during the attempt. */
export interface RestartAction<F> {
  /** @returns how long the service is down, in milliseconds */
  readonly restarts: (fault: F) => number
  readonly meets?: undefined
  readonly holds?: undefined
}
export type OnDelivery<F> = AttemptAction<F> | HoldAction<F> | RestartAction<F>

/** Context of one command. `R` is the type of a store reply. */
export interface CommandFaultContext<R> extends FaultContext {
  run(): R
  /**
   * Returns the reply that a read command would have got before the last `versions` changes of its keys. Returns
   * `undefined` if the keys have changed less often.
   */
  past(versions: number): { readonly reply: R } | undefined
  /** Whether the request has the newest sync token, so that the service would not return stale values. */
  readonly isSynced: boolean
  fail(error: string): never
  /** Throws the error that the store has when the quota of its plan is used up. */
  failOverQuota(): never
  breakConnection(): never
}
export type OnCommand<F> = <R>(fault: F, moment: CommandFaultContext<R>) => R

/**
 * Context of one event that is about to be sent to one stream. A fault changes the event by assigning to these fields.
 */
export interface EventFaultContext extends FaultContext {
  line: Bytes
  /** Milliseconds to wait before the event is sent. */
  wait: number
  copies: number
  /** Whether the stream breaks off after this event. */
  breaks: boolean
}
export type OnEvent<F> = (fault: F, moment: EventFaultContext) => void

/** Context of one fire of a schedule. A fault changes the fire by assigning to these fields. */
export interface FireFaultContext extends FaultContext {
  readonly scheduleId: string
  /** Number of messages to publish. */
  times: number
  /** Milliseconds to wait before the first publish. */
  wait: number
  /** Milliseconds between two publishes. */
  apart: number
}
export type OnTrigger<F> = (fault: F, moment: FireFaultContext) => void

/** The effects that a fault can have, by injection point. */
export interface ActionsAt<F>
  extends Record<RequestInjectionPoint, OnRequest<F>>,
    Record<DeliveryInjectionPoint, OnDelivery<F>>,
    Record<'store.command', OnCommand<F>>,
    Record<'stream.event', OnEvent<F>>,
    Record<'schedule.fire', OnTrigger<F>> {}

export type ActionAt<P extends InjectionPoint, F> = ActionsAt<F>[P]

type OnService = 'store.request' | 'queue.request' | 'stats.request' | 'workflow.wait'

/** Returns `action` for each injection point of service requests, and for outbound requests of the app. */
export function atRequestsAndOutbound<F>(action: OnRequest<F>): Pick<ActionsAt<F>, OnService | 'outbound.request'> {
  return { ...atRequests(action), 'outbound.request': action }
}

/** Returns `action` for each injection point of service requests. */
export function atRequests<F>(action: OnRequest<F>): Pick<ActionsAt<F>, OnService> {
  return { 'store.request': action, 'queue.request': action, 'stats.request': action, 'workflow.wait': action }
}

/** Returns `action` for each injection point of deliveries: messages, callbacks, workflow steps and workflow calls. */
export function atDeliveries<A extends object>(action: A): Record<DeliveryInjectionPoint, A> {
  return { 'queue.delivery': action, 'queue.callback': action, 'workflow.step': action, 'workflow.call': action }
}
