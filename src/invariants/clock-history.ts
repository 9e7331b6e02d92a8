/** History of a limit. Each change has the new value and the log position from which the value was in force. */
export class ClockHistory {
  readonly #changes: { readonly from: number; readonly value: number }[]
  /**
   * Changes that can be the result of `highestSince()`. A change is removed when a later change has an equal or higher
   * value, so the values in this list decrease.
   */
  readonly #peaks: { readonly from: number; readonly value: number }[]

  constructor(value: number) {
    this.#changes = [{ from: Number.NEGATIVE_INFINITY, value }]
    this.#peaks = [...this.#changes]
  }

  set(from: number, value: number): void {
    const change = { from, value }
    this.#changes.push(change)
    while (this.#peaks.length > 0 && this.#peaks.at(-1)!.value <= value) this.#peaks.pop()
    this.#peaks.push(change)
  }

  get value(): number {
    return this.#changes.at(-1)!.value
  }

  /** Returns the highest value in force from a log position until now. */
  highestSince(place: number): number {
    const inForce = this.#changes[lastBefore(this.#changes, place)]!
    let low = 0
    let high = this.#peaks.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#peaks[middle]!.from < inForce.from) low = middle + 1
      else high = middle
    }
    return this.#peaks[low]!.value
  }
}

function lastBefore(changes: readonly { readonly from: number }[], place: number): number {
  let low = 0
  let high = changes.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (changes[middle]!.from <= place) low = middle
    else high = middle - 1
  }
  return low
}

/**
 * Counts items that remain: items are removed one by one, and `before(n)` returns how many of the first n items are
 * left. The data structure is a Fenwick tree.
 */
export class RemainingCalls {
  readonly #gone: Uint32Array

  constructor(readonly size: number) {
    this.#gone = new Uint32Array(size + 1)
  }

  leave(index: number): void {
    for (let at = index + 1; at <= this.size; at += at & -at) this.#gone[at]!++
  }

  before(count: number): number {
    let gone = 0
    for (let at = count; at > 0; at -= at & -at) gone += this.#gone[at]!
    return count - gone
  }
}
