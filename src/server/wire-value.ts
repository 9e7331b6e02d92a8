import { type Bytes, fromArray, fromBase64, isUtf8, text, toArray, toBase64, utf8 } from '../kernel/bytes.js'
import type { PlainReply, Word } from '../store/direct.js'

/** Bytes as JSON shows them: a text where they are one. */
export type WireBytes = string | { readonly base64: string }

/** A word of a command in JSON. */
export type WireWord = string | number | { readonly base64: string }

/** A reply in JSON: integers that JSON would round stand as texts. */
export type WireReply = null | string | number | { readonly integer: string } | readonly WireReply[]

export function wireBytes(bytes: Bytes): WireBytes {
  return isUtf8(bytes) ? text(bytes) : { base64: toBase64(bytes) }
}

export function bytesOfWire(given: WireBytes): Bytes {
  return typeof given === 'string' ? utf8(given) : (fromBase64(given.base64) ?? utf8(''))
}

export function wireWord(word: Word): WireWord {
  if (word instanceof Uint8Array) return { base64: toBase64(fromArray(word)) }
  return typeof word === 'bigint' ? word.toString() : word
}

export function wordOfWire(given: WireWord): string | number | Uint8Array {
  return typeof given === 'object' ? toArray(bytesOfWire(given)) : given
}

export function wireReply(reply: PlainReply): WireReply {
  if (typeof reply === 'bigint') return { integer: reply.toString() }
  return typeof reply === 'object' && reply !== null ? reply.map(wireReply) : reply
}

export function replyOfWire(given: WireReply): PlainReply {
  if (typeof given !== 'object' || given === null) return given
  return Array.isArray(given) ? given.map(replyOfWire) : BigInt((given as { integer: string }).integer)
}
