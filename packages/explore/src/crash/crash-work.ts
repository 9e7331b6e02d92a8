import { createRandom } from '../../../../src/kernel/random.js'
import type { Task } from '../../../../src/kernel/time.js'
import { networkErrors } from '../../../../src/queue/destinations/delivery-script.js'
import { failedOutcome } from '../../../../src/queue/destinations/raw-response.js'
import type { RawOutcome } from '../../../../src/queue/message/message.js'
import type { RunDelivery } from './run-delivery.js'
import type { Chance } from './step-chance.js'

export type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** The work of one delivery. All code that the delivery awaits can read it. */
export class DeliveryWork implements Chance {
  readonly random: Chance['random']
  /** Whether the process has died. This work then has no more effects. */
  dead = false
  /** Number of submissions that this work has made. */
  made = 0
  /** Number of effects of this work other than submissions. */
  effects = 0
  /** Number of outbound requests of this work. */
  calls = 0
  /** The outcome that the queue sees once the process has died. */
  readonly death: Promise<RawOutcome>
  #dies!: (reply: RawOutcome) => void

  constructor(
    seed: string,
    readonly now: () => number,
    readonly delivery: Mutable<RunDelivery> | undefined = undefined,
    /** Sleeps in virtual time. */
    readonly task: Task | undefined = undefined,
    /** Whether the sandbox is temporary: nothing that the work submits is accepted. */
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
