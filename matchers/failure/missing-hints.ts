import { type Bytes, text } from '../../src/kernel/bytes.js'
import { byDatabase } from '../../src/kernel/database-traffic.js'
import { plural } from '../../src/kernel/plural.js'
import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import { commandLine, responseText, urlText } from '../../src/report/describe.js'
import { quoted } from '../../src/report/safe-text.js'
import { timeSeenFrom } from '../../src/report/shown-times.js'
import type { MatcherInput } from '../received.js'
import { type Circumstance, grouped, type Log } from './circumstance.js'
import { removals } from './key-effects.js'
import { expiringCall, KnownExpiries } from './key-expiry.js'

// Finds events that did not happen: fires of schedules that were skipped, `SET … NX` commands without effect, and
// messages that went to the dead-letter queue.

/** Returns the skipped fires of schedules. Skips of a schedule with the same reason count as one fact. */
export function skippedSlots({ evidence }: Log): Circumstance[] {
  const from = evidence.entries[0]?.at ?? 0
  const slots = evidence
    .ofType('setting')
    .filter((entry) => entry.resource === 'schedule' && entry.change === 'skipped')
  return [...grouped(slots, ({ name, value }) => `${name}\n${value?.because}`).values()].map((skipped) => {
    const [{ name, at, seq, value }] = skipped as [EntryOf<'setting'>]
    const more = skipped.length === 1 ? '' : ` and at ${plural(skipped.length - 1, 'later time')}`
    return {
      sentence: () =>
        `Schedule ${quoted(name, 60)} did not fire at ${timeSeenFrom(at, from)}Z (#${seq})${more}: ${skipText(String(value?.because))}`,
      seqs: skipped.map(({ seq }) => seq),
      explainsMissing: true,
    }
  })
}

/** Returns why a schedule did not fire, from the reason in the log, and what to do. */
function skipText(because: string): string {
  if (because === 'it is paused') return 'it was paused then.'
  return `${because}, so its local time did not exist. Choose a time outside this gap.`
}

/**
 * Returns `SET … NX` commands of the app that had no effect, because the key already existed. A command is excluded if
 * the app later set or changed the key.
 */
export function guarded(log: Log): Circumstance[] {
  if (!log.evidence.ofType('command').some(hadNoEffect)) return []
  return byDatabase(log.evidence.entries).flatMap((entries) => guardedIn(entries, log))
}

function guardedIn(entries: readonly Entry[], { evidence, chain }: Log): Circumstance[] {
  /** The command that created each existing key. */
  const makers = new Map<Bytes, EntryOf<'command'>>()
  const expiries = new KnownExpiries()
  const refused = new Map<Bytes, Circumstance & { readonly messageId: string | undefined }>()
  let events: EntryOf<'keyspace'>[] = []
  for (const entry of entries) {
    // In the log, the changes that a command makes come before the command.
    if (entry.type === 'keyspace') events.push(entry)
    // Entries before a load say nothing about the keys that are stored now.
    if (entry.type === 'setting' && entry.resource === 'store') {
      makers.clear()
      expiries.clear()
    }
    if (entry.type !== 'command') continue
    const messageId = chain.attemptOf(entry)?.messageId
    for (const change of events) {
      const { event, key } = change
      expiries.take(change, entry)
      if (removals.test(event)) makers.delete(key)
      else {
        if (!makers.has(key)) makers.set(key, entry)
        if (entry.via !== 'direct' && refused.get(key)?.messageId === messageId) refused.delete(key)
      }
    }
    events = []
    if (/^FLUSH/i.test(entry.argv[0] ?? '')) {
      makers.clear()
      expiries.clear()
    }
    const key = hadNoEffect(entry) ? guardKey(entry) : undefined
    if (key === undefined) continue
    const maker = makers.get(key)
    // A `SET … NX GET` that creates the key also replies with null.
    if (maker === entry) continue
    const expiry = expiries.at(key, entry.at)
    const state = expiry === undefined ? 'it was not deleted' : `its TTL lasts until ${timeSeenFrom(expiry, entry.at)}`
    const since =
      maker === undefined ? '' : `: #${maker.seq} created it at ${timeSeenFrom(maker.at, entry.at)}, and ${state}`
    const advice =
      expiry === undefined || evidence.context.clock === 'real'
        ? 'delete the key before it'
        : `let the key expire before it with ${expiringCall(expiry - entry.at)}, or delete the key`
    refused.set(key, {
      sentence: () =>
        `#${entry.seq} ${commandLine(entry.argv, evidence.redaction)} had no effect, because the key already existed${since}. If the command must take effect, ${advice}.`,
      seqs: [entry.seq],
      explainsMissing: true,
      messageId,
    })
  }
  return [...refused.values()]
}

function hadNoEffect({ error, reply }: EntryOf<'command'>): boolean {
  return error === undefined && (reply === null || reply === 0)
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

/**
 * Returns the dead letters outside the chain of the failure. Something may be missing because these messages were never
 * delivered.
 */
export function failedForGood({ evidence, isOwn }: Log): Circumstance[] {
  const all = evidence.ofType('dead-letter')
  const letters = all.filter(({ seq }) => isOwn?.(seq) !== true)
  if (letters.length === 0) return []
  return [
    {
      sentence: () => lettersText(evidence, letters, all.length),
      seqs: letters.map(({ seq }) => seq),
      explainsMissing: true,
    },
  ]
}

function lettersText(evidence: MatcherInput, letters: readonly EntryOf<'dead-letter'>[], ofAll: number): string {
  const alike = grouped(letters, ({ kind, url, status, error }) => {
    return `${kind} ${urlText(url, evidence.redaction)}, ${responseText(status, error, evidence.redaction)}`
  })
  const parts = [...alike.values()].slice(0, maxLetters).map((group) => letterText(evidence, group))
  const more = alike.size > maxLetters ? `; and others` : ''
  const lost = letters.some(({ kind }) => kind !== 'message')
  return `${plural(letters.length, letters.length < ofAll ? 'other message' : 'message')} went to the dead-letter queue: ${parts.join('; ')}${more}.${lost ? ' The receiver of a dead callback may not know that outcome.' : ''}`
}

/**
 * Returns the text for the dead letters of one URL: `failure callback msg_xTq… to https://…, 503 Service Unavailable
 * (#12)`. For several dead letters, it contains their number instead of an ID.
 */
function letterText({ name, redaction }: MatcherInput, letters: readonly EntryOf<'dead-letter'>[]): string {
  const [{ seq, kind, messageId, url, status, error }] = letters as [EntryOf<'dead-letter'>]
  const noun = kind.replace('-', ' ')
  const what =
    letters.length > 1 ? plural(letters.length, noun) : `${kind === 'message' ? '' : `${noun} `}${name(messageId)}`
  const entry = letters.length > 1 ? `first #${seq}` : `#${seq}`
  return `${what} to ${urlText(url, redaction)}, ${responseText(status, error, redaction)} (${entry})`
}
