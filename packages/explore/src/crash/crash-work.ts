import { createRandom } from '../../../../src/kernel/random.js'
import type { Task } from '../../../../src/kernel/time.js'
import { networkErrors } from '../../../../src/queue/destinations/delivery-script.js'
import { failedOutcome } from '../../../../src/queue/destinations/raw-response.js'
import type { RawOutcome } from '../../../../src/queue/message/message.js'
import type { RunDelivery } from './run-delivery.js'
import type { Chance } from './step-chance.js'

export type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Work of the code that handles one delivery. The code reads it from an `AsyncLocalStorage`. */
export class DeliveryWork implements Chance {
  readonly random: Chance['random']
  /** Whether the process has died. The effects of its remaining code are then suppressed. */
  dead = false
  /** Number of submissions that this work has made. */
  made = 0
  /** Number of effects so far, not counting submissions. */
  effects = 0
  calls = 0
  /** Outcome of the attempt that the queue gets when the process dies. */
  readonly death: Promise<RawOutcome>
  #dies!: (reply: RawOutcome) => void

  constructor(
    seed: string,
    readonly now: () => number,
    readonly delivery: Mutable<RunDelivery> | undefined = undefined,
    /** Task with which the work sleeps in virtual time. */
    readonly task: Task | undefined = undefined,
    /** Whether the delivery is repeated for a comparison, in a temporary sandbox that accepts no submission. */
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

/** Returns the outcome of an attempt without a response. @param note why there is no response */
export function lost(note: string): RawOutcome {
  return { ...failedOutcome(networkErrors.reset), note }
}
