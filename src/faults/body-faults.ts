import * as v from 'valibot'
import type { Bytes } from '../kernel/bytes.js'
import { type Duration, milliseconds } from '../kernel/duration.js'
import { plural } from '../kernel/plural.js'
import { cutBody, patience, silentBody, slowBody as trickling } from './broken-bodies.js'
import type { BodyFault, BodyStep, FaultOf } from './fault.js'
import { atDeliveries, atRequestsAndOutbound, type OnRequest } from './fault-context.js'
import type { FaultGroup } from './fault-spec.js'
import { maxSpan, optional, milliseconds as span, text, whole } from './fault-values.js'
import { networkErrors } from './network-errors.js'
import { afterwards, brokenReply, corrupted, outcomeText, silence, unread, withContentType } from './shared-effects.js'

// Faults that damage the response after the request was processed.

/**
 * Sends the response headers, but never the body. The connection closes after `length`. Without `length`, the
 * connection stays open until the caller stops waiting.
 * @example sandbox.faults.add({ on: 'store.request', fault: fault.halfOpen('5s') })
 */
export function halfOpen(length?: Duration): FaultOf<'half-open'> {
  return length === undefined ? { kind: 'half-open' } : { kind: 'half-open', forMs: milliseconds(length) }
}

/**
 * Breaks the connection after this many bytes of the response body.
 * @example sandbox.faults.add({ on: 'store.request', times: 1, fault: fault.truncate(8) })
 */
export function truncate(afterBytes: number): FaultOf<'truncate'> {
  return { kind: 'truncate', afterBytes }
}

/**
 * Delivers the whole body, but replaces its last character, so that it is not valid JSON.
 * @example sandbox.faults.add({ on: 'queue.request', times: 1, fault: fault.corruptJson() })
 */
export function corruptJson(): FaultOf<'corrupt-json'> {
  return { kind: 'corrupt-json' }
}

/**
 * Sends the response body slowly.
 * @param bytesPerSecond bytes per second of virtual time
 * @example sandbox.faults.add({ on: 'store.request', fault: fault.slowBody(100) })
 */
export function slowBody(bytesPerSecond: number): FaultOf<'slow-body'> {
  return { kind: 'slow-body', bytesPerSecond }
}

/**
 * Replaces the `Content-Type` of the response, for example with `text/html`.
 * @example sandbox.faults.add({ on: 'store.request', fault: fault.wrongContentType('text/html') })
 */
export function wrongContentType(type: string): FaultOf<'wrong-content-type'> {
  return { kind: 'wrong-content-type', type }
}

/**
 * Makes a store command fail with this error reply: `fault.errorReply('OOM command not allowed')`.
 * @example
 * sandbox.faults.add({
 *   on: 'store.command',
 *   match: { command: 'SET' },
 *   fault: fault.errorReply('OOM command not allowed when used memory > maxmemory'),
 * })
 * await expect(redis.set('greeting', 'hello')).rejects.toThrow('OOM')
 */
export function errorReply(error: string): FaultOf<'error-reply'> {
  return { kind: 'error-reply', error }
}

const claimsToBe: OnRequest<FaultOf<'wrong-content-type'>> = async ({ type }, moment) => {
  const answer = await moment.onwards()
  return { ...answer, headers: withContentType(answer.headers, type) }
}

