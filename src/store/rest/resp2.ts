import { type Bytes, latin1, utf8 } from '../../kernel/bytes.js'
import { NilArray, type Reply, type ReplyError, Status } from '../command/reply.js'
import { noRoom } from './room.js'

/** A reply exactly as a TCP client would get it, of so many bytes at most: throws `NoRoom`. [store.md 3.3] */
export function resp2(reply: Reply, room: number = Number.POSITIVE_INFINITY): Bytes {
  const text = value(reply, room)
  if (text.length > room) noRoom()
  return latin1(text)
}

export function resp2Error(error: ReplyError): Bytes {
  return utf8(`-${error.message.replace(/[\r\n]/g, ' ')}\r\n`)
}

function value(reply: Reply, room: number): string {
  if (typeof reply === 'string') return reply.length > room ? noRoom() : `$${reply.length}\r\n${reply}\r\n`
  if (typeof reply === 'number' || typeof reply === 'bigint') return `:${reply}\r\n`
  if (reply === null) return '$-1\r\n'
  if (reply instanceof NilArray) return '*-1\r\n'
  if (reply instanceof Status) return `+${reply.text}\r\n`
  let out = `*${reply.length}\r\n`
  for (const item of reply) {
    out += value(item, room - out.length)
    if (out.length > room) noRoom()
  }
  return out
}
