import type { Work } from '../../kernel/work.js'
import type { Fuzzy } from './filter.js'

/**
 * Whether a term is so few edits away from the one that was asked for: letters that come, go or change, and two
 * neighbours that are swapped. For a beginning it is enough that the term begins with something that near.
 * @param work what each comparison is charged to, beside the term that is looked at
 */
export function distanceTo(asked: FuzzyQuery, work: Work): (other: string) => boolean {
  return asked.distance === 1 ? oneEditFrom(asked, work) : editsFrom(asked, work)
}

type FuzzyQuery = Pick<Fuzzy, 'term' | 'distance' | 'swapCost' | 'isPrefix'>

/** One edit leaves all letters before and after it as they are. What most searches ask for, of every term. */
function oneEditFrom({ term, swapCost, isPrefix }: FuzzyQuery, work: Work): (other: string) => boolean {
  const { length } = term
  // Whether what follows in both, from these places on, is the same.
  const isSame = (other: string, at: number, from: number): boolean => {
    if (!isPrefix && other.length - at !== length - from) return false
    // Nearly all terms are told apart by one letter more.
    if (from < length && other.charCodeAt(at) !== term.charCodeAt(from)) return false
    work.charge((length - from) >>> 4)
    return other.startsWith(term.slice(from), at)
  }
  return (other) => {
    if (!isPrefix && Math.abs(other.length - length) > 1) return false
    let at = 0
    while (at < length && at < other.length && term.charCodeAt(at) === other.charCodeAt(at)) at++
    work.charge(at >>> 4)
    // A last letter may be missing, and another one may follow.
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

/** Units of work of a row of distances, all that is computed for one letter. */
const unitsPerRow = 1

function editsFrom({ term, distance, swapCost, isPrefix }: FuzzyQuery, work: Work): (other: string) => boolean {
  const { length } = term
  let [older, old, row] = [new Uint32Array(length + 1), new Uint32Array(length + 1), new Uint32Array(length + 1)]
  return (other) => {
    if (!isPrefix && Math.abs(other.length - length) > distance) return false
    if (isPrefix && length <= distance) return true
    // Longer beginnings are further away.
    const most = Math.min(other.length, length + distance)
    for (let at = 0; at <= Math.min(length, distance + 1); at++) old[at] = at
    for (let read = 1; read <= most; read++) {
      work.charge(unitsPerRow)
      // Beginnings whose lengths differ by more are further away than that: long words cost no more than their letters.
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
      // A swap looks back over one row, so one that is too far away may still be followed by one that is not.
      if (least > distance + 1) return false
      ;[older, old, row] = [old, row, older]
    }
    return !isPrefix && old[length]! <= distance
  }
}

/** More than any distance that is asked for. */
const tooFar = 1000
