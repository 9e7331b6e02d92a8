import type { Bytes } from '../../kernel/bytes.js'
import type { Container } from './value.js'

/** How a vector index compares vectors. [vector.md 3] */
export type Metric = 'COSINE' | 'EUCLIDEAN' | 'DOT'

export const metrics: readonly Metric[] = ['COSINE', 'EUCLIDEAN', 'DOT']

/** Maximum number of dimensions of an index. [vector.md 2] */
export const maxDimension = 32_768

/** Number of floats in a full block, if a vector is not longer. */
const blockLength = 65_536

/** Number of elements that one unit of work reads. [vector.md 3, choice] */
const elementsPerUnit = 64

/**
 * Value of a key of type `vector`: vectors of the same length, by ID. The floats of many vectors are in one block, so
 * that a query reads memory from the beginning to the end. A new block is small, and grows up to its full length. No
 * result depends on the place of a vector: the last vector takes the place of a deleted one.
 */
export class VectorIndex implements Container {
  readonly type = 'vector'
  /** Places of the vectors by ID, in the order in which the IDs were added. */
  readonly #places = new Map<Bytes, number>()
  /** IDs by place. */
  readonly #ids: Bytes[] = []
  /** Sums of the squared elements by place, in double precision. */
  readonly #squares: number[] = []
  readonly #blocks: Float32Array[] = []
  readonly #perBlock: number

  constructor(
    readonly dimension = 1,
    readonly metric: Metric = 'COSINE',
  ) {
    this.#perBlock = Math.max(1, Math.floor(blockLength / dimension))
  }

  /** Always false: an index keeps its key when its last vector is deleted. */
  get isEmpty(): boolean {
    return false
  }

  /** Number of vectors. */
  get size(): number {
    return this.#ids.length
  }

  /** Units of work for reading every vector. */
  get cost(): number {
    return this.size * Math.ceil(this.dimension / elementsPerUnit)
  }

  /** IDs in the order in which they were added. */
  get ids(): IterableIterator<Bytes> {
    return this.#places.keys()
  }

  idAt(place: number): Bytes {
    return this.#ids[place]!
  }

  placeOf(id: Bytes): number | undefined {
    return this.#places.get(id)
  }

  squareAt(place: number): number {
    return this.#squares[place]!
  }

  /** Returns the floats of a vector, which the next change of the index may overwrite. */
  get(id: Bytes): Float32Array | undefined {
    const place = this.#places.get(id)
    return place === undefined ? undefined : this.#at(place)
  }

  /** Visits the vectors in blocks: `count` vectors from `place` on, in sequence from the beginning of `floats`. */
  eachBlock(visit: (floats: Float32Array, place: number, count: number) => void): void {
    for (let place = 0; place < this.size; place += this.#perBlock) {
      visit(this.#blocks[place / this.#perBlock]!, place, Math.min(this.#perBlock, this.size - place))
    }
  }

  /** Adds or replaces a vector; returns whether its ID is new. */
  set(id: Bytes, floats: Float32Array): boolean {
    const known = this.#places.get(id)
    const place = known ?? this.size
    if (known === undefined) {
      this.#reserve(place)
      this.#places.set(id, place)
      this.#ids.push(id)
    }
    this.#at(place).set(floats)
    this.#squares[place] = squareOf(floats)
    return known === undefined
  }

  /** Deletes a vector; returns whether it existed. */
  delete(id: Bytes): boolean {
    const place = this.#places.get(id)
    if (place === undefined) return false
    const last = this.size - 1
    const moved = this.#ids[last]!
    this.#at(place).set(this.#at(last))
    this.#squares[place] = this.#squares[last]!
    this.#ids[place] = moved
    this.#places.set(moved, place)
    this.#places.delete(id)
    this.#squares.pop()
    this.#ids.pop()
    if (last % this.#perBlock === 0) this.#blocks.pop()
    return true
  }

  copy(): VectorIndex {
    const copy = new VectorIndex(this.dimension, this.metric)
    for (const id of this.ids) copy.set(id, this.get(id)!)
    return copy
  }

  #at(place: number): Float32Array {
    const start = (place % this.#perBlock) * this.dimension
    return this.#blocks[Math.floor(place / this.#perBlock)]!.subarray(start, start + this.dimension)
  }

  /** Makes room for the next vector, whose place is `place`. */
  #reserve(place: number): void {
    const number = Math.floor(place / this.#perBlock)
    const wanted = (place % this.#perBlock) + 1
    const block = this.#blocks[number]
    if (block !== undefined && block.length >= wanted * this.dimension) return
    // Only the first block begins small. If there are already more vectors, a full block wastes little.
    const room = number > 0 ? this.#perBlock : Math.min(this.#perBlock, 2 * wanted)
    const grown = new Float32Array(room * this.dimension)
    if (block !== undefined) grown.set(block)
    this.#blocks[number] = grown
  }
}

/** Returns the sum of the squared elements, added in their order. */
export function squareOf(floats: Float32Array): number {
  let sum = 0
  for (let at = 0; at < floats.length; at++) sum += floats[at]! * floats[at]!
  return sum
}
