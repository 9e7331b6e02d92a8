import type { FaultFacts, FaultSource, Strike } from '../../faults/fault.js'
import { waitOf } from '../../faults/latency.js'
import type { Clock } from '../../kernel/clock.js'
import { formatDuration } from '../../kernel/duration.js'
import type { Schedule } from './schedules.js'

// What rules do to the trigger of a schedule: later, more than once, or not at all.

/** What becomes of one trigger. */
export interface TriggerPlan {
  /** How often it publishes. */
  readonly times: number
  /** Milliseconds until the first time. */
  readonly wait: number
  /** Milliseconds between the times. */
  readonly apart: number
}

/** The plan of a trigger that is struck, `undefined` for one that is not. */
export function struckTrigger(
  faults: FaultSource | undefined,
  schedule: Schedule,
  clock: Clock,
): TriggerPlan | undefined {
  if (faults === undefined) return undefined
  const down = (faults.down?.queue ?? 0) - clock.now()
  if (down > 0) return { times: 1, wait: down, apart: 0 }
  if (faults.armed['schedule.fire'] === undefined) return undefined
  const strikes = faults.ask('schedule.fire', new TriggerFacts(schedule))
  return strikes && plan(strikes, schedule)
}

function plan(strikes: readonly Strike[], schedule: Schedule): TriggerPlan {
  let times = 1
  let wait = 0
  let apart = 0
  for (const strike of strikes) {
    const { fault } = strike
    const record = strike.log(schedule.trail, schedule.destination)
    if (fault.kind === 'drop') {
      times = 0
      record.effect = `schedule ${schedule.id} misses its time`
    } else if (fault.kind === 'delay') wait += fault.waitMs
    else if (fault.kind === 'latency') {
      const own = waitOf(fault, (below) => strike.draw(below))
      record.effect = `takes ${formatDuration(own)} more`
      wait += own
    } else if (fault.kind === 'duplicate') {
      times += fault.copies ?? 1
      apart = fault.afterMs ?? 0
    }
  }
  return { times, wait, apart }
}

class TriggerFacts implements FaultFacts {
  readonly api = 'queue'
  readonly #schedule: Schedule

  constructor(schedule: Schedule) {
    this.#schedule = schedule
  }

  get scheduleId(): string {
    return this.#schedule.id
  }

  get url(): string | undefined {
    return this.#schedule.draft.target.url
  }

  get urlGroup(): string | undefined {
    return this.#schedule.draft.target.group
  }

  get queue(): string | undefined {
    return this.#schedule.draft.settings.queue
  }

  get labels(): readonly string[] | undefined {
    return this.#schedule.draft.settings.labels
  }

  get flowControlKey(): string | undefined {
    return this.#schedule.draft.settings.flowControl?.key
  }

  get region(): string {
    return this.#schedule.draft.region
  }
}
