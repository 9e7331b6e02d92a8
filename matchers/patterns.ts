import type { Duration } from '../src/kernel/duration.js'
import type { MessageKind } from '../src/kernel/traffic-log.js'
import type { AsymmetricMatcher } from './literal.js'

/**
 * A value, or an asymmetric matcher. Playwright's type of asymmetric matchers has no methods, so the type is partial.
 */
export type Or<T> = T | Partial<AsymmetricMatcher>
export type Text = Or<string | RegExp>

/** Fields of a published message. All given fields must match. */
export interface PublishedPattern {
  /** URL of the destination; `*` matches any characters. */
  readonly to?: Text
  /**
   * Body: a string is compared with its text, a `Uint8Array` with its bytes, and an object or list with its JSON.
   * Fields that the pattern omits are ignored.
   */
  readonly body?: unknown
  /** Headers for the destination; names are case-insensitive. */
  readonly headers?: Or<Readonly<Record<string, Text | number | undefined>>>
  /** HTTP method of the delivery, in upper case. */
  readonly method?: Text
  /** Maximum number of retries. */
  readonly retries?: Or<number>
  /** Delay of the first attempt: `'90s'`, or milliseconds. 0 for a message without a delay. */
  readonly delay?: Or<Duration>
  /** Instant of the first attempt: ISO text, `Date` or milliseconds since the epoch. */
  readonly notBefore?: Or<string | number | Date>
  /** Whether the message is a duplicate. Default: `false`, so duplicates do not count as published. */
  readonly deduplicated?: Or<boolean>
  /** Deduplication ID. `undefined` matches messages without a deduplication ID. */
  readonly deduplicationId?: Text | undefined
  /** Name of the URL group to which the message was published. `undefined` matches messages to a URL. */
  readonly urlGroup?: Text | undefined
  /** Name of the endpoint in the URL group. `undefined` matches messages without an endpoint name. */
  readonly endpointName?: Text | undefined
  /** Name of the FIFO queue. `undefined` matches messages outside of FIFO queues. */
  readonly queue?: Text | undefined
  /**
   * ID of the schedule that published the message, `scd_…`. `undefined` matches messages that no schedule published.
   */
  readonly scheduleId?: Text | undefined
  /** Flow-control key of the message. `undefined` matches messages without flow control. */
  readonly flowControlKey?: Text | undefined
  /** A label of the message. The message may have more labels. */
  readonly label?: Text | undefined
  /** All labels of the message, in their order. `undefined` matches messages without labels. */
  readonly labels?: Or<readonly Text[]> | undefined
  /** URL of the callback. `*` matches any characters. `undefined` matches messages without a callback. */
  readonly callback?: Text | undefined
  /**
   * URL of the failure callback. `*` matches any characters. `undefined` matches messages without a failure callback.
   */
  readonly failureCallback?: Text | undefined
  /** Kind of the message: `message`, `callback` or `failure-callback`. */
  readonly kind?: Or<MessageKind>
  /** ID of the message, `msg_…`. */
  readonly messageId?: Text
  /** For a callback: ID of the message that it reports about. `undefined` matches messages that are not callbacks. */
  readonly sourceMessageId?: Text | undefined
}

/** Fields of a duplicate. The queue accepted it but did not deliver it. */
export type DeduplicatedPattern = Omit<PublishedPattern, 'deduplicated'>

/** Fields of one attempt in a list of attempts. */
export interface AttemptItem {
  /** Status of the response; 0 without a response. */
  readonly status?: Or<number>
  /** Text of the failure: a network error, a timeout or the status line. `undefined` matches no failure. */
  readonly error?: Text | undefined
  /** State of the message after the attempt; `ACTIVE` while the attempt runs. */
  readonly state?: Or<AttemptState>
  /** Number of retries up to this attempt; 0 for the first attempt. */
  readonly retried?: Or<number>
  /** Virtual time of the attempt, in milliseconds since the Unix epoch. */
  readonly at?: Or<number>
  /** What happened that the queue could not see: `the handler ran, its response was lost`. */
  readonly note?: Text | undefined
  /** Milliseconds until the next attempt. */
  readonly delayMs?: Or<number> | undefined
}

/** State of a message: the state after its last attempt, or `CREATED` before the first attempt. */
export type LifecycleState = 'CREATED' | 'ACTIVE' | 'RETRY' | 'DELIVERED' | 'FAILED' | 'CANCEL_REQUESTED' | 'CANCELLED'

export type AttemptState = 'ACTIVE' | 'DELIVERED' | 'RETRY' | 'FAILED' | 'CANCELLED'

