import { type Bytes, fromBase64, text } from '../src/kernel/bytes.js'
import { definedFields } from '../src/kernel/defined-fields.js'
import { formatDuration } from '../src/kernel/duration.js'
import { parsedJson } from '../src/kernel/parsed-json.js'
import type { EntryOf } from '../src/kernel/traffic-log.js'
import { urlText } from '../src/report/describe.js'
import { plainText, quoted } from '../src/report/safe-text.js'
import { deliveredHints, hintsOf, refusalHints, retriesHints, waitHints } from './failure/failure-hints.js'
import { isPlainObject } from './literal.js'
import {
  attemptFields,
  lifecycleFields,
  lifecycleStates,
  MessageLifecycle,
  ofMessages,
  publishedFields,
  stateOf,
  storiesOf,
} from './message-lifecycle.js'
import { type Candidate, type ComparedField, type PatternTest, testOf } from './near-misses.js'
import {
  anyField,
  bodyField,
  checkPattern,
  type FieldsOf,
  numberField,
  optional,
  textField,
  wordField,
} from './pattern-fields.js'
import type {
  CallbackPattern,
  DeadLetterPattern,
  DeduplicatedPattern,
  DeliveredPattern,
  PublishedPattern,
} from './patterns.js'
import { evidenceOf, type MatcherInput } from './received.js'
import { scheduleHints } from './schedule-matchers.js'
import { callOf, type MatchOptions, search, timesOf, type Verdict } from './verdict.js'

/** Searches messages that the queue accepted from the app. */
export function published(received: unknown, pattern: PublishedPattern = {}, options?: MatchOptions): Verdict {
  const matcher = 'toHavePublished'
  const evidence = evidenceOf(matcher, received, 'queue')
  checkPattern(matcher, pattern, publishedFields)
  const test = testOf(publishedFields, { ...pattern, ...defaults(pattern, publishedDefaults) })
  return search({
    matcher,
    call: callOf(pattern, options),
    evidence,
    things: () => publishedEntries(evidence, pattern),
    test: quietly(test, ['kind', 'deduplicated'], pattern),
    candidate: (entry) => publishedCandidate(evidence, entry),
    times: timesOf(matcher, options),
    noun: ['published message', 'published messages'],
    hints: (nearest) => hintsOf(evidence, pattern, nearest),
    shown: ofMessages,
  })
}

const publishedDefaults = { kind: 'message', deduplicated: false }

/** Returns the published messages to search. If the pattern has an ID, only the message with this ID is searched. */
function publishedEntries(evidence: MatcherInput, { messageId }: PublishedPattern): readonly EntryOf<'published'>[] {
  const found = typeof messageId === 'string' ? evidence.forMessage(messageId) : []
  // If no message has this ID, search all messages, so that the failure can show the nearest ones.
  return found.length === 0 ? evidence.ofType('published') : found.filter((entry) => entry.type === 'published')
}

function publishedCandidate(evidence: MatcherInput, entry: EntryOf<'published'>): Candidate {
  const { seq, at, messageId, url, deduplicationId } = entry
  return { seq, at, ...titles(evidence, messageId, `to ${urlText(url, evidence.redaction)}`, deduplicationId) }
}

function titles(
  { name, redaction }: MatcherInput,
  id: string,
  end: string,
  deduplicationId: string | undefined,
): Pick<Candidate, 'title' | 'idTitle'> {
  const safe = (given: string): string => redaction.text(given)
  const known = deduplicationId === undefined ? '' : `, deduplication ID ${quoted(deduplicationId, 60, safe)}`
  return { title: `${name(id)}   ${end}`, idTitle: `${plainText(id)}   ${end}${known}` }
}

