import type { Entry, EntryOf, MessageKind } from '../src/kernel/traffic.js'
import { address, body, type Field, headers, moment, plain, span } from './fields.js'
import type { Reading } from './near-misses.js'

/** Everything the log tells about one message. */
export interface MessageStory {
  readonly id: string
  published: EntryOf<'published'> | undefined
  readonly attempts: EntryOf<'attempt'>[]
  readonly changes: EntryOf<'message'>[]
  deadLetter: EntryOf<'dead-letter'> | undefined
}

export type StoryState = 'CREATED' | 'ACTIVE' | 'RETRY' | 'DELIVERED' | 'FAILED' | 'CANCEL_REQUESTED' | 'CANCELLED'

/** The messages of a log, in the order in which they first appear. */
export function storiesOf(entries: readonly Entry[]): MessageStory[] {
  const stories = new Map<string, MessageStory>()
  for (const entry of entries) {
    if (!('messageId' in entry)) continue
    let story = stories.get(entry.messageId)
    if (story === undefined) {
      story = { id: entry.messageId, published: undefined, attempts: [], changes: [], deadLetter: undefined }
      stories.set(entry.messageId, story)
    }
    if (entry.type === 'published') {
      // A duplicate is accepted under the id of the first.
      if (!entry.deduplicated) story.published ??= entry
    } else if (entry.type === 'attempt') story.attempts.push(entry)
    else if (entry.type === 'message') story.changes.push(entry)
    else if (entry.type === 'dead-letter') story.deadLetter = entry
  }
  return [...stories.values()]
}

export function stateOf(story: MessageStory): StoryState {
  const last = story.attempts.at(-1)
  if (story.deadLetter !== undefined || last?.outcome?.state === 'FAILED') return 'FAILED'
  if (last?.outcome?.state === 'DELIVERED') return 'DELIVERED'
  const cancel = story.changes.findLast((entry) => entry.state === 'CANCELLED' || entry.state === 'CANCEL_REQUESTED')
  if (cancel !== undefined) return cancel.state as StoryState
  if (last === undefined) return 'CREATED'
  return last.outcome?.state ?? 'ACTIVE'
}

export function isOpen(state: StoryState): boolean {
  return state === 'CREATED' || state === 'ACTIVE' || state === 'RETRY'
}

/** When the next attempt is due and why it waits, as far as the log tells. */
export function waitOf(story: MessageStory): { readonly until: number; readonly reason: string } | undefined {
  const last = story.attempts.at(-1)
  if (last !== undefined) {
    const next = last.outcome?.next
    return next && { until: next.at, reason: next.reason }
  }
  const { published } = story
  if (published === undefined || published.notBefore <= published.at) return undefined
  return { until: published.notBefore, reason: 'delay as published' }
}

/** What blocks a message that no time will release: a place in a wait list, a pause. */
export function blockOf(story: MessageStory): string | undefined {
  const last = story.changes.at(-1)
  const since = story.attempts.at(-1)?.seq ?? 0
  return last?.state === 'WAITING' && last.seq > since ? last.reason : undefined
}

/** Fields that every matcher of messages knows, read from the entry that accepted the message. */
export function publishedFields(entry: EntryOf<'published'>): Record<string, Field> {
  return {
    to: address(entry.url),
    method: plain(entry.method),
    headers: headers(() => entry.headers),
    body: body(entry.body),
    retries: plain(entry.maxRetries),
    delay: span(Math.max(0, entry.notBefore - entry.at)),
    notBefore: moment(entry.notBefore),
    deduplicated: plain(entry.deduplicated),
    urlGroup: plain(entry.urlGroup),
    endpointName: plain(entry.endpointName),
    queue: plain(entry.queue),
    scheduleId: plain(entry.scheduleId),
    flowControlKey: plain(entry.flowControlKey),
    label: label(entry.labels),
    labels: plain(entry.labels === undefined ? undefined : [...entry.labels]),
    callback: address(entry.callback),
    failureCallback: address(entry.failureCallback),
    kind: plain(entry.kind),
    messageId: plain(entry.messageId),
    sourceMessageId: plain(entry.sourceMessageId),
  }
}

