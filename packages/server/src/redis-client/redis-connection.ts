import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Bytes } from '../../../../src/kernel/bytes.js'
import { utf8 } from '../../../../src/kernel/bytes.js'
import { hostClearTimeout, hostSetTimeout } from '../../../../src/kernel/host.js'
import { ReplyError } from '../../../../src/store/command/reply.js'
import { ReplyReader, type RespValue } from './reply-reader.js'

export interface RedisClientOptions {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  /**
   * Name that the certificate of the server must have. Default: `host`. Set this option if `host` is an address, and
   * the certificate contains the name.
   */
  readonly certified?: string
  readonly user?: string | undefined
  /** Password of the user. Without a password, AUTH is not sent. */
  readonly password?: string | undefined
  /** Time in which the server must accept the connection, in milliseconds of host time. */
  readonly patience: number
  /**
   * Time after which a server that does not reply to a command counts as disconnected, in milliseconds of host time.
   * Default: no timeout, because the caller has its own timeout.
   */
  readonly silence?: number
  readonly reasons: ConnectionReasons
  /**
   * Creates the error for commands when the connection has failed. Default: an error with the reason as its message.
   */
  readonly failure?: (reason: string, wasConnected: boolean) => Error
}

/** Error texts for failures for which neither the socket nor the server provides a text. */
export interface ConnectionReasons {
  /** Text for a server that does not accept the connection in time. */
  readonly slow: string
  /** Text for a connection that the server closed. */
  readonly closed: string
  /** Text for a connection that was closed with `close()`. */
  readonly left: string
}

interface Waiting {
  readonly resolve: (told: RespValue) => void
  readonly reject: (error: Error) => void
}

/**
 * One connection to one server, in RESP2. The connection does not reconnect. If it breaks, all commands without a reply
 * are rejected and not sent again, because another server may have the same address by then.
 */
export class RedisConnection {
  readonly #options: RedisClientOptions
  readonly #socket: Socket
  readonly #reader = new ReplyReader()
  #waiting: Waiting[] = []
  #timer: ReturnType<typeof hostSetTimeout> | undefined
  #isConnected = false
  /** Receives the error if the connection cannot be established. */
  #refused: ((failure: Error) => void) | undefined
  #isCorked = false
  #over: Error | undefined
  /** Receives every reply that belongs to no command, such as the messages of a subscription. */
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
   * @throws ReplyError if the server rejects the user and password; the error that `failure` creates if the connection
   *   fails
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
    // Keep-alive probes detect a server that disconnected silently, even if no command is sent.
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
   * Sends a command and returns its reply. An error reply is returned as a value, not thrown.
   * @throws the error that `failure` creates if the connection has failed
   */
  send(argv: readonly (Bytes | Uint8Array)[]): Promise<RespValue> {
    if (this.#over !== undefined) return Promise.reject(this.#over)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      if (this.#waiting.length === 1) this.#wait()
      this.#write(argv)
    })
  }

  /** Sends a command such as SUBSCRIBE, which has several replies or none. `pushed` receives the replies. */
  begin(argv: readonly Bytes[]): void {
    if (this.#over === undefined) this.#write(argv)
  }

  close(): void {
    this.#end(this.#options.reasons.left)
  }

  /** Writes a command. Commands that are written before the next tick are sent together. */
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

  /** Starts the timeout of the oldest command without a reply. The timeout starts again whenever data is received. */
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

/** Returns the text of an error. If all addresses of a host name fail, the error has a code, but no message. */
function reasonOf(error: NodeJS.ErrnoException): string {
  return error.message || String(error.code ?? error.name)
}
