import { type Bytes, isUtf8, latin1, text, toBase64, utf8 } from '../../kernel/bytes.js'
import { NilArray, type Reply, Status } from '../command/reply.js'
import { longestString, noRoom } from './room.js'

/** How a bulk string becomes a JSON string literal. */
export type StringForm = (bytes: Bytes) => string

/** Invalid UTF-8 becomes U+FFFD, one for each byte. */
export const plain: StringForm = (bytes) => {
  // Escapes make six bytes of one, U+FFFD three: no string holds more.
  if (bytes.length > longestString / 6) noRoom()
  // JSON escapes ASCII only, so a valid byte string needs no decoding on its way through.
  return JSON.stringify(isUtf8(bytes) ? bytes : utf8(text(bytes)))
}

export const base64: StringForm = (bytes) => `"${toBase64(bytes)}"`

/**
 * A reply as JSON text, of so many bytes at most: throws `NoRoom`. Only a top-level `OK` status escapes base64.
 * [store.md 3.2]
 */
export function json(reply: Reply, form: StringForm, room: number = Number.POSITIVE_INFINITY): Bytes {
  const text = reply instanceof Status && reply.text === 'OK' ? '"OK"' : value(reply, form, room)
  if (text.length > room) noRoom()
  return latin1(text)
}

function value(reply: Reply, form: StringForm, room: number): string {
  if (typeof reply === 'string') {
    // What is sent is never shorter; what escapes make of it is seen once it is made.
    if (reply.length > room) noRoom()
    return form(reply)
  }
  if (typeof reply === 'number' || typeof reply === 'bigint') return String(reply)
  if (reply === null || reply instanceof NilArray) return 'null'
  if (reply instanceof Status) return form(reply.text)
  let out = '['
  for (let index = 0; index < reply.length; index++) {
    out += (index === 0 ? '' : ',') + value(reply[index]!, form, room - out.length)
    if (out.length > room) noRoom()
  }
  return `${out}]`
}
