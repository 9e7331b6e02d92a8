import type { Duration } from '../src/kernel/duration.js'
import type { MessageKind } from '../src/kernel/traffic-log.js'
import type { AsymmetricMatcher } from './literal.js'

/** A value or an asymmetric matcher. It is partial, because the type of Playwright's matchers has no methods. */
export type Or<T> = T | Partial<AsymmetricMatcher>
export type Text = Or<string | RegExp>

/** Fields of a published message. All given fields must match. */
export interface PublishedPattern {
  /** URL of the destination; `*` matches any characters. */
  readonly to?: Text
  /** Body: a text is compared as text, an object or list partially with the parsed JSON, bytes with bytes. */
  readonly body?: unknown
  /** Headers for the destination; names are case-insensitive. */
  readonly headers?: Or<Readonly<Record<string, Text | number | undefined>>>
  readonly method?: Text
  readonly retries?: Or<number>
  readonly delay?: Or<Duration>
  /** Instant of the first attempt: ISO text, `Date` or milliseconds since the epoch. */
  readonly notBefore?: Or<string | number | Date>
  /** Whether it is a duplicate. Default: `false`, so duplicates do not count as published. */
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

/** Fields of a duplicate, which was not delivered. */
export type DeduplicatedPattern = Omit<PublishedPattern, 'deduplicated'>

/** Fields of one attempt in a list of attempts. */
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

/** State of a message: that of its last attempt, or `CREATED` before the first attempt. */
export type LifecycleState = 'CREATED' | 'ACTIVE' | 'RETRY' | 'DELIVERED' | 'FAILED' | 'CANCEL_REQUESTED' | 'CANCELLED'

export type AttemptState = 'ACTIVE' | 'DELIVERED' | 'RETRY' | 'FAILED' | 'CANCELLED'

/** Fields of one attempt. */
export interface AttemptPattern {
  readonly to?: Text
  readonly method?: Text
  /** Status of the response; 0 without a response. */
  readonly status?: Or<number>
  readonly state?: Or<AttemptState>
  readonly error?: Text | undefined
  readonly retried?: Or<number>
  readonly kind?: Or<MessageKind>
  readonly headers?: Or<Readonly<Record<string, Text | number | undefined>>>
  readonly body?: unknown
  /** Body of the response. */
  readonly response?: unknown
  readonly messageId?: Text
  readonly workflowRunId?: Text | undefined
}

/** Fields of a message and its attempts. `headers` and `body` are those of the last attempt. */
export interface DeliveredPattern extends PublishedPattern {
  /** Number of attempts, their statuses `[500, 0, 200]` (0 without a response), or partial attempts. */
  readonly attempts?: Or<number | readonly number[] | readonly Or<AttemptItem>[]>
  /** State of the message. Default: `DELIVERED`. */
  readonly state?: Or<LifecycleState>
  /** Status of the last attempt. */
  readonly status?: Or<number>
  readonly error?: Text | undefined
  readonly retried?: Or<number>
  /** Body of the last response. */
  readonly response?: unknown
  /** Instant of the delivery: ISO text, `Date` or milliseconds since the epoch. */
  readonly deliveredAt?: Or<string | number | Date>
}

/** Fields that a dead letter must have. */
export interface DeadLetterPattern extends Omit<DeliveredPattern, 'state' | 'deliveredAt'> {
  readonly dlqId?: Text
}

/** Fields of a callback: of its message, and of the JSON in its body, whose bodies are decoded from base64. */
export interface CallbackPattern {
  readonly to?: Text
  readonly kind?: Or<'callback' | 'failure-callback'>
  /** State of the callback. Default: `DELIVERED`. */
  readonly state?: Or<LifecycleState>
  /** Attempts of the callback itself. */
  readonly attempts?: DeliveredPattern['attempts']
  /** Response status of the source message's destination. */
  readonly status?: Or<number>
  readonly retried?: Or<number>
  readonly maxRetries?: Or<number>
  /** Response body of the source message's destination. */
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
