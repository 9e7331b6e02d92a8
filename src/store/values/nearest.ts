import type { Bytes } from '../../kernel/bytes.js'
import { base64OfFloats, largestFloat } from '../../kernel/float32.js'
import type { Random } from '../../kernel/random.js'
import { type Metric, squareOf, type VectorIndex } from './vector-index.js'

// Nearest neighbors by an exact scan. The service searches approximately, so its list can lack neighbors. [vector.md 3]

/** Effort of an approximate search. [vector.md 2] */
export type Profile = 'FAST' | 'BALANCED' | 'PRECISE'

export const profiles: readonly Profile[] = ['FAST', 'BALANCED', 'PRECISE']

/** Neighbor of a queried vector. The score is a 32-bit float. */
export interface Neighbor {
  readonly id: Bytes
  readonly score: number
}

/** Policies of a search for neighbors. */
export interface NearestPolicy {
  readonly vectorScore: 'normalized' | 'raw'
  readonly vectorDot: 'clamp' | 'plain'
  readonly vectorRecall: number | { readonly fast?: number; readonly balanced?: number; readonly precise?: number }
}

export interface Lookup {
  /** Maximum number of neighbors. */
  readonly top: number
  readonly profile: Profile
  readonly policy: NearestPolicy
  readonly random: Random
  /** Returns the text that decides whether an approximate search finds a vector. Default: the ID. */
  readonly recallKeyOf?: (id: Bytes) => Bytes
  /** Returns whether a vector can be a neighbor. */
  readonly accepts?: (id: Bytes) => boolean
}

/**
 * Returns the nearest vectors, best first. Equal scores are in the byte order of the IDs. The work of the scan must be
 * charged by the caller.
 */
export function nearest(index: VectorIndex, query: Float32Array, lookup: Lookup): readonly Neighbor[] {
  const best = new BestPlaces(index, lookup.top)
  const scoreOf = scoring(index.metric, squareOf(query), lookup.policy)
  const isFound = recalled(query, lookup)
  const accepts = lookup.accepts ?? isFound
  const length = index.dimension
  // Every read of a 32-bit float converts it to a double, so the floats of the query are converted once.
  const wanted = Float64Array.from(query)
  const isDistance = index.metric === 'EUCLIDEAN'
  index.eachBlock((floats, first, count) => {
    for (let row = 0, at = 0; row < count; row++, at += length) {
      const sum = isDistance ? squaredDistance(floats, at, wanted) : dotProduct(floats, at, wanted)
      const place = first + row
      const score = scoreOf(sum, index.squareAt(place))
      if (!best.takes(score, place)) continue
      const id = index.idAt(place)
      if (accepts(id) && (accepts === isFound || isFound(id))) best.add(score, place)
    }
  })
  return best.sorted
}

function dotProduct(floats: Float32Array, at: number, wanted: Float64Array): number {
  let sum = 0
  for (let dimension = 0; dimension < wanted.length; dimension++) sum += floats[at + dimension]! * wanted[dimension]!
  return sum
}

function squaredDistance(floats: Float32Array, at: number, wanted: Float64Array): number {
  let sum = 0
  for (let dimension = 0; dimension < wanted.length; dimension++) {
    const difference = floats[at + dimension]! - wanted[dimension]!
    sum += difference * difference
  }
  return sum
}

/** Returns a function from a dot product or squared distance, and the square of the vector, to the score. */
function scoring(
  metric: Metric,
  square: number,
  { vectorScore, vectorDot }: NearestPolicy,
): (sum: number, own: number) => number {
  const isRaw = vectorScore === 'raw'
  if (metric === 'EUCLIDEAN') return isRaw ? (sum) => finite(-Math.sqrt(sum)) : (sum) => Math.fround(1 / (1 + sum))
  if (metric === 'COSINE') {
    const length = Math.sqrt(square)
    const cosine = (dot: number, own: number) => {
      const lengths = length * Math.sqrt(own)
      return lengths === 0 ? 0 : Math.max(-1, Math.min(dot / lengths, 1))
    }
    return isRaw ? (dot, own) => Math.fround(cosine(dot, own)) : (dot, own) => Math.fround((1 + cosine(dot, own)) / 2)
  }
  if (isRaw) return finite
  if (vectorDot === 'plain') return (dot) => finite((1 + dot) / 2)
  return (dot) => Math.fround(Math.max(0, Math.min((1 + dot) / 2, 1)))
}

/** Rounds to a 32-bit float. A score beyond the range would be an infinity, which clients cannot parse. */
function finite(score: number): number {
  return Math.fround(Math.max(-largestFloat, Math.min(score, largestFloat)))
}

/**
 * Returns whether an approximate search finds a vector, with the probability of `policy.vectorRecall`. The decision
 * depends only on the seed, the query and the ID (or `recallKeyOf`), so the same query has the same gaps, and the order
 * of writes has no effect.
 */
function recalled(
  query: Float32Array,
  { policy, profile, random, recallKeyOf = (id) => id }: Lookup,
): (id: Bytes) => boolean {
  const { vectorRecall } = policy
  const share = typeof vectorRecall === 'number' ? vectorRecall : (vectorRecall[recallNames[profile]] ?? 1)
  if (share >= 1) return () => true
  const key = random.fork(`vectors near ${base64OfFloats(query)}`).int(2 ** 32)
  return (id) => random.fork(`vector ${key} ${recallKeyOf(id)}`).float() < share
}

const recallNames = { FAST: 'fast', BALANCED: 'balanced', PRECISE: 'precise' } as const

/**
 * The best vectors so far, in a heap whose root is the worst of them. Its size is limited, so a large index needs no
 * more memory than a small one.
 */
class BestPlaces {
  readonly #scores: number[] = []
  readonly #places: number[] = []

  constructor(
    private readonly index: VectorIndex,
    private readonly most: number,
  ) {}

  /** Returns whether a vector is among the best so far. */
  takes(score: number, place: number): boolean {
    return this.#scores.length < this.most || this.#isBefore(score, place, 0)
  }

  add(score: number, place: number): void {
    const scores = this.#scores
    if (scores.length < this.most) {
      scores.push(score)
      this.#places.push(place)
      this.#rise(scores.length - 1)
    } else {
      scores[0] = score
      this.#places[0] = place
      this.#sink()
    }
  }

  get sorted(): readonly Neighbor[] {
    return this.#places
      .map((place, at) => ({ id: this.index.idAt(place), score: this.#scores[at]! }))
      .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
  }

  /** Returns whether a vector comes before the one at a position of the heap. */
  #isBefore(score: number, place: number, at: number): boolean {
    const other = this.#scores[at]!
    return score > other || (score === other && this.index.idAt(place) < this.index.idAt(this.#places[at]!))
  }

  #isPositionBefore(a: number, b: number): boolean {
    return this.#isBefore(this.#scores[a]!, this.#places[a]!, b)
  }

  #rise(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1
      if (!this.#isPositionBefore(parent, at)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  #sink(): void {
    for (let at = 0; ; ) {
      let worst = at
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.#scores.length && this.#isPositionBefore(worst, child)) worst = child
      }
      if (worst === at) return
      this.#swap(at, worst)
      at = worst
    }
  }

  #swap(a: number, b: number): void {
    const [scores, places] = [this.#scores, this.#places]
    const [score, place] = [scores[a]!, places[a]!]
    scores[a] = scores[b]!
    places[a] = places[b]!
    scores[b] = score
    places[b] = place
  }
}
