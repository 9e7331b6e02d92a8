import { createRandom } from '../../../../src/kernel/random.js'
import type { Task } from '../../../../src/kernel/time.js'
import { networkErrors } from '../../../../src/queue/destinations/delivery-script.js'
import { failedOutcome } from '../../../../src/queue/destinations/raw-response.js'
import type { RawOutcome } from '../../../../src/queue/message/message.js'
import type { RunDelivery } from './run-delivery.js'
import type { Chance } from './step-chance.js'

export type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** A piece of the app's work: what it carries along through whatever it awaits. */
export class DeliveryWork implements Chance {
  readonly random: Chance['random']
  /** Its process has died: nothing that it still does reaches anybody. */
  dead = false
  /** Submissions that it made. */
  made = 0
  /** What it asked of others beside these. */
  effects = 0
  /** Calls of foreign hosts that it made. */
  calls = 0
  /** What the queue sees of its end, once it dies. */
  readonly death: Promise<RawOutcome>
  #dies!: (reply: RawOutcome) => void

  constructor(
    seed: string,
    readonly now: () => number,
    readonly delivery: Mutable<RunDelivery> | undefined = undefined,
    /** Sleeps in virtual time. */
    readonly task: Task | undefined = undefined,
    /** In a world that is thrown away: nothing that it submits is accepted. */
    readonly submitsNothing: boolean = false,
  ) {
    this.random = createRandom(seed)
    this.death = new Promise((resolve) => {
      this.#dies = resolve
    })
  }

  die(): void {
    this.dead = true
    this.#dies(lost('the process died'))
  }
}

/** What the queue sees of an attempt that has no answer, and why there is none. */
export function lost(note: string): RawOutcome {
  return { ...failedOutcome(networkErrors.reset), note }
}
