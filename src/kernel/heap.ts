export interface Ranked {
  readonly at: number
  readonly sequence: number
}

/** A binary heap on (time, sequence): equal times leave in the order in which they came. */
export class Heap<T extends Ranked> {
  #items: T[] = []

  get size(): number {
    return this.#items.length
  }

  peek(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    const items = this.#items
    let index = items.length
    items.push(item)
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!before(item, items[parent]!)) break
      items[index] = items[parent]!
      index = parent
    }
    items[index] = item
  }

  pop(): T | undefined {
    const items = this.#items
    const top = items[0]
    const last = items.pop()
    if (last !== undefined && items.length > 0) this.#sink(last, 0)
    return top
  }

  /** Drops what the filter refuses, in one pass. */
  keep(wanted: (item: T) => boolean): void {
    this.#items = this.#items.filter(wanted)
    for (let index = (this.#items.length >> 1) - 1; index >= 0; index--) this.#sink(this.#items[index]!, index)
  }

  values(): readonly T[] {
    return this.#items
  }

  #sink(item: T, from: number): void {
    const items = this.#items
    let index = from
    for (;;) {
      let child = 2 * index + 1
      if (child >= items.length) break
      if (child + 1 < items.length && before(items[child + 1]!, items[child]!)) child++
      if (!before(items[child]!, item)) break
      items[index] = items[child]!
      index = child
    }
    items[index] = item
  }
}

function before(a: Ranked, b: Ranked): boolean {
  return a.at < b.at || (a.at === b.at && a.sequence < b.sequence)
}