/** Searches messages that the queue recognized as duplicates and did not deliver. */
export function deduplicated(received: unknown, pattern: DeduplicatedPattern = {}, options?: MatchOptions): Verdict {
  const matcher = 'toHaveDeduplicated'
  const evidence = evidenceOf(matcher, received, 'queue')
  const { deduplicated: _, ...fields } = publishedFields
  checkPattern(matcher, pattern, fields)
  return search({
    matcher,
    call: callOf(pattern, options),
    evidence,
    things: () => publishedEntries(evidence, pattern),
    test: testOf(publishedFields, { ...pattern, deduplicated: true }),
    candidate: (entry) => publishedCandidate(evidence, entry),
    times: timesOf(matcher, options),
    noun: ['duplicate', 'published messages'],
    hints: (nearest) => [
      ...hintsOf(evidence, pattern, nearest),
      ...duplicateHints(
        evidence,
        nearest.map(({ thing }) => thing).filter((entry) => !entry.deduplicated),
      ),
    ],
    shown: ofMessages,
  })
}

/** Returns hints about messages that look like duplicates but are not. */
function duplicateHints(evidence: MatcherInput, nearest: readonly EntryOf<'published'>[]): string[] {
  const [first] = nearest
  if (first === undefined) return []
  const all = evidence.ofType('published').filter((entry) => !entry.deduplicated)
  for (const entry of nearest) {
    const before = all.findLast((other) => other.seq < entry.seq && isSame(other, entry))
    if (before === undefined) continue
    const gap = formatDuration(entry.at - before.at)
    return [
      `${evidence.name(entry.messageId)} was published ${gap} after #${before.seq}, after the end of the deduplication window (policy.deduplicationWindow of the sandbox, by default 10m). Publish it sooner, or expect two messages.`,
    ]
  }
  const name = evidence.name(first.messageId)
  const { deduplicationId, contentBasedDeduplication } = first
  if (deduplicationId !== undefined) {
    const id = quoted(deduplicationId, 60, (given) => evidence.redaction.text(given))
    return [
      `${name} was the first message with the deduplication ID ${id}. Only later messages with this ID are duplicates.`,
    ]
  }
  if (contentBasedDeduplication !== undefined)
    return [`${name} was the first message with this content. Only later messages with this content are duplicates.`]
  return [
    `${name} was published without deduplication. Publish it with a deduplication ID or with content-based deduplication.`,
  ]
}

function isSame(one: EntryOf<'published'>, other: EntryOf<'published'>): boolean {
  if (other.deduplicationId === undefined && other.contentBasedDeduplication === undefined) return false
  if (other.deduplicationId !== undefined) return one.deduplicationId === other.deduplicationId
  return one.contentBasedDeduplication === true && one.url === other.url && one.body === other.body
}

/** Searches messages in the state that the pattern names. Default: `DELIVERED`. */
export function delivered(received: unknown, pattern: DeliveredPattern = {}, options?: MatchOptions): Verdict {
  const matcher = 'toHaveDelivered'
  const evidence = evidenceOf(matcher, received, 'queue')
  checkPattern(matcher, pattern, lifecycleFields)
  const wanted = { ...pattern, ...defaults(pattern, { state: 'DELIVERED' }) }
  const stories = storySource(evidence, wanted)
  return search({
    matcher,
    call: callOf(pattern, options),
    evidence,
    ...stories,
    test: quietly(testOf(lifecycleFields, wanted), ['state'], pattern),
    candidate: (story) => storyCandidate(evidence, story),
    times: timesOf(matcher, options),
    noun: wanted.state === 'DELIVERED' ? ['delivered message', 'delivered messages'] : ['message', 'messages'],
    hints: (nearest, place) => {
      const waits = waitHints(evidence, stories.things(), nearest)
      return [
        ...hintsOf(evidence, pattern, nearest),
        ...refusalHints(evidence, nearest),
        ...retriesHints(pattern, nearest),
        ...(waits.length > 0 ? waits : scheduleHints(evidence, { ...pattern }, nearest, place)),
      ]
    },
    shown: ofMessages,
  })
}

