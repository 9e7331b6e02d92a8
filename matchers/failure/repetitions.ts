import { text } from '../../src/kernel/bytes.js'
import { formatDuration } from '../../src/kernel/duration.js'
import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import { responseText, urlText } from '../../src/report/describe.js'
import { standardRedaction } from '../../src/report/redaction.js'
import { quoted } from '../../src/report/safe-text.js'
import { timeOf } from '../../src/report/shown-times.js'
import type { MatcherInput } from '../received.js'
import { type Circumstance, grouped, type Log } from './circumstance.js'
import { keyEffects } from './key-effects.js'

// Finds what happened more than once or in another order: effects of deliveries, requests, callbacks and duplicates.

/**
 * Returns effects that occurred in several attempts of a message. The first attempt had the effect but did not succeed,
 * so the queue delivered the message again.
 */
export function doneAgain(log: Log): Circumstance[] {
  const { evidence } = log
  const done = new Map<string, Repeated>()
  for (const { deed, advice, attempt, entry, entries } of deedsOf(log)) {
    const name = `${attempt.messageId} ${deed}`
    const known = done.get(name) ?? { attempts: new Set(), deed, advice, first: entry, seqs: [] }
    known.attempts.add(attempt)
    known.seqs.push(...entries.map(({ seq }) => seq))
    done.set(name, known)
  }
  return [...done.values()]
    .filter(({ attempts }) => attempts.size > 1)
    .map(({ attempts, deed, advice, first: entry, seqs }) => {
      const [first, second] = [...attempts] as [EntryOf<'attempt'>, EntryOf<'attempt'>]
      const again = attempts.size === 2 ? 'did so again' : `and ${attempts.size - 2} of the later attempts did so again`
      return {
        sentence: () =>
          `${evidence.name(first.messageId)} ${deed} in each of ${attempts.size} attempts. Attempt ${first.retried + 1} (#${first.seq}) did so, but ${unheard(entry)}${endOf(first)}, so attempt ${second.retried + 1} (#${second.seq}) ${again}. ${advice}`,
        seqs: [...seqs, first.seq, second.seq],
      }
    })
}

/** Returns the IDs of messages that were attempted more than once. */
function attemptedAgain(evidence: MatcherInput): ReadonlySet<string> {
  const seen = new Set<string>()
  const again = new Set<string>()
  for (const { messageId } of evidence.ofType('attempt')) {
    if (seen.has(messageId)) again.add(messageId)
    else seen.add(messageId)
  }
  return again
}

interface Repeated extends Pick<Deed, 'deed' | 'advice'> {
  readonly attempts: Set<EntryOf<'attempt'>>
  readonly first: Entry
  readonly seqs: number[]
}

/** A change that a delivery made. */
interface Deed {
  /** Description of the effect. The message is the subject: `changed the key "a"`. */
  readonly deed: string
  readonly advice: string
  readonly attempt: EntryOf<'attempt'>
  readonly entry: Entry
  readonly entries: readonly Entry[]
}

/** Returns the effects of messages that were attempted more than once, in the order of the log. */
function deedsOf(log: Log): Deed[] {
  const { evidence, chain, mayRepeat } = log
  const again = attemptedAgain(evidence)
  if (again.size === 0) return []
  const mayExplain = (attempt: EntryOf<'attempt'>, entries: readonly Entry[]): boolean =>
    again.has(attempt.messageId) && (mayRepeat(attempt) || entries.some(mayRepeat))
  const onKeys = keyEffects(log)
    .filter(({ attempt, entries }) => mayExplain(attempt, entries))
    .map(({ key, ...effect }): Deed => {
      const advice = 'Make the handler idempotent, for example by storing the ID of each processed message.'
      return { ...effect, deed: `changed the key ${quoted(text(key), 60)}`, advice }
    })
  const others = evidence.entries.flatMap((entry): Deed[] => {
    if (entry.type !== 'published' && entry.type !== 'outbound') return []
    const attempt = chain.attemptOf(entry)
    if (attempt === undefined || !mayExplain(attempt, [entry])) return []
    const told = deedOf(entry, evidence)
    return told === undefined ? [] : [{ ...told, attempt, entry, entries: [entry] }]
  })
  return [...onKeys, ...others].sort((one, other) => one.entry.seq - other.entry.seq)
}

