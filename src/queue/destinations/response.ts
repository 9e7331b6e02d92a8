import { type Bytes, fromArray } from '../../kernel/bytes.js'
import { errorText } from '../../kernel/error-text.js'
import { hostTurn } from '../../kernel/host.js'
import type { RawOutcome } from '../message/message.js'
import { networkErrors } from './delivery-script.js'
import type { HeldResponse } from './network.js'
import { failedOutcome } from './raw-response.js'

// Reads what a handler, or the network, gave as a Response. It may be of another realm or library, and do anything.

/** An answer that no framework could send: what the destination's caller sees is a 500. */
export class UnusableResponse extends Error {
  override readonly name = 'UnusableAnswer'
}

/** The headers were sent, then the body broke off. */
export class BrokenBody extends Error {
  override readonly name = 'BrokenBody'
}

/** Which of the two it is. Code may throw anything, even a Proxy that throws when it is inspected. */
export function knownFailure(error: unknown): UnusableResponse | BrokenBody | undefined {
  try {
    return error instanceof UnusableResponse || error instanceof BrokenBody ? error : undefined
  } catch {
    return undefined
  }
}

/** Without `instanceof`: a response may come from another realm, or from a library of its own. */
export function isResponse(answer: object): answer is Response {
  return answer instanceof Response || ('arrayBuffer' in answer && 'status' in answer)
}

/** Why the body of a Response cannot be read, and what to do; `undefined` when it can. */
export function unreadable({ bodyUsed, body }: Response): string | undefined {
  const next = 'Return a new Response each time.'
  if (bodyUsed) return `a Response whose body has been read before: it can be read once. ${next}`
  if (body?.locked === true) return `a Response whose body is locked by another reader. ${next}`
  return undefined
}

/**
 * @param from who answered, for sentences: `The handler of https://shop.test/orders`
 * @param most bytes of the body that are kept
 * @param held counts them while they arrive
 * @throws UnusableAnswer, BrokenBody
 */
export async function replyOfResponse(
  response: Response,
  from: string,
  most: number,
  held: HeldResponse,
): Promise<RawOutcome> {
  const { status, type } = response
  if (status === 0) {
    const what = type === 'error' ? 'Response.error(), a broken connection' : 'a Response without a status'
    return { ...failedOutcome(networkErrors.reset), note: `${from} answered ${what}` }
  }
  if (!Number.isInteger(status) || status < 100 || status > 999) {
    throw new UnusableResponse(`${from} answered with the status ${errorText(status)}: give one from 200 to 599.`)
  }
  const reason = unreadable(response)
  if (reason !== undefined) throw new UnusableResponse(`${from} returned ${reason}`)
  const headers = headersOf(response, from)
  try {
    return { status, headers, body: await bodyOf(response, most, held) }
  } catch (error) {
    throw new BrokenBody(`${from} answered, but the body broke off: ${errorText(error)}`, { cause: error })
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
  // Some libraries have streams of another kind, or none.
  if (typeof body?.getReader === 'function') return readStream(body.getReader(), most, held)
  const buffer: unknown = await response.arrayBuffer()
  if (Object.prototype.toString.call(buffer) !== '[object ArrayBuffer]') throw new TypeError('it gave no bytes')
  const bytes = new Uint8Array(buffer as ArrayBuffer).subarray(0, most)
  held.take(bytes.length)
  return fromArray(bytes)
}

/** Chunks after which other work gets a turn, and those that a body may have; guards of ours. */
const chunksInATurn = 1000
export const maxChunks = 1_000_000

/** An endless body is cut where the queue would cut it. */
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
      throw new RangeError(`it had not ended after ${maxChunks} chunks`)
    }
  }
  giveUp(reader)
  return bytes.slice(0, most) as Bytes
}

function bytesOfChunk(chunk: unknown): Bytes {
  if (ArrayBuffer.isView(chunk)) return fromArray(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
  throw new TypeError(
    `its stream gave ${typeof chunk === 'string' ? 'a text' : 'a value'} where bytes are needed: enqueue a Uint8Array`,
  )
}

/** Nobody waits for the stream to react. */
function giveUp(reader: ReadableStreamDefaultReader<unknown>): void {
  reader.cancel().catch(() => undefined)
}
