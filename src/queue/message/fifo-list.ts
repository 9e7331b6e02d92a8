/**
 * First-in, first-out list. Removing the first item is fast, because the other items keep their positions in the array.
 */
export class FifoList<T> {
  #items: T[] = []
  #next = 0

  push(item: T): void {
    this.#items.push(item)
  }

  peek(): T | undefined {
    return this.#items[this.#next]
  }

  shift(): T | undefined {
    if (this.#next >= this.#items.length) return undefined
    const item = this.#items[this.#next++]!
    if (this.#next === this.#items.length) {
      // The list is empty, so drop the removed items from memory.
      this.#items.length = 0
      this.#next = 0
    } else if (this.#next > 64 && this.#next * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#next)
      this.#next = 0
    }
    return item
  }

  /** Exchanges the item at this position with the first item. */
  promote(place: number): void {
    const [first, chosen] = [this.#next, this.#next + place]
    const item = this.#items[chosen]!
    this.#items[chosen] = this.#items[first]!
    this.#items[first] = item
  }

  get length(): number {
    return this.#items.length - this.#next
  }

  all(): readonly T[] {
    return this.#next === 0 ? this.#items : this.#items.slice(this.#next)
  }
}