const { state: stateField, deliveredAt: _, ...lifeFields } = lifecycleFields
const deadLetterFields: FieldsOf<DeadLetterPattern, MessageLifecycle> = {
  ...lifeFields,
  dlqId: textField(({ deadLetter }) => deadLetter?.dlqId),
}

/** Searches messages that went to the dead-letter queue. */
export function deadLettered(received: unknown, pattern: DeadLetterPattern = {}, options?: MatchOptions): Verdict {
  const matcher = 'toHaveDeadLetter'
  const evidence = evidenceOf(matcher, received, 'queue')
  checkPattern(matcher, pattern, deadLetterFields)
  const wanted = { ...pattern, state: 'FAILED' }
  const stories = storySource(evidence, wanted)
  return search({
    matcher,
    call: callOf(pattern, options),
    evidence,
    ...stories,
    test: testOf({ ...deadLetterFields, state: stateField }, wanted),
    candidate: (story) => storyCandidate(evidence, story),
    times: timesOf(matcher, options),
    noun: ['dead letter', 'dead letters'],
    hints: (nearest) => [
      ...hintsOf(evidence, pattern, nearest),
      ...refusalHints(evidence, nearest),
      ...retriesHints(pattern, nearest),
      ...deliveredHints(evidence, nearest),
      ...waitHints(evidence, stories.things(), nearest),
    ],
    shown: ofMessages,
  })
}

/** Searches callbacks and failure callbacks that were delivered. */
export function calledBack(received: unknown, pattern: CallbackPattern = {}, options?: MatchOptions): Verdict {
  const matcher = 'toHaveDeliveredCallback'
  const evidence = evidenceOf(matcher, received, 'queue')
  checkPattern(matcher, pattern, callbackFields)
  const wanted = { ...pattern, ...defaults(pattern, { state: 'DELIVERED' }) }
  // These fields describe the callback itself. All other fields come from the JSON in its body.
  const { to, kind, state } = wanted as CallbackPattern
  const { things, likely } = storySource(evidence, definedFields({ to, kind, state }))
  const callbacks = (from: () => Iterable<MessageLifecycle>) => (): MessageLifecycle[] =>
    [...from()].filter((story) => story.kind !== 'message')
  const all = callbacks(things)
  return search({
    matcher,
    call: callOf(pattern, options),
    evidence,
    things: all,
    likely: callbacks(likely),
    test: quietly(testOf(callbackFields, wanted), ['state'], pattern),
    candidate: (story) => storyCandidate(evidence, story),
    times: timesOf(matcher, options),
    noun: ['callback', 'callbacks'],
    hints: (nearest) => [
      ...hintsOf(evidence, pattern, nearest),
      ...refusalHints(evidence, nearest),
      ...waitHints(evidence, all(), nearest),
    ],
    shown: ofMessages,
  })
}

/** Pattern fields of a callback. Bodies are decoded from base64. Other fields of the JSON are used unchanged. */
const callbackFields: FieldsOf<CallbackPattern, MessageLifecycle> = {
  to: lifecycleFields.to,
  kind: wordField(['callback', 'failure-callback'], (story) => story.kind),
  state: wordField(lifecycleStates, stateOf),
  attempts: lifecycleFields.attempts,
  status: numberField((story) => reportOf(story).status),
  retried: numberField((story) => reportOf(story).retried),
  maxRetries: numberField((story) => reportOf(story).maxRetries),
  sourceMessageId: textField((story) => reportOf(story).sourceMessageId),
  dlqId: optional(textField((story) => reportOf(story).dlqId)),
  url: textField((story) => reportOf(story).url),
  method: textField((story) => reportOf(story).method),
  topicName: optional(textField((story) => reportOf(story).topicName)),
  endpointName: optional(textField((story) => reportOf(story).endpointName)),
  scheduleId: optional(textField((story) => reportOf(story).scheduleId)),
  headers: anyField((story) => reportOf(story).header),
  sourceHeaders: anyField((story) => reportOf(story).sourceHeader),
  notBefore: anyField((story) => reportOf(story).notBefore),
  createdAt: anyField((story) => reportOf(story).createdAt),
  body: optional(bodyField((story) => decoded(reportOf(story).body))),
  sourceBody: optional(bodyField((story) => decoded(reportOf(story).sourceBody))),
}

