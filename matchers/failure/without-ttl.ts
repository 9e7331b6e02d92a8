import { type Bytes, text } from '../../src/kernel/bytes.js'
import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import { removals } from './key-effects.js'

/** The command that created a key without a TTL, or that removed the TTL of another command. */
export interface WithoutTtl {
  readonly since: EntryOf<'command'>
  readonly ended?: EntryOf<'command'> | undefined
}

/** Events that replace a key and its TTL. Other events change the value of a key and keep its TTL. */
const replacements = /^(?:set|restore|rename_to|copy_to|move_to|\w+store)$/

/** Returns why an existing key does not expire, if the log shows it. */
export function withoutTtl(entries: readonly Entry[], key: Bytes): WithoutTtl | undefined {
  let found: WithoutTtl | undefined
  let expires: EntryOf<'command'> | undefined
  let events: string[] = []
  for (const entry of entries) {
    // The log has the changes of a command before the command.
    if (entry.type === 'keyspace' && entry.key === key) events.push(entry.event)
    if (entry.type !== 'command') continue
    const keeps = entry.argv.some((word, index) => index > 2 && text(word).toUpperCase() === 'KEEPTTL')
    for (const event of events) {
      if (removals.test(event)) {
        found = undefined
        expires = undefined
      } else if (event === 'expire') {
        found = undefined
        expires = entry
      } else if (event === 'persist' || (replacements.test(event) && !keeps)) {
        // The log does not show a TTL from a dump, and a script may set and remove a TTL itself.
        found = event === 'persist' && expires === undefined ? undefined : { since: entry }
        if (expires !== undefined && expires !== entry) found = { since: entry, ended: expires }
        expires = undefined
      } else if (expires === undefined) {
        found ??= { since: entry }
      }
    }
    events = []
    if (/^FLUSH/i.test(entry.argv[0] ?? '')) {
      found = undefined
      expires = undefined
    }
  }
  return found
}
