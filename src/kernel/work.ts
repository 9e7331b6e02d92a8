/** Cost in units of each command in a pipeline, for reading the command, logging it and sending its reply. [choice] */
export const unitsPerRow = 60

/**
 * Cost in units of each item of a reply about the store itself, such as its commands or users: the item is created,
 * measured and encoded. [measured]
 */
export const unitsPerItem = 8

/** Size of a reply in bytes up to which sending it adds no cost to its command. */
export const smallReply = 1_024

/** Number of bytes that are copied for one unit. */
export const bytesPerUnit = 32

/**
 * A budget of work. Work is counted and never timed, so that the same work stops at the same point on every machine.
 * One unit is about 25 nanoseconds on the machine of the measurements: an iteration of a short script loop, one
 * element, or 32 copied bytes. Code charges units for the size of what it processes, and in advance if it knows that
 * size. [choice]
 */
export class Work {
  /** Units that can still be charged. */
  left: number
  #limit: number
  /** Units that were spent before the latest `renew()`. */
  #before = 0
  readonly #exceeded: (units: number) => Error

  /** @param limit number of units @param exceeded creates the error for work that needs more units than are left */
  constructor(limit: number, exceeded: (units: number) => Error) {
    this.left = limit
    this.#limit = limit
    this.#exceeded = exceeded
  }

  /** Units that were spent in total, including budgets before a `renew()`. */
  get spent(): number {
    return this.#before + this.#limit - this.left
  }

  /** Starts a new budget of `limit` units. Units that were spent before stay counted in `spent`. */
  renew(limit: number): void {
    this.#before = this.spent
    this.#limit = limit
    this.left = limit
  }

  /** Charges units before the work is done. If fewer are left, it throws and charges nothing. */
  charge(units: number): void {
    if (!(units <= this.left)) throw this.#exceeded(units)
    this.left -= units
  }

  /** Charges units for work that was already done, even beyond the budget. No other work can begin after that. */
  spend(units: number): void {
    this.left -= units
  }
}
