import { compareIds, type Half, type StreamId } from './stream-id.js'

/**
 * Maximum number of entries in a block. The cost of an append does not depend on this number. A deletion moves half a
 * block on average.
 */
const blockRoom = 128

/** Entries as parallel arrays, in which an ID takes two plain numbers instead of an object. */
class Block<V> {
  readonly ms: Half[] = []
  readonly seq: Half[] = []
  readonly values: V[] = []

  get size(): number {
    return this.values.length
  }

  idAt(place: number): StreamId {
    return { ms: this.ms[place]!, seq: this.seq[place]! }
  }

  /** Returns the first position whose ID is not below the given one. */
  placeOf({ ms, seq }: StreamId): number {
    let low = 0
    let high = this.ms.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const its = this.ms[middle]!
      if (its < ms || (its === ms && this.seq[middle]! < seq)) low = middle + 1
      else high = middle
    }
    return low
  }

  push(id: StreamId, value: V): void {
    this.ms.push(id.ms)
    this.seq.push(id.seq)
    this.values.push(value)
  }

  insert(place: number, id: StreamId, value: V): void {
    this.ms.splice(place, 0, id.ms)
    this.seq.splice(place, 0, id.seq)
    this.values.splice(place, 0, value)
  }

  remove(place: number, count: number): void {
    this.ms.splice(place, count)
    this.seq.splice(place, count)
    this.values.splice(place, count)
  }

  /** Moves everything from the position on into a new block. */
  split(place: number): Block<V> {
    const rest = new Block<V>()
    rest.ms.push(...this.ms.splice(place))
    rest.seq.push(...this.seq.splice(place))
    rest.values.push(...this.values.splice(place))
    return rest
  }

  take(other: Block<V>): void {
    this.ms.push(...other.ms)
    this.seq.push(...other.seq)
    this.values.push(...other.values)
  }
}

export interface IdEntry<V> {
  readonly id: StreamId
  readonly value: V
}

/**
 * Table sorted by stream ID: the entries of a stream, and the pending entries of groups and consumers. It is a list of
 * short blocks. An append changes only the last block, a lookup is two binary searches, and a deletion moves few
 * entries.
 */
