import { type Bytes, fromBase64, text } from '../src/kernel/bytes.js'
import type { Entry } from '../src/kernel/traffic.js'
import { plainText } from '../src/report/safe-text.js'
import { body, type Field, parseJson, plain } from './fields.js'
import { hintsOf, waitHints } from './hints.js'
import { argumentList, isPlainObject } from './literal.js'
import { type Candidate, checkPattern, compareFields } from './near-misses.js'
import type { CallbackPattern, DeadLetterPattern, DeliveredPattern, PublishedPattern } from './patterns.js'
import { type Evidence, entriesOf, evidenceOf } from './received.js'
import {
  kindOf,
  type MessageStory,
  pointerOf,
  publishedFieldNames,
  publishedFields,
  storiesOf,
  storyFieldNames,
  storyFields,
  storyReadings,
} from './stories.js'
import { type MatchOptions, search, type Verdict } from './verdict.js'

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
