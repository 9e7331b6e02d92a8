import type { Work } from '../../kernel/work.js'
import type { Fuzzy } from './filter.js'

/**
 * Returns a function that tests whether a term is within the edit distance of the query. An edit inserts, deletes or
 * replaces a letter, or swaps two neighbors. For a prefix query, it is enough that a prefix of the term is within the
 * distance.
 * @param work the work budget, to which each comparison is charged, in addition to the visit of the term
 */
export function distanceTo(asked: FuzzyQuery, work: Work): (other: string) => boolean {
  return asked.distance === 1 ? oneEditFrom(asked, work) : editsFrom(asked, work)
}

type FuzzyQuery = Pick<Fuzzy, 'term' | 'distance' | 'swapCost' | 'isPrefix'>

/** Fast path for distance 1, which most searches use. All letters before and after the single edit must be equal. */
function oneEditFrom({ term, swapCost, isPrefix }: FuzzyQuery, work: Work): (other: string) => boolean {
  const { length } = term
  // Returns whether both texts are equal from these positions on.
  const isSame = (other: string, at: number, from: number): boolean => {
    if (!isPrefix && other.length - at !== length - from) return false
    // Comparing one further letter excludes nearly all terms.
    if (from < length && other.charCodeAt(at) !== term.charCodeAt(from)) return false
    work.charge((length - from) >>> 4)
    return other.startsWith(term.slice(from), at)
  }
  return (other) => {
    if (!isPrefix && Math.abs(other.length - length) > 1) return false
    let at = 0
    while (at < length && at < other.length && term.charCodeAt(at) === other.charCodeAt(at)) at++
    work.charge(at >>> 4)
    // The last letter may be missing, or one more letter may follow.
    if (at >= length - 1 && (isPrefix || other.length <= at + 1)) return true
    if (isSame(other, at + 1, at + 1) || isSame(other, at + 1, at) || isSame(other, at, at + 1)) return true
    const isSwap =
      swapCost === 1 &&
      at + 1 < length &&
      term.charCodeAt(at) === other.charCodeAt(at + 1) &&
      term.charCodeAt(at + 1) === other.charCodeAt(at)
    return isSwap && isSame(other, at + 2, at + 2)
  }
}

/** Units of work for a row of distances, which is computed for each letter. */
const unitsPerRow = 1

function editsFrom({ term, distance, swapCost, isPrefix }: FuzzyQuery, work: Work): (other: string) => boolean {
  const { length } = term
  let [older, old, row] = [new Uint32Array(length + 1), new Uint32Array(length + 1), new Uint32Array(length + 1)]
  return (other) => {
    if (!isPrefix && Math.abs(other.length - length) > distance) return false
    if (isPrefix && length <= distance) return true
    // Longer prefixes of the other term are always too far away.
    const most = Math.min(other.length, length + distance)
    for (let at = 0; at <= Math.min(length, distance + 1); at++) old[at] = at
    for (let read = 1; read <= most; read++) {
      work.charge(unitsPerRow)
      // Skips prefixes whose lengths differ by more than the distance, so a long word costs only a fixed amount per
      // letter.
      const first = Math.max(1, read - distance)
      const last = Math.min(length, read + distance)
      row[first - 1] = first === 1 ? read : tooFar
      if (last < length) row[last + 1] = tooFar
      let least = row[first - 1]!
      const letter = other.charCodeAt(read - 1)
      for (let at = first; at <= last; at++) {
        const wanted = term.charCodeAt(at - 1)
        let cost = Math.min(old[at]! + 1, row[at - 1]! + 1, old[at - 1]! + (letter === wanted ? 0 : 1))
        if (read > 1 && at > 1 && letter === term.charCodeAt(at - 2) && other.charCodeAt(read - 2) === wanted)
          cost = Math.min(cost, older[at - 2]! + swapCost)
        row[at] = cost
        if (cost < least) least = cost
      }
      if (isPrefix && last === length && row[length]! <= distance) return true
      // A swap uses the row before the previous one. If the smallest distance of a row is one above the limit, the next
      // row may therefore still contain a distance within the limit.
      if (least > distance + 1) return false
      ;[older, old, row] = [old, row, older]
    }
    return !isPrefix && old[length]! <= distance
  }
}

/** Greater than any possible distance. */
const tooFar = 1000
