import { type Bytes, text } from '../../src/kernel/bytes.js'
import { plural } from '../../src/kernel/plural.js'
import type { EntryOf } from '../../src/kernel/traffic-log.js'
import { commandLine, responseText, urlText } from '../../src/report/describe.js'
import { quoted } from '../../src/report/safe-text.js'
import { timeSeenFrom } from '../../src/report/shown-times.js'
import type { MatcherInput } from '../received.js'
import { type Circumstance, grouped, type Log } from './circumstance.js'
import { removals } from './key-effects.js'

// What did not happen: runs that were skipped, keys that were taken, messages that failed for good.

/** Runs of schedules that did not happen, told once for each reason. */
export function skippedSlots({ evidence }: Log): Circumstance[] {
  const from = evidence.entries[0]?.at ?? 0
  const slots = evidence
    .ofType('setting')
    .filter((entry) => entry.resource === 'schedule' && entry.change === 'skipped')
  return [...grouped(slots, ({ name, value }) => `${name}\n${value?.because}`).values()].map((skipped) => {
    const [{ name, at, value }] = skipped as [EntryOf<'setting'>]
    const more = skipped.length === 1 ? '' : ` and ${skipped.length - 1} more`
    return {
      sentence: `the schedule ${quoted(name, 60)} skipped its run of ${timeSeenFrom(at, from)}${more}: ${value?.because}.`,
      seqs: skipped.map(({ seq }) => seq),
      explainsMissing: true,
    }
  })
}

/** `SET … NX` of the code under test that found the key, and neither got it later nor went on to change it. */
export function guarded({ evidence, attemptOf }: Log): Circumstance[] {
  /** The commands that made the keys that there are. */
  const makers = new Map<Bytes, EntryOf<'command'>>()
  const refused = new Map<Bytes, Circumstance & { readonly messageId: string | undefined }>()
  let events: EntryOf<'keyspace'>[] = []
  for (const entry of evidence.entries) {
    // The changes of a command stand before it.
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
    const since = maker === undefined ? '' : `, since #${maker.seq} at ${timeSeenFrom(maker.at, entry.at)}`
    refused.set(key, {
      sentence: `#${entry.seq} ${commandLine(entry.argv, evidence.redaction)} found the key there already${since}.`,
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

/** Dead letters, but for one that the failure is about: what should have come of them did not. */
export function failedForGood({ evidence, isOwn }: Log): Circumstance[] {
  const letters = evidence.ofType('dead-letter').filter(({ seq }) => isOwn?.(seq) !== true)
  if (letters.length === 0) return []
  const alike = grouped(letters, ({ kind, url, status, error }) => {
    return `${kind} ${urlText(url, evidence.redaction)}, ${responseText(status, error, evidence.redaction)}`
  })
  const told = [...alike.values()].slice(0, maxLetters).map((group) => letterText(evidence, group))
  const more = alike.size > maxLetters ? `; and others` : ''
  return [
    {
      sentence: `${plural(letters.length, 'message')} failed for good: ${told.join('; ')}${more}.`,
      seqs: letters.map(({ seq }) => seq),
      explainsMissing: true,
    },
  ]
}

/** `failure callback msg_xTq… to https://…, 503 Service Unavailable`; several to one address are counted. */
function letterText({ name, redaction }: MatcherInput, letters: readonly EntryOf<'dead-letter'>[]): string {
  const [{ kind, messageId, url, status, error }] = letters as [EntryOf<'dead-letter'>]
  const noun = kind.replace('-', ' ')
  const what =
    letters.length > 1 ? plural(letters.length, noun) : `${kind === 'message' ? '' : `${noun} `}${name(messageId)}`
  return `${what} to ${urlText(url, redaction)}, ${responseText(status, error, redaction)}`
}
