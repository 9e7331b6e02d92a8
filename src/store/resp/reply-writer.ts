import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { NilArray, ReplyError, Status } from '../command/reply.js'
import {
  BigNumberReply,
  DoubleReply,
  MapReply,
  PushReply,
  SetReply,
  TextReply,
  type TypedReply,
} from '../command/typed-reply.js'
import { resp2 as plainResp2, resp2Error } from '../rest/rest-responses.js'

export type RespVersion = 2 | 3

/** Encodes a reply. Types that RESP2 lacks become lists and strings. */
export function wireOf(reply: TypedReply, protocol: RespVersion): Bytes {
  return latin1(protocol === 2 ? resp2(reply) : resp3(reply))
}

/** Maximum bytes around an item: its type character, a length and line ends. */
const around = 32

/** Returns the maximum bytes of an encoded reply in either version. */
export function maxBytes(reply: TypedReply): number {
  if (typeof reply === 'string') return around + reply.length
  if (typeof reply !== 'object' || reply === null || reply instanceof NilArray) return around
  if (reply instanceof ReplyError) return around + reply.message.length
  if (reply instanceof BigNumberReply) return around + reply.digits.length
  if (reply instanceof Status || reply instanceof DoubleReply || reply instanceof TextReply)
    return around + reply.text.length
  let bytes = around
  for (const item of itemsOf(reply)) bytes += maxBytes(item)
  return bytes
}

/** Encodes an error. Line breaks are replaced, because they would begin another reply. */
export function wireOfError(message: string): Bytes {
  return resp2Error({ message })
}

function resp2(reply: TypedReply): string {
  if (typeof reply !== 'object' || reply === null) return plainResp2(reply)
  if (reply instanceof Status || reply instanceof NilArray) return plainResp2(reply)
  if (reply instanceof ReplyError) return wireOfError(reply.message)
  if (reply instanceof DoubleReply || reply instanceof TextReply) return resp2(reply.text)
  if (reply instanceof BigNumberReply) return resp2(reply.digits)
  return list('*', itemsOf(reply), resp2)
}

function resp3(reply: TypedReply): string {
  if (typeof reply === 'string') return `$${reply.length}\r\n${reply}\r\n`
  if (typeof reply === 'number') return `:${reply}\r\n`
  if (reply === null || reply instanceof NilArray) return '_\r\n'
  if (reply instanceof MapReply) return list('%', reply.pairs, resp3, reply.pairs.length / 2)
  if (reply instanceof SetReply) return list('~', reply.items, resp3)
  if (reply instanceof PushReply) return list('>', reply.items, resp3)
  if (reply instanceof DoubleReply) return `,${reply.text}\r\n`
  if (reply instanceof BigNumberReply) return `(${reply.digits}\r\n`
  if (reply instanceof TextReply) return `=${reply.text.length + 4}\r\ntxt:${reply.text}\r\n`
  return Array.isArray(reply) ? list('*', reply, resp3) : resp2(reply)
}

function itemsOf(reply: MapReply | SetReply | PushReply | readonly TypedReply[]): readonly TypedReply[] {
  if (reply instanceof MapReply) return reply.pairs
  if (reply instanceof SetReply || reply instanceof PushReply) return reply.items
  return reply
}

function list(
  sign: string,
  items: readonly TypedReply[],
  wire: (item: TypedReply) => string,
  length: number = items.length,
): string {
  let out = `${sign}${length}\r\n`
  for (const item of items) out += wire(item)
  return out
}
