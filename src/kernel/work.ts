/**
 * Units that each command of a pipeline costs, in addition to its execution: the command is read and logged, and its
 * reply is sent. This package chose the number.
 */
export const unitsPerRow = 60

/**
 * Units that each item costs in a reply about the store itself, such as a list of commands or users: the item is
 * created, measured and encoded. The number was measured.
 */
export const unitsPerItem = 8

/** Maximum size in bytes of a reply that costs nothing to send. */
export const smallReply = 1_024

/** Number of bytes that can be copied for one unit. */
export const bytesPerUnit = 32

/**
 * A budget of work. Work is counted and never timed, so that the same work stops at the same point on every machine. A
 * unit is the work for an iteration of a short script loop, for one element, or for 32 copied bytes. It took about 25
 * nanoseconds on the machine of the measurements. Code charges units for the size of its data, before the work if the
 * size is known then. This package chose the unit.
 */
export class Work {
  left: number
  #limit: number
  /** Units that were used before the latest `renew()`. */
  #before = 0
  readonly #exceeded: (units: number) => Error

  /**
   * @param limit number of units
   * @param exceeded creates the error for work that needs more units than are left
   */
  constructor(limit: number, exceeded: (units: number) => Error) {
    this.left = limit
    this.#limit = limit
    this.#exceeded = exceeded
  }

  /** Number of units that were used so far, including units before a `renew()`. */
  get spent(): number {
    return this.#before + this.#limit - this.left
  }

  /** Starts a new budget of `limit` units. `spent` still includes the units of earlier budgets. */
  renew(limit: number): void {
    this.#before = this.spent
    this.#limit = limit
    this.left = limit
  }

  /** Takes units for work that has not begun. If too few units are left, throws and takes none. */
  charge(units: number): void {
    if (!(units <= this.left)) throw this.#exceeded(units)
    this.left -= units
  }

  /**
   * Takes units for work that is already done, even if too few units are left. In that case, the next call of
   * `charge()` throws.
   */
  spend(units: number): void {
    this.left -= units
  }
}
