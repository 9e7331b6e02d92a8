/** Value of a field that is not TEXT: a number, an integer beyond 2^53, or the bytes of a keyword. */
export type Scalar = number | bigint | string

/** Values of one document. A document nearly always has only one value, which is then stored without a list. */
export type Scalars = Scalar | readonly Scalar[]

export function listOf(scalars: Scalars): readonly Scalar[] {
  return isList(scalars) ? scalars : [scalars]
}

export function isList(scalars: Scalars): scalars is readonly Scalar[] {
  return typeof scalars === 'object'
}

export function compareScalars(a: Scalar, b: Scalar): number {
  return a < b ? -1 : a > b ? 1 : 0
}

export interface Bound {
  readonly value: Scalar
  readonly inclusive: boolean
}

interface Chunk {
  readonly values: Scalar[]
  readonly ids: number[]
}

const maxInChunk = 512

/** Sorted values with their documents: a list of short lists, so that a change moves at most a few hundred values. */
export class SortedValues {
  readonly #chunks: Chunk[] = []

  static of(pairs: readonly (readonly [Scalar, number])[]): SortedValues {
    const sorted = [...pairs].sort(([a, one], [b, other]) => compareScalars(a, b) || one - other)
    const made = new SortedValues()
    for (let start = 0; start < sorted.length; start += maxInChunk / 2) {
      const part = sorted.slice(start, start + maxInChunk / 2)
      made.#chunks.push({ values: part.map(([value]) => value), ids: part.map(([, id]) => id) })
    }
    return made
  }

  add(value: Scalar, id: number): void {
    const at = Math.min(this.#chunkFor(value, id), this.#chunks.length - 1)
    const chunk = this.#chunks[at]
    if (chunk === undefined) {
      this.#chunks.push({ values: [value], ids: [id] })
      return
    }
    const place = placeIn(chunk, value, id)
    chunk.values.splice(place, 0, value)
    chunk.ids.splice(place, 0, id)
    if (chunk.values.length <= maxInChunk) return
    const half = maxInChunk / 2
    this.#chunks.splice(at + 1, 0, { values: chunk.values.splice(half), ids: chunk.ids.splice(half) })
  }

  remove(value: Scalar, id: number): void {
    const at = this.#chunkFor(value, id)
    const chunk = this.#chunks[at]
    if (chunk === undefined) return
    const place = placeIn(chunk, value, id)
    if (chunk.ids[place] !== id || compareScalars(chunk.values[place]!, value) !== 0) return
    chunk.values.splice(place, 1)
    chunk.ids.splice(place, 1)
    if (chunk.ids.length === 0) this.#chunks.splice(at, 1)
  }

  /** Returns the number of values within the bounds. */
  count(low: Bound | undefined, high: Bound | undefined): number {
    let count = 0
    this.#walk(low, high, (_chunk, start, end) => {
      count += end - start
    })
    return count
  }

  /**
   * Returns the documents of the values within the bounds, by value. A document with several such values is repeated.
   */
  ids(low: Bound | undefined, high: Bound | undefined): number[] {
    const ids: number[] = []
    this.#walk(low, high, (chunk, start, end) => {
      for (let at = start; at < end; at++) ids.push(chunk.ids[at]!)
    })
    return ids
  }

  #walk(
    low: Bound | undefined,
    high: Bound | undefined,
    visit: (chunk: Chunk, start: number, end: number) => void,
  ): void {
    // Search for a pair: the value of the bound and a document number. The number -1 is less than all document numbers,
    // so it gives the position before all documents with this value. Infinity gives the position after them.
    const first = low === undefined ? 0 : this.#chunkFor(low.value, low.inclusive ? -1 : Number.POSITIVE_INFINITY)
    for (let at = first; at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at]!
      const start =
        low === undefined || at > first ? 0 : placeIn(chunk, low.value, low.inclusive ? -1 : Number.POSITIVE_INFINITY)
      const end =
        high === undefined
          ? chunk.ids.length
          : placeIn(chunk, high.value, high.inclusive ? Number.POSITIVE_INFINITY : -1)
      if (end > start) visit(chunk, start, end)
      if (end < chunk.ids.length) return
    }
  }

  /**
   * Returns the index of the first chunk whose last pair of value and document is equal to this pair or comes after it.
   */
  #chunkFor(value: Scalar, id: number): number {
    let [low, high] = [0, this.#chunks.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const { values, ids } = this.#chunks[middle]!
      const last = ids.length - 1
      if ((compareScalars(values[last]!, value) || ids[last]! - id) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

function placeIn({ values, ids }: Chunk, value: Scalar, id: number): number {
  let [low, high] = [0, ids.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((compareScalars(values[middle]!, value) || ids[middle]! - id) < 0) low = middle + 1
    else high = middle
  }
  return low
}
