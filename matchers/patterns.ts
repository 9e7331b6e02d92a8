import type { Duration } from '../src/kernel/duration.js'
import type { MessageKind } from '../src/kernel/traffic-log.js'
import type { AsymmetricMatcher } from './literal.js'

/** Partial: those of Playwright have a type that promises no method at all. */
export type Or<T> = T | Partial<AsymmetricMatcher>
export type Text = Or<string | RegExp>

/** Fields of a message as it was published; all that are given must fit. */
export interface PublishedPattern {
  /** The destination's url; `*` stands for any characters. */
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
  readonly deduplicationId?: Text | undefined
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

/** Fields of a duplicate: of the message that was not delivered again. */
export type DeduplicatedPattern = Omit<PublishedPattern, 'deduplicated'>

/** One attempt in a list of them. */
export interface AttemptItem {
  readonly status?: Or<number>
  readonly error?: Text | undefined
  readonly state?: Or<AttemptState>
  readonly retried?: Or<number>
  /** Milliseconds since the Unix epoch. */
  readonly at?: Or<number>
  readonly note?: Text | undefined
  /** Milliseconds until the next attempt. */
  readonly delayMs?: Or<number> | undefined
}

/** Where a message stands: the state of its last attempt, `CREATED` before the first. */
export type LifecycleState = 'CREATED' | 'ACTIVE' | 'RETRY' | 'DELIVERED' | 'FAILED' | 'CANCEL_REQUESTED' | 'CANCELLED'

export type AttemptState = 'ACTIVE' | 'DELIVERED' | 'RETRY' | 'FAILED' | 'CANCELLED'

/** Fields of one attempt. */
export interface AttemptPattern {
  readonly to?: Text
  readonly method?: Text
  /** 0 without an answer. */
  readonly status?: Or<number>
  readonly state?: Or<AttemptState>
  readonly error?: Text | undefined
  readonly retried?: Or<number>
  readonly kind?: Or<MessageKind>
  readonly headers?: Or<Readonly<Record<string, Text | number | undefined>>>
  readonly body?: unknown
  /** Body of the answer. */
  readonly response?: unknown
  readonly messageId?: Text
  readonly workflowRunId?: Text | undefined
}

/** Fields of a message's whole life. `headers` and `body` are those of the last attempt. */
export interface DeliveredPattern extends PublishedPattern {
  /** How many there were, their statuses `[500, 0, 200]` (0 without an answer), or partial attempts. */
  readonly attempts?: Or<number | readonly number[] | readonly Or<AttemptItem>[]>
  /** Default `DELIVERED`. */
  readonly state?: Or<LifecycleState>
  /** Status of the last attempt. */
  readonly status?: Or<number>
  readonly error?: Text | undefined
  readonly retried?: Or<number>
  /** Body of the last answer. */
  readonly response?: unknown
  /** ISO text, `Date` or milliseconds. */
  readonly deliveredAt?: Or<string | number | Date>
}

/** Fields that a dead letter must have. */
export interface DeadLetterPattern extends Omit<DeliveredPattern, 'state' | 'deliveredAt'> {
  readonly dlqId?: Text
}

/** Fields of a callback: of the message that carried it and of the JSON in its body, decoded from base64. */
export interface CallbackPattern {
  readonly to?: Text
  readonly kind?: Or<'callback' | 'failure-callback'>
  /** Default `DELIVERED`: the callback arrived. */
  readonly state?: Or<LifecycleState>
  /** Attempts of the callback itself. */
  readonly attempts?: DeliveredPattern['attempts']
  /** Status that the destination of the source message answered. */
  readonly status?: Or<number>
  readonly retried?: Or<number>
  readonly maxRetries?: Or<number>
  /** What the destination answered. */
  readonly body?: unknown
  readonly sourceBody?: unknown
  readonly headers?: unknown
  readonly sourceHeaders?: unknown
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
