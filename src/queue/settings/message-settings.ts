import type { HeaderList } from '../../kernel/http.js'
import type { QueueDialect } from './queue-dialect.js'
import type { FieldRedaction } from './redacted-fields.js'
import type { RetryExpression } from './retry-expression.js'

/**
 * Options from headers and query parameters of the service, by name in lower case and without prefix. Forwarded headers
 * may have several values.
 */
export type RawSettings = ReadonlyMap<string, HeaderValue>

/** Value of a header; several values if a forwarded header occurred several times. */
export type HeaderValue = string | readonly string[]

/** Joins the values of a header into one text, as HTTP does. */
export function joined(given: HeaderValue): string
export function joined(given: HeaderValue | undefined): string | undefined
export function joined(given: HeaderValue | undefined): string | undefined {
  return typeof given === 'string' ? given : given?.join(', ')
}

export interface FlowControlSettings {
  readonly key: string
  /** Limits of the key; `undefined` if the publisher sent only the key. */
  readonly limits?: FlowControlLimits | undefined
}

export interface FlowControlLimits {
  readonly parallelism?: number | undefined
  readonly rate?: number | undefined
  /** Rate period in seconds. */
  readonly period: number
}

export interface CallbackSettings {
  readonly url: string
  readonly settings: PublishSettings
}

/** Settings of a publish, parsed and checked. Durations and instants are in milliseconds. */
export interface PublishSettings {
  /** Dialect of the publisher. */
  words: QueueDialect
  method: string
  /** Content-Type and forwarded headers, as the destination receives them. */
  headers: HeaderList
  timeout: number | undefined
  retries: number
  retryDelay: RetryExpression | undefined
  delay: number
  notBefore: number | undefined
  deduplicationId: string | undefined
  contentBasedDeduplication: boolean
  callback: CallbackSettings | undefined
  failureCallback: CallbackSettings | undefined
  flowControl: FlowControlSettings | undefined
  labels: readonly string[] | undefined
  redact: FieldRedaction | undefined
  cron: string | undefined
  scheduleId: string | undefined
  queue: string | undefined
  /** Headers of the workflow protocol by name without prefix, which the workflow engine reads. */
  workflow: ReadonlyMap<string, string> | undefined
}
