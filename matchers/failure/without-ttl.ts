import { type Bytes, text } from '../../src/kernel/bytes.js'
import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import { removals } from './key-effects.js'

/** The command `since` created a key without a TTL, or removed the TTL that the command `ended` had set. */
export interface WithoutTtl {
  readonly since: EntryOf<'command'>
  readonly ended?: EntryOf<'command'> | undefined
}

/** Keyspace events that replace a key and its TTL. Other events change the value of a key and keep its TTL. */
export const replacements: RegExp = /^(?:set|restore|rename_to|copy_to|move_to|\w+store)$/

/** Returns why a key has no TTL, if the log shows the reason. */
export function withoutTtl(entries: readonly Entry[], key: Bytes): WithoutTtl | undefined {
  let found: WithoutTtl | undefined
  let expires: EntryOf<'command'> | undefined
  let events: string[] = []
  for (const entry of entries) {
    // In the log, the changes that a command makes come before the command.
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
        // The log does not show every TTL: a dump may contain one, or one script may set and remove it.
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
