import { text } from '../src/kernel/bytes.js'
import { counted } from '../src/kernel/counted.js'
import { formatDuration } from '../src/kernel/duration.js'
import type { Entry, EntryOf } from '../src/kernel/traffic.js'
import { answerText, commandLine, urlText } from '../src/report/describe.js'
import { type Nesting, nestingOf, repetitionsOf } from '../src/report/nesting.js'
import { quoted } from '../src/report/safe-text.js'
import { timeOf, timeSeenFrom } from '../src/report/shown-times.js'
import type { Evidence } from './received.js'

// What happened in a log that a matcher did not ask for and that often is why it failed. Each kind is one row below:
// sentences about what the entries say, never guesses about what the code under test meant.

/** A log, read once for all rows. */
interface Log {
  readonly evidence: Evidence
  readonly nesting: Nesting
  /** Whether an entry belongs to what failed, and is told there; `undefined` when nothing is told yet. */
  readonly isOwn: ((seq: number) => boolean) | undefined
  /** The delivery in which something happened. */
  readonly attemptOf: (entry: Entry) => EntryOf<'attempt'> | undefined
}

interface Circumstance {
  readonly sentence: string
  /** `seq` of the entries that it is made of. */
  readonly seqs: readonly number[]
  /** It only explains what is missing. */
  readonly explainsMissing?: boolean
}

/** In the order in which they are told. */
const rows: readonly ((log: Log) => Circumstance[])[] = [
  doneAgain,
  repeated,
  overtaken,
  takenForDuplicates,
  skippedSlots,
  guarded,
  failedForGood,
]

const most = 3

/**
 * What else the log has to say, those sentences first that are about what failed.
 * @param isOwn whether an entry belongs to what failed; `undefined` when nobody knows what it is about
 * @param isMissing something was expected that is not there: what has kept it from happening may be anywhere
 */
export function circumstances(
  evidence: Evidence,
  isOwn: ((seq: number) => boolean) | undefined,
  isMissing: boolean,
): string[] {
  const log = logOf(evidence, isOwn)
  const all = rows.flatMap((row) => row(log))
  const own = all.filter(({ seqs }) => isOwn === undefined || seqs.some(isOwn))
  const others = isMissing ? all.filter((one) => !own.includes(one)) : []
  return [...own.filter(({ explainsMissing }) => isMissing || explainsMissing !== true), ...others]
    .slice(0, most)
    .map(({ sentence }) => evidence.redaction.text(sentence))
}

function logOf(evidence: Evidence, isOwn: Log['isOwn']): Log {
  const { entries } = evidence
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]))
  const nesting = nestingOf(entries)
  const attemptOf = (entry: Entry): EntryOf<'attempt'> | undefined => {
    for (let at: Entry | undefined = entry; at !== undefined; ) {
      if (at.type === 'attempt') return at
      const above = nesting.above(at)
      at = above === undefined ? undefined : bySeq.get(above)
    }
    return undefined
  }
  return { evidence, nesting, isOwn, attemptOf }
}

/** The same was done in two attempts of one message: the first did its work and did not count. */
function doneAgain({ evidence, attemptOf }: Log): Circumstance[] {
  const done = new Map<string, { attempts: Set<EntryOf<'attempt'>>; deed: string; seqs: number[] }>()
  for (const entry of evidence.entries) {
    const deed = deedOf(entry, evidence)
    if (deed === undefined) continue
    const attempt = attemptOf(entry)
    if (attempt === undefined) continue
    const name = `${attempt.messageId} ${deed}`
    const known = done.get(name) ?? { attempts: new Set(), deed, seqs: [] }
    known.attempts.add(attempt)
    known.seqs.push(entry.seq)
    done.set(name, known)
  }
  return [...done.values()]
    .filter(({ attempts }) => attempts.size > 1)
    .map(({ attempts, deed, seqs }) => {
      const [first, second] = [...attempts] as [EntryOf<'attempt'>, EntryOf<'attempt'>]
      const again = attempts.size === 2 ? 'did it again' : `and ${attempts.size - 2} more did it again`
      return {
        sentence: `${evidence.name(first.messageId)} ${deed} in each of ${attempts.size} attempts: attempt ${first.retried + 1} (#${first.seq}) did, but ${endOf(first)}, so attempt ${second.retried + 1} (#${second.seq}) ${again}.`,
        seqs: [...seqs, first.seq, second.seq],
      }
    })
}

