import type { Fuzzy } from './filter.js'

/**
 * Whether a term is so few edits away from the one that was asked for: letters that come, go or change, and two
 * neighbours that are swapped. For a beginning it is enough that the term begins with something that near.
 */
export function distanceTo({
  term,
  distance,
  swapCost,
  isPrefix,
}: Pick<Fuzzy, 'term' | 'distance' | 'swapCost' | 'isPrefix'>): (other: string) => boolean {
  const { length } = term
  let [older, old, row] = [new Uint32Array(length + 1), new Uint32Array(length + 1), new Uint32Array(length + 1)]
  return (other) => {
    if (!isPrefix && Math.abs(other.length - length) > distance) return false
    if (isPrefix && length <= distance) return true
    // Longer beginnings are further away.
    const most = Math.min(other.length, length + distance)
    for (let at = 0; at <= Math.min(length, distance + 1); at++) old[at] = at
    for (let read = 1; read <= most; read++) {
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
