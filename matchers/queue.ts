import { type Bytes, fromBase64, text } from '../src/kernel/bytes.js'
import type { Duration } from '../src/kernel/duration.js'
import { formatDuration } from '../src/kernel/duration.js'
import type { Entry, MessageKind } from '../src/kernel/traffic.js'
import { timeSeenFrom } from '../src/report/instants.js'
import { plainText } from '../src/report/safe-text.js'
import { body, type Field, headerMap, parseJson, plain } from './fields.js'
import { type AsymmetricMatcher, argumentList, isPlainObject, literal } from './literal.js'
import { type Candidate, checkPattern, compareFields, type Judged } from './near-misses.js'
import { type Evidence, entriesOf, evidenceOf } from './received.js'
import {
  blockOf,
  isOpen,
  kindOf,
  type MessageStory,
  pointerOf,
  publishedFieldNames,
  publishedFields,
  type StoryState,
  stateOf,
  storiesOf,
  storyFieldNames,
  storyFields,
  storyReadings,
  waitOf,
} from './stories.js'
import { type MatchOptions, search, type Verdict } from './verdict.js'

type Or<T> = T | AsymmetricMatcher
type Text = Or<string | RegExp>

/** Fields of a message as it was published; all that are given must fit. */
export interface PublishedPattern {
  /** The destination's url; `*` stands for any chars. */
  readonly to?: Text
  /** A text is compared as text, an object or a list with the parsed JSON (partially), bytes with bytes. */
  readonly body?: unknown
  /** Headers for the destination, names in any case. */
  readonly headers?: Or<Readonly<Record<string, Text | number | undefined>>>
  readonly method?: Text
  readonly retries?: Or<number>
  readonly delay?: Or<Duration>
  /** ISO text, `Date` or milliseconds. */
  readonly notBefore?: Or<string | number | Date>
  /** Default false: a duplicate does not count as published. */
  readonly deduplicated?: Or<boolean>
  readonly urlGroup?: Text | undefined
  readonly endpointName?: Text | undefined
  readonly queue?: Text | undefined
  readonly scheduleId?: Text | undefined
  readonly flowControlKey?: Text | undefined
  /** One of the labels. */
  readonly label?: Text | undefined
  readonly labels?: Or<readonly Text[]> | undefined
  readonly callback?: Text | undefined
  readonly failureCallback?: Text | undefined
  readonly kind?: Or<MessageKind>
  readonly messageId?: Text
  readonly sourceMessageId?: Text | undefined
}

/** Fields of a message's whole life. `headers` and `body` are those of the last attempt. */
export interface DeliveredPattern extends PublishedPattern {
  /** How many there were, their statuses `[500, 0, 200]` (0 without an answer), or partial attempts. */
  readonly attempts?: Or<number | readonly (number | Readonly<Record<string, unknown>>)[]>
  /** Default `DELIVERED`. */
  readonly state?: Or<StoryState>
  /** Status of the last attempt. */
  readonly status?: Or<number>
  readonly error?: Text | undefined
  readonly retried?: Or<number>
  /** Body of the last answer. */
  readonly response?: unknown
  readonly deliveredAt?: Or<string | number | Date>
}

export interface DeadLetterPattern extends Omit<DeliveredPattern, 'state' | 'deliveredAt'> {
  readonly dlqId?: Text
}

/** Fields of a callback: of the message that carried it and of the JSON in its body, decoded from base64. */
export interface CallbackPattern {
  readonly to?: Text
  readonly kind?: Or<'callback' | 'failure-callback'>
  /** Default `DELIVERED`: the callback arrived. */
  readonly state?: Or<StoryState>
  /** Attempts of the callback itself. */
  readonly attempts?: DeliveredPattern['attempts']
  /** Status that the destination of the source message answered. */
  readonly status?: Or<number>
  readonly retried?: Or<number>
  readonly maxRetries?: Or<number>
  /** What the destination answered. */
  readonly body?: unknown
  readonly sourceBody?: unknown
  readonly header?: unknown
  readonly sourceHeader?: unknown
  readonly sourceMessageId?: Text
  readonly dlqId?: Text | undefined
  readonly url?: Text
  readonly method?: Text
  readonly topicName?: Text | undefined
  readonly endpointName?: Text | undefined
  readonly scheduleId?: Text | undefined
  readonly notBefore?: unknown
  readonly createdAt?: unknown
}

const ofMessages = (entry: Entry): boolean => entry.type !== 'command' && entry.type !== 'keyspace'

