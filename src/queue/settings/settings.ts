import type { HeaderList } from '../../kernel/http.js'
import type { Redaction } from './redacted-fields.js'
import type { RetryExpression } from './retry-expression.js'
import type { Words } from './words.js'

/** The service's own headers or query parameters: lower-case name without prefix → value; of headers to forward, values. */
export type RawSettings = ReadonlyMap<string, Given>

/** Several values where a header that is to be forwarded came several times. */
export type Given = string | readonly string[]

/** As one text, as HTTP has it. */
export function joined(given: Given): string
export function joined(given: Given | undefined): string | undefined
export function joined(given: Given | undefined): string | undefined {
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
  words: Words
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
  redact: Redaction | undefined
  cron: string | undefined
  scheduleId: string | undefined
  queue: string | undefined
  /** Headers of the workflow protocol, by name without prefix: kept for it, not read here. */
  workflow: ReadonlyMap<string, string> | undefined
}
