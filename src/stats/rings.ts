import type { Grid } from './periods.js'

/** One row: the number of an interval, counted from the epoch, and its sums. */
export type RingRow = readonly [number: number, sums: readonly number[]]

/**
 * Sums for the latest intervals of one length. There is one row per interval, with one sum per tally. A new interval
 * overwrites the row of the oldest one, so the memory does not grow. Reading takes time in proportion to the number of
 * intervals.
 */
export class Ring {
  readonly #interval: number
  readonly #places: number
  readonly #width: number
  /** Number of the interval to which each row belongs. */
  readonly #numbers: Float64Array
  readonly #sums: Float64Array

  constructor(interval: number, places: number, width: number) {
    this.#interval = interval
    this.#places = places
    this.#width = width
    this.#numbers = new Float64Array(places).fill(Number.NEGATIVE_INFINITY)
    this.#sums = new Float64Array(places * width)
  }

  /** Adds the numbers of `row` to the interval that contains an instant. */
  add(at: number, row: Float64Array): void {
    const number = Math.floor(at / this.#interval)
    const place = this.#placeOf(number)
    const start = place * this.#width
    // If the interval has already been overwritten, drop these numbers. This happens if a clock that follows host time
    // moves back a little.
    if (number < this.#numbers[place]!) return
    if (number > this.#numbers[place]!) {
      this.#numbers[place] = number
      this.#sums.fill(0, start, start + this.#width)
    }
    for (let column = 0; column < this.#width; column++) this.#sums[start + column]! += row[column]!
  }

  /**
   * Returns one column for the intervals of a grid. The intervals of the grid must have the same length as those of
   * this ring.
   */
  read(column: number, { from, points }: Grid): number[] {
    const first = Math.floor(from / this.#interval)
    return Array.from({ length: points }, (_, index) => {
      const place = this.#placeOf(first + index)
      return this.#numbers[place] === first + index ? this.#sums[place * this.#width + column]! : 0
    })
  }

  dump(): readonly RingRow[] {
    return [...this.#numbers].flatMap((number, place) =>
      number === Number.NEGATIVE_INFINITY
        ? []
        : [[number, [...this.#sums.subarray(place * this.#width, (place + 1) * this.#width)]] as const],
    )
  }

  load(rows: readonly RingRow[]): void {
    for (const [number, sums] of rows) this.add(number * this.#interval, Float64Array.from(sums))
  }

  #placeOf(number: number): number {
    return ((number % this.#places) + this.#places) % this.#places
  }
}
