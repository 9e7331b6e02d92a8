import { fromArray, toArray, toBase64 } from '../kernel/bytes.js'
import { bytesOf, type PortableString } from '../kernel/portable.js'
import type { CommandArg, PlainReply } from '../store/direct-store.js'

export type WireArgument = PortableString | number

/** A reply in JSON. An integer that JSON would round is sent as text in `{ integer }`. */
export type PortableReply = null | string | number | { readonly integer: string } | readonly PortableReply[]

export function wireArgument(word: CommandArg): WireArgument {
  if (word instanceof Uint8Array) return { base64: toBase64(fromArray(word)) }
  return typeof word === 'bigint' ? word.toString() : word
}

export function wordOfWire(given: WireArgument): string | number | Uint8Array {
  return typeof given === 'object' ? toArray(bytesOf(given)) : given
}

export function wireReply(reply: PlainReply): PortableReply {
  if (typeof reply === 'bigint') return { integer: reply.toString() }
  return typeof reply === 'object' && reply !== null ? reply.map(wireReply) : reply
}

export function replyOfWire(given: PortableReply): PlainReply {
  if (typeof given !== 'object' || given === null) return given
  return Array.isArray(given) ? given.map(replyOfWire) : BigInt((given as { integer: string }).integer)
}
