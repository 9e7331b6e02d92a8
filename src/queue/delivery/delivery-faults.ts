import { actionAt } from '../../faults/catalog.js'
import type { DeliveryFault, Fault, FaultFacts, FaultSource, Injection, InjectionRecord } from '../../faults/fault.js'
import type { DueFaultContext, OnDelivery, Phase } from '../../faults/fault-context.js'
import type { DeliveryInjectionPoint } from '../../faults/points.js'
import { formatDuration } from '../../kernel/duration.js'
import { once } from '../../kernel/once.js'
import type { AppliedFault } from '../destinations/apply-faults.js'
import type { Message } from '../message/message.js'
import type { Attempt } from '../message/message-entries.js'
import type { RetryWait } from '../message/state.js'

// Applies fault rules to deliveries. Some faults act before an attempt: they delay or drop the message. The other
// faults change the attempt itself.

/** Reason why the attempt of a due message does not start now: a fault delays the attempt or drops the message. */
export type Prevention =
  /** A fault moved the attempt to the time `to`. `before` is the earlier reason for which the message waited. */
  | {
      readonly is: 'moved'
      readonly message: Message
      readonly to: number
      readonly before: RetryWait | undefined
      readonly because: string
    }
  | { readonly is: 'vanished'; readonly message: Message }

interface HeldBack {
  readonly message: Message
  readonly point: DeliveryInjectionPoint
  readonly record: InjectionRecord
  /**
   * `seq` of the latest log entry at the time when the fault began to hold the message. Only the end of an attempt with
   * a higher `seq` releases the message.
   */
  readonly since: number
  readonly withinMs: number
  readonly at: number
  /** Reason for which the message waited before the fault held it. */
  readonly before: RetryWait | undefined
}

const noStrikes: readonly Injection[] = []

export interface Restart {
  readonly phase: Phase
  readonly downMs: number
}

/** Faults that are injected into one attempt. */
export interface AttemptFaults {
  readonly encounters: readonly AppliedFault[]
  /** Restart of the service before or after the delivery. */
  readonly restart: Restart | undefined
}

export class DeliveryFaultRules {
  readonly source: FaultSource
  /** Messages that a `reorder` fault holds. Each is released when an attempt that began later has ended. */
  heldBack: HeldBack[] = []

  constructor(source: FaultSource) {
    this.source = source
  }

  /**
   * Evaluates the fault rules for a due message.
   * @returns the reason why the attempt does not start now; `undefined` if the attempt starts
   */
  prevent(message: Message, now: number): Prevention | undefined {
    if (message.injections !== undefined) {
      this.#goOn(message)
      return undefined
    }
    const strikes = this.#asked(message)
    if (strikes === undefined) return undefined
    message.injections = strikes
    return strikes.length === 0 ? undefined : this.#hold(message, strikes, now)
  }