const reports = new WeakMap<MessageLifecycle, Readonly<Record<string, unknown>>>()

/** Returns the parsed JSON in the body of a callback. The result is cached. */
function reportOf(story: MessageLifecycle): Readonly<Record<string, unknown>> {
  let report = reports.get(story)
  if (report === undefined) {
    const carried = story.published?.body ?? story.last?.body
    const parsed = carried === undefined ? undefined : parsedJson(text(carried))
    report = isPlainObject(parsed) ? parsed : {}
    reports.set(story, report)
  }
  return report
}

function decoded(value: unknown): Bytes | undefined {
  return typeof value === 'string' ? fromBase64(value) : undefined
}

/**
 * Returns two functions: `things` returns all messages of a log, and `likely` returns only messages that can be in the
 * wanted state. `likely` takes less work.
 */
function storySource(
  evidence: MatcherInput,
  wanted: Readonly<Record<string, unknown>>,
): { things: () => Iterable<MessageLifecycle>; likely: () => Iterable<MessageLifecycle> } {
  let stories: readonly MessageLifecycle[] | undefined
  const things = (): readonly MessageLifecycle[] => {
    stories ??= storiesOf(evidence.entries)
    return stories
  }
  const { messageId, state } = wanted
  if (typeof messageId === 'string') return { things, likely: () => storyOf(evidence, messageId) }
  if (state === 'DELIVERED') return { things, likely: () => endedStories(evidence, wanted, 'DELIVERED') }
  return { things, likely: things }
}

function storyOf(evidence: MatcherInput, messageId: string): MessageLifecycle[] {
  const entries = evidence.forMessage(messageId)
  return entries.length === 0 ? [] : [new MessageLifecycle(messageId, entries)]
}

/** Fields that can be read from an attempt alone, without the whole lifecycle of the message. */
const pivotNames = ['to', 'method', 'messageId', 'kind', 'retried'] as const

/** Yields each message that has an attempt in this state. */
function* endedStories(
  evidence: MatcherInput,
  wanted: Readonly<Record<string, unknown>>,
  state: string,
): Generator<MessageLifecycle> {
  const named = pivotNames.filter((name) => name in wanted)
  const test = testOf(attemptFields, Object.fromEntries(named.map((name) => [name, wanted[name]])))
  const seen = new Set<string>()
  for (const entry of evidence.ofType('attempt')) {
    if (!test.fits(entry) || entry.outcome?.state !== state || seen.has(entry.messageId)) continue
    seen.add(entry.messageId)
    yield new MessageLifecycle(entry.messageId, evidence.forMessage(entry.messageId))
  }
}

function storyCandidate(evidence: MatcherInput, story: MessageLifecycle): Candidate {
  const { kind, pointer, url = '', id, published: entry } = story
  const end = `${kind === 'message' ? '' : `${kind.replace('-', ' ')} `}to ${urlText(url, evidence.redaction)}`
  return { seq: pointer.seq, at: pointer.at, ...titles(evidence, id, end, entry?.deduplicationId) }
}

/** Returns the default values of the fields that the pattern omits. */
function defaults<D extends Record<string, unknown>>(pattern: object, given: D): Partial<D> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !Object.hasOwn(pattern, name))) as Partial<D>
}

/** Removes the named fields from a comparison if the pattern omits them and their values do not differ. */
function quietly<T>(test: PatternTest<T>, names: readonly string[], pattern: object): PatternTest<T> {
  const isTold = ({ name, differences }: ComparedField): boolean =>
    Object.hasOwn(pattern, name) || !names.includes(name) || differences.length > 0
  return { ...test, compare: (thing) => test.compare(thing).filter(isTold) }
}
