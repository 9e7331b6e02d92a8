import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Bytes } from '../../../../src/kernel/bytes.js'
import { utf8 } from '../../../../src/kernel/bytes.js'
import { hostClearTimeout, hostSetTimeout } from '../../../../src/kernel/host.js'
import { ReplyError } from '../../../../src/store/command/reply.js'
import { ReplyReader, type RespValue } from './reply-reader.js'

/** A server, the user that connects to it, and the timeouts and error texts. */
export interface RedisClientOptions {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  /** Name that the certificate must have, if `host` is only one of its addresses. */
  readonly certified?: string
  readonly user?: string | undefined
  /** Password. Without it, no AUTH is sent. */
  readonly password?: string | undefined
  /** Host milliseconds in which the server must accept a connection. */
  readonly patience: number
  /**
   * Host milliseconds after which a server with an outstanding reply counts as disconnected. Default: the caller has
   * its own timeout.
   */
  readonly silence?: number
  readonly reasons: ConnectionReasons
  /** Creates the error of a missing connection. Default: an error with the reason as its message. */
  readonly failure?: (reason: string, wasConnected: boolean) => Error
}

/** Reasons that have no text from the socket or the server. */
export interface ConnectionReasons {
  /** The server does not accept a connection in time. */
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
 * One connection to one server, in RESP2. It does not reconnect: commands that were sent when it breaks are rejected
 * and not repeated, because another server may have the same address by then.
 */
export class RedisConnection {
  readonly #options: RedisClientOptions
  readonly #socket: Socket
  readonly #reader = new ReplyReader()
  #waiting: Waiting[] = []
  #timer: ReturnType<typeof hostSetTimeout> | undefined
  #isConnected = false
  /** Receives the reason why the connection failed. */
  #refused: ((failure: Error) => void) | undefined
  #isCorked = false
  #over: Error | undefined
  /** Receives every reply without a command: the messages of a subscription. */
  pushed: ((told: RespValue) => void) | undefined
  /** Called once, when the connection broke or was closed. */
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
   * Resolves when the server has accepted the connection and its user.
   * @throws ReplyError if the server rejects the user and password, and the error of `failure` without a connection
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
    // Detects a peer that disconnected silently, even if nothing is sent to it.
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

  /**
   * Sends a command and returns its reply, with an error reply as a value.
   * @throws the error of `failure` without a connection
   */
  send(argv: readonly (Bytes | Uint8Array)[]): Promise<RespValue> {
    if (this.#over !== undefined) return Promise.reject(this.#over)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      if (this.#waiting.length === 1) this.#wait()
      this.#write(argv)
    })
  }

  /** Sends a command with several replies or none, which are pushed. */
  begin(argv: readonly Bytes[]): void {
    if (this.#over === undefined) this.#write(argv)
  }

  close(): void {
    this.#end(this.#options.reasons.left)
  }

  /** Commands of one turn are sent together. */
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
      this.#end(`it does not speak the Redis protocol: ${(error as Error).message}`)
      return
    }
    for (const reply of told) {
      const first = this.#waiting.shift()
      if (first === undefined) this.pushed?.(reply)
      else first.resolve(reply)
    }
    this.#wait()
  }

  /** Starts the timeout of the oldest command, counted from the last received data. */
  #wait(): void {
    const { silence } = this.#options
    hostClearTimeout(this.#timer)
    if (silence === undefined || this.#waiting.length === 0) return
    this.#timer = hostSetTimeout(
      () => this.#end(`it has not replied for ${silence} ms (SCRIPT KILL ends a script that does not end)`),
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

/** Returns the message of an error. Errors for several addresses of one name have an empty message and a code. */
function reasonOf(error: NodeJS.ErrnoException): string {
  return error.message || String(error.code ?? error.name)
}
