import { type Bytes, text } from '../../src/kernel/bytes.js'
import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import { removals } from './key-effects.js'

/** The command that made a key without a time to live, or that ended the time to live which another one had given it. */
export interface WithoutTtl {
  readonly since: EntryOf<'command'>
  readonly ended?: EntryOf<'command'> | undefined
}

/** These make a key anew; others change what it holds, and leave its time to live. */
const replacements = /^(?:set|restore|rename_to|copy_to|move_to|\w+store)$/

/** Why a key that exists does not expire, as far as the log says. */
export function withoutTtl(entries: readonly Entry[], key: Bytes): WithoutTtl | undefined {
  let found: WithoutTtl | undefined
  let expires: EntryOf<'command'> | undefined
  let events: string[] = []
  for (const entry of entries) {
    // The changes of a command stand before it.
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
        // Of a time to live that came with a dump the log does not know, and a script may give one and end it itself.
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
