import { formatDuration } from '../kernel/duration.js'
import { iso } from '../kernel/instant.js'
import type { EntryOf } from '../kernel/traffic-log.js'
import type { Invariant } from './invariant.js'

export const deduplicatedWithinWindow: Invariant = {
  name: 'deduplicated-within-window',
  guarantee:
    'A duplicate that is published within the deduplication window is not delivered. A duplicate that is published after the window is delivered.',
  examine({ world, isWhole }, findings) {
    const { deduplicationWindow } = world.policy
    const firsts = new Map<string, EntryOf<'published'>>()
    let remembersAll = isWhole
    if (!isWhole)
      findings.unknown('the recognition of duplicates, because the log has dropped the entries of earlier messages')
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
            ? 'no message with the same key was published before'
            : `the first message with the same key was published ${formatDuration(entry.at - first.at)} earlier`
        findings.broken(`the publish at ${iso(entry.at)} was deduplicated, but ${known}`, first, entry)
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

/**
 * Returns the key by which duplicates of a message are recognized; `undefined` without deduplication. [queue.md 2.4]
 */
function identityOf(entry: EntryOf<'published'>): string | undefined {
  const { deduplicationId, contentBasedDeduplication, url, urlGroup, headers, body } = entry
  if (deduplicationId !== undefined) return JSON.stringify([deduplicationId, urlGroup === undefined ? '' : url])
  if (contentBasedDeduplication !== true) return undefined
  return JSON.stringify([url, headers.map((header) => header.join(': ')).sort(), body, 'content'])
}