/** What an entry changed for others, as the end of a sentence that begins with who did it. */
function deedOf(entry: Entry, { redaction }: Evidence): string | undefined {
  if (entry.type === 'keyspace') {
    if (entry.event === 'expire' || entry.event === 'expired' || entry.event === 'evicted') return undefined
    return `changed the key ${quoted(text(entry.key), 60)}`
  }
  if (entry.type === 'published' && entry.kind === 'message' && !entry.deduplicated) {
    return `published to ${urlText(entry.url, redaction)}`
  }
  return undefined
}

/** Why an attempt that did something did not count. */
function endOf({ outcome }: EntryOf<'attempt'>): string {
  if (outcome === undefined) return 'it has not ended'
  const { note, status, error } = outcome
  // Notes begin with what the handler did.
  if (note !== undefined) {
    return note
      .replace(/^the handler ran and answered \d+, /, '')
      .replace(/^the handler answered (\S+) /, 'it answered $1, ')
  }
  return status === 0 ? `it got no answer (${error ?? 'none'})` : `it was answered ${answerText(status, error)}`
}

/** Requests that the code under test sent again, by itself or its client, after an answer that told it to or none. */
function repeated({ evidence, nesting }: Log): Circumstance[] {
  const done = new Set(evidence.entries.filter(({ type }) => type !== 'fault').map(({ cause }) => cause))
  const bySequence = new Map<number, EntryOf<'request'>[]>()
  for (const [seq, before] of repetitionsOf(evidence.entries, nesting)) {
    const sequence = [...(bySequence.get(before.seq) ?? []), before]
    bySequence.delete(before.seq)
    bySequence.set(seq, sequence)
  }
  return [...bySequence].map(([last, sequence]) => {
    const { method, url } = sequence[0]!
    const ends = sequence.map(({ seq, answer }) => {
      const end = answer?.status === 0 ? 'got no answer' : `was answered ${answer?.status}`
      return `#${seq} ${end}${done.has(seq) ? ', although it was done' : ''}`
    })
    return {
      sentence: `the client sent ${method} ${urlText(url, evidence.redaction)} ${sequence.length + 1} times: ${ends.join('; ')}; then #${last}.`,
      seqs: [...sequence.map(({ seq }) => seq), last],
    }
  })
}

/** Callbacks about one message that came in another order than what they tell. */
function overtaken({ evidence }: Log): Circumstance[] {
  const arrived = new Map<string, EntryOf<'attempt'>>()
  for (const attempt of evidence.of('attempt')) {
    if (attempt.outcome?.state === 'DELIVERED') arrived.set(attempt.messageId, attempt)
  }
  const bySource = new Map<string, EntryOf<'published'>[]>()
  for (const entry of evidence.of('published')) {
    if (entry.kind !== 'callback' || entry.sourceMessageId === undefined || !arrived.has(entry.messageId)) continue
    bySource.set(entry.sourceMessageId, [...(bySource.get(entry.sourceMessageId) ?? []), entry])
  }
  return [...bySource].flatMap(([source, callbacks]) => {
    for (const [index, early] of callbacks.entries()) {
      const came = arrived.get(early.messageId)!
      const overtaker = callbacks.slice(index + 1).find(({ messageId }) => arrived.get(messageId)!.seq < came.seq)
      if (overtaker === undefined) continue
      const before = arrived.get(overtaker.messageId)!
      const told = (one: EntryOf<'published'>): string => `attempt ${reportedAttempt(evidence, one) ?? '?'}`
      return [
        {
          sentence: `the callbacks about ${evidence.name(source)} came out of order: the one about ${told(early)} at ${timeOf(came.at)} (#${came.seq}), after the one about ${told(overtaker)} at ${timeOf(before.at)} (#${before.seq}).`,
          seqs: [early.seq, came.seq, before.seq],
        },
      ]
    }
    return []
  })
}

/** The attempt that a callback reports. */
function reportedAttempt(evidence: Evidence, { cause }: EntryOf<'published'>): number | undefined {
  const attempt = evidence.of('attempt').find(({ seq }) => seq === cause)
  return attempt === undefined ? undefined : attempt.retried + 1
}

