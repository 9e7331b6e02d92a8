import { areFinite, base64OfFloats, floatsOfBase64 } from '../../kernel/float32.js'
import { bytesOf, type PortableString, portableString } from '../../kernel/portable.js'
import { type Metric, VectorIndex } from '../values/vector-index.js'

/** Vector index with its vectors. */
export interface PortableVectors {
  /** The value is a vector index. */
  readonly type: 'vector'
  /** Number of elements of each vector. */
  readonly dimension: number
  /** How vectors are compared. [vector.md 3] */
  readonly metric: Metric
  /**
   * IDs and vectors in the order of addition. A dump contains each vector as base64 of little-endian 32-bit floats, like
   * `BASE64-FP32`. `load()` also accepts a list of numbers.
   */
  readonly vectors: readonly (readonly [id: PortableString, vector: string | readonly number[]])[]
}

export function portableVectors(index: VectorIndex): PortableVectors {
  return {
    type: 'vector',
    dimension: index.dimension,
    metric: index.metric,
    vectors: [...index.ids].map((id) => [portableString(id), base64OfFloats(index.get(id)!)]),
  }
}

export function vectorsOf({ dimension, metric, vectors }: PortableVectors): VectorIndex {
  const index = new VectorIndex(dimension, metric)
  for (const [id, vector] of vectors) {
    const floats = typeof vector === 'string' ? floatsOfBase64(vector) : Float32Array.from(vector)
    const name = JSON.stringify(id)
    if (floats === undefined || !areFinite(floats))
      throw new TypeError(`vector ${name} must be numbers, or 32-bit floats in base64.`)
    if (floats.length !== dimension)
      throw new TypeError(`vector ${name} must have ${dimension} elements (got ${floats.length}).`)
    if (id === '') throw new TypeError('the ID of a vector must not be empty.')
    if (!index.set(bytesOf(id), floats)) throw new TypeError(`vector ${name} is listed twice.`)
  }
  return index
}
