import { text, utf8 } from '../../../../src/kernel/bytes.js'
import { hostClearTimeout, hostSetTimeout } from '../../../../src/kernel/host.js'
import { NilArray, ReplyError, Status } from '../../../../src/store/command/reply.js'
import { RedisConnection } from '../redis-client/redis-connection.js'
import type { RespValue } from '../redis-client/reply-reader.js'
import { type ScriptReply, StoreUnreachable } from './cluster-store.js'

export interface LinkOptions {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  /** Timeout of a command, in milliseconds of host time. */
  readonly patience: number
  /** Receives messages when the server becomes unavailable and when it is available again. */
  readonly report: (text: string) => void
}

/** An error reply of Redis. The first word of its message is the code. */
export class ClusterStoreError extends Error {}

/**
 * A connection to one Redis server that reconnects automatically. Commands do not wait for a reconnect: they fail while
 * the server is unavailable.
 */
export class Link {
  readonly name: string
  #connection: RedisConnection | undefined
  /** Whether the server has replied on the current connection, and the connection is not broken. */
  #isReady = false
  #dialing: Promise<void> | undefined
  #options: LinkOptions
  /** Reason why the server is unavailable; `undefined` while it is available. */
  #trouble: string | undefined = 'it has not replied yet'
  #isClosed = false
  #wasThere = false
  /** Number of consecutive timeouts without any reply. */
  #silent = 0

  constructor(options: LinkOptions) {
    this.#options = options
    this.name = `${options.host}:${options.port}`
  }

  /**
   * Resolves when the server is available.
   * @throws StoreUnreachable with the reason after the timeout; the link continues to reconnect
   */
  async open(patience: number = this.#options.patience): Promise<void> {
    if (this.#isReady) return
    this.#dialing ??= this.#dial().finally(() => {
      this.#dialing = undefined
    })
    await within(this.#dialing, patience, () => this.#away())
  }

  start(): void {
    this.open().catch(() => undefined)
  }

  async #dial(): Promise<void> {
    for (let pause = 50; !this.#isClosed; pause = Math.min(2 * pause, 500)) {
      try {
        await this.#connect()
        this.#found()
        return
      } catch (error) {
        if (this.#isClosed) return
        this.#lost(error as Error)
        // Do not retry if the server rejected the user and password of the first connection.
        if (!this.#wasThere && /^(?:WRONGPASS|NOAUTH|NOPERM)\b/.test((error as Error).message)) throw this.#away()
      }
      await new Promise<void>((resolve) => hostSetTimeout(resolve, pause))
    }
  }

  /**
   * Resolves when the server has replied to PING. An accepted connection is not enough, because the kernel accepts
   * connections for a stopped process, too.
   */
  async #connect(): Promise<void> {
    const { host, port, tls, username, password, patience } = this.#options
    const connection = new RedisConnection({
      ...{ host, port, tls, patience, reasons },
      user: username,
      // If AUTH has a user name, it also needs a password, even an empty one.
      password: username === undefined ? password : (password ?? ''),
    })
    this.#connection = connection
    await connection.open()
    await connection.send([utf8('PING')])
    connection.ended = (error) => this.#broken(error)
  }

  /** Sends a command and returns its reply. @throws StoreUnreachable, ClusterStoreError */
  async send(args: readonly (string | Uint8Array)[], patience: number = this.#options.patience): Promise<ScriptReply> {
    if (!this.#isReady) throw this.#away()
    const reply = this.#connection!.send(args.map((arg) => (typeof arg === 'string' ? utf8(arg) : arg))).catch(
      (error: Error) => {
        throw this.#away(error)
      },
    )
    const heard = await within(reply, patience, () => this.#silence())
    this.#silent = 0
    if (heard instanceof ReplyError) throw new ClusterStoreError(heard.message)
    return scriptReply(heard)
  }

  /**
   * Returns the error of a timeout. The connection stays open, because a late reply may still arrive. After three
   * timeouts in a row, the connection is replaced.
   */
  #silence(): StoreUnreachable {
    if (++this.#silent >= 3) {
      this.#silent = 0
      this.#leave()
      this.start()
    }
    return new StoreUnreachable(`${this.name} has not replied within ${this.#options.patience} ms`)
  }

  #away(error?: Error): StoreUnreachable {
    const why = error?.message ?? this.#trouble
    return new StoreUnreachable(`${this.name}: ${why ?? 'it cannot be reached'}`, error && { cause: error })
  }

  #broken(error: Error): void {
    this.#isReady = false
    this.#lost(error)
    this.start()
  }

  #lost(error: Error): void {
    const isNews = this.#trouble === undefined
    this.#trouble = error.message
    if (isNews && !this.#isClosed) this.#options.report(`the Redis at ${this.name} is unavailable: ${this.#trouble}`)
  }

  #found(): void {
    const isNews = this.#trouble !== undefined && this.#wasThere
    this.#isReady = true
    this.#trouble = undefined
    this.#wasThere = true
    if (isNews) this.#options.report(`the Redis at ${this.name} is available again`)
  }

  close(): void {
    this.#isClosed = true
    this.#leave()
  }

  /** Closes the connection without reporting that the server is unavailable. */
  #leave(): void {
    this.#isReady = false
    if (this.#connection === undefined) return
    this.#connection.ended = undefined
    this.#connection.close()
  }
}

// Reasons in reports and responses. The texts are those of @redis/client, because this code used that package before.
const reasons = { slow: 'Connection timeout', closed: 'Socket closed unexpectedly', left: 'Disconnects client' }

/**
 * Returns the reply.
 * @throws the error that `late` returns, if there is no reply before the timeout
 */
function within<T>(reply: Promise<T>, patience: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = hostSetTimeout(() => reject(late()), patience)
    reply.then(resolve, reject).finally(() => hostClearTimeout(timer))
  })
}

function scriptReply(reply: RespValue): ScriptReply {
  if (typeof reply === 'string') return Buffer.from(reply, 'latin1')
  if (typeof reply === 'bigint') return Number(reply)
  if (reply instanceof Status) return text(reply.text)
  if (reply instanceof NilArray) return null
  if (reply instanceof ReplyError) throw new ClusterStoreError(reply.message)
  if (Array.isArray(reply)) return reply.map(scriptReply)
  return reply as number | null
}
