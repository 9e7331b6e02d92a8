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
  LostConnection,
  replyOfResponse,
  UnusableResponse,
  unreadable,
} from '../queue/destinations/response.js'
import { type OutboundRequest, outboundRequestInternals } from './outbound-request.js'

// The three kinds of responses of external hosts: handlers with `Request` and `Response`, plain functions, and data.

/** Handler of an external host: a function that takes a `Request` and returns a `Response`. */
export type OutboundHandler = (request: Request, task: Task) => Response | Promise<Response>

/** Responder of an external host: a handler without `Request` and `Response` objects. */
export type OutboundResponder = (call: OutboundRequest, task: Task) => OutboundResponse | Promise<OutboundResponse>

/** Response of an external host: a status, a status with headers and body, or a `Response`. */
export type OutboundResponse = Exclude<DestinationResponse, { readonly kind: string }>

/** Registered function in the form in which it is called. The app aborts the signal when it gives up the request. */
export type CalledOutboundHandler = (
  call: OutboundRequest,
  task: Task,
  signal: AbortSignal | undefined,
) => ReturnType<OutboundResponder>

/**
 * Runs a handler.
 * @throws ConnectionBroken when the handler breaks the connection
 */
export type OutboundResponderFn = (
  call: OutboundRequest,
  task: Task,
  signal: AbortSignal | undefined,
) => Promise<RawResponse>

/**
 * Maximum size in bytes of a response body that the sandbox keeps. This is a limit of this package, not of the service.
 */
export const maxBody = 50_000_000

export function requested(handler: OutboundHandler): CalledOutboundHandler {
  return (call, task, signal) =>
    handler(
      requestOf({ headers: outboundRequestInternals.of(call).sent, body: call.body }, call.url, call.method, signal),
      task,
    )
}

/** Creates the memory account that counts the body of one response while it is read. */
export type MakesRoom = () => HeldResponse

/**
 * Wraps a handler function so that the request always ends.
 * @param failed receives each error that the handler throws
 */
export function respondedBy(
  handler: CalledOutboundHandler,
  room: MakesRoom,
  failed: (error: unknown) => void,
): OutboundResponderFn {
  return async (call, task, signal) => {
    try {
      return await read(await handler(call, task, signal), from(call.url), room)
    } catch (error) {
      if (error instanceof ConnectionBroken) throw error
      failed(error)
      const known = knownFailure(error)
      if (known instanceof LostConnection) throw new ConnectionBroken('ECONNRESET', known.message)
      // Respond 500, as a web framework does when a handler throws.
      return responseOf(rawResponse(500, undefined, known?.message ?? errorText(error)))
    }
  }
}

/**
 * Returns a responder for fixed data, which is checked immediately.
 * @throws TypeError when the data is not a response that a host can send
 */
export function responderFor(answer: OutboundResponse, room: MakesRoom, called: string): OutboundResponderFn {
  if (typeof answer === 'object' && isResponse(answer)) {
    const reason = unreadable(answer)
    if (reason !== undefined) throw new TypeError(`${called}: the response is ${reason}`)
    // Read the body only once and keep the result, because the host may respond many times.
    let reply: Promise<RawOutcome> | undefined
    return async ({ url }) => {
      reply ??= replyOfResponse(answer, from(url), maxBody, room())
      return responseOf(await reply)
    }
  }
  checkResponse(answer, called)
  if (typeof answer !== 'number' && 'kind' in answer) {
    throw new TypeError(
      `${called}: the second argument must be a response (got a fault). Use outbound.script(url, [fault]) or a fault rule on outbound.request.`,
    )
  }
  // Build the response now, so that later changes to the given object have no effect.
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

/** Whether a response is an event stream. Events arrive one by one, and the stream may never end. */
function isStream({ status, headers, body }: Response): boolean {
  return status !== 0 && body !== null && headers.get('content-type')?.startsWith('text/event-stream') === true
}

/**
 * Converts the outcome of a request to a response, with header names in lower case.
 * @throws ConnectionBroken when the outcome has no response
 */
export function responseOf({ status, headers, body, error }: RawOutcome): RawResponse {
  if (error !== undefined || status === 0) throw new ConnectionBroken('ECONNRESET', 'read ECONNRESET')
  return { status, headers: headers.map(([name, value]) => [name.toLowerCase(), value] as const), body }
}

function from(url: string): string {
  return `The handler of ${url}`
}