function deedOf(entry: Entry, { redaction }: MatcherInput): Pick<Deed, 'deed' | 'advice'> | undefined {
  if (entry.type === 'published' && entry.kind === 'message' && !entry.deduplicated) {
    const advice = 'Publish with a deduplication ID that is the same in each attempt.'
    return { deed: `published to ${urlText(entry.url, redaction)}`, advice }
  }
  if (entry.type === 'outbound' && isForEach(entry) && wasDone(entry)) {
    const advice = 'Send an Idempotency-Key header that is the same in each attempt.'
    return { deed: `called ${entry.method} ${urlText(entry.url, redaction)}`, advice }
  }
  return undefined
}

/**
 * Returns whether the external host does its work again if the request is repeated. Requests with other methods only
 * read, or are idempotent. [RFC 9110 9.2]
 */
function isForEach({ method, headers }: EntryOf<'outbound'>): boolean {
  return /^(?:POST|PATCH)$/i.test(method) && !headers.some(([name]) => /^idempotency-key$/i.test(name))
}

/**
 * Returns whether the external host did its work. Its handler must have run and succeeded, even if the app then
 * received another response.
 */
function wasDone({ handlerRuns: handled, response: answer }: EntryOf<'outbound'>): boolean {
  const [, answered = answer?.status] = /^the handler ran.* and responded (\d+)/.exec(answer?.note ?? '') ?? []
  return handled > 0 && Math.floor(Number(answered) / 100) === 2
}

/** Returns a part of the hint for a response that was lost after the external host had done its work. */
function unheard(entry: Entry): string {
  return entry.type === 'outbound' && entry.response?.status === 0
    ? 'the response was lost after the host had done the work, and '
    : ''
}

function endOf({ outcome }: EntryOf<'attempt'>): string {
  if (outcome === undefined) return 'the attempt has not ended'
  const { note, status, error } = outcome
  // The hint already states what the handler did. A note begins with the same fact, so remove that part.
  if (note !== undefined) {
    return note
      .replace(/^the handler ran and responded \d+, /, '')
      .replace(/^the handler responded (\S+) /, 'the handler responded with $1, ')
  }
  return status === 0
    ? `the attempt got no response (${error ?? 'none'})`
    : `the attempt ended with ${responseText(status, error, standardRedaction)}`
}

/**
 * Returns requests that the app sent again after an error or a lost response, although an earlier request had done its
 * work.
 */
export function repeated({ evidence, chain }: Log): Circumstance[] {
  const { repetitions } = chain
  if (repetitions.size === 0) return []
  const done = new Set(evidence.entries.filter(({ type }) => type !== 'fault').map(({ cause }) => cause))
  const isDone = (entry: EntryOf<'request' | 'outbound'>): boolean =>
    entry.type === 'outbound' ? wasDone(entry) : done.has(entry.seq)
  const bySequence = new Map<number, EntryOf<'request' | 'outbound'>[]>()
  for (const [seq, before] of repetitions) {
    const sequence = bySequence.get(before.seq) ?? []
    sequence.push(before)
    bySequence.delete(before.seq)
    bySequence.set(seq, sequence)
  }
  return [...bySequence].flatMap(([last, sequence]) => {
    if (!sequence.some(isDone)) return []
    const { method, url } = sequence[0]!
    const endOf = (entry: EntryOf<'request' | 'outbound'>): string => {
      const { seq, response: answer } = entry
      const end = answer?.status === 0 ? 'got no response' : `got status ${answer?.status}`
      return `#${seq} ${end}${isDone(entry) ? ' although the work was done' : ''}`
    }
    return {
      sentence: () =>
        `${method} ${urlText(url, evidence.redaction)} was sent ${sequence.length + 1} times: ${sequence.map(endOf).join('; ')}; then #${last} repeated it. ${repeatAdvice(sequence[0]!)}`,
      seqs: [...sequence.map(({ seq }) => seq), last],
    }
  })
}