/** Messages that the queue accepted from the code under test. */
export function published(received: unknown, pattern: PublishedPattern = {}, options: MatchOptions = {}): Verdict {
  const matcher = 'toHavePublished'
  const evidence = evidenceOf(matcher, received, 'queue')
  checkPattern(matcher, pattern, publishedFieldNames, storyReadings)
  const wanted = { ...pattern, ...defaults(pattern, { kind: 'message', deduplicated: false }) }
  const candidates = entriesOf(evidence, 'published')
    .map((entry) => ({
      seq: entry.seq,
      at: entry.at,
      title: () => `${evidence.name(entry.messageId)}   to ${plainText(entry.url)}`,
      compared: compareFields(publishedFields(entry), wanted, ['to', 'messageId']),
    }))
    .map((candidate) => withoutFitting(candidate, ['kind', 'deduplicated'], pattern))
  return search({
    matcher,
    call: callText(pattern, options),
    evidence,
    candidates,
    times: options.times,
    noun: ['published message', 'published messages'],
    hints: (nearest) => hintsOf(evidence, pattern, nearest),
    shown: ofMessages,
  })
}

/** Messages by what became of them; delivered ones unless the pattern names another state. */
export function delivered(received: unknown, pattern: DeliveredPattern = {}, options: MatchOptions = {}): Verdict {
  const matcher = 'toHaveDelivered'
  const evidence = evidenceOf(matcher, received, 'queue')
  checkPattern(matcher, pattern, storyFieldNames, storyReadings)
  const wanted = { ...pattern, ...defaults(pattern, { state: 'DELIVERED' }) }
  const stories = storiesOf(evidence.entries)
  return search({
    matcher,
    call: callText(pattern, options),
    evidence,
    candidates: stories.map((story) =>
      withoutFitting(storyCandidate(evidence, story, storyFields(story), wanted), ['state'], pattern),
    ),
    times: options.times,
    noun: nounOf(wanted.state),
    hints: (nearest) => [...hintsOf(evidence, pattern, nearest), ...waitHints(evidence, stories, nearest)],
    shown: ofMessages,
  })
}

/** Messages that went to the dead-letter queue. */
export function deadLettered(received: unknown, pattern: DeadLetterPattern = {}, options: MatchOptions = {}): Verdict {
  const matcher = 'toHaveDeadLetter'
  const evidence = evidenceOf(matcher, received, 'queue')
  const known = ['to', 'dlqId', ...storyFieldNames.filter((name) => !['to', 'state', 'deliveredAt'].includes(name))]
  checkPattern(matcher, pattern, known, storyReadings)
  const stories = storiesOf(evidence.entries)
  const candidates = stories.map((story) => {
    const fields = { ...storyFields(story), dlqId: plain(story.deadLetter?.dlqId) }
    return storyCandidate(evidence, story, fields, { ...pattern, state: 'FAILED' })
  })
  return search({
    matcher,
    call: callText(pattern, options),
    evidence,
    candidates,
    times: options.times,
    noun: ['dead letter', 'dead letters'],
    hints: (nearest) => [...hintsOf(evidence, pattern, nearest), ...waitHints(evidence, stories, nearest)],
    shown: ofMessages,
  })
}

/** Callbacks and failure callbacks that arrived. */
export function calledBack(received: unknown, pattern: CallbackPattern = {}, options: MatchOptions = {}): Verdict {
  const matcher = 'toHaveCalledBack'
  const evidence = evidenceOf(matcher, received, 'queue')
  checkPattern(matcher, pattern, callbackFieldNames)
  const wanted = { ...pattern, ...defaults(pattern, { state: 'DELIVERED' }) }
  const stories = storiesOf(evidence.entries).filter((story) => kindOf(story) !== 'message')
  const candidates = stories.map((story) => {
    const { to, kind, state, attempts } = storyFields(story)
    const fields = { ...callbackFields(story), to: to!, kind: kind!, state: state!, attempts: attempts! }
    return withoutFitting(storyCandidate(evidence, story, fields, wanted), ['state'], pattern)
  })
  return search({
    matcher,
    call: callText(pattern, options),
    evidence,
    candidates,
    times: options.times,
    noun: ['callback', 'callbacks'],
    hints: (nearest) => [...hintsOf(evidence, pattern, nearest), ...waitHints(evidence, stories, nearest)],
    shown: ofMessages,
  })
}

const callbackBodyFields = [
  'status',
  'retried',
  'maxRetries',
  'sourceMessageId',
  'dlqId',
  'url',
  'method',
  'topicName',
  'endpointName',
  'scheduleId',
  'header',
  'sourceHeader',
  'notBefore',
  'createdAt',
] as const

const callbackFieldNames = ['to', 'kind', 'state', 'attempts', ...callbackBodyFields, 'body', 'sourceBody']

function callbackFields(story: MessageStory): Record<string, Field> {
  const carried = story.published?.body ?? story.attempts.at(-1)?.body
  const parsed = carried === undefined ? undefined : parseJson(text(carried))?.value
  const values = isPlainObject(parsed) ? parsed : {}
  const fields: Record<string, Field> = {}
  for (const name of callbackBodyFields) fields[name] = plain(values[name])
  for (const name of ['body', 'sourceBody']) fields[name] = body(decoded(values[name]))
  return fields
}

