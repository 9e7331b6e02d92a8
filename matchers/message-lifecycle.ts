import type { Entry, EntryOf, MessageKind } from '../src/kernel/traffic-log.js'
import { compare } from './compare-values.js'
import type { ValueComparison } from './comparison-kinds.js'
import {
  anyField,
  attemptsField,
  bodyField,
  booleanField,
  type FieldsOf,
  headersField,
  instantField,
  labelField,
  labelsField,
  methodField,
  numberField,
  optional,
  spanField,
  textField,
  urlField,
  wordField,
} from './pattern-fields.js'
import type { AttemptPattern, DeliveredPattern, LifecycleState, PublishedPattern } from './patterns.js'

/** Returns whether an entry helps to explain messages. Keyspace events and store commands of the test itself do not. */
export const ofMessages = (entry: Entry): boolean =>
  entry.type !== 'keyspace' && (entry.type !== 'command' || entry.via !== 'direct')

/** Lifecycle of one message: the log entries about it. */
export class MessageLifecycle {
  published: EntryOf<'published'> | undefined
  readonly attempts: EntryOf<'attempt'>[] = []
  readonly changes: EntryOf<'message'>[] = []
  deadLetter: EntryOf<'dead-letter'> | undefined
  /** The latest decision of flow control about the message. */
  flow: EntryOf<'flow-control'> | undefined

  constructor(
    readonly id: string,
    entries: readonly Entry[] = [],
  ) {
    for (const entry of entries) this.add(entry)
  }

  add(entry: Entry): void {
    if (entry.type === 'published') {
      // The entry of a duplicate has the message ID of the original message.
      if (!entry.deduplicated) this.published ??= entry
    } else if (entry.type === 'attempt') this.attempts.push(entry)
    else if (entry.type === 'message') this.changes.push(entry)
    else if (entry.type === 'dead-letter') this.deadLetter = entry
    else if (entry.type === 'flow-control') this.flow = entry
  }

  get last(): EntryOf<'attempt'> | undefined {
    return this.attempts.at(-1)
  }

  get kind(): MessageKind {
    return this.published?.kind ?? this.attempts[0]?.kind ?? this.deadLetter?.kind ?? 'message'
  }

  get url(): string | undefined {
    return this.last?.url ?? this.published?.url ?? this.deadLetter?.url
  }

  /** The entry that a failure names for this message: its dead letter or its last attempt, if there is one. */
  get pointer(): Entry {
    return this.deadLetter ?? this.last ?? this.published ?? this.changes.at(-1)!
  }
}

export const lifecycleStates: readonly LifecycleState[] = [
  'CREATED',
  'ACTIVE',
  'RETRY',
  'DELIVERED',
  'FAILED',
  'CANCEL_REQUESTED',
  'CANCELLED',
]

/** Returns the messages of a log, each with its lifecycle, in the order of their first entries. */
export function storiesOf(entries: readonly Entry[]): MessageLifecycle[] {
  const stories = new Map<string, MessageLifecycle>()
  for (const entry of entries) {
    if (!('messageId' in entry)) continue
    let story = stories.get(entry.messageId)
    if (story === undefined) {
      story = new MessageLifecycle(entry.messageId)
      stories.set(entry.messageId, story)
    }
    story.add(entry)
  }
  return [...stories.values()]
}

export function stateOf(story: MessageLifecycle): LifecycleState {
  const state = story.last?.outcome?.state
  if (story.deadLetter !== undefined || state === 'FAILED') return 'FAILED'
  if (state === 'DELIVERED') return 'DELIVERED'
  const cancel = story.changes.findLast((entry) => entry.state === 'CANCELLED' || entry.state === 'CANCEL_REQUESTED')
  if (cancel !== undefined) return cancel.state as LifecycleState
  if (story.last === undefined) return 'CREATED'
  return state ?? 'ACTIVE'
}

export function isOpen(state: LifecycleState): boolean {
  return state === 'CREATED' || state === 'ACTIVE' || state === 'RETRY'
}

/** Returns the time of the next attempt and the reason for the wait, if the log contains them. */
export function waitOf(story: MessageLifecycle): { readonly until: number; readonly reason: string } | undefined {
  const { last, published } = story
  if (last !== undefined) {
    const next = last.outcome?.next
    return next && { until: next.at, reason: next.reason }
  }
  if (published === undefined || published.notBefore <= published.at) return undefined
  return { until: published.notBefore, reason: 'delay as published' }
}

/** Returns why a message without a timer waits: flow control holds it, or a queue is paused. */
export function blockOf(story: MessageLifecycle): string | undefined {
  const { flow } = story
  const last = story.changes.at(-1)
  const since = story.last?.seq ?? 0
  if (flow?.decision === 'held' && flow.seq > since) {
    const holder = flow.flowControlKey === undefined ? 'the plan' : `flow-control key ${flow.flowControlKey}`
    return `${holder} holds it, ${flow.reason}`
  }
  return last?.state === 'WAITING' && last.seq > since ? last.reason : undefined
}

