// Cost of a vector query: the store over a bare loop that only computes.
import { each, type Figure } from '../harness.ts'
import { loneStore, type StoreEngine, words } from '../store.ts'

const count = 100_000
const dimension = 384
const queries = 8

/** Returns vectors with numbers from -1 to 1, the same in every run. */
function vectors(wanted: number): readonly Float32Array[] {
  let state = 7
  return Array.from({ length: wanted }, () =>
    Float32Array.from({ length: dimension }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return state / 2 ** 31 - 1
    }),
  )
}

function base64(vector: Float32Array): string {
  return Buffer.from(vector.buffer).toString('base64')
}

/** Returns the highest dot product: the work of a search without an index, without scores and without a list. */
function loop(stored: readonly Float32Array[], query: Float32Array): number {
  let best = Number.NEGATIVE_INFINITY
  for (const vector of stored) {
    let sum = 0
    for (let at = 0; at < dimension; at++) sum += vector[at]! * query[at]!
    if (sum > best) best = sum
  }
  return best
}

function distances(stored: readonly Float32Array[], query: Float32Array): number {
  let best = Number.POSITIVE_INFINITY
  for (const vector of stored) {
    let sum = 0
    for (let at = 0; at < dimension; at++) sum += (vector[at]! - query[at]!) ** 2
    if (sum < best) best = sum
  }
  return best
}

function filled(metric: string, stored: readonly Float32Array[]): StoreEngine {
  const store = loneStore()
  store.execute(words('VECTOR.CREATE', 'v', 'DIM', dimension, 'METRIC', metric))
  for (const [at, vector] of stored.entries())
    store.execute(words('VECTOR.ADD', 'v', at, 'BASE64-FP32', base64(vector)))
  return store
}

function over(metric: 'COSINE' | 'EUCLIDEAN', bare: typeof loop): () => Figure {
  return () => {
    const stored = vectors(count)
    const asked = vectors(queries)
    const store = filled(metric, stored)
    const rows = asked.map((query) => words('VECTOR.QUERY', 'v', 'TOPK', 10, 'BASE64-FP32', base64(query)))
    const name = `VECTOR.QUERY by ${metric}`
    return {
      name: `${name} among ${count.toLocaleString('en')} vectors of ${dimension} numbers over a bare loop`,
      baseline: each('loop', asked, (query) => bare(stored, query)),
      variants: [each(name, rows, (row) => store.execute(row))],
      atMost: { [name]: 2 },
    }
  }
}

const byCosine: () => Figure = over('COSINE', loop)
const byDistance: () => Figure = over('EUCLIDEAN', distances)

export const figures = [byCosine, byDistance]
