import * as v from 'valibot'
import { type Duration, formatDuration, milliseconds } from '../kernel/duration.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import type { FaultOf, HeaderRecord, RateLimitedFault, ResponseStep, RetryAfter, StatusFault } from './fault.js'
import { atDeliveries, atRequestsAndOutbound, type OnRequest } from './fault-context.js'
import type { FaultGroup } from './fault-spec.js'
import { anyText, headerRecord, optional, milliseconds as span, statusCode } from './fault-values.js'
import { waitOf } from './latency.js'
import { afterwards, done, inBothPhases, outcomeText, statusResponse } from './shared-effects.js'

// Faults that answer late, or in place of the service or destination.

// ---- constructors -------------------------------------------------------------------------------------------------

/**
 * Waits in virtual time: a fixed time, give or take a jitter, or anything within a range.
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
  readonly headers?: HeaderRecord
  /** A string, or a value that becomes JSON. */
  readonly body?: unknown
  /** When to try again, as the `Retry-After` header: whole seconds, rounded up. */
  readonly retryAfter?: Duration
}

/**
 * Answers with this status; the work underneath is not done.
 * @throws RangeError for a status that no response has
 * @example fault.status(503); fault.status(429, { retryAfter: '30s' }); fault.status(200, { body: { ok: true } })
 */
export function status(code: number, options: StatusOptions = {}): StatusFault {
  if (code === undefined) throw new TypeError('fault.status() needs the status of the answer: fault.status(503).')
  if (!Number.isInteger(code) || code < 200 || code > 599) {
    throw new RangeError(
      `fault.status(${typeof code === 'string' ? JSON.stringify(code) : code}): an answer has a whole number from 200 to 599 as its status. For no answer at all use fault.reset() or fault.hang().`,
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
  /** Which of the three limits has been reached. Default `burst`. */
  readonly limit?: RateLimitedFault['limit']
  /** When to try again. Default: without a `Retry-After` header. */
  readonly retryAfter?: Duration
  /** How the header says it. Default `seconds`. */
  readonly form?: RetryAfter['form']
}

/**
 * 429 with the headers of one of the three limits, and `Retry-After` as seconds, as an HTTP date or not at all.
 * @example fault.rateLimited({ retryAfter: '2s' }); fault.rateLimited({ limit: 'daily', retryAfter: '1h', form: 'date' })
 */
export function rateLimited(options: RateLimitedOptions = {}): RateLimitedFault {
  checkOptionNames('fault.rateLimited()', options, { limit: true, retryAfter: true, form: true })
  const { limit = 'burst', retryAfter, form = 'seconds' } = options
  if (retryAfter === undefined) return { kind: 'rate-limited', limit }
  return { kind: 'rate-limited', limit, retryAfter: { form, waitMs: milliseconds(retryAfter) } }
}

/**
 * 489 with the header that forbids retries.
 * @example sandbox.destinations.script('https://shop.test/orders', [fault.nonRetryable('card declined')])
 */
export function nonRetryable(body?: string): FaultOf<'non-retryable'> {
  return body === undefined ? { kind: 'non-retryable' } : { kind: 'non-retryable', body }
}

/**
 * Lets it through: the layer underneath answers, and rules that were added later are not asked.
 * @example sandbox.destinations.script('https://shop.test/orders', [503, fault.pass()])
 */
export function pass(): FaultOf<'pass'> {
  return { kind: 'pass' }
}

// ---- what they do -----------------------------------------------------------------------------------------------

const takesLonger: OnRequest<FaultOf<'latency'>> = async (fault, moment) => {
  const { task, phase, signal } = moment
  const wait = waitOf(fault, (below) => moment.draw(below))
  moment.tell(`takes ${formatDuration(wait)} more${phase === 'after' ? ' to answer' : ''}`)
  if (wait === 0) return moment.onwards()
  if (phase === 'before') {
    // A request that is on its way arrives, whether or not its client still waits.
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
      'It takes time: always `waitMs`, give or take `jitterMs`, or anything from `minMs` to `maxMs` by the seed.',
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
        return 'takes waitMs (and jitterMs), or minMs and maxMs, not both'
      if (!range && waitMs === undefined) return 'needs waitMs, or minMs and maxMs'
      if (!range) return undefined
      if (minMs === undefined || maxMs === undefined) return 'needs both minMs and maxMs'
      return minMs > maxMs ? `goes from minMs ${minMs} down to maxMs ${maxMs}: swap them` : undefined
    },
    sample: ['300ms'],
    shownAt: 'store.request',
    at: {
      ...atRequestsAndOutbound(takesLonger),
      ...atDeliveries({
        meets(fault: FaultOf<'latency'>, moment) {
          const { phase } = moment
          const wait = waitOf(fault, (below) => moment.draw(below))
          moment.tell(`takes ${formatDuration(wait)} more${phase === 'after' ? ' to answer' : ''}`)
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
    summary: 'Answers with this status; without a `body`, in the words of whatever is struck.',
    effect: 'answers',
    sentence: ({ status: code }, phase) => `${done(phase)}answered ${code}`,
    made: { status },
    meant: {
      reply: "fault.status(200, { body: '…' }) makes { kind: 'status', status: 200, body: '…' }",
      'retry-after':
        "fault.status(429, { retryAfter: '30s' }) makes { kind: 'status', status: 429, headers: { 'retry-after': '30' } }",
    },
    phases: ['before', 'after'],
    fields: { status: statusCode, headers: optional(headerRecord), body: optional(anyText) },
    hints: { 'store.command': "For the error of a command write fault.errorReply('…')." },
    sample: [503],
    shownAt: 'queue.delivery',
    at: {
      ...atRequestsAndOutbound(answersStatus),
      ...atDeliveries({
        arrives: true,
        meets({ status: code, headers, body }: StatusFault, moment) {
          const instead = moment.answer(code, headers, body)
          if (moment.phase === 'before') return instead
          return afterwards(moment, (given) => ({ ...instead, note: `${outcomeText(given)}, its answer was replaced` }))
        },
      }),
      'stream.open': answersStatus,
    },
  },
  'rate-limited': {
    summary: 'Answers 429 with the headers of one of the three limits, and `Retry-After` in the form asked for.',
    effect: 'answers',
    sentence({ limit, retryAfter: given }) {
      const wait =
        given === undefined || given.form === 'none'
          ? ''
          : `, Retry-After ${formatDuration(given.waitMs)} as ${given.form === 'date' ? 'a date' : 'seconds'}`
      return `answered 429 of the ${limit} limit${wait}`
    },
    made: { rateLimited },
    phases: ['before'],
    fields: {
      limit: v.picklist(['chat', 'daily', 'burst'], "is 'chat', 'daily' or 'burst'"),
      retryAfter: optional(
        v.strictObject({
          form: v.picklist(['seconds', 'date', 'none'], "is 'seconds', 'date' or 'none'"),
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
    summary: 'Answers 489 with the header that forbids retries.',
    effect: 'answers',
    sentence: () => 'answered 489, not to be retried',
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
    summary: 'Lets it through: rules that were added later are not asked.',
    effect: 'answers',
    sentence: () => 'let through',
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
