import { connect, type Socket } from 'node:net'
import { skeletonOf } from './resp3.js'

/** One reply of a RESP2 server with its type, because JSON does not distinguish nil bulk, nil array and texts. */
export type RespReply =
  | { readonly status: string }
  | { readonly error: string }
  | { readonly integer: string }
  | { readonly bulk: string }
  | { readonly nil: 'bulk' | 'array' }
  | { readonly array: readonly RespReply[] }

/** A tiny RESP2 client. Strings hold one byte per char in both directions. */
export class RespClient {
  readonly #socket: Socket
  readonly #waiting: { resolve: (raw: string) => void; reject: (error: Error) => void }[] = []
  #buffer = ''

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk) => {
      this.#buffer += chunk.toString('latin1')
      this.#deliver()
    })
    socket.on('error', (error) => {
      for (const { reject } of this.#waiting.splice(0)) reject(error)
    })
  }

  static connect(port: number, host = '127.0.0.1'): Promise<RespClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, host, () => resolve(new RespClient(socket)))
      socket.once('error', reject)
    })
  }

  /** Sends one command and gives the raw bytes of its reply. */
  raw(argv: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#socket.write(encodeCommand(argv), 'latin1')
    })
  }

  async send(argv: readonly string[]): Promise<RespReply> {
    return decodeReply(await this.raw(argv))
  }

  close(): void {
    this.#socket.destroy()
  }

  #deliver(): void {
    while (this.#waiting.length > 0) {
      const end = endOfReply(this.#buffer, 0)
      if (end < 0) return
      const raw = this.#buffer.slice(0, end)
      this.#buffer = this.#buffer.slice(end)
      this.#waiting.shift()!.resolve(raw)
    }
  }
}

function encodeCommand(argv: readonly string[]): string {
  return `*${argv.length}\r\n${argv.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`
}

/** Returns the end of the reply that starts at `at`; -1 when it is incomplete. */
function endOfReply(raw: string, at: number): number {
  return skeletonOf(raw, at)?.end ?? -1
}

/** Reads exactly one complete reply. */
export function decodeReply(raw: string): RespReply {
  const { reply, end } = read(raw, 0)
  if (end !== raw.length) throw new Error(`${raw.length - end} bytes follow the reply: ${JSON.stringify(raw)}`)
  return reply
}

function read(raw: string, at: number): { reply: RespReply; end: number } {
  const line = raw.indexOf('\r\n', at)
  if (line < 0) throw new Error(`unfinished reply: ${JSON.stringify(raw.slice(at))}`)
  const head = raw.slice(at + 1, line)
  const end = line + 2
  switch (raw[at]) {
    case '+':
      return { reply: { status: head }, end }
    case '-':
      return { reply: { error: head }, end }
    case ':':
      return { reply: { integer: head }, end }
    case '$': {
      const size = Number(head)
      if (size < 0) return { reply: { nil: 'bulk' }, end }
      return { reply: { bulk: raw.slice(end, end + size) }, end: end + size + 2 }
    }
    case '*':
      return readArray(raw, Number(head), end)
    default:
      throw new Error(`not a RESP2 reply: ${JSON.stringify(raw.slice(at))}`)
  }
}

function readArray(raw: string, size: number, start: number): { reply: RespReply; end: number } {
  if (size < 0) return { reply: { nil: 'array' }, end: start }
  const array: RespReply[] = []
  let end = start
  for (let left = size; left > 0; left--) {
    const item = read(raw, end)
    array.push(item.reply)
    end = item.end
  }
  return { reply: { array }, end }
}
