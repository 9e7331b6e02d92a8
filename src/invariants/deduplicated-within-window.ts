import { formatDuration } from '../kernel/duration.js'
import { iso } from '../kernel/instant.js'
import type { EntryOf } from '../kernel/traffic-log.js'
import type { Invariant } from './invariant.js'

export const deduplicatedWithinWindow: Invariant = {
  name: 'deduplicated-within-window',
  guarantee:
    'The same message published twice is delivered once within the window of deduplication, and twice beyond it.',
  examine({ world, isWhole }, findings) {
    const { deduplicationWindow } = world.policy
    const firsts = new Map<string, EntryOf<'published'>>()
    let remembersAll = isWhole
    if (!isWhole) findings.unknown('duplicates of messages that were published before the first entry that is left')
    for (const entry of world.entries) {
      if (entry.type === 'setting' && entry.resource === 'service') {
        firsts.clear()
        remembersAll = entry.change === 'reset'
      }
      if (entry.type !== 'published' || entry.kind !== 'message') continue
      const key = identityOf(entry)
      if (key === undefined) continue
      const first = firsts.get(key)
      const isRemembered = first !== undefined && entry.at - first.at < deduplicationWindow
      if (entry.deduplicated) {
        if (isRemembered ? entry.messageId === first.messageId : !remembersAll) continue
        const known =
          first === undefined
            ? 'nothing like it was published before'
            : `it is ${formatDuration(entry.at - first.at)} younger than the first`
        findings.broken(`what was published at ${iso(entry.at)} counted as a duplicate; ${known}`, first, entry)
      } else {
        if (isRemembered) {
          const apart = formatDuration(entry.at - first.at)
          const window = formatDuration(deduplicationWindow)
          findings.broken(
            `${entry.messageId} was published ${apart} after the same message, within the window of ${window}`,
            first,
            entry,
          )
        }
        firsts.set(key, entry)
      }
    }
  },
}

/** What a message is recognised by; `undefined` when it did not ask for it. [queue.md 2.4] */
function identityOf(entry: EntryOf<'published'>): string | undefined {
  const { deduplicationId, contentBasedDeduplication, url, urlGroup, headers, body } = entry
  if (deduplicationId !== undefined) return JSON.stringify([deduplicationId, urlGroup === undefined ? '' : url])
  if (contentBasedDeduplication !== true) return undefined
  return JSON.stringify([url, headers.map((header) => header.join(': ')).sort(), body, 'content'])
}
