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
    // Longer beginnings are further away.
    const most = Math.min(other.length, length + distance)
    for (let at = 0; at <= length; at++) old[at] = at
    if (isPrefix && length <= distance) return true
    for (let read = 1; read <= most; read++) {
      row[0] = read
      let least = read
      const letter = other.charCodeAt(read - 1)
      for (let at = 1; at <= length; at++) {
        const wanted = term.charCodeAt(at - 1)
        let cost = Math.min(old[at]! + 1, row[at - 1]! + 1, old[at - 1]! + (letter === wanted ? 0 : 1))
        if (read > 1 && at > 1 && letter === term.charCodeAt(at - 2) && other.charCodeAt(read - 2) === wanted)
          cost = Math.min(cost, older[at - 2]! + swapCost)
        row[at] = cost
        if (cost < least) least = cost
      }
      if (isPrefix && row[length]! <= distance) return true
      // A swap looks back over one row, so one that is too far away may still be followed by one that is not.
      if (least > distance + 1) return false
      ;[older, old, row] = [old, row, older]
    }
    return !isPrefix && old[length]! <= distance
  }
}
