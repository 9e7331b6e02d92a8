import type { Entry } from '../kernel/traffic-log.js'
import { plainText } from './safe-text.js'

/** Characters of an id that are always shown, prefix included: `msg_2Kd…`. */
const shortest = 7

/** Short names for the message ids of some entries: as many characters as it takes to tell them apart. */
export function shortNames(entries: readonly Entry[]): (messageId: string) => string {
  const ids = new Set<string>()
  for (const entry of entries) {
    if ('messageId' in entry) ids.add(entry.messageId)
    if ('sourceMessageId' in entry && entry.sourceMessageId !== undefined) ids.add(entry.sourceMessageId)
  }
  const length = distinctLength([...ids].sort())
  return (id) => (id.length <= length + 1 ? plainText(id) : `${plainText(id.slice(0, length))}…`)
}

/** Ids that share a prefix are neighbours when sorted. */
function distinctLength(sorted: readonly string[]): number {
  let longest = shortest
  for (let index = 1; index < sorted.length; index++) {
    const [one, other] = [sorted[index - 1]!, sorted[index]!]
    let common = 0
    while (common < one.length && one[common] === other[common]) common++
    longest = Math.max(longest, common + 1)
  }
  return longest
}