function decoded(value: unknown): Bytes | undefined {
  return typeof value === 'string' ? fromBase64(value) : undefined
}

function storyCandidate(
  evidence: Evidence,
  story: MessageStory,
  fields: Record<string, Field>,
  wanted: Readonly<Record<string, unknown>>,
): Candidate {
  const pointer = pointerOf(story)
  const url = story.attempts.at(-1)?.url ?? story.published?.url ?? story.deadLetter?.url ?? ''
  const kind = kindOf(story)
  return {
    seq: pointer.seq,
    at: pointer.at,
    title: () =>
      `${evidence.name(story.id)}   ${kind === 'message' ? '' : `${kind.replace('-', ' ')} `}to ${plainText(url)}`,
    compared: compareFields(fields, wanted, ['to', 'messageId']),
  }
}

/** What the pattern does not say. */
function defaults<D extends Record<string, unknown>>(pattern: object, given: D): Partial<D> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !(name in pattern))) as Partial<D>
}

/** A field that nobody asked about is only mentioned when it is what went wrong. */
function withoutFitting(candidate: Candidate, names: readonly string[], pattern: object): Candidate {
  const compared = candidate.compared.filter(
    (one) => one.name in pattern || !names.includes(one.name) || one.differences.length > 0,
  )
  return { ...candidate, compared }
}

function callText(pattern: object, options: MatchOptions): string {
  const given = Object.keys(pattern).length === 0 && options.times === undefined ? [] : [pattern]
  return argumentList(options.times === undefined ? given : [...given, options])
}

function nounOf(state: unknown): readonly [string, string] {
  if (state === 'DELIVERED') return ['delivered message', 'delivered messages']
  return ['message', 'messages']
}

/** Sentences for slips that the ✗ alone does not explain. */
function hintsOf(
  evidence: Evidence,
  pattern: { readonly to?: unknown; readonly headers?: unknown },
  nearest: readonly Judged[],
): string[] {
  const hints: string[] = []
  const { to } = pattern
  if (typeof to === 'string' && !/^[a-z]+:\/\//i.test(to) && !to.startsWith('*')) {
    hints.push(
      `to is compared with the whole url: write 'https://${plainText(to)}', or '*${plainText(to)}' for any host.`,
    )
  }
  const prefixed = prefixHint(evidence, pattern.headers)
  if (prefixed !== undefined && nearest.some((one) => one.misses.some((miss) => miss.name === 'headers'))) {
    hints.push(prefixed)
  }
  return hints
}

/** The prefix of the service's own headers is another word in each vocabulary. */
function prefixHint(evidence: Evidence, wanted: unknown): string | undefined {
  if (!isPlainObject(wanted)) return undefined
  const seen = new Set<string>()
  for (const entry of evidence.entries) {
    if (entry.type === 'attempt' || entry.type === 'published') {
      for (const name of headerMap(entry.headers).keys()) seen.add(name)
    }
  }
  for (const name of Object.keys(wanted)) {
    const lower = name.toLowerCase()
    const rest = lower.slice(lower.indexOf('-'))
    const other = [...seen].find((header) => header !== lower && header.includes('-') && header.endsWith(rest))
    if (!seen.has(lower) && other !== undefined && rest.length > 2) {
      return `there is no header ${literal(name)}, but ${literal(other)}: own headers carry the prefix of the sandbox's vocabulary.`
    }
  }
  return undefined
}

const mostWaits = 3

/** Messages that have not come to their end: until when they wait, why, and the call that gets them there. */
function waitHints(evidence: Evidence, stories: readonly MessageStory[], nearest: readonly Judged[]): string[] {
  const open = stories.filter((story) => isOpen(stateOf(story)))
  if (open.length === 0) return []
  const rank = new Map(nearest.map((one, index) => [one.candidate.seq, index]))
  const ranked = open.sort((a, b) => rank.get(pointerOf(a).seq)! - rank.get(pointerOf(b).seq)!)
  return ranked.slice(0, mostWaits).map((story) => waitHint(evidence, story))
}

function waitHint(evidence: Evidence, story: MessageStory): string {
  const name = evidence.name(story.id)
  const now = evidence.context.now?.() ?? evidence.entries.at(-1)?.at ?? 0
  const wait = waitOf(story)
  const block = blockOf(story)
  if (block !== undefined) return `${name} waits: ${plainText(block)}.`
  if (wait === undefined || wait.until <= now) {
    return stateOf(story) === 'ACTIVE'
      ? `${name} is being delivered right now. Await sandbox.clock.drain() first.`
      : `${name} is due but time has not moved. Await sandbox.clock.drain() first.`
  }
  const left = formatDuration(wait.until - now)
  return `${name} waits ${left}, until ${timeSeenFrom(wait.until, now)} (${plainText(wait.reason)}). Await sandbox.clock.advance('${left}') or clock.drain() first.`
}