/** Messages that the queue accepted and did not deliver, because it knew them. */
function takenForDuplicates({ evidence }: Log): Circumstance[] {
  return evidence.of('published').flatMap((again) => {
    if (!again.deduplicated) return []
    const about = evidence.about(again.messageId)
    const first = about.find((entry): entry is EntryOf<'published'> => entry.type === 'published')
    const by =
      again.deduplicationId === undefined
        ? 'it has the same content'
        : `it has the same deduplication id ${quoted(again.deduplicationId, 60)}`
    const before =
      first === undefined || first === again
        ? evidence.name(again.messageId)
        : `${evidence.name(again.messageId)} (#${first.seq}), published ${formatDuration(again.at - first.at)} before`
    const hasFailed = about.some(({ type, seq }) => type === 'dead-letter' && seq < again.seq)
    return [
      {
        sentence: `#${again.seq} to ${urlText(again.url, evidence.redaction)} was taken for a duplicate and not delivered: ${by} as ${before}${hasFailed ? ', although that one had failed for good' : ''}.`,
        seqs: [again.seq],
        explainsMissing: true,
      },
    ]
  })
}

/** Runs of schedules that did not happen, told once for each reason. */
function skippedSlots({ evidence }: Log): Circumstance[] {
  const from = evidence.entries[0]?.at ?? 0
  const told = new Map<string, EntryOf<'setting'>[]>()
  for (const entry of evidence.of('setting')) {
    if (entry.of !== 'schedule' || entry.change !== 'skipped') continue
    const name = `${entry.name}\n${entry.value?.because}`
    told.set(name, [...(told.get(name) ?? []), entry])
  }
  return [...told.values()].map((skipped) => {
    const [{ name, at, value }] = skipped as [EntryOf<'setting'>]
    const more = skipped.length === 1 ? '' : ` and ${skipped.length - 1} more`
    return {
      sentence: `the schedule ${quoted(name, 60)} skipped its run of ${timeSeenFrom(at, from)}${more}: ${value?.because}.`,
      seqs: skipped.map(({ seq }) => seq),
      explainsMissing: true,
    }
  })
}

/** `SET … NX` of the code under test that found the key: what it guards was left out. */
function guarded({ evidence }: Log): Circumstance[] {
  const written = new Map<string, EntryOf<'command'>>()
  const refused = new Map<string, Circumstance>()
  for (const entry of evidence.of('command')) {
    const key = guardKey(entry)
    if (key === undefined) continue
    const isRefused = entry.error === undefined && (entry.reply === null || entry.reply === 0)
    if (!isRefused) {
      written.set(key, entry)
      continue
    }
    const holder = written.get(key)
    const since = holder === undefined ? '' : `, since #${holder.seq} at ${timeSeenFrom(holder.at, entry.at)}`
    refused.set(key, {
      sentence: `#${entry.seq} ${commandLine(entry.argv, evidence.redaction)} found the key there already${since}: what it guards was left out.`,
      seqs: [entry.seq],
      explainsMissing: true,
    })
  }
  return [...refused.values()]
}

function guardKey({ argv, via }: EntryOf<'command'>): string | undefined {
  if (via === 'direct') return undefined
  const [name = '', key = '', ...rest] = argv.map((word) => text(word))
  const isGuard =
    name.toUpperCase() === 'SETNX' ||
    (name.toUpperCase() === 'SET' && rest.slice(1).some((word) => word.toUpperCase() === 'NX'))
  return isGuard ? key : undefined
}

const mostLetters = 3

/** Dead letters, but for one that the failure is about: what should have come of them did not. */
function failedForGood({ evidence, isOwn }: Log): Circumstance[] {
  const letters = evidence.of('dead-letter').filter(({ seq }) => isOwn?.(seq) !== true)
  if (letters.length === 0) return []
  const told = letters.slice(0, mostLetters).map(({ kind, messageId, url, status, error }) => {
    const name = `${kind === 'message' ? '' : `${kind.replace('-', ' ')} `}${evidence.name(messageId)}`
    return `${name} to ${urlText(url, evidence.redaction)}, ${answerText(status, error, evidence.redaction)}`
  })
  const more = letters.length > mostLetters ? `; and ${letters.length - mostLetters} more` : ''
  return [
    {
      sentence: `${counted(letters.length, 'message')} failed for good: ${told.join('; ')}${more}.`,
      seqs: letters.map(({ seq }) => seq),
      explainsMissing: true,
    },
  ]
}
