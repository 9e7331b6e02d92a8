import { type Duration, milliseconds } from '../kernel/duration.js'
import type { DeliveryFault, Fault, FaultOf, HeaderRecord, RateLimitedFault, RetryAfter, StatusFault } from './fault.js'

// Faults as one writes them: durations as texts, bodies as values. What comes out is plain data.

export interface ReplyOptions {
  readonly headers?: HeaderRecord
  /** A text, or a value that becomes JSON. */
  readonly body?: unknown
}

/** Answers with this status; the work underneath is not done. */
export function status(code: number, options: ReplyOptions = {}): StatusFault {
  if (!Number.isInteger(code) || code < 200 || code > 599) {
    throw new RangeError(
      `status(${code}): an answer has a status from 200 to 599. For no answer at all use reset(), hang() or timeout().`,
    )
  }
  const { headers, body } = options
  if (body === undefined) return { kind: 'status', status: code, ...(headers && { headers }) }
  if (typeof body === 'string') return { kind: 'status', status: code, ...(headers && { headers }), body }
  return {
    kind: 'status',
    status: code,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}

/** Lets it through: what lies underneath answers, and rules that were added later are not asked. */
export function ok(): FaultOf<'pass'> {
  return { kind: 'pass' }
}

/** `status()` under the name that reads better with a body. */
export function reply(
  body: unknown,
  options: { readonly status?: number; readonly headers?: HeaderRecord } = {},
): StatusFault {
  return status(options.status ?? 200, { body, ...(options.headers && { headers: options.headers }) })
}

/** 429 or another status with a `Retry-After` header. */
export function retryAfter(wait: number | string, code = 429): StatusFault {
  return status(code, { headers: { 'retry-after': String(wait) } })
}

/**
 * 429 with the headers of one of the three limits, and `Retry-After` as seconds, as an HTTP date or not at all.
 * @example rateLimited('burst', '2s'); rateLimited('daily', '1h', 'date'); rateLimited('chat')
 */
export function rateLimited(
  limit: RateLimitedFault['limit'] = 'burst',
  wait?: Duration,
  form: RetryAfter['form'] = 'seconds',
): RateLimitedFault {
  if (wait === undefined) return { kind: 'rate-limited', limit }
  return { kind: 'rate-limited', limit, retryAfter: { form, waitMs: milliseconds(wait) } }
}

/** 489 with the header that forbids retries. */
export function nonRetryable(body?: string): FaultOf<'non-retryable'> {
  return body === undefined ? { kind: 'non-retryable' } : { kind: 'non-retryable', body }
}

/** An error reply of a command of the store: `errorReply('OOM command not allowed')`. */
export function errorReply(error: string): FaultOf<'reply'> {
  return { kind: 'reply', error }
}

/** The connection breaks: before the work, or after it with `phase: 'after'`. */
export function reset(): FaultOf<'reset'> {
  return { kind: 'reset' }
}

/** Nobody listens. */
export function refused(): FaultOf<'refused'> {
  return { kind: 'refused' }
}

/** The host name does not resolve. */
export function unresolved(): FaultOf<'unresolved'> {
  return { kind: 'unresolved' }
}

/** The certificate is not valid. */
export function badCertificate(): FaultOf<'certificate'> {
  return { kind: 'certificate' }
}

/** No answer until the one who waits gives up; the work is not done. */
export function timeout(): FaultOf<'hang'> {
  return { kind: 'hang' }
}

/** No answer for this long, then the connection closes; without a length until the one who waits gives up. */
export function hang(length?: Duration): FaultOf<'hang'> {
  return length === undefined ? { kind: 'hang' } : { kind: 'hang', forMs: milliseconds(length) }
}

/** The headers arrive, the body never does. */
export function halfOpen(length?: Duration): FaultOf<'half-open'> {
  return length === undefined ? { kind: 'half-open' } : { kind: 'half-open', forMs: milliseconds(length) }
}

/** The connection breaks after so many bytes of the body. */
export function truncate(afterBytes: number): FaultOf<'truncate'> {
  return { kind: 'truncate', afterBytes }
}

/** The body arrives whole and is no JSON. */
export function corruptJson(): FaultOf<'corrupt-json'> {
  return { kind: 'corrupt-json' }
}

/** The body trickles. */
export function slowBody(bytesPerSecond: number): FaultOf<'slow-body'> {
  return { kind: 'slow-body', bytesPerSecond }
}

/** The answer says that it is something else, such as `text/html`. */
export function contentType(type: string): FaultOf<'content-type'> {
  return { kind: 'content-type', type }
}

/** The work is done, its answer is lost: whoever asked does not know. */
export function lostAck(): FaultOf<'lost-ack'> {
  return { kind: 'lost-ack' }
}

/** The work is done, its answer comes too late: by so much after the time-out of a delivery (1 s unless given). */
export function lateAnswer(by?: Duration): FaultOf<'late-answer'> {
  return by === undefined ? { kind: 'late-answer' } : { kind: 'late-answer', byMs: milliseconds(by) }
}

/** Waits in virtual time: always so long, give or take a jitter, or anything from one length to another. */
export function latency(
  wait: Duration | { readonly min: Duration; readonly max: Duration },
  jitter?: Duration,
): FaultOf<'latency'> {
  if (typeof wait === 'object' && wait !== null) {
    return { kind: 'latency', minMs: milliseconds(wait.min), maxMs: milliseconds(wait.max) }
  }
  const waitMs = milliseconds(wait)
  return jitter === undefined
    ? { kind: 'latency', waitMs }
    : { kind: 'latency', waitMs, jitterMs: milliseconds(jitter) }
}

/** A rule: the attempt begins so much later. A step of a script: waits within the attempt, then does `then`. */
export function delay(wait: Duration, then?: DeliveryFault): FaultOf<'delay'> {
  const waitMs = milliseconds(wait)
  return then === undefined ? { kind: 'delay', waitMs } : { kind: 'delay', waitMs, then }
}

/** It happens again, although once was enough: after the first time, or at the same instant. */
export function duplicate(
  options: { readonly copies?: number; readonly after?: Duration; readonly concurrent?: boolean } = {},
): FaultOf<'duplicate'> {
  const { copies, after, concurrent } = options
  return {
    kind: 'duplicate',
    ...(copies !== undefined && { copies }),
    ...(after !== undefined && { afterMs: milliseconds(after) }),
    ...(concurrent !== undefined && { concurrent }),
  }
}

/** A delivery is held until a later one has gone, at most for so long. */
export function reorder(within: Duration): FaultOf<'reorder'> {
  return { kind: 'reorder', withinMs: milliseconds(within) }
}

/** It vanishes: no attempt, no retry, no dead letter. */
export function drop(): FaultOf<'drop'> {
  return { kind: 'drop' }
}

/** A signature with one thing wrong: a name out of `signatureFlaws`, or `rotated` for a key that is not current yet. */
export function badSignature(flaw: string): FaultOf<'signature'> {
  return { kind: 'signature', flaw }
}

/** The clock of the service is ahead of the receiver's, or behind it: `clockSkew('-10m')`. */
export function clockSkew(by: Duration | `-${string}`): FaultOf<'clock-skew'> {
  const behind = typeof by === 'string' ? by.startsWith('-') : by < 0
  const size = typeof by === 'number' ? Math.abs(by) : milliseconds(by.replace(/^-/, '') as Duration)
  return { kind: 'clock-skew', byMs: behind ? -size : size }
}

/** As if the token had been revoked. */
export function revokedToken(): FaultOf<'revoked-token'> {
  return { kind: 'revoked-token' }
}

/** As if the plan's quota had been used up. */
export function quota(): FaultOf<'quota'> {
  return { kind: 'quota' }
}

/** An event stream breaks off after so many events. */
export function cutStream(afterEvents: number): FaultOf<'cut-stream'> {
  return { kind: 'cut-stream', afterEvents }
}

/** An event stream stays open and silent after so many events; what was said meanwhile follows at the end. */
export function stallStream(afterEvents: number, length?: Duration): FaultOf<'stall-stream'> {
  return length === undefined
    ? { kind: 'stall-stream', afterEvents }
    : { kind: 'stall-stream', afterEvents, forMs: milliseconds(length) }
}

/** A read is answered from what the key was so many changes ago. */
export function staleRead(versions = 1): FaultOf<'stale-read'> {
  return { kind: 'stale-read', versions }
}

/** The service restarts: what is in flight is cut off and, where it is a delivery, made again. */
export function restart(down?: Duration): FaultOf<'restart'> {
  return down === undefined ? { kind: 'restart' } : { kind: 'restart', downMs: milliseconds(down) }
}

/** A region, or the whole service, answers nobody: connections are refused, or answered with a status. */
export function outage(options: { readonly region?: string; readonly status?: number } = {}): FaultOf<'outage'> {
  return { kind: 'outage', ...options }
}

/** Every constructor by the kind of fault it makes, for those who print faults as code. */
export const faultWriters: Readonly<Record<Fault['kind'], string>> = {
  status: 'status',
  latency: 'latency',
  'rate-limited': 'rateLimited',
  'non-retryable': 'nonRetryable',
  pass: 'ok',
  reset: 'reset',
  refused: 'refused',
  unresolved: 'unresolved',
  certificate: 'badCertificate',
  hang: 'hang',
  'half-open': 'halfOpen',
  truncate: 'truncate',
  'corrupt-json': 'corruptJson',
  'slow-body': 'slowBody',
  'content-type': 'contentType',
  'lost-ack': 'lostAck',
  'late-answer': 'lateAnswer',
  duplicate: 'duplicate',
  delay: 'delay',
  signature: 'badSignature',
  'clock-skew': 'clockSkew',
  reply: 'errorReply',
  reorder: 'reorder',
  drop: 'drop',
  'revoked-token': 'revokedToken',
  quota: 'quota',
  'cut-stream': 'cutStream',
  'stall-stream': 'stallStream',
  'stale-read': 'staleRead',
  restart: 'restart',
  outage: 'outage',
}