export const publishedFieldNames: readonly string[] = [
  'to',
  'body',
  'headers',
  'method',
  'retries',
  'delay',
  'notBefore',
  'deduplicated',
  'urlGroup',
  'endpointName',
  'queue',
  'scheduleId',
  'flowControlKey',
  'label',
  'labels',
  'callback',
  'failureCallback',
  'kind',
  'messageId',
  'sourceMessageId',
]

/** Fields whose expected value is a span or a point in time. */
export const storyReadings: Readonly<Record<string, Reading>> = {
  delay: 'span',
  notBefore: 'moment',
  deliveredAt: 'moment',
}

/** One of the labels fits. */
export function label(labels: readonly string[] | undefined): Field {
  return (expected) => {
    const misses = (labels ?? []).map((one) => plain(one)(expected))
    return misses.find((differences) => differences.length === 0) ?? plain(labels?.join(', '))(expected)
  }
}

/** Fields of a message's whole life. What a destination saw goes before what was published. */
export function storyFields(story: MessageStory): Record<string, Field> {
  const last = story.attempts.at(-1)
  const { outcome } = last ?? {}
  const base = story.published === undefined ? missingFields() : publishedFields(story.published)
  return {
    ...base,
    to: address(last?.url ?? story.published?.url ?? story.deadLetter?.url),
    method: plain(last?.method ?? story.published?.method),
    headers: headers(() => last?.headers ?? story.published?.headers ?? []),
    body: body(last?.body ?? story.published?.body),
    kind: plain(kindOf(story)),
    messageId: plain(story.id),
    attempts: attempts(story.attempts),
    state: plain(stateOf(story)),
    status: plain(outcome?.status ?? story.deadLetter?.status),
    error: plain(outcome?.error ?? story.deadLetter?.error),
    retried: plain(last?.retried),
    response: body(outcome?.body),
    deliveredAt: moment(outcome?.state === 'DELIVERED' ? outcome.at : undefined),
  }
}

export const storyFieldNames: readonly string[] = [
  ...publishedFieldNames,
  'attempts',
  'state',
  'status',
  'error',
  'retried',
  'response',
  'deliveredAt',
]

export function kindOf(story: MessageStory): MessageKind {
  return story.published?.kind ?? story.attempts[0]?.kind ?? story.deadLetter?.kind ?? 'message'
}

/** The log was cleared after the message was published. */
function missingFields(): Record<string, Field> {
  return Object.fromEntries(publishedFieldNames.map((name) => [name, plain(undefined)]))
}

/** `3`, `[500, 0, 200]`, or a list of partial attempts `[{ status: 500 }, { status: 200 }]`. */
function attempts(list: readonly EntryOf<'attempt'>[]): Field {
  return (expected) => {
    if (!Array.isArray(expected)) return plain(list.length)(expected)
    if (expected.every((item) => typeof item === 'number')) {
      return plain(list.map((attempt) => attempt.outcome?.status))(expected)
    }
    return plain(list.map(attemptValues))(expected)
  }
}

function attemptValues(attempt: EntryOf<'attempt'>): Record<string, unknown> {
  const { outcome } = attempt
  return {
    status: outcome?.status,
    error: outcome?.error,
    state: outcome?.state ?? 'ACTIVE',
    retried: attempt.retried,
    at: attempt.at,
    note: outcome?.note,
    delay: outcome?.next?.delay,
  }
}

/** The message's entry that a report should point at: the last thing that happened to it. */
export function pointerOf(story: MessageStory): Entry {
  return story.deadLetter ?? story.attempts.at(-1) ?? story.published ?? story.changes.at(-1)!
}