export class IdTable<V> {
  #blocks: Block<V>[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  get(id: StreamId): V | undefined {
    const block = this.#blocks[this.#blockOf(id)]
    if (block === undefined) return undefined
    const place = block.placeOf(id)
    return isAt(block, place, id) ? block.values[place] : undefined
  }

  has(id: StreamId): boolean {
    return this.get(id) !== undefined
  }

  /** Sets a value; returns whether the ID is new. */
  set(id: StreamId, value: V): boolean {
    const last = this.#blocks.at(-1)
    if (last === undefined || compareIds(last.idAt(last.size - 1), id) < 0) {
      this.#append(last, id, value)
      return true
    }
    const index = this.#blockOf(id)
    const block = this.#blocks[index]!
    const place = block.placeOf(id)
    if (isAt(block, place, id)) {
      block.values[place] = value
      return false
    }
    block.insert(place, id, value)
    if (block.size > blockRoom) this.#blocks.splice(index + 1, 0, block.split(block.size >>> 1))
    this.#size++
    return true
  }

  delete(id: StreamId): boolean {
    const index = this.#blockOf(id)
    const block = this.#blocks[index]
    if (block === undefined) return false
    const place = block.placeOf(id)
    if (!isAt(block, place, id)) return false
    block.remove(place, 1)
    this.#size--
    this.#joinSmall(index, block)
    return true
  }

  deleteFirst(count: number): void {
    let left = Math.min(count, this.#size)
    this.#size -= left
    let whole = 0
    while (whole < this.#blocks.length && this.#blocks[whole]!.size <= left) left -= this.#blocks[whole++]!.size
    if (whole > 0) this.#blocks.splice(0, whole)
    if (left > 0) this.#blocks[0]!.remove(0, left)
  }

  countBelow(id: StreamId): number {
    let count = 0
    const index = this.#blockOf(id)
    for (let before = 0; before < index; before++) count += this.#blocks[before]!.size
    return count + (this.#blocks[index]?.placeOf(id) ?? 0)
  }

  /** Returns the number of entries between two IDs, both included. Visits only the blocks between them. */
  countBetween(from: StreamId, to: StreamId): number {
    let count = 0
    for (const { start, end } of this.#spans(from, to)) count += end - start
    return count
  }

  /** Deletes the entries between two IDs, both included, and returns how many there were. */
  deleteBetween(from: StreamId, to: StreamId): number {
    let count = 0
    const emptied: number[] = []
    for (const { index, start, end } of this.#spans(from, to)) {
      const block = this.#blocks[index]!
      block.remove(start, end - start)
      count += end - start
      if (block.size === 0) emptied.push(index)
    }
    if (emptied.length > 0) this.#blocks.splice(emptied[0]!, emptied.length)
    this.#size -= count
    return count
  }

  /** Visits the entries between two IDs, both included, in order, without creating an object for each one. */
  walk(from: StreamId, to: StreamId, visit: (value: V, ms: Half, seq: Half) => void): void {
    for (const { index, start, end } of this.#spans(from, to)) {
      const { ms, seq, values } = this.#blocks[index]!
      for (let place = start; place < end; place++) visit(values[place]!, ms[place]!, seq[place]!)
    }
  }

  first(): IdEntry<V> | undefined {
    return this.#entryAt(0, 0)
  }

  last(): IdEntry<V> | undefined {
    const index = this.#blocks.length - 1
    return index < 0 ? undefined : this.#entryAt(index, this.#blocks[index]!.size - 1)
  }

  /** Returns the entry with the smallest ID that is not below the given one. */
  ceiling(id: StreamId): IdEntry<V> | undefined {
    const index = this.#blockOf(id)
    return this.#entryAt(index, this.#blocks[index]?.placeOf(id) ?? 0)
  }

  /** Iterates over the entries between two IDs, both included, in order. The table must not change meanwhile. */
  *range(from: StreamId, to: StreamId): Generator<IdEntry<V>> {
    let index = this.#blockOf(from)
    let place = this.#blocks[index]?.placeOf(from) ?? 0
    for (; index < this.#blocks.length; index++, place = 0) {
      const block = this.#blocks[index]!
      for (; place < block.size; place++) {
        const id = block.idAt(place)
        if (compareIds(id, to) > 0) return
        yield { id, value: block.values[place]! }
      }
    }
  }

  /** Iterates over the entries between two IDs from last to first. */
  *backwards(from: StreamId, to: StreamId): Generator<IdEntry<V>> {
    let index = Math.min(this.#blockOf(to), this.#blocks.length - 1)
    for (; index >= 0; index--) {
      const block = this.#blocks[index]!
      let place = block.placeOf(to)
      if (!isAt(block, place, to)) place--
      for (; place >= 0; place--) {
        const id = block.idAt(place)
        if (compareIds(id, from) < 0) return
        yield { id, value: block.values[place]! }
      }
    }
  }

  *[Symbol.iterator](): Generator<IdEntry<V>> {
    for (const block of this.#blocks) {
      for (let place = 0; place < block.size; place++) yield { id: block.idAt(place), value: block.values[place]! }
    }
  }

  copy(copyValue: (value: V) => V = (value) => value): IdTable<V> {
    const copy = new IdTable<V>()
    for (const { id, value } of this) copy.set(id, copyValue(value))
    return copy
  }

  #append(last: Block<V> | undefined, id: StreamId, value: V): void {
    let block = last
    if (block === undefined || block.size >= blockRoom) {
      block = new Block<V>()
      this.#blocks.push(block)
    }
    block.push(id, value)
    this.#size++
  }

  /** Iterates over the blocks that contain entries between two IDs, with the positions of these entries. */
  *#spans(from: StreamId, to: StreamId): Generator<{ index: number; start: number; end: number }> {
    for (let index = this.#blockOf(from); index < this.#blocks.length; index++) {
      const block = this.#blocks[index]!
      const start = block.placeOf(from)
      const place = block.placeOf(to)
      const end = isAt(block, place, to) ? place + 1 : place
      if (start < end) yield { index, start, end }
      if (end < block.size) return
    }
  }

  /** Returns the first block whose last ID is not below the given one; the number of blocks if there is none. */
  #blockOf(id: StreamId): number {
    let low = 0
    let high = this.#blocks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const block = this.#blocks[middle]!
      const end = block.size - 1
      const ms = block.ms[end]!
      if (ms < id.ms || (ms === id.ms && block.seq[end]! < id.seq)) low = middle + 1
      else high = middle
    }
    return low
  }

  #entryAt(index: number, place: number): IdEntry<V> | undefined {
    const block = this.#blocks[index]
    return block === undefined ? undefined : { id: block.idAt(place), value: block.values[place]! }
  }

  /** Joins a small block with its neighbor, and removes an empty one. */
  #joinSmall(index: number, block: Block<V>): void {
    if (block.size > blockRoom / 4) return
    const next = this.#blocks[index + 1]
    if (block.size === 0) this.#blocks.splice(index, 1)
    else if (next !== undefined && block.size + next.size <= blockRoom / 2) {
      block.take(next)
      this.#blocks.splice(index + 1, 1)
    }
  }
}

function isAt<V>(block: Block<V>, place: number, id: StreamId): boolean {
  return place < block.size && block.ms[place] === id.ms && block.seq[place] === id.seq
}
