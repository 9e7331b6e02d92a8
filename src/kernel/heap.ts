export interface HeapItem {
  readonly at: number
  readonly sequence: number
}

/**
 * A heap ordered by time and sequence number, so that items with equal times leave in the order of their arrival.
 * Times and sequence numbers are in separate arrays, which JavaScript engines store as plain numbers, so comparisons do
 * not access the items. Each node has four children instead of two. This halves the number of levels, and siblings are
 * adjacent in memory.
 */
export class Heap<T extends HeapItem> {
  #items: T[] = []
  #at: number[] = []
  #sequence: number[] = []

  get size(): number {
    return this.#items.length
  }

  peek(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    const items = this.#items
    const times = this.#at
    const sequences = this.#sequence
    const { at, sequence } = item
    let index = items.length
    items.push(item)
    times.push(at)
    sequences.push(sequence)
    while (index > 0) {
      const parent = (index - 1) >> 2
      const before = times[parent]!
      if (before < at || (before === at && sequences[parent]! < sequence)) break
      items[index] = items[parent]!
      times[index] = before
      sequences[index] = sequences[parent]!
      index = parent
    }
    items[index] = item
    times[index] = at
    sequences[index] = sequence
  }

  pop(): T | undefined {
    const items = this.#items
    const top = items[0]
    const last = items.pop()
    const at = this.#at.pop()!
    const sequence = this.#sequence.pop()!
    if (last !== undefined && items.length > 0) this.#sink(last, at, sequence, 0)
    return top
  }

  keep(wanted: (item: T) => boolean): void {
    const items = this.#items.filter(wanted)
    this.#items = items
    this.#at = items.map(({ at }) => at)
    this.#sequence = items.map(({ sequence }) => sequence)
    for (let index = ((items.length + 2) >> 2) - 1; index >= 0; index--) {
      this.#sink(items[index]!, this.#at[index]!, this.#sequence[index]!, index)
    }
  }

  values(): readonly T[] {
    return this.#items
  }

  #sink(item: T, at: number, sequence: number, from: number): void {
    const items = this.#items
    const times = this.#at
    const sequences = this.#sequence
    const length = items.length
    let index = from
    for (;;) {
      const first = 4 * index + 1
      if (first >= length) break
      const end = Math.min(first + 4, length)
      let child = first
      let time = times[first]!
      for (let other = first + 1; other < end; other++) {
        const its = times[other]!
        if (its > time || (its === time && sequences[other]! > sequences[child]!)) continue
        child = other
        time = its
      }
      if (time > at || (time === at && sequences[child]! > sequence)) break
      items[index] = items[child]!
      times[index] = time
      sequences[index] = sequences[child]!
      index = child
    }
    items[index] = item
    times[index] = at
    sequences[index] = sequence
  }
}
