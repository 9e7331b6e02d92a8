import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Bytes } from '../../../../src/kernel/bytes.js'
import { utf8 } from '../../../../src/kernel/bytes.js'
import { hostClearTimeout, hostSetTimeout } from '../../../../src/kernel/host.js'
import { ReplyError } from '../../../../src/store/command/reply.js'
import { ReplyReader, type RespValue } from './reply-reader.js'

/** A server, who asks it, and how long and with which words. */
export interface RedisClientOptions {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  /** The name that its certificate must have, where `host` is only an address of it. */
  readonly certified?: string
  readonly user?: string | undefined
  /** Without a password there is no AUTH. */
  readonly password?: string | undefined
  /** Host milliseconds in which it must accept a connection. */
  readonly patience: number
  /** Host milliseconds after which a server that owes a reply counts as gone. By default the caller waits itself. */
  readonly silence?: number
  readonly reasons: ConnectionReasons
  /** Makes the error of a connection that isn't there. By default an error with the reason as its message. */
  readonly failure?: (reason: string, wasConnected: boolean) => Error
}

/** The reasons that neither the socket nor the server words. */
export interface ConnectionReasons {
  /** It accepts no connection in time. */
  readonly slow: string
  /** The server closed the connection. */
  readonly closed: string
  /** `close()` was called. */
  readonly left: string
}

interface Waiting {
  readonly resolve: (told: RespValue) => void
  readonly reject: (error: Error) => void
}

/**
 * One connection to one server, in RESP2. It never connects again by itself: commands that were sent when it breaks are
 * rejected and not sent twice, because another server may be at the same address by then.
 */
export class RedisConnection {
  readonly #options: RedisClientOptions
  readonly #socket: Socket
  readonly #reader = new ReplyReader()
  #waiting: Waiting[] = []
  #timer: ReturnType<typeof hostSetTimeout> | undefined
  #isConnected = false
  /** Takes the reason why it does not connect. */
  #refused: ((failure: Error) => void) | undefined
  #isCorked = false
  #over: Error | undefined
  /** Takes each reply to which no command is left: the messages of a subscription. */
  pushed: ((told: RespValue) => void) | undefined
  /** Is called once, when it broke or was closed. */
  ended: ((failure: Error) => void) | undefined

  constructor(options: RedisClientOptions) {
    const { host, port, tls, certified = host, reasons } = options
    this.#options = options
    this.#socket = tls
      ? connectTls({ host, port, ...(isIP(certified) === 0 && { servername: certified }) })
      : connectTcp({ host, port })
    this.#socket.on('data', (chunk) => this.#receive(chunk))
    this.#socket.on('error', (error) => this.#end(reasonOf(error)))
    this.#socket.on('close', () => this.#end(reasons.closed))
  }

  /**
   * Resolves when the server has accepted the connection, and its user.
   * @throws ReplyError where it refuses the user and password; what `failure` makes where it isn't there
   */
  async open(): Promise<void> {
    const { tls, patience, user, password, reasons } = this.#options
    await new Promise<void>((resolve, reject) => {
      this.#refused = reject
      this.#socket.setTimeout(patience, () => this.#end(reasons.slow))
      this.#socket.once(tls ? 'secureConnect' : 'connect', resolve)
    })
    this.#isConnected = true
    this.#socket.setTimeout(0).removeAllListeners('timeout')
    this.#socket.setNoDelay(true)
    // A peer that is gone without a word is found although nothing is sent to it.
    this.#socket.setKeepAlive(true, 5_000)
    if (password === undefined) return
    const reply = await this.send(['AUTH', ...(user === undefined ? [] : [user]), password].map(utf8))
    if (!(reply instanceof ReplyError)) return
    this.close()
    throw reply
  }

  get isOpen(): boolean {
    return this.#over === undefined
  }

  /** Sends one command. @returns its reply, an error reply as a value @throws what `failure` makes */
  send(argv: readonly (Bytes | Uint8Array)[]): Promise<RespValue> {
    if (this.#over !== undefined) return Promise.reject(this.#over)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      if (this.#waiting.length === 1) this.#wait()
      this.#write(argv)
    })
  }

  /** Sends what has several replies, or none: they are pushed. */
  begin(argv: readonly Bytes[]): void {
    if (this.#over === undefined) this.#write(argv)
  }

  close(): void {
    this.#end(this.#options.reasons.left)
  }

  /** Commands of one turn leave together. */
  #write(argv: readonly (Bytes | Uint8Array)[]): void {
    if (!this.#isCorked) {
      this.#isCorked = true
      this.#socket.cork()
      process.nextTick(() => {
        this.#isCorked = false
        this.#socket.uncork()
      })
    }
    let text = `*${argv.length}\r\n`
    for (const word of argv) {
      text += `$${word.length}\r\n`
      if (typeof word === 'string') text += word
      else {
        this.#socket.write(text, 'latin1')
        this.#socket.write(word)
        text = ''
      }
      text += '\r\n'
    }
    this.#socket.write(text, 'latin1')
  }

  #receive(chunk: Buffer): void {
    let told: RespValue[]
    try {
      told = this.#reader.push(chunk)
    } catch (error) {
      this.#end(`it does not speak the protocol of Redis: ${(error as Error).message}`)
      return
    }
    for (const reply of told) {
      const first = this.#waiting.shift()
      if (first === undefined) this.pushed?.(reply)
      else first.resolve(reply)
    }
    this.#wait()
  }

  /** The oldest command is waited for so long, from the last sign of life on. */
  #wait(): void {
    const { silence } = this.#options
    hostClearTimeout(this.#timer)
    if (silence === undefined || this.#waiting.length === 0) return
    this.#timer = hostSetTimeout(
      () => this.#end(`it has not answered for ${silence} ms (a script that does not end is ended with SCRIPT KILL)`),
      silence,
    )
  }

  #end(reason: string): void {
    if (this.#over !== undefined) return
    const { failure } = this.#options
    this.#over = failure === undefined ? new Error(reason) : failure(reason, this.#isConnected)
    hostClearTimeout(this.#timer)
    this.#socket.destroy()
    this.#refused?.(this.#over)
    for (const { reject } of this.#waiting.splice(0)) reject(this.#over)
    this.ended?.(this.#over)
  }
}

/** Errors of several addresses of one name have an empty message, and a code. */
function reasonOf(error: NodeJS.ErrnoException): string {
  return error.message || String(error.code ?? error.name)
}
