import type { HeaderList } from '../../kernel/http.js'
import type { QueueDialect } from './queue-dialect.js'
import type { FieldRedaction } from './redacted-fields.js'
import type { RetryExpression } from './retry-expression.js'

/** The service's own headers or query parameters: lower-case name without prefix → value; of headers to forward, values. */
export type RawSettings = ReadonlyMap<string, HeaderValue>

/** Several values where a header that is to be forwarded came several times. */
export type HeaderValue = string | readonly string[]

/** As one text, as HTTP has it. */
export function joined(given: HeaderValue): string
export function joined(given: HeaderValue | undefined): string | undefined
export function joined(given: HeaderValue | undefined): string | undefined {
  return typeof given === 'string' ? given : given?.join(', ')
}

export interface FlowControlSettings {
  readonly key: string
  /** Absent when only the key was sent. */
  readonly limits?: FlowControlLimits | undefined
}

export interface FlowControlLimits {
  readonly parallelism?: number | undefined
  readonly rate?: number | undefined
  /** Seconds. */
  readonly period: number
}

export interface CallbackSettings {
  readonly url: string
  readonly settings: PublishSettings
}

/** Everything a publish says about its messages, read and checked. Durations and instants in milliseconds. */
export interface PublishSettings {
  /** The words of whoever published it. */
  words: QueueDialect
  method: string
  /** Content-Type and forwarded headers, as the destination gets them. */
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
  /** Headers of the workflow protocol, by name without prefix: kept for it, not read here. */
  workflow: ReadonlyMap<string, string> | undefined
}
