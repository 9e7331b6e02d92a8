import type { Bytes } from '../../kernel/bytes.js'
import type { Random } from '../../kernel/random.js'

/** Tables this small are not worth compacting; a random pick among so few places costs nothing either. */
const smallTable = 8

/** One page of a scan. A cursor of 0 asks for the first page and announces the last. */
export interface ScanPage {
  readonly keys: Bytes[]
  readonly cursor: number
}

/**
 * The keys of a table in order of insertion: a random one is picked in constant time, and they can be scanned page by
 * page while the table changes.
 *
 * Deleted places stay as holes until they are the majority. Every place has a sequence number that only grows. A scan
 * cursor is the next number to visit, so keys that are there throughout a scan are seen exactly once, whatever happens
 * around them. Numbers are implicit (place plus offset) for all places filled after the last compaction.
 */
export abstract class KeyOrder {
  protected readonly order: (Bytes | undefined)[] = []
  /** Sequence numbers of the places that survived the last compaction, ascending. */
  #survivors: number[] = []
  /** Sequence number minus place, for places behind the survivors. */
  #offset = 0

  abstract get size(): number
  /** A key changes its place, to one before. */
  protected abstract moved(key: Bytes, from: number, to: number): void
  /** There are only so many places now. */
  protected abstract shortened(places: number): void

  /** A key, each with the same probability. The table must not be empty. */
  random(random: Random): Bytes {
    if (this.size === 0) throw new RangeError('an empty table has no random key')
    for (;;) {
      const key = this.order[random.int(this.order.length)]
      if (key !== undefined) return key
    }
  }

  /** The next `count` keys from the cursor on, in order of insertion. Any cursor is valid. */
  scan(cursor: number, count: number): ScanPage {
    const { order } = this
    const keys: Bytes[] = []
    let place = this.#placeFrom(cursor)
    for (; place < order.length && keys.length < count; place++) {
      const key = order[place]
      if (key !== undefined) keys.push(key)
    }
    while (place < order.length && order[place] === undefined) place++
    return { keys, cursor: place < order.length ? this.#sequence(place) : 0 }
  }

  /** Returns the place of the new key. */
  protected append(key: Bytes): number {
    return this.order.push(key) - 1
  }

  /** Leaves a hole, or shortens the table when the place is the last: a later key may then reuse its number. */
  protected vacate(place: number): void {
    const { order } = this
    if (place < order.length - 1) {
      order[place] = undefined
      return
    }
    do order.pop()
    while (order.length > 0 && order[order.length - 1] === undefined)
    this.shortened(order.length)
    if (order.length < this.#survivors.length) this.#dropSurvivors()
  }

  /** To be called after deletions. */
  protected compactWhenSparse(): void {
    if (this.order.length > smallTable && this.order.length > 2 * this.size) this.#compact()
  }

  /** Forgets all keys; their numbers are not given again. */
  protected empty(): void {
    this.#offset = this.#sequence(this.order.length)
    this.order.length = 0
    this.#survivors = []
    this.shortened(0)
  }

  #compact(): void {
    const { order } = this
    const survivors: number[] = []
    const end = this.#sequence(order.length)
    for (let place = 0; place < order.length; place++) {
      const key = order[place]
      if (key === undefined) continue
      const to = survivors.push(this.#sequence(place)) - 1
      if (to === place) continue
      order[to] = key
      this.moved(key, place, to)
    }
    order.length = survivors.length
    this.shortened(survivors.length)
    this.#survivors = survivors
    this.#offset = end - survivors.length
  }

  /** Once shorter than its survivors, the table must not hand their numbers out anew by place plus offset. */
  #dropSurvivors(): void {
    this.#offset = this.#sequence(this.order.length) - this.order.length
    this.#survivors.length = this.order.length
  }

  #sequence(place: number): number {
    return place < this.#survivors.length ? this.#survivors[place]! : place + this.#offset
  }

  /** The first place whose number is the given one or higher. */
  #placeFrom(sequence: number): number {
    const survivors = this.#survivors
    if (survivors.length === 0 || sequence > survivors[survivors.length - 1]!) {
      return Math.max(sequence - this.#offset, survivors.length)
    }
    let low = 0
    let high = survivors.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (survivors[middle]! < sequence) low = middle + 1
      else high = middle
    }
    return low
  }
}
