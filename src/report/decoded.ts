import { type Bytes, isUtf8, text, toArray } from '../kernel/bytes.js'
import { parsedJson } from '../kernel/parsed-json.js'
import type { Entry, EntryOf } from '../kernel/traffic-log.js'

/** A captured body in several forms. Each form is computed when it is first read. */
export class DecodedBody {
  /** The bytes of the body as a string with one character per byte. */
  readonly raw: Bytes
  #text: string | undefined
  #json: { readonly value: unknown } | undefined

  /** @internal */
  constructor(raw: Bytes) {
    this.raw = raw
  }

  /** Number of bytes of the body. */
  get size(): number {
    return this.raw.length
  }

  /** The body as a new array of bytes. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return toArray(this.raw)
  }

  /** Whether the bytes are valid UTF-8. */
  get isText(): boolean {
    return isUtf8(this.raw)
  }

  /** The body decoded as UTF-8. Invalid bytes become U+FFFD. */
  get text(): string {
    this.#text ??= text(this.raw)
    return this.#text
  }

  /** The JSON of the body, parsed. `undefined` if the body is not JSON. */
  get json(): unknown {
    this.#json ??= { value: parsedJson(this.text) }
    return this.#json.value
  }
}

/** Decoded content of an entry. */
export interface DecodedEntry {
  /** Body of a request, a message, or an attempt. */
  readonly body?: DecodedBody
  /** Body of the response to a request or an attempt. Absent for a stream. */
  readonly response?: DecodedBody
  /** Arguments of a command, the name first. */
  readonly argv?: readonly string[]
  /** Reply of a command as a plain JavaScript value. */
  readonly reply?: unknown
}

/**
 * Decodes the bytes in an entry: its bodies, its arguments and its reply.
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

/** Converts a reply: strings are decoded as UTF-8, simple strings become their text, and every nil becomes `null`. */
export function plainReply(reply: unknown): unknown {
  if (typeof reply === 'string') return text(reply as Bytes)
  if (Array.isArray(reply)) return reply.map(plainReply)
  if (typeof reply !== 'object' || reply === null) return reply ?? null
  const { text: status } = reply as { text?: unknown }
  return typeof status === 'string' ? status : null
}
