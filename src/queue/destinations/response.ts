import { type Bytes, fromArray, isUtf8 } from '../../kernel/bytes.js'
import { errorText } from '../../kernel/error-text.js'
import { hostTurn } from '../../kernel/host.js'
import { type Internals, internals } from '../../kernel/internals.js'
import { standardHeaders } from '../../kernel/standard-headers.js'
import type { RawOutcome } from '../message/message.js'
import { networkErrors } from './delivery-script.js'
import type { HeldResponse } from './network.js'
import { failedOutcome } from './raw-response.js'

// Reads a `Response` that a handler or `fetch` returned. Reading any of its properties may throw, because the object
// may come from another realm or library.

/** Error for a response that no web framework could send. For the queue, the attempt then has status 500. */
export class UnusableResponse extends Error {
  override readonly name = 'UnusableResponse'
}

/** Error for a body that broke off after the headers were sent. */
export class BrokenBody extends Error {
  override readonly name = 'BrokenBody'
}

/** Error for a connection that broke before the headers were sent. */
export class LostConnection extends Error {
  override readonly name = 'LostConnection'
}

const lostConnections: Internals<Response, { readonly cause: unknown }> = internals('lost-connection')

/** Returns a `Response` that means a broken connection, as `Response.error()` does, and names the cause. */
export function lostConnection(cause: unknown): Response {
  const response = Response.error()
  lostConnections.attach(response, { cause })
  return response
}

/**
 * Returns the error if it is one of the classes above. `instanceof` itself may throw, because app code may throw any
 * value, even a Proxy whose traps throw.
 */
export function knownFailure(error: unknown): UnusableResponse | BrokenBody | LostConnection | undefined {
  try {
    const isKnown = error instanceof UnusableResponse || error instanceof BrokenBody || error instanceof LostConnection
    return isKnown ? error : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether a value is a response. `instanceof` is not sufficient, because the response may come from another realm or
 * library.
 */
export function isResponse(answer: object): answer is Response {
  return answer instanceof Response || ('arrayBuffer' in answer && 'status' in answer)
}

/** Returns text that says why the body of a `Response` cannot be read. Returns `undefined` if it can be read. */
export function unreadable(response: Response): string | undefined {
  // Bun derives the content type from the body until the body is a stream, so the headers are read first.
  const { headers: _, bodyUsed, body } = response
  const next = 'Return a new Response each time.'
  if (bodyUsed) return `a Response whose body was already read, which is possible only once. ${next}`
  if (body?.locked === true) return `a Response whose body is locked by another reader. ${next}`
  return undefined
}

/**
 * Reads a response into plain values.
 * @param from subject of error messages, such as `The handler of https://shop.test/orders`
 * @param most number of bytes of the body that are kept
 * @param held memory account, which counts the bytes of the body while they arrive
 * @throws UnusableResponse when a server could not send the response, BrokenBody when its body breaks off, and
 * LostConnection when the connection broke before, for a known cause
 */
export async function replyOfResponse(
  response: Response,
  from: string,
  most: number,
  held: HeldResponse,
): Promise<RawOutcome> {
  const { status, type } = response
  if (status === 0) {
    const lost = lostConnections.find(response)
    if (lost !== undefined) {
      throw new LostConnection(`${from} broke the connection: ${errorText(lost.cause)}`, { cause: lost.cause })
    }
    const what = type === 'error' ? 'Response.error(), a broken connection' : 'a Response without a status'
    return { ...failedOutcome(networkErrors.reset), note: `${from} responded with ${what}` }
  }
  if (!Number.isInteger(status) || status < 100 || status > 999) {
    throw new UnusableResponse(`${from} responded with the status ${errorText(status)}. Use a status from 200 to 599.`)
  }
  const reason = unreadable(response)
  if (reason !== undefined) throw new UnusableResponse(`${from} returned ${reason}`)
  const headers = headersOf(response, from)
  try {
    const body = await bodyOf(response, most, held)
    // A response of the network has a URL, and exactly the headers that were sent.
    return { status, headers: response.url ? headers : standardHeaders(headers, body !== '' && isUtf8(body)), body }
  } catch (error) {
    throw new BrokenBody(`${from} responded, but the body broke off: ${errorText(error)}`, { cause: error })
  } finally {
    held.release()
  }
}

function headersOf({ headers }: Response, from: string): [string, string][] {
  const list = typeof headers?.[Symbol.iterator] === 'function' ? [...headers] : [['', undefined]]
  const isText = ([name, value]: readonly unknown[]): boolean => typeof name === 'string' && typeof value === 'string'
  if (list.every(isText)) return list as [string, string][]
  throw new UnusableResponse(`${from} returned a Response with headers that are not strings.`)
}

async function bodyOf(response: Response, most: number, held: HeldResponse): Promise<Bytes> {
  const { body } = response
  if (body === null) return '' as Bytes
  // In some libraries, `body` is another kind of stream or no stream at all. Read these bodies with `arrayBuffer()`.
  if (typeof body?.getReader === 'function') return readStream(body.getReader(), most, held)
  const buffer: unknown = await response.arrayBuffer()
  if (Object.prototype.toString.call(buffer) !== '[object ArrayBuffer]')
    throw new TypeError('arrayBuffer() returned no bytes')
  const bytes = new Uint8Array(buffer as ArrayBuffer).subarray(0, most)
  held.take(bytes.length)
  return fromArray(bytes)
}

/**
 * Number of chunks of a body that are read before other work of the event loop may run. This constant and `maxChunks`
 * are limits of this package.
 */
const chunksInATurn = 1000
export const maxChunks = 1_000_000

/**
 * Reads a stream until `most` bytes have arrived. The queue would truncate a longer body, and an endless stream must
 * end, too.
 */
async function readStream(
  reader: ReadableStreamDefaultReader<unknown>,
  most: number,
  held: HeldResponse,
): Promise<Bytes> {
  let bytes = ''
  for (let chunks = 1; ; chunks++) {
    const { done, value } = await reader.read()
    if (done) return bytes as Bytes
    const chunk = bytesOfChunk(value)
    try {
      held.take(chunk.length)
    } catch (error) {
      giveUp(reader)
      throw error
    }
    bytes += chunk
    if (bytes.length >= most) break
    if (chunks % chunksInATurn === 0) await hostTurn()
    if (chunks >= maxChunks) {
      giveUp(reader)
      throw new RangeError(`the body had not ended after ${maxChunks} chunks`)
    }
  }
  giveUp(reader)
  return bytes.slice(0, most) as Bytes
}

function bytesOfChunk(chunk: unknown): Bytes {
  if (ArrayBuffer.isView(chunk)) return fromArray(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
  throw new TypeError(
    `the stream contains ${typeof chunk === 'string' ? 'a string' : 'a value'} instead of bytes; enqueue a Uint8Array`,
  )
}

/** Cancels the stream without waiting for the result. */
function giveUp(reader: ReadableStreamDefaultReader<unknown>): void {
  reader.cancel().catch(() => undefined)
}
