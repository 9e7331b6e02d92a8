import type { Duration } from '../kernel/duration.js'

/** Header names to values, as a test writes them. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[]>>

/** What a destination does with one delivery; plain data, so that scripts can be stored, sent and shrunk. */
export type Step =
  | { readonly kind: 'reply'; readonly status: number; readonly headers?: HeaderRecord; readonly body?: string }
  | { readonly kind: 'non-retryable'; readonly body?: string }
  | { readonly kind: 'pass' }
  | { readonly kind: 'network'; readonly error: NetworkError }
  | { readonly kind: 'hang'; readonly for?: Duration }
  | { readonly kind: 'lost-ack' }
  | { readonly kind: 'late'; readonly by?: Duration }
  | { readonly kind: 'delay'; readonly wait: Duration; readonly then?: Step }

export type NetworkError = 'reset' | 'refused' | 'unresolved' | 'certificate' | 'closed'

/** What the log says about each network error. The service's own texts are not public. [queue.md 4.3, choice] */
export const networkErrors: Readonly<Record<NetworkError, string>> = {
  reset: 'read: connection reset by peer',
  refused: 'dial tcp: connect: connection refused',
  unresolved: 'dial tcp: lookup: no such host',
  certificate: 'tls: failed to verify certificate',
  closed: 'unexpected EOF',
}

export interface ReplyOptions {
  readonly headers?: HeaderRecord
  /** A text, or a value that becomes JSON. */
  readonly body?: unknown
}

/** Answers with this status; the handler underneath does not run. */
export function status(code: number, options: ReplyOptions = {}): Step {
  if (!Number.isInteger(code) || code < 200 || code > 599) {
    throw new RangeError(
      `status(${code}): an answer has a status from 200 to 599. For no answer at all use reset(), hang() or timeout().`,
    )
  }
  const { headers, body } = options
  if (body === undefined)
    return headers === undefined ? { kind: 'reply', status: code } : { kind: 'reply', status: code, headers }
  if (typeof body === 'string') return { kind: 'reply', status: code, ...(headers && { headers }), body }
  return {
    kind: 'reply',
    status: code,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}

/** Lets the handler underneath answer; 200 when there is none. */
export function ok(): Step {
  return { kind: 'pass' }
}

/** `status()` under the name that reads better with a body. */
export function reply(
  body: unknown,
  options: { readonly status?: number; readonly headers?: HeaderRecord } = {},
): Step {
  return status(options.status ?? 200, { body, ...(options.headers && { headers: options.headers }) })
}

/** 429 or another status with a `Retry-After` header. */
export function retryAfter(wait: number | string, code = 429): Step {
  return status(code, { headers: { 'retry-after': String(wait) } })
}

/** 489 with the header that forbids retries. */
export function nonRetryable(body?: string): Step {
  return body === undefined ? { kind: 'non-retryable' } : { kind: 'non-retryable', body }
}

/** The connection breaks before the handler runs. */
export function reset(): Step {
  return { kind: 'network', error: 'reset' }
}

/** Nobody listens. */
export function refused(): Step {
  return { kind: 'network', error: 'refused' }
}

/** The host name does not resolve. */
export function unresolved(): Step {
  return { kind: 'network', error: 'unresolved' }
}

/** The certificate is not valid. */
export function badCertificate(): Step {
  return { kind: 'network', error: 'certificate' }
}

/** No answer until the attempt times out; the handler does not run. */
export function timeout(): Step {
  return { kind: 'hang' }
}

/** No answer for this long, then the connection closes; without a length until the attempt times out. */
export function hang(length?: Duration): Step {
  return length === undefined ? { kind: 'hang' } : { kind: 'hang', for: length }
}

/** The handler runs, its answer is lost: the work was done, the queue does not know. */
export function lostAck(): Step {
  return { kind: 'lost-ack' }
}

/** The handler runs and answers, but only after the attempt has timed out (by 1 s unless given). */
export function lateAnswer(by?: Duration): Step {
  return by === undefined ? { kind: 'late' } : { kind: 'late', by }
}

/** Waits in virtual time, then does the step; without one lets the handler underneath answer. */
export function delay(wait: Duration, then?: Step): Step {
  return then === undefined ? { kind: 'delay', wait } : { kind: 'delay', wait, then }
}
