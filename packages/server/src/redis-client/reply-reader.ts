import { type Bytes, latin1, text } from '../../../../src/kernel/bytes.js'
import {
  deepestReply,
  NilArray,
  nilArray,
  ok,
  type Reply,
  ReplyError,
  Status,
  tooDeep,
} from '../../../../src/store/command/reply.js'

// Parses replies in RESP2. Every reply type has its own JavaScript type, integers are exact, and texts of errors are
// unchanged.

/** A reply, or an error reply. Elements of the reply of EXEC may be errors, too. */
export type RespValue = Reply | ReplyError | readonly RespValue[]

/** Error for received data that is not the Redis protocol. Later data of the same connection cannot be parsed. */
class NotAnEngine extends Error {}

interface Open {
  readonly items: RespValue[]
  left: number
}

const CR = 13
const LF = 10
const nothing = Buffer.alloc(0)
/** Maximum length of a line in bytes. Only strings may be longer. */
export const maxLine = 1_048_576

/** Parses replies from chunks of data. A chunk may end at any byte. */
export class ReplyReader {
  #buffer: Buffer = nothing
  #chunks: Buffer[] = []
  #size = 0
  /**
   * Number of bytes that are needed to continue. Chunks are joined only when this many bytes have arrived, so that a
   * long string is copied only once.
   */
  #needed = 1
  #open: Open[] = []

  /** Adds a chunk of data and returns the replies that it completes. @throws NotAnEngine for invalid data */
  push(chunk: Buffer): RespValue[] {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#needed) return []
    this.#buffer = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    const told: RespValue[] = []
    let at = 0
    for (let end = this.#read(at, told); end > 0; end = this.#read(at, told)) at = end
    this.#buffer = this.#buffer.subarray(at)
    this.#chunks = this.#buffer.length === 0 ? [] : [this.#buffer]
    this.#size = this.#buffer.length
    this.#needed = Math.max(1, this.#needed - at)
    return told
  }

  /** Parses the item at an index. Returns the index after the item, or 0 if the item is not complete. */
  #read(at: number, told: RespValue[]): number {
    this.#needed = 0
    const line = this.#lineEnd(at)
    if (line < 0) {
      if (this.#buffer.length - at > maxLine) throw new NotAnEngine('a line does not end')
      this.#needed = this.#buffer.length + 1
      return 0
    }
    const head = latin1(this.#buffer.toString('latin1', at + 1, line))
    const kind = this.#buffer[at]
    const end = line + 2
    if (kind === 0x24) return this.#string(head, end, told)
    if (kind === 0x2a) return this.#list(head, end, told)
    this.#add(simple(kind, head), told)
    return end
  }

  /**
   * Returns the index of the end of a line. This function uses a loop, because a native search is slower for the few
   * bytes of most lines.
   */
  #lineEnd(from: number): number {
    const buffer = this.#buffer
    for (let at = from; at + 1 < buffer.length; at++) if (buffer[at] === CR && buffer[at + 1] === LF) return at
    return -1
  }

  #string(head: Bytes, from: number, told: RespValue[]): number {
    const length = lengthOf(head)
    if (length < 0) {
      this.#add(null, told)
      return from
    }
    const end = from + length
    if (this.#buffer.length < end + 2) {
      this.#needed = end + 2
      return 0
    }
    if (this.#buffer[end] !== CR) throw new NotAnEngine('a string has a wrong length')
    this.#add(latin1(this.#buffer.toString('latin1', from, end)), told)
    return end + 2
  }

  #list(head: Bytes, from: number, told: RespValue[]): number {
    const left = lengthOf(head)
    if (left > 0) this.#open.push({ items: [], left })
    else this.#add(left < 0 ? nilArray : [], told)
    return from
  }

  /**
   * Adds an item to the innermost open list. If this completes the list, the list is added to its outer list, or to the
   * replies.
   */
  #add(item: RespValue, told: RespValue[]): void {
    let whole = item
    for (let list = this.#open.at(-1); list !== undefined; list = this.#open.at(-1)) {
      list.items.push(whole)
      if (--list.left > 0) return
      whole = list.items
      this.#open.pop()
    }
    told.push(whole)
  }
}

function simple(kind: number | undefined, head: Bytes): RespValue {
  if (kind === 0x2b) return head === 'OK' ? ok : new Status(head)
  if (kind === 0x2d) return new ReplyError(text(head))
  if (kind === 0x3a && /^[+-]?\d{1,20}$/.test(head)) return integer(head)
  throw new NotAnEngine(`it sent ${JSON.stringify(head.slice(0, 60))}`)
}

function integer(head: string): number | bigint {
  const short = Number(head)
  return Number.isSafeInteger(short) ? short : BigInt(head)
}

function lengthOf(head: Bytes): number {
  if (!/^(?:-1|\d{1,10})$/.test(head)) throw new NotAnEngine(`it sent a length of ${JSON.stringify(head.slice(0, 60))}`)
  return Number(head)
}

/**
 * Returns a reply.
 * @throws the reply if it is an error, an error inside a list, and an error for lists that are nested too deeply for a
 *   reply of the sandbox
 */
export function replyIn(told: RespValue, depth = 0): Reply {
  if (told instanceof ReplyError) throw told
  if (typeof told !== 'object' || told === null || told instanceof Status || told instanceof NilArray) return told
  if (depth > deepestReply) throw tooDeep()
  return (told as readonly RespValue[]).map((item) => replyIn(item, depth + 1))
}
