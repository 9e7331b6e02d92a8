/** A command in a row of commands costs so many units, whatever it does: it is read, logged and answered. [choice] */
export const unitsPerRow = 60

/** An item of a list that is told of what the store itself is, not of what it holds: made, measured and encoded. [measured] */
export const unitsPerItem = 8

/** Bytes of a reply up to which sending it costs no more than its row. */
export const smallReply = 1_024

/** Bytes that are copied for one unit. */
export const bytesPerUnit = 32

/**
 * A budget of work that is counted, never timed, so that the same work ends at the same place on every machine.
 *
 * One unit is some 25 nanoseconds on the machine that the defaults were measured on: a turn of a short loop in a script,
 * one element looked at, 32 bytes copied. Who works charges by the size that it touches, and before it touches it where
 * the size is known. [choice]
 */
export class Work {
  /** Units that may still be charged. */
  left: number
  #limit: number
  /** What was spent before it began anew the last time. */
  #before = 0
  readonly #exceeded: (units: number) => Error

  /** `exceeded` makes the error for work that would take so many units more than are left. */
  constructor(limit: number, exceeded: (units: number) => Error) {
    this.left = limit
    this.#limit = limit
    this.#exceeded = exceeded
  }

  /** Units that were spent so far, by all who began anew: what turns are counted by. */
  get spent(): number {
    return this.#before + this.#limit - this.left
  }

  /** Begins anew, or goes on with what was left. */
  renew(limit: number): void {
    this.#before = this.spent
    this.#limit = limit
    this.left = limit
  }

  /** Charges work that is about to be done; throws, and charges nothing, when it is more than is left. */
  charge(units: number): void {
    if (!(units <= this.left)) throw this.#exceeded(units)
    this.left -= units
  }

  /** Counts work that is done already, also where it is more than is left: then nothing else may begin. */
  spend(units: number): void {
    this.left -= units
  }
}
