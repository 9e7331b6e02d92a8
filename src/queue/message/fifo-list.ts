/** First in, first out, without moving everybody up a place each time. */
export class FifoList<T> {
  #items: T[] = []
  #next = 0

  push(item: T): void {
    this.#items.push(item)
  }

  /** Who is first in line, and stays there. */
  peek(): T | undefined {
    return this.#items[this.#next]
  }

  shift(): T | undefined {
    if (this.#next >= this.#items.length) return undefined
    const item = this.#items[this.#next++]!
    if (this.#next === this.#items.length) {
      // Empty: what went through must not be kept in memory.
      this.#items.length = 0
      this.#next = 0
    } else if (this.#next > 64 && this.#next * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#next)
      this.#next = 0
    }
    return item
  }

  /** Puts somebody in the line first, by the place in it. */
  promote(place: number): void {
    const [first, chosen] = [this.#next, this.#next + place]
    const item = this.#items[chosen]!
    this.#items[chosen] = this.#items[first]!
    this.#items[first] = item
  }

  get length(): number {
    return this.#items.length - this.#next
  }

  /** Everybody still in it, first in line first. */
  all(): readonly T[] {
    return this.#next === 0 ? this.#items : this.#items.slice(this.#next)
  }
}