const rows: FaultGroup<BodyStep, BodyFault> = {
  'half-open': {
    summary:
      'The request is processed and the response headers arrive, but the body does not. The connection closes after `forMs`. Without `forMs`, a delivery fails with its timeout, and a request fails after 5 minutes of virtual time.',
    effect: 'answers',
    sentence: () => 'the work is done, only the headers arrive',
    made: { halfOpen },
    phases: ['after'],
    fields: { forMs: optional(span) },
    sample: ['5s'],
    shownAt: 'store.request',
    instead: {
      msw: 'no headers arrive, because msw forwards a response only with the first bytes of its body',
      nock: 'no headers arrive, because nock accepts only complete responses',
    },
    at: {
      ...atRequestsAndOutbound<FaultOf<'half-open'>>(async ({ forMs }, moment) =>
        silentBody(await moment.onwards(), moment.task, forMs ?? patience),
      ),
      ...atDeliveries({
        meets: ({ forMs }: FaultOf<'half-open'>, moment) =>
          afterwards(moment, (given) =>
            given.error !== undefined
              ? given
              : silence(moment, forMs, `${outcomeText(given)}, the response headers arrived, the body did not`),
          ),
      }),
    },
  },
  truncate: {
    summary: 'The request is processed, and the connection breaks after `afterBytes` of the response body.',
    effect: 'shapes',
    sentence: ({ afterBytes }) => `the work is done, the body breaks off after ${plural(afterBytes, 'byte')}`,
    made: { truncate },
    phases: ['after'],
    fields: { afterBytes: whole(0) },
    sample: [8],
    shownAt: 'store.request',
    instead: {
      msw: 'a network error if `afterBytes` is 0, because msw forwards a response only with the first bytes of its body',
      nock: 'a network error without any part of the body, because nock accepts only complete responses',
      playwright: unread,
    },
    at: {
      ...atRequestsAndOutbound<FaultOf<'truncate'>>(async ({ afterBytes }, moment) => {
        const answer = await moment.onwards()
        const size = typeof answer.body === 'string' ? answer.body.length : undefined
        if (size === undefined) moment.tell('there is no body to cut')
        else if (size <= afterBytes) moment.tell(`the body has ${size} bytes only, nothing is cut`)
        return cutBody(answer, afterBytes)
      }),
      ...atDeliveries({
        meets: ({ afterBytes }: FaultOf<'truncate'>, moment) =>
          afterwards(moment, (given) => {
            const { length } = given.body
            if (given.error !== undefined || length <= afterBytes) return given
            const note = `${outcomeText(given)}, the response body broke off after ${afterBytes} of ${length} bytes`
            return { ...brokenReply(networkErrors.closed), note }
          }),
      }),
    },
  },
  'corrupt-json': {
    summary:
      'The request is processed, and the whole body arrives, but its last character is a `<`, so it is not valid JSON.',
    effect: 'shapes',
    sentence: () => 'the work is done, the body is not JSON',
    made: { corruptJson },
    phases: ['after'],
    fields: {},
    sample: [],
    shownAt: 'store.request',
    at: {
      ...atRequestsAndOutbound<FaultOf<'corrupt-json'>>(async (_fault, moment) => {
        const answer = await moment.onwards()
        const { body } = answer
        if (body !== null && typeof body !== 'string') return answer
        return { ...answer, body: corrupted(body ?? ('' as Bytes)) }
      }),
      ...atDeliveries({
        meets: (_fault: FaultOf<'corrupt-json'>, moment) =>
          afterwards(moment, (given) =>
            given.error !== undefined ? given : { ...given, body: corrupted(given.body) },
          ),
      }),
      'stream.event': (_fault, moment) => {
        moment.line = corrupted(moment.line)
      },
    },
  },
  'slow-body': {
    summary: 'The request is processed, and the response body arrives at `bytesPerSecond`.',
    effect: 'shapes',
    sentence: ({ bytesPerSecond }) => `the work is done, the body comes at ${bytesPerSecond} bytes a second`,
    made: { slowBody },
    phases: ['after'],
    fields: {
      bytesPerSecond: v.pipe(
        v.number('must be a number greater than 0'),
        v.finite('must be a number greater than 0'),
        v.gtValue(0, 'must be a number greater than 0'),
      ),
    },
    sample: [10],
    shownAt: 'store.request',
    instead: {
      msw: 'the headers arrive together with the first bytes of the body',
      nock: 'the whole response arrives at the end, because nock accepts only complete responses',
    },
    at: {
      ...atRequestsAndOutbound<FaultOf<'slow-body'>>(async ({ bytesPerSecond }, moment) =>
        trickling(await moment.onwards(), moment.task, bytesPerSecond),
      ),
      ...atDeliveries({
        meets: ({ bytesPerSecond }: FaultOf<'slow-body'>, moment) =>
          afterwards(moment, (given) => {
            const wait = Math.min(maxSpan, Math.round((given.body.length / bytesPerSecond) * 1000))
            return wait === 0 ? given : moment.sleep(wait).then(() => given)
          }),
      }),
    },
  },
  'wrong-content-type': {
    summary: 'The request is processed, and the response has another `Content-Type`.',
    effect: 'shapes',
    sentence: ({ type }) => `the work is done, the response has Content-Type ${type}`,
    made: { wrongContentType },
    phases: ['after'],
    fields: { type: v.pipe(text, v.regex(/^[\x20-\x7e]*$/, 'must be a header value of printable ASCII characters')) },
    sample: ['text/html'],
    shownAt: 'store.request',
    at: {
      ...atRequestsAndOutbound(claimsToBe),
      ...atDeliveries({
        meets: ({ type }: FaultOf<'wrong-content-type'>, moment) =>
          afterwards(moment, (given) =>
            given.error !== undefined ? given : { ...given, headers: withContentType(given.headers, type) },
          ),
      }),
      'stream.open': claimsToBe,
    },
  },
  'error-reply': {
    summary: 'The command fails with this error, without running. With `phase: after`, it runs first.',
    effect: 'answers',
    sentence: ({ error }, phase) =>
      phase === 'after' ? `the command ran, the reply is an error: ${error}` : `error: ${error}`,
    made: { errorReply },
    phases: ['before', 'after'],
    fields: { error: text },
    sample: ['OOM command not allowed when used memory > maxmemory'],
    shownAt: 'store.command',
    at: {
      'store.command': ({ error }, moment) => {
        if (moment.phase === 'after') moment.run()
        return moment.fail(error)
      },
    },
  },
}
export default rows
