import { type Bytes, utf8 } from '../kernel/bytes.js'
import { ConnectionBroken, reasonPhrase } from '../kernel/http.js'
import type { FaultOf } from './fault.js'
import type {
  AttemptFaultContext,
  FaultyOutcome,
  FaultyResponse,
  OnRequest,
  Phase,
  RequestFaultContext,
} from './fault-context.js'
import type { Transport } from './fault-spec.js'
import { networkErrors } from './network-errors.js'

export const oneNetworkError: Partial<Record<Transport, string>> = {
  msw: 'a network error without a cause, because msw has only one kind of network error',
}
export const noConnection: Partial<Record<Transport, string>> = {
  ...oneNetworkError,
  server: 'a connection reset, because the server has already accepted the connection',
}
export const unread =
  'the last bytes may be missing: when a body breaks off, a browser drops bytes that the page has not read yet'

export function done(phase: Phase): string {
  return phase === 'after' ? 'the work is done, ' : ''
}

/**
 * Returns an effect for both phases. In phase `after`, the service first processes the request, and its response is
 * discarded.
 */
export function inBothPhases<F>(action: OnRequest<F>): OnRequest<F> {
  return async (fault, moment) => {
    if (moment.phase === 'after') await moment.onwards()
    return action(fault, moment)
  }
}

export function wasReset(): ConnectionBroken {
  return new ConnectionBroken('ECONNRESET', 'read ECONNRESET')
}

export function wasRefused(): ConnectionBroken {
  return new ConnectionBroken('ECONNREFUSED', 'connect ECONNREFUSED')
}

export function statusResponse(
  { status, headers = {}, body }: FaultOf<'status'>,
  moment: RequestFaultContext,
): FaultyResponse {
  const list = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name.toLowerCase(), one as string]),
  )
  if (body !== undefined) return { status, headers: list, body: utf8(body) }
  const text = (reasonPhrase(status) ?? `status ${status}`).toLowerCase()
  const answer = status < 300 ? { status, headers: [], body: null } : moment.worded({ kind: 'status', status, text })
  const own = new Set(list.map(([name]) => name))
  return { ...answer, headers: [...answer.headers.filter(([name]) => !own.has(name)), ...list] }
}

type Maybe<T> = T | Promise<T>

/** Continues the attempt, and then changes the outcome with `suffer`. */
export function afterwards(
  moment: AttemptFaultContext,
  suffer: (given: FaultyOutcome) => Maybe<FaultyOutcome>,
): Maybe<FaultyOutcome> {
  const given = moment.onwards()
  return given instanceof Promise ? given.then(suffer) : suffer(given)
}

/** Describes what happened at the destination, for a note about a response that did not reach the queue. */
export function outcomeText(given: FaultyOutcome): string {
  return given.error === undefined
    ? `the handler ran and responded ${given.status}`
    : `the handler ran and failed: ${given.error}`
}

export function brokenReply(error: string): FaultyOutcome {
  return { status: 0, headers: [], body: '' as Bytes, error }
}

/**
 * Sends no response for `forMs` milliseconds, then closes the connection. Without `forMs`, the attempt ends with its
 * timeout.
 */
export function silence(moment: AttemptFaultContext, forMs: number | undefined, note?: string): Maybe<FaultyOutcome> {
  const told = note === undefined ? {} : { note }
  if (forMs === undefined) return { ...brokenReply('no response'), never: true, ...told }
  return moment.sleep(forMs).then(() => ({ ...brokenReply(networkErrors.closed), ...told }))
}

/** Returns invalid JSON with the same length, or one character for an empty body. */
export function corrupted(body: Bytes): Bytes {
  return `${body.slice(0, -1)}<` as Bytes
}

export function withContentType(
  headers: FaultyResponse['headers'],
  type: string,
): readonly (readonly [name: string, value: string])[] {
  return [...headers.filter(([name]) => name.toLowerCase() !== 'content-type'), ['content-type', type]]
}