  #asked(message: Message): readonly Injection[] | undefined {
    const { activeByPoint: armed } = this.source
    const point = pointOf(message)
    const narrow = narrowPointOf(message)
    if (narrow !== undefined && armed[narrow] !== undefined)
      return this.source.injectionsAt([narrow, point], deliveryFacts(message)) ?? noStrikes
    return armed[point] === undefined ? undefined : (this.source.injections(point, deliveryFacts(message)) ?? noStrikes)
  }

  #hold(message: Message, strikes: readonly Injection[], now: number): Prevention | undefined {
    const before = message.delivery.wait
    let until = now
    const reasons: string[] = []
    const later = (at: number, reason: string): void => {
      reasons.push(`${reason}, ${formatDuration(at - until)}`)
      until = at
    }
    let vanished = false
    for (const strike of strikes) {
      const { fault } = strike
      const { holds } = actionOf(strike)
      if (holds === undefined) continue
      const due: DueFaultContext = {
        now,
        until: strike.until,
        log: (effect) => {
          strike.log(message.lastEntrySeq, message.url, effect)
        },
        wait: (ms, reason) => later(until + ms, reason),
        waitUntil(at, reason) {
          if (at > until) later(at, reason)
        },
        waitForNext: (withinMs) => {
          const record = strike.log(message.lastEntrySeq, message.url)
          const point = strike.point as DeliveryInjectionPoint
          // Use the `seq` of the message's latest entry: all attempts that begin from now on have a higher `seq`.
          this.heldBack.push({ message, point, record, since: message.lastEntrySeq, withinMs, at: now, before })
          later(until + withinMs, 'held until a later delivery ends')
        },
        vanish() {
          vanished = true
        },
      }
      holds(fault, due)
      if (!vanished) continue
      message.injections = undefined
      return { is: 'vanished', message }
    }
    if (reasons.length === 0) return undefined
    return { is: 'moved', message, to: until, before, because: reasons.join(', then ') }
  }

  /** Stops holding a message after the maximum time of the fault, if no later delivery has ended in this time. */
  #goOn(message: Message): void {
    const at = this.heldBack.findIndex((held) => held.message === message)
    if (at === -1) return
    const [held] = this.heldBack.splice(at, 1)
    held!.record.effect = `held, but no later delivery ended within ${formatDuration(held!.withinMs)}`
  }

  /**
   * Releases the messages that `reorder` faults held until a later attempt had ended. `attempt` is this later attempt.
   * @returns the released messages, which are delivered now in this order
   */
  *gone(attempt: Attempt, now: number): Iterable<Prevention> {
    const points = [pointOf(attempt.message), narrowPointOf(attempt.message)]
    const waits = (held: HeldBack): boolean =>
      points.includes(held.point) && held.message !== attempt.message && attempt.seq > held.since
    const released = this.heldBack.filter(waits)
    if (released.length === 0) return
    this.heldBack = this.heldBack.filter((held) => !waits(held))
    for (const { message, record, at, before } of released) {
      // Skip a message that no longer waits for a later delivery: its fault rule was removed and the message was
      // attempted, or its queue was paused.
      if (message.delivery.is !== 'planned' || message.injections === undefined) continue
      record.effect = `held until ${attempt.messageId} had ended`
      const because = `held for ${formatDuration(now - at)} until a later delivery had ended`
      yield { is: 'moved', message, to: now, before, because }
    }
  }

  /** Returns the faults for an attempt that begins now. Logs each injection with the attempt as its cause. */
  begin(attempt: Attempt, strikes: readonly Injection[]): AttemptFaults | undefined {
    let restart: Restart | undefined
    const encounters: AppliedFault[] = []
    for (const strike of strikes) {
      const { fault, phase } = strike
      const { holds, restarts } = actionOf(strike)
      if (holds !== undefined) continue
      const record = strike.log(attempt.seq, attempt.url)
      if (restarts !== undefined) {
        restart = { phase, downMs: restarts(fault) }
        continue
      }
      encounters.push({
        fault: fault as DeliveryFault,
        phase,
        draw: (below) => strike.draw(below),
        report: (effect) => {
          record.effect = effect
        },
      })
    }
    return encounters.length === 0 && restart === undefined ? undefined : { encounters, restart }
  }
}

function actionOf({ point, fault }: Injection): OnDelivery<Fault> {
  return actionAt(point as DeliveryInjectionPoint, fault)
}

function pointOf({ kind }: Message): DeliveryInjectionPoint {
  return kind === 'message' ? 'queue.delivery' : 'queue.callback'
}

/**
 * Returns the more specific injection point of a workflow delivery, whose rules are evaluated first. `undefined` for
 * other deliveries.
 */
function narrowPointOf({ part, kind }: Message): DeliveryInjectionPoint | undefined {
  if (part === undefined || kind === 'failure-callback') return undefined
  return part.isCall ? 'workflow.call' : 'workflow.step'
}

/**
 * Returns the facts about a delivery that fault rules can match. Facts about the workflow step are computed only on
 * demand, because they may require parsing the body.
 */
function deliveryFacts(message: Message): FaultFacts {
  const { origin, settings, part } = message
  return {
    service: 'queue',
    url: message.url,
    method: message.method,
    urlGroup: origin.urlGroup,
    endpointName: origin.endpointName,
    queue: settings.queue,
    labels: settings.labels,
    attempt: message.retried + 1,
    messageId: message.id,
    flowControlKey: settings.flowControl?.key,
    scheduleId: origin.scheduleId,
    region: origin.region,
    workflow: part?.runUrl,
    runId: part?.runId,
    headers: message.headers,
    more: part && once(() => stepFacts(part.step(message))),
  }
}

function stepFacts(step: { readonly stepName: string; readonly stepType: string } | undefined): FaultFacts {
  return { step: step?.stepName, stepType: step?.stepType }
}
