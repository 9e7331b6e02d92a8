/** Cost in units of each command in a pipeline, which is read, logged and replied to. [choice] */
export const unitsPerRow = 60

/**
 * Cost in units of a list item about the store itself, not about its values: created, measured and encoded. [measured]
 */
export const unitsPerItem = 8

/** Size of a reply in bytes up to which sending it adds no cost to its command. */
export const smallReply = 1_024

/** Number of bytes that are copied for one unit. */
export const bytesPerUnit = 32

/**
 * A budget of work that is counted, never timed, so that the same work ends at the same place on every machine.
 * One unit is about 25 nanoseconds on the machine of the measurements: an iteration of a short script loop, one
 * element, 32 copied bytes. Code charges by the size that it processes, and in advance if the size is known. [choice]
 */
export class Work {
  /** Units that can still be charged. */
  left: number
  #limit: number
  /** Units that were spent before the last renewal. */
  #before = 0
  readonly #exceeded: (units: number) => Error

  /** @param exceeded creates the error for work that needs more units than are left */
  constructor(limit: number, exceeded: (units: number) => Error) {
    this.left = limit
    this.#limit = limit
    this.#exceeded = exceeded
  }

  /** Units that were spent so far, across renewals. */
  get spent(): number {
    return this.#before + this.#limit - this.left
  }

  /** Starts with a new budget, or continues with the remaining one. */
  renew(limit: number): void {
    this.#before = this.spent
    this.#limit = limit
    this.left = limit
  }

  /** Charges work before it is done. Throws, and charges nothing, if fewer units are left. */
  charge(units: number): void {
    if (!(units <= this.left)) throw this.#exceeded(units)
    this.left -= units
  }

  /** Charges work that has been done, even beyond the budget. No other work can begin then. */
  spend(units: number): void {
    this.left -= units
  }
}
