import type { Grid } from './periods.js'

/** An interval since the epoch, and its sums. */
export type RingRow = readonly [number: number, sums: readonly number[]]

/**
 * Sums in the latest intervals of one length, a row of numbers for each. A new interval takes the place of the oldest,
 * so that the past is forgotten by itself, and reading costs what is read.
 */
export class Ring {
  readonly #interval: number
  readonly #places: number
  readonly #width: number
  /** Which interval since the epoch stands in a place. */
  readonly #numbers: Float64Array
  readonly #sums: Float64Array

  constructor(interval: number, places: number, width: number) {
    this.#interval = interval
    this.#places = places
    this.#width = width
    this.#numbers = new Float64Array(places).fill(Number.NEGATIVE_INFINITY)
    this.#sums = new Float64Array(places * width)
  }

  /** Adds a row to the interval that an instant lies in. */
  add(at: number, row: Float64Array): void {
    const number = Math.floor(at / this.#interval)
    const place = this.#placeOf(number)
    const start = place * this.#width
    // A clock that follows the host may go back a little; what is out of reach then stays so.
    if (number < this.#numbers[place]!) return
    if (number > this.#numbers[place]!) {
      this.#numbers[place] = number
      this.#sums.fill(0, start, start + this.#width)
    }
    for (let column = 0; column < this.#width; column++) this.#sums[start + column]! += row[column]!
  }

  /** One column, over a grid of this ring's interval. */
  read(column: number, { from, points }: Grid): number[] {
    const first = Math.floor(from / this.#interval)
    return Array.from({ length: points }, (_, index) => {
      const place = this.#placeOf(first + index)
      return this.#numbers[place] === first + index ? this.#sums[place * this.#width + column]! : 0
    })
  }

  /** The intervals that count, as JSON: number since the epoch and sums. */
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