export const messageKinds: readonly MessageKind[] = ['message', 'callback', 'failure-callback']

/** Pattern fields that all message matchers have. Each field reads a `published` entry. */
export const publishedFields: FieldsOf<PublishedPattern, EntryOf<'published'>> = {
  to: urlField((entry) => entry.url),
  body: bodyField((entry) => entry.body),
  headers: headersField((entry) => entry.headers),
  method: methodField((entry) => entry.method),
  retries: numberField((entry) => entry.maxRetries),
  delay: spanField((entry) => Math.max(0, entry.notBefore - entry.at)),
  notBefore: instantField((entry) => entry.notBefore),
  deduplicated: booleanField((entry) => entry.deduplicated),
  deduplicationId: optional(textField((entry) => entry.deduplicationId)),
  urlGroup: optional(textField((entry) => entry.urlGroup)),
  endpointName: optional(textField((entry) => entry.endpointName)),
  queue: optional(textField((entry) => entry.queue)),
  scheduleId: optional(textField((entry) => entry.scheduleId)),
  flowControlKey: optional(textField((entry) => entry.flowControlKey)),
  label: labelField((entry) => entry.labels),
  labels: labelsField((entry) => entry.labels),
  callback: optional(urlField((entry) => entry.callback)),
  failureCallback: optional(urlField((entry) => entry.failureCallback)),
  kind: wordField(messageKinds, (entry) => entry.kind),
  messageId: textField((entry) => entry.messageId),
  sourceMessageId: optional(textField((entry) => entry.sourceMessageId)),
}

/**
 * The fields of `publishedFields`, read from the lifecycle of a message. They are `undefined` if the log no longer
 * contains the `published` entry.
 */
const fromPublished = Object.fromEntries(
  Object.entries(publishedFields).map(([name, field]) => [
    name,
    { ...field, read: ({ published }: MessageLifecycle) => published && field.read(published) },
  ]),
) as FieldsOf<PublishedPattern, MessageLifecycle>

/**
 * Pattern fields of a message, read from its lifecycle. If an attempt exists, the value of the last attempt is used
 * instead of the published value.
 */
export const lifecycleFields: FieldsOf<DeliveredPattern, MessageLifecycle> = {
  ...fromPublished,
  to: urlField((story) => story.url),
  method: methodField(({ last, published }) => last?.method ?? published?.method),
  headers: headersField(({ last, published }) => last?.headers ?? published?.headers ?? []),
  body: bodyField(({ last, published }) => last?.body ?? published?.body),
  kind: wordField(messageKinds, (story) => story.kind),
  messageId: textField((story) => story.id),
  attempts: attemptsField((story) => story.attempts, attempts),
  state: wordField(lifecycleStates, stateOf),
  status: numberField(({ last, deadLetter }) => last?.outcome?.status ?? deadLetter?.status),
  error: optional(textField(({ last, deadLetter }) => last?.outcome?.error ?? deadLetter?.error)),
  retried: numberField(({ last }) => last?.retried),
  response: optional(bodyField(({ last }) => last?.outcome?.body)),
  deliveredAt: instantField(({ last }) => (last?.outcome?.state === 'DELIVERED' ? last.outcome.at : undefined)),
}

/**
 * Compares attempts with an expected number, with expected statuses `[500, 0, 200]`, or with partial attempts `[{
 * status: 500 }, { status: 200 }]`.
 */
function attempts(expected: unknown): ValueComparison {
  const numbers = Array.isArray(expected) && expected.every((item) => typeof item === 'number')
  const compared = (list: readonly EntryOf<'attempt'>[]): unknown => {
    if (!Array.isArray(expected)) return list.length
    return numbers ? list.map((attempt) => attempt.outcome?.status) : list.map(attemptValues)
  }
  const differences: ValueComparison['differences'] = (list) =>
    compare(compared(list as readonly EntryOf<'attempt'>[]), expected)
  return { expected, differences, fits: (list) => differences(list).length === 0 }
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
    delayMs: outcome?.next?.delayMs,
  }
}

/** Pattern fields of one attempt, which a step of a sequence can have. */
export const attemptFields: FieldsOf<AttemptPattern, EntryOf<'attempt'>> = {
  to: urlField((entry) => entry.url),
  method: methodField((entry) => entry.method),
  status: numberField((entry) => entry.outcome?.status),
  state: wordField(
    ['ACTIVE', 'DELIVERED', 'RETRY', 'FAILED', 'CANCELLED'],
    (entry) => entry.outcome?.state ?? 'ACTIVE',
  ),
  error: optional(textField((entry) => entry.outcome?.error)),
  retried: numberField((entry) => entry.retried),
  kind: wordField(messageKinds, (entry) => entry.kind),
  headers: headersField((entry) => entry.headers),
  body: bodyField((entry) => entry.body),
  response: optional(bodyField((entry) => entry.outcome?.body)),
  messageId: textField((entry) => entry.messageId),
  workflowRunId: anyField((entry) => entry.workflowRunId),
}
