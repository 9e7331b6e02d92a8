import { formatDuration, goDuration } from '../../kernel/duration.js'
import { type HeaderList, headerOf, statusText } from '../../kernel/http.js'
import { daysSinceEpoch } from '../../kernel/instant.js'
import { exp } from '../../kernel/portable-math.js'
import type { ResolvedPolicy } from '../../policy/policy.js'
import type { RawOutcome } from '../message/message.js'
import type { AttemptVerdict, RetryWait } from '../message/state.js'
import type { PublishSettings } from '../settings/message-settings.js'
import type { QueueDialect } from '../settings/queue-dialect.js'
import type { RetryExpression } from '../settings/retry-expression.js'

export const oneDay = 86_400_000

export function firstDue({ notBefore, delay }: Pick<PublishSettings, 'notBefore' | 'delay'>, now: number): number {
  return Math.max(now, notBefore ?? now + delay)
}

/**
 * Returns the error text for a response: the network error, the timeout, or the status line such as `503 Service
 * Unavailable`. Returns `undefined` if the delivery succeeded.
 */
export function failureText(reply: Pick<RawOutcome, 'status' | 'error'>): string | undefined {
  if (reply.error !== undefined) return reply.error
  return reply.status >= 200 && reply.status < 300 ? undefined : statusText(reply.status)
}

/** Facts about a failed attempt that decide whether the message is retried. */
export interface FailedAttempt {
  readonly status: number
  readonly headers: HeaderList
  readonly error: string
  /** Whether the message fails now, even if it has retries left. */
  readonly isFinal: boolean
  /** Whether the message's workflow run has ended. */
  readonly isOver: boolean
}

/** Returns what follows a failed attempt: the message is retried, fails, or is dropped. [queue.md 5.2, 5.3] */
export function verdictOn(
  { status, headers, error, isFinal, isOver }: FailedAttempt,
  retried: number,
  { retries, retryDelay, words }: Pick<PublishSettings, 'retries' | 'retryDelay' | 'words'>,
  now: number,
  policy: ResolvedPolicy,
): AttemptVerdict {
  if (isOver) return { is: 'dropped' }
  const isHopeless = isFinal || (status === 489 && forbidsRetries(headers, words))
  if (isHopeless || retried >= retries) return { is: 'failed' }
  const after = status === 0 ? error : String(status)
  return { is: 'retried', wait: retryWait(retried, retryDelay, headers, now, policy, after) }
}

function forbidsRetries(headers: HeaderList, { nonRetryable }: Pick<QueueDialect, 'nonRetryable'>): boolean {
  return nonRetryable.some((name) => /^true$/i.test(headerOf(headers, name) ?? ''))
}

/**
 * Returns the delay before retry number `retried + 1`. A response header that asks for a delay determines the delay.
 * Without such a header, the retry expression of the message determines it, and without an expression, the default
 * backoff. [queue.md 5.2]
 * @param after outcome of the attempt as text, such as `503` or `the timeout`, for the reason of the delay
 */
export function retryWait(
  retried: number,
  expression: RetryExpression | undefined,
  replyHeaders: HeaderList,
  now: number,
  policy: ResolvedPolicy,
  after: string,
): RetryWait {
  const asked = askedDelay(replyHeaders, now)
  if (asked !== undefined && (expression === undefined || policy.retryHeadersOverrideExpression)) {
    if (asked.delay <= policy.maxRetryDelay) {
      return { delay: asked.delay, reason: `${inSeconds(asked.delay)} from the header ${asked.header}, after ${after}` }
    }
    const longest = formatDuration(policy.maxRetryDelay)
    return backoff(retried, policy, `, because ${asked.header} is longer than ${longest}, after ${after}`)
  }
  if (expression === undefined) return backoff(retried, policy, ` after ${after}`)
  const value = expression.evaluate(retried)
  if (!Number.isFinite(value)) {
    return backoff(retried, policy, `, because the retry delay ${expression.text} gave ${value}, after ${after}`)
  }
  const delay = Math.round(Math.min(Math.max(value, 0), policy.maxRetryDelay))
  return { delay, reason: `${inSeconds(delay)} from the retry delay ${expression.text} after ${after}` }
}

function backoff(retried: number, policy: ResolvedPolicy, why: string): RetryWait {
  const delay = defaultBackoff(retried + 1, policy)
  return { delay, reason: `${inSeconds(delay)} from the default back-off${why}` }
}

/**
 * Returns the default delay before retry `n` in milliseconds, where 1 is the first retry. It is min(86400, e^(2.5·n))
 * whole seconds. [queue.md 5.2]
 */
export function defaultBackoff(n: number, policy: ResolvedPolicy): number {
  const seconds = Math.min(policy.maxRetryDelay / 1000, exp(policy.backoffFactor * n))
  return policy.roundBackoff ? Math.floor(seconds) * 1000 : Math.round(seconds * 1000)
}

function inSeconds(milliseconds: number): string {
  return `delay ${milliseconds / 1000} s`
}

/**
 * Response headers that ask for a delay, in the order in which they are read. This package chose the order; public
 * sources leave it open. [queue.md 5.2]
 */
export const retryHeaders = [
  'Retry-After',
  'X-RateLimit-Reset',
  'X-RateLimit-Reset-Requests',
  'X-RateLimit-Reset-Tokens',
] as const
const lowerRetryHeaders = retryHeaders.map((name) => [name, name.toLowerCase()] as const)

/** Returns the delay that the response headers ask for. A value that cannot be parsed is ignored. */
function askedDelay(headers: HeaderList, now: number): { readonly header: string; readonly delay: number } | undefined {
  if (headers.length === 0) return undefined
  for (const [header, lower] of lowerRetryHeaders) {
    const value = headerOf(headers, lower)
    const delay = value === undefined ? undefined : readWait(value.trim(), now)
    if (delay !== undefined) return { header, delay }
  }
  return undefined
}

/**
 * Maximum length in characters of a header value that asks for a delay. No date or useful duration is longer. The limit
 * belongs to this package, not to the service.
 */
export const maxWait = 1000

/**
 * Parses seconds, an RFC 1123 date, or a duration such as `6m5s`. Returns milliseconds from now, or `undefined` for
 * other values.
 */
export function readWait(value: string, now: number): number | undefined {
  if (value.length > maxWait) return undefined
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.round(Number(value) * 1000)
  const duration = goDuration(value)
  if (duration !== undefined) return Math.round(duration)
  const date = readHttpDate(value)
  return date === undefined ? undefined : Math.max(0, date - now)
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Parses `Tue, 01 Jan 2030 00:00:30 GMT` to milliseconds; a numeric time zone is accepted, too. */
function readHttpDate(value: string): number | undefined {
  const match =
    /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) (?:GMT|UTC|([+-])(\d{2})(\d{2}))$/.exec(
      value,
    )
  if (!match) return undefined
  const [day, month, year] = [Number(match[1]), months.indexOf(match[2]!) + 1, Number(match[3])]
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6])]
  if (month === 0 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return undefined
  const offset = match[7] === undefined ? 0 : (match[7] === '-' ? -1 : 1) * (Number(match[8]) * 60 + Number(match[9]))
  return (daysSinceEpoch(year, month, day) * 86_400 + hour * 3600 + (minute - offset) * 60 + second) * 1000
}
