import { errorText } from '../kernel/error-text.js'
import { ConnectionBroken } from '../kernel/http.js'
import type { Task } from '../kernel/time.js'
import type { RawResponse } from '../protocol/service.js'
import {
  checkResponse,
  type DestinationResponse,
  responseProblem,
} from '../queue/destinations/destination-responses.js'
import type { HeldResponse } from '../queue/destinations/network.js'
import { type RawOutcome, rawResponse, requestOf } from '../queue/destinations/raw-response.js'
import {
  isResponse,
  knownFailure,
  replyOfResponse,
  UnusableResponse,
  unreadable,
} from '../queue/destinations/response.js'
import { type OutboundRequest, outboundRequestInternals } from './outbound-request.js'

// What foreign hosts answer: handlers as applications write them, plain functions, data.

/** A foreign host as a test writes it: anything from `Request` to `Response`. */
export type OutboundHandler = (request: Request, task: Task) => Response | Promise<Response>

/** The same without `Request` and `Response`. */
export type OutboundResponder = (call: OutboundRequest, task: Task) => OutboundResponse | Promise<OutboundResponse>

/** What a foreign host answers: a status, a status with headers and body, or a `Response`. */
export type OutboundResponse = Exclude<DestinationResponse, { readonly kind: string }>

/** @throws ConnectionBroken where the handler breaks the connection */
export type OutboundResponderFn = (call: OutboundRequest, task: Task) => Promise<RawResponse>

/** Bytes of an answer's body that are kept; a guard of ours. */
export const maxBody = 50_000_000

export function requested(handler: OutboundHandler): OutboundResponder {
  return (call, task) =>
    handler(
      requestOf({ headers: outboundRequestInternals.of(call).sent, body: call.body }, call.url, call.method),
      task,
    )
}

/** Room for one answer while its body is read. */
export type MakesRoom = () => HeldResponse

/** Code: whatever it does, the call ends. @param failed hears of what it threw */
export function respondedBy(
  handler: OutboundResponder,
  room: MakesRoom,
  failed: (error: unknown) => void,
): OutboundResponderFn {
  return async (call, task) => {
    try {
      return await read(await handler(call, task), from(call.url), room)
    } catch (error) {
      if (error instanceof ConnectionBroken) throw error
      failed(error)
      const known = knownFailure(error)
      // A framework would have answered 500.
      return responseOf(rawResponse(500, undefined, known?.message ?? errorText(error)))
    }
  }
}

/** Data: judged now. @throws TypeError for what no host can answer */
export function responderFor(answer: OutboundResponse, room: MakesRoom, called: string): OutboundResponderFn {
  if (typeof answer === 'object' && isResponse(answer)) {
    const reason = unreadable(answer)
    if (reason !== undefined) throw new TypeError(`${called} got ${reason}`)
    // A body can be read once, the host answers many times.
    let reply: Promise<RawOutcome> | undefined
    return async ({ url }) => {
      reply ??= replyOfResponse(answer, from(url), maxBody, room())
      return responseOf(await reply)
    }
  }
  checkResponse(answer, called)
  if (typeof answer !== 'number' && 'kind' in answer) {
    throw new TypeError(
      `${called} takes an answer, got a fault: use outbound.script(url, [fault]) or a rule on outbound.request.`,
    )
  }
  // Now: later changes to the given object do not count.
  const reply =
    typeof answer === 'number' ? rawResponse(answer) : rawResponse(answer.status ?? 200, answer.headers, answer.body)
  return async () => responseOf(reply)
}

async function read(answer: OutboundResponse, from: string, room: MakesRoom): Promise<RawResponse> {
  if (typeof answer === 'object' && answer !== null && isResponse(answer)) {
    const reason = unreadable(answer)
    if (reason === undefined && isStream(answer)) {
      return { status: answer.status, headers: [...answer.headers], body: answer.body }
    }
    return responseOf(await replyOfResponse(answer, from, maxBody, room()))
  }
  const sentence = responseProblem(answer)
  if (sentence !== undefined) throw new UnusableResponse(`${from} ${sentence}`)
  return responseOf(
    typeof answer === 'number' ? rawResponse(answer) : rawResponse(answer.status ?? 200, answer.headers, answer.body),
  )
}

/** Events come one by one, and may never end. */
function isStream({ status, headers, body }: Response): boolean {
  return status !== 0 && body !== null && headers.get('content-type')?.startsWith('text/event-stream') === true
}

/** @throws ConnectionBroken where there is none */
export function responseOf({ status, headers, body, error }: RawOutcome): RawResponse {
  if (error !== undefined || status === 0) throw new ConnectionBroken('ECONNRESET', 'read ECONNRESET')
  return { status, headers: headers.map(([name, value]) => [name.toLowerCase(), value] as const), body }
}

function from(url: string): string {
  return `The handler of ${url}`
}
