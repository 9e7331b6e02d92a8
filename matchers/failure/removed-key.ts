import { type Bytes, text } from '../../src/kernel/bytes.js'
import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import { commandLine } from '../../src/report/describe.js'
import { excerpt, quoted } from '../../src/report/safe-text.js'
import { timeSeenFrom } from '../../src/report/shown-times.js'
import type { MatcherInput } from '../received.js'
import { removals } from './key-effects.js'
import { replacements } from './without-ttl.js'

/** The last removal of a key that the log shows. */
interface Removal {
  readonly entry: EntryOf<'keyspace'> | EntryOf<'command'>
  /** The command that removed the key. `undefined` for a key that expired or was evicted. */
  readonly command: EntryOf<'command'> | undefined
  /** Whether the key was a hash whose last fields expired. */
  readonly isOfFields: boolean
}

interface History {
  readonly removal: Removal | undefined
  /** The command that set the TTL which the key has, or had when it was removed. */
  readonly expires: EntryOf<'command'> | undefined
  /** Whether an entry shows that the key existed, and no later entry that it was removed. */
  readonly isStored: boolean
}

const unknown: History = { removal: undefined, expires: undefined, isStored: false }

/**
 * Returns a hint that names when a missing key was removed, and by which entry. Returns `undefined` if the log does not
 * prove a removal.
 * @param expiredAt when the key expired, if it is still stored: the store removes an expired key at the next access
 */
export function removedHint(key: Bytes, expiredAt: number | undefined, evidence: MatcherInput): string | undefined {
  const { entries, redaction } = evidence
  const { removal, expires } = historyOf(entries, key)
  const at = (instant: number): string => timeSeenFrom(instant, entries.at(-1)?.at ?? instant)
  const name = quoted(text(key), 60, (given) => redaction.text(given))
  const ttl = expires === undefined ? '' : ` #${expires.seq} had set its TTL.`
  if (expiredAt !== undefined) return `${name} expired at ${at(expiredAt)}.${ttl}`
  if (removal === undefined) return undefined
  const { entry, command, isOfFields } = removal
  if (entry.type === 'keyspace' && entry.event === 'expired')
    return `${name} has expired, and was removed at ${at(entry.at)} (#${entry.seq}).${ttl}`
  if (entry.type === 'keyspace' && entry.event === 'evicted')
    return `${name} was evicted at ${at(entry.at)} (#${entry.seq})${entry.reason === undefined ? '' : `: ${excerpt(redaction.text(entry.reason), 300)}`}.`
  if (isOfFields)
    return `The last fields of ${name} expired, so the key was deleted at ${at(entry.at)} (#${entry.seq}).`
  if (command === undefined) return `${name} was deleted at ${at(entry.at)} (#${entry.seq}).`
  const isRenamed = entry.type === 'keyspace' && entry.event === 'rename_from'
  return `${name} was ${isRenamed ? 'renamed' : 'deleted'} at ${at(entry.at)} by #${command.seq} ${commandLine(command.argv, redaction)}.`
}

/** Returns what the log shows about the end of a key. */
function historyOf(entries: readonly Entry[], key: Bytes): History {
  let history = unknown
  let events: EntryOf<'keyspace'>[] = []
  const take = (command: EntryOf<'command'> | undefined): void => {
    for (const event of events) history = after(history, event, command, events)
    events = []
  }
  for (const entry of entries) {
    // Entries before a load say nothing about the keys that are stored now.
    if (entry.type === 'setting' && entry.resource === 'store') history = unknown
    if (entry.type === 'keyspace' && entry.key === key) events.push(entry)
    if (entry.type !== 'command') continue
    // In the log, the changes that a command makes come before the command.
    take(entry)
    const isFlush = entry.error === undefined && /^FLUSH/i.test(entry.argv[0] ?? '')
    if (isFlush && history.isStored) history = { ...unknown, removal: { entry, command: entry, isOfFields: false } }
  }
  // No command follows the expiration at a timer.
  take(undefined)
  return history
}

function after(
  history: History,
  event: EntryOf<'keyspace'>,
  command: EntryOf<'command'> | undefined,
  events: readonly EntryOf<'keyspace'>[],
): History {
  if (removals.test(event.event) || isRootDeletion(event, command)) {
    const isOfFields = event.event === 'del' && events[events.indexOf(event) - 1]?.event === 'hexpired'
    return { removal: { entry: event, command, isOfFields }, expires: history.expires, isStored: false }
  }
  const keepsTtl = command?.argv.some((word, index) => index > 2 && text(word).toUpperCase() === 'KEEPTTL') === true
  let { expires } = history.isStored ? history : unknown
  if (event.event === 'expire') expires = command
  else if (event.event === 'persist' || (replacements.test(event.event) && !keepsTtl)) expires = undefined
  return { removal: undefined, expires, isStored: true }
}

/** Returns whether a `JSON.DEL` deleted the whole key. A path to a part causes the same event. */
function isRootDeletion({ event }: EntryOf<'keyspace'>, command: EntryOf<'command'> | undefined): boolean {
  const [name = '', , path] = command?.argv ?? []
  return event === 'json.del' && /^JSON\.(?:DEL|FORGET)$/i.test(name) && /^[$.]?$/.test(path ?? '')
}
