import type { HeaderList } from '../../kernel/http.js'
import type { QueueDialect } from './queue-dialect.js'
import type { FieldRedaction } from './redacted-fields.js'
import type { RetryExpression } from './retry-expression.js'

/**
 * Options of a publish as text, from headers or query parameters. The keys are names in lower case, without prefix.
 * Only forwarded headers may have several values.
 */
export type RawSettings = ReadonlyMap<string, HeaderValue>

/** Value of a header. If a forwarded header occurs several times, a list of its values. */
export type HeaderValue = string | readonly string[]

/** Joins several values of a header with commas, as HTTP does. */
export function joined(given: HeaderValue): string
export function joined(given: HeaderValue | undefined): string | undefined
export function joined(given: HeaderValue | undefined): string | undefined {
  return typeof given === 'string' ? given : given?.join(', ')
}

export interface FlowControlSettings {
  readonly key: string
  /** New limits of the flow-control key. `undefined` if the publish has none, so that the limits stay unchanged. */
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

/** Settings of a message: the parsed and checked options of its publish. Durations and instants are in milliseconds. */
export interface PublishSettings {
  /** Dialect that the publisher used. */
  words: QueueDialect
  method: string
  /** Content-Type and forwarded headers, in the form in which the destination receives them. */
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
  /**
   * Values of headers of the workflow protocol. The keys are names without prefix. Only the workflow engine reads them.
   */
  workflow: ReadonlyMap<string, string> | undefined
}
