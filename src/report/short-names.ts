import type { Entry } from '../kernel/traffic-log.js'
import { plainText } from './safe-text.js'

/** Minimum number of characters in a short ID, including its prefix: `msg_2Kd…`. */
const shortest = 7

/**
 * Returns a function that shortens message IDs. The short names are long enough to distinguish all IDs in the entries.
 */
export function shortNames(entries: readonly Entry[]): (messageId: string) => string {
  const ids = new Set<string>()
  for (const entry of entries) {
    if ('messageId' in entry) ids.add(entry.messageId)
    if ('sourceMessageId' in entry && entry.sourceMessageId !== undefined) ids.add(entry.sourceMessageId)
  }
  const length = distinctLength(ids)
  return (id) => (id.length <= length + 1 ? plainText(id) : `${plainText(id.slice(0, length))}…`)
}

/** Returns the number of characters that distinguish all IDs. */
function distinctLength(ids: Iterable<string>): number {
  // Nearly all IDs differ in their first characters. Only the others are sorted.
  const first = new Map<string, string>()
  const alike = new Set<string>()
  for (const id of ids) {
    const start = id.slice(0, shortest)
    const other = first.get(start)
    if (other === undefined) first.set(start, id)
    else alike.add(other).add(id)
  }
  // IDs with a common prefix are adjacent after sorting.
  const sorted = [...alike].sort()
  let longest = shortest
  for (let index = 1; index < sorted.length; index++) {
    const [one, other] = [sorted[index - 1]!, sorted[index]!]
    let common = 0
    while (common < one.length && one[common] === other[common]) common++
    longest = Math.max(longest, common + 1)
  }
  return longest
}