/** Fields of one attempt. */
export interface AttemptPattern {
  /** URL of the destination; `*` matches any characters. */
  readonly to?: Text
  /** HTTP method of the delivery, in upper case. */
  readonly method?: Text
  /** Status of the response; 0 without a response. */
  readonly status?: Or<number>
  /** State of the message after the attempt; `ACTIVE` while the attempt runs. */
  readonly state?: Or<AttemptState>
  /** Text of the failure: a network error, a timeout or the status line. `undefined` matches no failure. */
  readonly error?: Text | undefined
  /** Number of retries up to this attempt; 0 for the first attempt. */
  readonly retried?: Or<number>
  /** Kind of the message: `message`, `callback` or `failure-callback`. */
  readonly kind?: Or<MessageKind>
  /** Headers of the delivery; names are case-insensitive. */
  readonly headers?: Or<Readonly<Record<string, Text | number | undefined>>>
  /**
   * Body: a string is compared with its text, a `Uint8Array` with its bytes, and an object or list with its JSON.
   * Fields that the pattern omits are ignored.
   */
  readonly body?: unknown
  /** Body of the response. */
  readonly response?: unknown
  /** ID of the delivered message, `msg_…`. */
  readonly messageId?: Text
  /** ID of the workflow run that the attempt belongs to, `wfr_…`. `undefined` matches attempts outside of workflows. */
  readonly workflowRunId?: Text | undefined
}

/** Fields of a message and of its attempts. `headers` and `body` are the headers and the body of the last attempt. */
export interface DeliveredPattern extends PublishedPattern {
  /**
   * Attempts of the message: their number, their statuses `[500, 0, 200]` (0 without a response), or partial attempts
   * `[{ status: 500 }]`.
   */
  readonly attempts?: Or<number | readonly number[] | readonly Or<AttemptItem>[]>
  /** State of the message. Default: `DELIVERED`. */
  readonly state?: Or<LifecycleState>
  /** Status of the last attempt. */
  readonly status?: Or<number>
  /** Failure of the last attempt: a network error, a timeout or the status line. `undefined` matches no failure. */
  readonly error?: Text | undefined
  /** Number of retries up to the last attempt; 0 if no attempt was a retry. */
  readonly retried?: Or<number>
  /** Body of the last response. */
  readonly response?: unknown
  /** Instant at which the message was delivered: ISO text, `Date` or milliseconds since the epoch. */
  readonly deliveredAt?: Or<string | number | Date>
}

/** Fields that a dead letter must have. */
export interface DeadLetterPattern extends Omit<DeliveredPattern, 'state' | 'deliveredAt'> {
  /** ID of the dead letter in the form `<milliseconds>-<n>`. */
  readonly dlqId?: Text
}

/**
 * Fields of a callback. Some describe the callback itself. The others come from the JSON in its body, with `body` and
 * `sourceBody` decoded from base64.
 */
export interface CallbackPattern {
  /** URL of the callback; `*` matches any characters. */
  readonly to?: Text
  /** Kind: `callback` reports one attempt, `failure-callback` the final failure. Default: both. */
  readonly kind?: Or<'callback' | 'failure-callback'>
  /** State of the callback. Default: `DELIVERED`. */
  readonly state?: Or<LifecycleState>
  /** Attempts of the callback itself. */
  readonly attempts?: DeliveredPattern['attempts']
  /**
   * Status with which the destination of the source message responded. The source message is the message that the
   * callback reports about.
   */
  readonly status?: Or<number>
  /** Number of retries of the source message, up to the attempt that the callback reports. */
  readonly retried?: Or<number>
  /** Maximum number of retries of the source message. */
  readonly maxRetries?: Or<number>
  /** Body of the response from the source message's destination. */
  readonly body?: unknown
  /** Body of the source message. */
  readonly sourceBody?: unknown
  /** Headers of the response from the source message's destination: `{ 'Content-Type': ['text/plain'] }`. */
  readonly headers?: unknown
  /** Headers of the source message: `{ 'Content-Type': ['text/plain'] }`. */
  readonly sourceHeaders?: unknown
  /** ID of the source message, `msg_…`. */
  readonly sourceMessageId?: Text
  /** For a failure callback: ID of the dead letter, `<milliseconds>-<n>`. `undefined` matches other callbacks. */
  readonly dlqId?: Text | undefined
  /** URL of the source message's destination. In this field, `*` is an ordinary character. */
  readonly url?: Text
  /** HTTP method of the source message, in upper case. */
  readonly method?: Text
  /** Name of the URL group to which the source message was published. `undefined` matches if there was none. */
  readonly topicName?: Text | undefined
  /** Name of the endpoint in that URL group. `undefined` matches if the endpoint has no name. */
  readonly endpointName?: Text | undefined
  /** ID of the schedule that published the source message, `scd_…`. `undefined` matches if no schedule published it. */
  readonly scheduleId?: Text | undefined
  /**
   * Earliest time of the source message's first attempt, in milliseconds since the epoch. It is a string by default,
   * and can be a number with `policy.callbackTimestampType`.
   */
  readonly notBefore?: unknown
  /**
   * Time at which the source message was created, in milliseconds since the epoch. It is a string by default, and can
   * be a number with `policy.callbackTimestampType`.
   */
  readonly createdAt?: unknown
}
