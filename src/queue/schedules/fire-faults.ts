import { actionAt } from '../../faults/catalog.js'
import type { FaultFacts, FaultSource, Injection } from '../../faults/fault.js'
import type { FireFaultContext } from '../../faults/fault-context.js'
import type { ServiceClock } from '../../kernel/clock.js'
import type { Schedule } from './schedule.js'

// Applies fault rules to the firing of a schedule. A fault can delay, repeat or prevent the publish.

/** The changed publishes of one firing, after a fault has been applied. */
export interface TriggerPlan {
  /** Number of publications. */
  readonly times: number
  /** Milliseconds from the fire time to the first publish. */
  readonly wait: number
  /** Milliseconds between publications. */
  readonly apart: number
}

/**
 * Returns how often and when a firing publishes, if a fault or a downtime of the service changes this. Otherwise
 * returns `undefined`.
 */
export function faultyFire(
  faults: FaultSource | undefined,
  schedule: Schedule,
  clock: ServiceClock,
): TriggerPlan | undefined {
  if (faults === undefined) return undefined
  const down = (faults.downUntil?.queue ?? 0) - clock.now()
  if (down > 0) return { times: 1, wait: down, apart: 0 }
  if (faults.activeByPoint['schedule.fire'] === undefined) return undefined
  const strikes = faults.injections('schedule.fire', triggerFacts(schedule))
  return strikes && struck(strikes, schedule)
}

function struck(strikes: readonly Injection[], schedule: Schedule): TriggerPlan {
  let plan: TriggerPlan = { times: 1, wait: 0, apart: 0 }
  for (const strike of strikes) {
    const { fault, phase } = strike
    const record = strike.log(schedule.trail, schedule.destination)
    const moment: FireFaultContext = {
      ...plan,
      phase,
      scheduleId: schedule.id,
      draw: (below) => strike.draw(below),
      tell: (effect) => {
        record.effect = effect
      },
    }
    actionAt('schedule.fire', fault)(fault, moment)
    const { times, wait, apart } = moment
    plan = { times, wait, apart }
  }
  return plan
}

function triggerFacts({ id, draft }: Schedule): FaultFacts {
  const { target, settings, region } = draft
  return {
    service: 'queue',
    scheduleId: id,
    url: target.url,
    urlGroup: target.group,
    queue: settings.queue,
    labels: settings.labels,
    flowControlKey: settings.flowControl?.key,
    region,
  }
}
