import * as v from 'valibot'
import { type Duration, formatDuration, milliseconds } from '../kernel/duration.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import type { FaultOf, HeaderRecord, RateLimitedFault, ResponseStep, RetryAfter, StatusFault } from './fault.js'
import { atDeliveries, atRequestsAndOutbound, type OnRequest } from './fault-context.js'
import type { FaultGroup } from './fault-spec.js'
import { anyText, headerRecord, optional, milliseconds as span, statusCode } from './fault-values.js'
import { waitOf } from './latency.js'
import { afterwards, done, inBothPhases, outcomeText, statusResponse } from './shared-effects.js'

// Faults that delay a response or replace it.

// ---- constructors -------------------------------------------------------------------------------------------------

/**
 * Adds a delay of virtual time: a fixed duration with optional jitter, or a random duration from a range.
 * @example sandbox.faults.add({ on: 'store.request', fault: fault.latency({ min: '20ms', max: '80ms' }) })
 */
export function latency(
  wait: Duration | { readonly min: Duration; readonly max: Duration },
  jitter?: Duration,
): FaultOf<'latency'> {
  if (typeof wait === 'object' && wait !== null) {
    checkOptionNames('fault.latency()', wait, { min: true, max: true })
    return { kind: 'latency', minMs: milliseconds(wait.min), maxMs: milliseconds(wait.max) }
  }
  const waitMs = milliseconds(wait)
  return jitter === undefined
    ? { kind: 'latency', waitMs }
    : { kind: 'latency', waitMs, jitterMs: milliseconds(jitter) }
}

/** Options of `fault.status()`. */
export interface StatusOptions {
  /** Headers of the response, by name. Several headers with the same name have a list of values. */
  readonly headers?: HeaderRecord
  /** Response body: a string, or a value that is serialized as JSON. */
  readonly body?: unknown
  /** Duration of the `Retry-After` header, in whole seconds, rounded up. */
  readonly retryAfter?: Duration
}

/**
 * Responds with this status. The request is not processed.
 * @throws RangeError when the status is not from 200 to 599
 * @example fault.status(503); fault.status(429, { retryAfter: '30s' }); fault.status(200, { body: { ok: true } })
 */
