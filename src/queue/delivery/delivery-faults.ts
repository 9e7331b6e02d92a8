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

// Applies fault rules to deliveries. Before an attempt, a fault may delay or drop the message; other faults change the
// attempt itself.

/** Why the attempt of a due message does not start now: a fault moves it to another time or drops the message. */
export type Prevention =
  /** A fault moves the attempt to the time `to`. `before` is the reason why the message waited until now. */
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
  /** `seq` of the latest log entry when the fault held the message. Only an attempt with a higher `seq` releases it. */
  readonly since: number
  readonly withinMs: number
  readonly at: number
  /** Reason why the message waited before this fault. */
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
  /** Messages that a `reorder` fault holds until another, later attempt has ended. */
  heldBack: HeldBack[] = []

  constructor(source: FaultSource) {
    this.source = source
  }

  /**
   * Evaluates the fault rules for a due message.
   * @returns why the attempt does not start now; `undefined` if it starts
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
          // The message's own entry is older than every attempt that begins from now on.
          this.heldBack.push({ message, point, record, since: message.lastEntrySeq, withinMs, at: now, before })
          later(until + withinMs, 'held for a later delivery')
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

  /** Stops holding a message, because no later delivery ended within the maximum time of the fault. */
  #goOn(message: Message): void {
    const at = this.heldBack.findIndex((held) => held.message === message)
    if (at === -1) return
    const [held] = this.heldBack.splice(at, 1)
    held!.record.effect = `held: no later delivery within ${formatDuration(held!.withinMs)}`
  }

  /**
   * Releases the messages that a fault held until this attempt ended.
   * @returns the messages that were held for a later delivery and are delivered now, one at a time
   */
  *gone(attempt: Attempt, now: number): Iterable<Prevention> {
    const points = [pointOf(attempt.message), narrowPointOf(attempt.message)]
    const waits = (held: HeldBack): boolean =>
      points.includes(held.point) && held.message !== attempt.message && attempt.seq > held.since
    const released = this.heldBack.filter(waits)
    if (released.length === 0) return
    this.heldBack = this.heldBack.filter((held) => !waits(held))
    for (const { message, record, at, before } of released) {
      // Skip a message that no longer waits for this: its rule was removed and it was delivered or is in flight, or its
      // queue was paused.
      if (message.delivery.is !== 'planned' || message.injections === undefined) continue
      record.effect = `held until ${attempt.messageId} had ended`
      const because = `held for a later delivery, ${formatDuration(now - at)}`
      yield { is: 'moved', message, to: now, before, because }
    }
  }

  /** Returns the faults of an attempt that begins now. Logs the injection of each with the attempt as its cause. */
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

/** Returns the injection point for deliveries of a workflow run, whose rules are evaluated first. */
function narrowPointOf({ part, kind }: Message): DeliveryInjectionPoint | undefined {
  if (part === undefined || kind === 'failure-callback') return undefined
  return part.isCall ? 'workflow.call' : 'workflow.step'
}

/**
 * Returns the facts about a delivery that fault rules can match. The step is read only if a rule needs it, because that
 * may require parsing the body.
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
