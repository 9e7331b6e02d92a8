import { type Bytes, isUtf8, text, toArray } from '../kernel/bytes.js'
import { parsedJson } from '../kernel/parsed-json.js'
import type { Entry, EntryOf } from '../kernel/traffic-log.js'

/** A body as it was captured; each reading of it is made on demand. */
export class DecodedBody {
  /** One character per byte. */
  readonly raw: Bytes
  #text: string | undefined
  #json: { readonly value: unknown } | undefined

  /** @internal */
  constructor(raw: Bytes) {
    this.raw = raw
  }

  get size(): number {
    return this.raw.length
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return toArray(this.raw)
  }

  /** Whether the bytes are valid UTF-8. */
  get isText(): boolean {
    return isUtf8(this.raw)
  }

  /** Decoded as UTF-8; invalid bytes become U+FFFD. */
  get text(): string {
    this.#text ??= text(this.raw)
    return this.#text
  }

  /** The parsed JSON, `undefined` if it is not JSON. */
  get json(): unknown {
    this.#json ??= { value: parsedJson(this.text) }
    return this.#json.value
  }
}

/** What an entry carried, decoded. */
export interface DecodedEntry {
  /** Of a request, a message, an attempt. */
  readonly body?: DecodedBody
  /** What a request, or an attempt, was answered with; absent for a stream. */
  readonly response?: DecodedBody
  /** The words of a command. */
  readonly argv?: readonly string[]
  /** A command's reply in plain JavaScript. */
  readonly reply?: unknown
}

/**
 * The decoded view of an entry; the entry itself holds the bytes.
 * @example
 * await checkout()
 * decode(sandbox.traffic.last('published')!).body?.json // { id: 42 }
 */
export function decode(entry: Entry): DecodedEntry {
  switch (entry.type) {
    case 'request':
    case 'outbound':
      return withResponse(new DecodedBody(entry.body), entry.response?.body)
    case 'attempt':
      return withResponse(new DecodedBody(entry.body), entry.outcome?.body)
    case 'published':
      return { body: new DecodedBody(entry.body) }
    case 'command':
      return decodedCommand(entry)
    default:
      return {}
  }
}

function withResponse(body: DecodedBody, response: Bytes | undefined): DecodedEntry {
  return response === undefined ? { body } : { body, response: new DecodedBody(response) }
}

function decodedCommand(entry: EntryOf<'command'>): DecodedEntry {
  const words = entry.argv.map((word) => text(word))
  return entry.error === undefined ? { argv: words, reply: plainReply(entry.reply) } : { argv: words }
}

/** Strings decoded as UTF-8, simple strings as their text, every nil as `null`. */
export function plainReply(reply: unknown): unknown {
  if (typeof reply === 'string') return text(reply as Bytes)
  if (Array.isArray(reply)) return reply.map(plainReply)
  if (typeof reply !== 'object' || reply === null) return reply ?? null
  const { text: status } = reply as { text?: unknown }
  return typeof status === 'string' ? status : null
}