function repeatAdvice(entry: EntryOf<'request' | 'outbound'>): string {
  if (entry.type === 'outbound') return 'Send an Idempotency-Key header with the request.'
  if (entry.service === 'queue') return 'Publish with a deduplication ID.'
  return 'Use commands that are safe to repeat, or turn off the retries of the client.'
}

/** Returns callbacks that arrived out of order: about one message, but not in the order of its attempts. */
export function overtaken({ evidence }: Log): Circumstance[] {
  const published = evidence.ofType('published').filter(({ kind }) => kind === 'callback')
  if (published.length === 0) return []
  const arrived = new Map<string, EntryOf<'attempt'>>()
  for (const attempt of evidence.ofType('attempt')) {
    if (attempt.outcome?.state === 'DELIVERED') arrived.set(attempt.messageId, attempt)
  }
  const callbacks = published.filter(({ messageId }) => arrived.has(messageId))
  return [...grouped(callbacks, ({ sourceMessageId = '' }) => sourceMessageId)].flatMap(([source, callbacks]) => {
    for (const [index, early] of callbacks.entries()) {
      const came = arrived.get(early.messageId)!
      const overtaker = callbacks.slice(index + 1).find(({ messageId }) => arrived.get(messageId)!.seq < came.seq)
      if (overtaker === undefined) continue
      const before = arrived.get(overtaker.messageId)!
      const told = (one: EntryOf<'published'>): string => `attempt ${reportedAttempt(evidence, one) ?? '?'}`
      return [
        {
          sentence: () =>
            `Callbacks about ${evidence.name(source)} arrived out of order: first the callback about ${told(overtaker)} at ${timeOf(before.at)} (#${before.seq}), then the callback about ${told(early)} at ${timeOf(came.at)} (#${came.seq}). Ignore a callback whose \`retried\` is lower than in an earlier callback.`,
          seqs: [early.seq, came.seq, before.seq],
        },
      ]
    }
    return []
  })
}

/** Returns the number of the attempt that a callback is about. */
function reportedAttempt(evidence: MatcherInput, { cause }: EntryOf<'published'>): number | undefined {
  const attempt = evidence.ofType('attempt').find(({ seq }) => seq === cause)
  return attempt === undefined ? undefined : attempt.retried + 1
}

/** Returns messages that the queue recognized as duplicates and did not deliver. */
export function takenForDuplicates({ evidence }: Log): Circumstance[] {
  return evidence.ofType('published').flatMap((again) => {
    if (!again.deduplicated) return []
    return [{ sentence: () => duplicateText(evidence, again), seqs: [again.seq], explainsMissing: true }]
  })
}

function duplicateText(evidence: MatcherInput, again: EntryOf<'published'>): string {
  const about = evidence.forMessage(again.messageId)
  const first = about.find((entry): entry is EntryOf<'published'> => entry.type === 'published')
  const by =
    again.deduplicationId === undefined
      ? 'it has the same content'
      : `it has the same deduplication ID ${quoted(again.deduplicationId, 60)}`
  const before =
    first === undefined || first === again
      ? evidence.name(again.messageId)
      : `${evidence.name(again.messageId)} (#${first.seq}), published ${formatDuration(again.at - first.at)} earlier`
  const hasFailed = about.some(({ type, seq }) => type === 'dead-letter' && seq < again.seq)
  return `#${again.seq} to ${urlText(again.url, evidence.redaction)} was not delivered because it is a duplicate: ${by} as ${before}${hasFailed ? ', which went to the dead-letter queue' : ''}.${again.deduplicationId === undefined ? '' : ' Use another deduplication ID to deliver it.'}`
}
