import { text } from '../../src/kernel/bytes.js'
import { formatDuration } from '../../src/kernel/duration.js'
import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import { responseText, urlText } from '../../src/report/describe.js'
import { repetitionsOf } from '../../src/report/nesting.js'
import { standardRedaction } from '../../src/report/redaction.js'
import { quoted } from '../../src/report/safe-text.js'
import { timeOf } from '../../src/report/shown-times.js'
import type { MatcherInput } from '../received.js'
import { type Circumstance, grouped, type Log } from './circumstance.js'
import { keyEffects } from './key-effects.js'

// What came more than once, or in another order: by delivery, by request, by publishing.

/** The same was done in two attempts of one message: the first did its work and did not count. */
export function doneAgain(log: Log): Circumstance[] {
  const { evidence, mayRepeat } = log
  const done = new Map<string, { attempts: Set<EntryOf<'attempt'>>; deed: string; first: Entry; seqs: number[] }>()
  for (const { deed, attempt, entry, entries } of deedsOf(log)) {
    if (![attempt, ...entries].some(mayRepeat)) continue
    const name = `${attempt.messageId} ${deed}`
    const known = done.get(name) ?? { attempts: new Set(), deed, first: entry, seqs: [] }
    known.attempts.add(attempt)
    known.seqs.push(...entries.map(({ seq }) => seq))
    done.set(name, known)
  }
  return [...done.values()]
    .filter(({ attempts }) => attempts.size > 1)
    .map(({ attempts, deed, first: entry, seqs }) => {
      const [first, second] = [...attempts] as [EntryOf<'attempt'>, EntryOf<'attempt'>]
      const again = attempts.size === 2 ? 'did it again' : `and ${attempts.size - 2} more did it again`
      return {
        sentence: `${evidence.name(first.messageId)} ${deed} in each of ${attempts.size} attempts: attempt ${first.retried + 1} (#${first.seq}) did, but ${unheard(entry)}${endOf(first)}, so attempt ${second.retried + 1} (#${second.seq}) ${again}.`,
        seqs: [...seqs, first.seq, second.seq],
      }
    })
}

/** What a delivery changed for others. */
interface Deed {
  /** The end of a sentence that begins with who did it. */
  readonly deed: string
  readonly attempt: EntryOf<'attempt'>
  readonly entry: Entry
  readonly entries: readonly Entry[]
}

/** In the order of the log. */
function deedsOf(log: Pick<Log, 'evidence' | 'attemptOf'>): Deed[] {
  const { evidence, attemptOf } = log
  const onKeys = keyEffects(log).map(({ key, ...effect }): Deed => {
    return { ...effect, deed: `changed the key ${quoted(text(key), 60)}` }
  })
  const others = evidence.entries.flatMap((entry): Deed[] => {
    const deed = deedOf(entry, evidence)
    const attempt = deed === undefined ? undefined : attemptOf(entry)
    return deed === undefined || attempt === undefined ? [] : [{ deed, attempt, entry, entries: [entry] }]
  })
  return [...onKeys, ...others].sort((one, other) => one.entry.seq - other.entry.seq)
}

function deedOf(entry: Entry, { redaction }: MatcherInput): string | undefined {
  if (entry.type === 'published' && entry.kind === 'message' && !entry.deduplicated) {
    return `published to ${urlText(entry.url, redaction)}`
  }
  if (entry.type === 'outbound' && isForEach(entry) && wasDone(entry)) {
    return `called ${entry.method} ${urlText(entry.url, redaction)}`
  }
  return undefined
}

/** Whether the host does its work again for each such call: others only read, or say what has to be in the end. [RFC 9110 9.2] */
function isForEach({ method, headers }: EntryOf<'outbound'>): boolean {
  return /^(?:POST|PATCH)$/i.test(method) && !headers.some(([name]) => /^idempotency-key$/i.test(name))
}

/** Whether a foreign host did its work: its handler ran, and answered so, even where the app saw something else. */
function wasDone({ handlerRuns: handled, response: answer }: EntryOf<'outbound'>): boolean {
  const [, answered = answer?.status] = /^the handler ran.* and answered (\d+)/.exec(answer?.note ?? '') ?? []
  return handled > 0 && Math.floor(Number(answered) / 100) === 2
}

/** A foreign host did its work, and the app did not hear of it. */
function unheard(entry: Entry): string {
  return entry.type === 'outbound' && entry.response?.status === 0
    ? 'got no answer from there although the work was done, and '
    : ''
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
  return status === 0
    ? `it got no answer (${error ?? 'none'})`
    : `it was answered ${responseText(status, error, standardRedaction)}`
}

/** Requests that were sent again after an answer that asks for it or none, although one of them had done its work. */
export function repeated({ evidence, nesting }: Log): Circumstance[] {
  const done = new Set(evidence.entries.filter(({ type }) => type !== 'fault').map(({ cause }) => cause))
  const isDone = (entry: EntryOf<'request' | 'outbound'>): boolean =>
    entry.type === 'outbound' ? wasDone(entry) : done.has(entry.seq)
  const bySequence = new Map<number, EntryOf<'request' | 'outbound'>[]>()
  for (const [seq, before] of repetitionsOf(evidence.entries, nesting)) {
    const sequence = [...(bySequence.get(before.seq) ?? []), before]
    bySequence.delete(before.seq)
    bySequence.set(seq, sequence)
  }
  return [...bySequence].flatMap(([last, sequence]) => {
    if (!sequence.some(isDone)) return []
    const { method, url } = sequence[0]!
    const ends = sequence.map((entry) => {
      const { seq, response: answer } = entry
      const end = answer?.status === 0 ? 'got no answer' : `was answered ${answer?.status}`
      return `#${seq} ${end}${isDone(entry) ? ', although it was done' : ''}`
    })
    return {
      sentence: `${method} ${urlText(url, evidence.redaction)} was sent ${sequence.length + 1} times: ${ends.join('; ')}; then #${last}.`,
      seqs: [...sequence.map(({ seq }) => seq), last],
    }
  })
}

/** Callbacks about one message that came in another order than what they tell. */
export function overtaken({ evidence }: Log): Circumstance[] {
  const arrived = new Map<string, EntryOf<'attempt'>>()
  for (const attempt of evidence.ofType('attempt')) {
    if (attempt.outcome?.state === 'DELIVERED') arrived.set(attempt.messageId, attempt)
  }
  const callbacks = evidence
    .ofType('published')
    .filter(({ kind, messageId }) => kind === 'callback' && arrived.has(messageId))
  return [...grouped(callbacks, ({ sourceMessageId = '' }) => sourceMessageId)].flatMap(([source, callbacks]) => {
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
function reportedAttempt(evidence: MatcherInput, { cause }: EntryOf<'published'>): number | undefined {
  const attempt = evidence.ofType('attempt').find(({ seq }) => seq === cause)
  return attempt === undefined ? undefined : attempt.retried + 1
}

/** Messages that the queue accepted and did not deliver, because it knew them. */
export function takenForDuplicates({ evidence }: Log): Circumstance[] {
  return evidence.ofType('published').flatMap((again) => {
    if (!again.deduplicated) return []
    const about = evidence.forMessage(again.messageId)
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
