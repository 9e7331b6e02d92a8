import type { HeaderList } from '../../kernel/http.js'
import type { QueueDialect } from './queue-dialect.js'
import type { FieldRedaction } from './redacted-fields.js'
import type { RetryExpression } from './retry-expression.js'

/**
 * The service's own headers or query parameters: lower-case name without prefix → value, or values of forwarded
 * headers.
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
  /** Limits; absent when only the key was sent. */
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
  /** Headers of the workflow protocol by name without prefix; the workflow engine reads them. */
  workflow: ReadonlyMap<string, string> | undefined
}
