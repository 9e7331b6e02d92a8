import { type Bytes, text } from '../../src/kernel/bytes.js'
import { plural } from '../../src/kernel/plural.js'
import type { EntryOf } from '../../src/kernel/traffic-log.js'
import { commandLine, responseText, urlText } from '../../src/report/describe.js'
import { quoted } from '../../src/report/safe-text.js'
import { timeSeenFrom } from '../../src/report/shown-times.js'
import type { MatcherInput } from '../received.js'
import { type Circumstance, grouped, type Log } from './circumstance.js'
import { removals } from './key-effects.js'

// Finds what did not happen: fires of schedules, `SET … NX` on existing keys, and messages in the dead-letter queue.

/** Returns skipped fires of schedules, once per reason. */
export function skippedSlots({ evidence }: Log): Circumstance[] {
  const from = evidence.entries[0]?.at ?? 0
  const slots = evidence
    .ofType('setting')
    .filter((entry) => entry.resource === 'schedule' && entry.change === 'skipped')
  return [...grouped(slots, ({ name, value }) => `${name}\n${value?.because}`).values()].map((skipped) => {
    const [{ name, at, value }] = skipped as [EntryOf<'setting'>]
    const more = skipped.length === 1 ? '' : ` and at ${plural(skipped.length - 1, 'later time')}`
    return {
      sentence: `Schedule ${quoted(name, 60)} did not fire at ${timeSeenFrom(at, from)}${more}: ${value?.because}.`,
      seqs: skipped.map(({ seq }) => seq),
      explainsMissing: true,
    }
  })
}

/** Returns `SET … NX` commands of the app that found an existing key, unless the app later set or changed that key. */
export function guarded({ evidence, attemptOf }: Log): Circumstance[] {
  /** The commands that created the existing keys. */
  const makers = new Map<Bytes, EntryOf<'command'>>()
  const refused = new Map<Bytes, Circumstance & { readonly messageId: string | undefined }>()
  let events: EntryOf<'keyspace'>[] = []
  for (const entry of evidence.entries) {
    // The log has the changes of a command before the command.
    if (entry.type === 'keyspace') events.push(entry)
    if (entry.type !== 'command') continue
    const messageId = attemptOf(entry)?.messageId
    for (const { event, key } of events) {
      if (removals.test(event)) makers.delete(key)
      else {
        if (!makers.has(key)) makers.set(key, entry)
        if (entry.via !== 'direct' && refused.get(key)?.messageId === messageId) refused.delete(key)
      }
    }
    events = []
    if (/^FLUSH/i.test(entry.argv[0] ?? '')) makers.clear()
    const key = guardKey(entry)
    if (key === undefined || entry.error !== undefined || (entry.reply !== null && entry.reply !== 0)) continue
    const maker = makers.get(key)
    // With GET, the reply is null although this command created the key.
    if (maker === entry) continue
    const since =
      maker === undefined
        ? ''
        : `: #${maker.seq} created it at ${timeSeenFrom(maker.at, entry.at)}, and it was not deleted`
    refused.set(key, {
      sentence: `#${entry.seq} ${commandLine(entry.argv, evidence.redaction)} had no effect, because the key already existed${since}. If the command must take effect, delete the key before it.`,
      seqs: [entry.seq],
      explainsMissing: true,
      messageId,
    })
  }
  return [...refused.values()]
}

function guardKey({ argv, via }: EntryOf<'command'>): Bytes | undefined {
  if (via === 'direct') return undefined
  const [, key] = argv
  const [name = '', , ...rest] = argv.map((word) => text(word))
  const isGuard =
    name.toUpperCase() === 'SETNX' ||
    (name.toUpperCase() === 'SET' && rest.slice(1).some((word) => word.toUpperCase() === 'NX'))
  return isGuard ? key : undefined
}

const maxLetters = 3

/** Returns dead letters that the failure is not about, because their effects are missing. */
export function failedForGood({ evidence, isOwn }: Log): Circumstance[] {
  const all = evidence.ofType('dead-letter')
  const letters = all.filter(({ seq }) => isOwn?.(seq) !== true)
  if (letters.length === 0) return []
  const alike = grouped(letters, ({ kind, url, status, error }) => {
    return `${kind} ${urlText(url, evidence.redaction)}, ${responseText(status, error, evidence.redaction)}`
  })
  const told = [...alike.values()].slice(0, maxLetters).map((group) => letterText(evidence, group))
  const more = alike.size > maxLetters ? `; and others` : ''
  return [
    {
      sentence: `${plural(letters.length, letters.length < all.length ? 'other message' : 'message')} went to the dead-letter queue: ${told.join('; ')}${more}.`,
      seqs: letters.map(({ seq }) => seq),
      explainsMissing: true,
    },
  ]
}

/** Returns `failure callback msg_xTq… to https://…, 503 Service Unavailable (#12)`, or the number of messages to one URL. */
function letterText({ name, redaction }: MatcherInput, letters: readonly EntryOf<'dead-letter'>[]): string {
  const [{ seq, kind, messageId, url, status, error }] = letters as [EntryOf<'dead-letter'>]
  const noun = kind.replace('-', ' ')
  const what =
    letters.length > 1 ? plural(letters.length, noun) : `${kind === 'message' ? '' : `${noun} `}${name(messageId)}`
  const entry = letters.length > 1 ? `from #${seq}` : `#${seq}`
  return `${what} to ${urlText(url, redaction)}, ${responseText(status, error, redaction)} (${entry})`
}
