import { type Bytes, fromArray, text, utf8 } from '../kernel/bytes.js'
import { NilArray, type Reply, Status } from './command/reply.js'

/** Reply as a plain JavaScript value: strings are decoded as UTF-8, both kinds of nil are `null`. */
export type PlainReply = null | number | bigint | string | readonly PlainReply[]

/** Argument of a command: text, a number or bytes. */
export type CommandArg = string | number | bigint | Uint8Array

/** Name and arguments of a command, as separate parameters or as a spread list: `run('GET', key)`, `run(...argv)`. */
export type CommandArgs = readonly [command: CommandArg, ...args: CommandArg[]] | readonly CommandArg[]

export function bytesOfWord(word: CommandArg, at = 0): Bytes {
  if (word === undefined || word === null || (typeof word === 'object' && !(word instanceof Uint8Array))) {
    throw new TypeError(
      `store.run(), store.get(): argument ${at + 1} must be a text, a number or bytes (got ${word === null ? 'null' : typeof word}). Convert objects with JSON.stringify().`,
    )
  }
  return word instanceof Uint8Array ? fromArray(word) : utf8(String(word))
}

export function plainReply(reply: Reply): PlainReply {
  if (typeof reply === 'string') return text(reply as Bytes)
  if (reply === null || reply instanceof NilArray) return null
  if (reply instanceof Status) return reply.text
  if (typeof reply === 'object') return reply.map(plainReply)
  return reply
}