export function status(code: number, options: StatusOptions = {}): StatusFault {
  if (code === undefined) throw new TypeError('fault.status() needs an HTTP status. Write fault.status(503).')
  if (!Number.isInteger(code) || code < 200 || code > 599) {
    throw new RangeError(
      `fault.status(): the status must be a whole number from 200 to 599 (got ${typeof code === 'string' ? JSON.stringify(code) : code}). For no response at all, use fault.reset() or fault.hang().`,
    )
  }
  checkOptionNames('fault.status()', options, { headers: true, body: true, retryAfter: true })
  const { body, retryAfter } = options
  const headers =
    retryAfter === undefined
      ? options.headers
      : { ...options.headers, 'retry-after': String(Math.ceil(milliseconds(retryAfter) / 1000)) }
  if (body === undefined) return { kind: 'status', status: code, ...(headers && { headers }) }
  if (typeof body === 'string') return { kind: 'status', status: code, ...(headers && { headers }), body }
  return {
    kind: 'status',
    status: code,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}

/** Options of `fault.rateLimited()`. */
export interface RateLimitedOptions {
  /** Limit that is exceeded: `burst` (default), `daily` or `chat`. */
  readonly limit?: RateLimitedFault['limit']
  /** Duration of the `Retry-After` header. Default: no such header. */
  readonly retryAfter?: Duration
  /** Form of the `Retry-After` header. Default `seconds`. */
  readonly form?: RetryAfter['form']
}

/**
 * Responds 429 with the headers of one of the three limits. `Retry-After` is in seconds, an HTTP date, or omitted.
 * @example fault.rateLimited({ retryAfter: '2s' }); fault.rateLimited({ limit: 'daily', retryAfter: '1h', form: 'date' })
 */
export function rateLimited(options: RateLimitedOptions = {}): RateLimitedFault {
  checkOptionNames('fault.rateLimited()', options, { limit: true, retryAfter: true, form: true })
  const { limit = 'burst', retryAfter, form = 'seconds' } = options
  if (retryAfter === undefined) return { kind: 'rate-limited', limit }
  return { kind: 'rate-limited', limit, retryAfter: { form, waitMs: milliseconds(retryAfter) } }
}

/**
 * Responds 489 with the header that forbids retries.
 * @example sandbox.destinations.script('https://shop.test/orders', [fault.nonRetryable('card declined')])
 */
export function nonRetryable(body?: string): FaultOf<'non-retryable'> {
  return body === undefined ? { kind: 'non-retryable' } : { kind: 'non-retryable', body }
}

/**
 * Lets the request or delivery pass unchanged. Rules that were added later are skipped.
 * @example sandbox.destinations.script('https://shop.test/orders', [503, fault.pass()])
 */
export function pass(): FaultOf<'pass'> {
  return { kind: 'pass' }
}

const takesLonger: OnRequest<FaultOf<'latency'>> = async (fault, moment) => {
  const { task, phase, signal } = moment
  const wait = waitOf(fault, (below) => moment.draw(below))
  moment.tell(`takes ${formatDuration(wait)} more${phase === 'after' ? ' to respond' : ''}`)
  if (wait === 0) return moment.onwards()
  if (phase === 'before') {
    // The wait has no abort signal, because a request in transit arrives even if its client has stopped waiting.
    await task.sleep(wait)
    return moment.onwards()
  }
  const answer = await moment.onwards()
  await task.sleep(wait, signal)
  return answer
}

const addsToWait = (
  fault: FaultOf<'latency'>,
  moment: { wait: number; draw(below: number): number; tell(effect: string): void },
): void => {
  const own = waitOf(fault, (below) => moment.draw(below))
  moment.tell(`takes ${formatDuration(own)} more`)
  moment.wait += own
}

const answersStatus: OnRequest<StatusFault> = inBothPhases(statusResponse)

const rows: FaultGroup<ResponseStep> = {
  latency: {
    summary:
      'The request, delivery or command takes longer: by `waitMs`, plus or minus at most `jitterMs`, or by a random time between `minMs` and `maxMs`. The seed determines random times.',
    effect: 'shapes',
    sentence: () => 'takes longer',
    made: { latency },
    phases: ['before', 'after'],
    fields: {
      waitMs: optional(span),
      jitterMs: optional(span),
      minMs: optional(span),
      maxMs: optional(span),
    },
    odd(fault) {
      const { waitMs, jitterMs, minMs, maxMs } = fault as Partial<
        Record<'waitMs' | 'jitterMs' | 'minMs' | 'maxMs', number>
      >
      const range = minMs !== undefined || maxMs !== undefined
      if (range && (waitMs !== undefined || jitterMs !== undefined))
        return 'must have waitMs (and optionally jitterMs), or minMs and maxMs, not both'
      if (!range && waitMs === undefined) return 'needs waitMs, or minMs and maxMs'
      if (!range) return undefined
      if (minMs === undefined || maxMs === undefined) return 'needs both minMs and maxMs'
      return minMs > maxMs ? `must have minMs not above maxMs (got minMs ${minMs}, maxMs ${maxMs})` : undefined
    },
    sample: ['300ms'],
    shownAt: 'store.request',
    at: {
      ...atRequestsAndOutbound(takesLonger),
      ...atDeliveries({
        meets(fault: FaultOf<'latency'>, moment) {
          const { phase } = moment
          const wait = waitOf(fault, (below) => moment.draw(below))
          moment.tell(`takes ${formatDuration(wait)} more${phase === 'after' ? ' to respond' : ''}`)
          if (wait === 0) return moment.onwards()
          if (phase === 'before') return moment.sleep(wait).then(() => moment.onwards())
          return afterwards(moment, (given) => moment.sleep(wait).then(() => given))
        },
      }),
      'stream.open': takesLonger,
      'stream.event': addsToWait,
      'schedule.fire': addsToWait,
    },
  },
  status: {
    summary: "The response has this status. Without a `body`, it has the affected service's own error body.",
    effect: 'answers',
    sentence: ({ status: code }, phase) => `${done(phase)}responded ${code}`,
    made: { status },
    meant: {
      reply: "fault.status(200, { body: '…' }) makes { kind: 'status', status: 200, body: '…' }",
      'retry-after':
        "fault.status(429, { retryAfter: '30s' }) makes { kind: 'status', status: 429, headers: { 'retry-after': '30' } }",
    },
    phases: ['before', 'after'],
    fields: { status: statusCode, headers: optional(headerRecord), body: optional(anyText) },
    hints: { 'store.command': "For a command that fails, use fault.errorReply('…')." },
    sample: [503],
    shownAt: 'queue.delivery',
    at: {
      ...atRequestsAndOutbound(answersStatus),
      ...atDeliveries({
        arrives: true,
        meets({ status: code, headers, body }: StatusFault, moment) {
          const instead = moment.answer(code, headers, body)
          if (moment.phase === 'before') return instead
          return afterwards(moment, (given) => ({
            ...instead,
            note: `${outcomeText(given)}, its response was replaced`,
          }))
        },
      }),
      'stream.open': answersStatus,
    },
  },
  'rate-limited': {
    summary:
      'The response is 429 with the headers of `limit`: `burst`, `daily` or `chat`. The field `form` of `retryAfter` selects seconds, an HTTP date, or no header `Retry-After`.',
    effect: 'answers',
    sentence({ limit, retryAfter: given }) {
      const wait =
        given === undefined || given.form === 'none'
          ? ''
          : `, Retry-After ${formatDuration(given.waitMs)} as ${given.form === 'date' ? 'a date' : 'seconds'}`
      return `responded 429 for the ${limit} limit${wait}`
    },
    made: { rateLimited },
    phases: ['before'],
    fields: {
      limit: v.picklist(['chat', 'daily', 'burst'], "must be 'chat', 'daily' or 'burst'"),
      retryAfter: optional(
        v.strictObject({
          form: v.picklist(['seconds', 'date', 'none'], "must be 'seconds', 'date' or 'none'"),
          waitMs: span,
        }),
      ),
    },
    sample: [{ retryAfter: '2s' }],
    shownAt: 'queue.delivery',
    at: {
      'queue.request': (fault, moment) => moment.worded(fault),
      'outbound.request': (fault, moment) => moment.worded(fault),
      'workflow.wait': (fault, moment) => moment.worded(fault),
      ...atDeliveries({
        arrives: true,
        meets: (fault: RateLimitedFault, moment) => moment.rateLimited(fault),
      }),
    },
  },
  'non-retryable': {
    summary: 'The response is 489 with the header that forbids retries.',
    effect: 'answers',
    sentence: () => 'responded 489, not to be retried',
    made: { nonRetryable },
    phases: ['before'],
    fields: { body: optional(anyText) },
    sample: ['gone for good'],
    shownAt: 'queue.delivery',
    at: atDeliveries({
      arrives: true,
      meets: ({ body }: FaultOf<'non-retryable'>, moment) =>
        moment.answer(489, { [moment.nonRetryableHeader]: 'true' }, body),
    }),
  },
  pass: {
    summary: 'The request or delivery passes unchanged, and rules that were added later are skipped.',
    effect: 'answers',
    sentence: () => 'passed',
    made: { pass },
    meant: { ok: "fault.pass() makes { kind: 'pass' }" },
    phases: ['before'],
    fields: {},
    sample: [],
    shownAt: 'queue.delivery',
    at: {
      ...atRequestsAndOutbound<FaultOf<'pass'>>((_fault, moment) => moment.onwards()),
      ...atDeliveries({ meets: (_fault: FaultOf<'pass'>, moment) => moment.onwards() }),
      'stream.open': (_fault, moment) => moment.onwards(),
      'store.command': (_fault, moment) => moment.run(),
      'stream.event': () => undefined,
      'schedule.fire': () => undefined,
    },
  },
}
export default rows
