import { isIP } from 'node:net'
import { hostClearTimeout, hostSetTimeout } from '../../../../src/kernel/host.js'
import { EngineAway, type ScriptReply } from './cluster-store.js'

/** How one server of the engine is reached. */
export interface LinkOptions {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  /** Host milliseconds in which it has to reply. */
  readonly patience: number
  /** Receives that it is away, and that it is back. */
  readonly report: (text: string) => void
}

/** An error that the engine replied: its first word is a code. */
export class EngineError extends Error {}

/** What is used of the library. Its own types are a hundred times as large as all of ours. */
interface ClientLibrary {
  createClient(options: object): Client
  readonly RESP_TYPES: { readonly BLOB_STRING: number }
}

interface Client {
  readonly isReady: boolean
  on(event: 'error', heard: (error: Error) => void): void
  on(event: 'ready', heard: () => void): void
  connect(): Promise<unknown>
  destroy(): void
  sendCommand(
    words: readonly (string | Buffer)[],
    options: { readonly typeMapping: object; readonly timeout: undefined },
  ): Promise<ScriptReply>
}

/** A connection to one server of the engine that comes back by itself. Nothing waits for it: it is there or it is away. */
export class Link {
  readonly name: string
  #client: Client | undefined
  #dialing: Promise<void> | undefined
  #options: LinkOptions
  /** Why it is away; `undefined` while it is not. */
  #trouble: string | undefined = 'it has not answered yet'
  #isClosed = false
  #wasThere = false
  /** Since when nothing was heard although a reply is due: so many in a row. */
  #silent = 0

  constructor(options: LinkOptions) {
    this.#options = options
    this.name = `${options.host}:${options.port}`
  }

  /** Resolves when it is there. @throws EngineAway with what is wrong, while it goes on trying */
  async open(patience: number = this.#options.patience): Promise<void> {
    if (this.#client?.isReady) return
    await clientLibrary()
    this.#dialing ??= this.#dial().finally(() => {
      this.#dialing = undefined
    })
    await within(this.#dialing, patience, () => this.#away()).catch((error) => {
      throw error instanceof EngineAway || error instanceof TypeError ? error : this.#away()
    })
  }

  /** The same for who does not wait. */
  start(): void {
    this.open().catch(() => undefined)
  }

  async #dial(): Promise<void> {
    const { createClient } = await clientLibrary()
    if (this.#isClosed) return
    const { host, port, tls, username, password, patience } = this.#options
    const client = createClient({
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      // What cannot be sent at once is told, and never sent later behind the back of who gave it up.
      disableOfflineQueue: true,
      RESP: 2,
      socket: {
        host,
        port,
        connectTimeout: patience,
        // A password that was wrong from the start does not become right by itself.
        reconnectStrategy: (tries: number, cause: Error) =>
          !this.#wasThere && /^(?:WRONGPASS|NOAUTH|NOPERM)\b/.test(cause.message)
            ? cause
            : Math.min(50 * 2 ** tries, 500),
        ...(tls && { tls: true as const, ...(isIP(host) === 0 && { servername: host }) }),
      },
    })
    this.#client = client
    client.on('error', (error: Error) => this.#lost(error))
    client.on('ready', () => this.#found())
    await client.connect()
  }

  /** @throws EngineAway, EngineError */
  async send(args: readonly (string | Uint8Array)[], patience: number = this.#options.patience): Promise<ScriptReply> {
    const client = this.#client
    if (client === undefined || !client.isReady) throw this.#away()
    const words = args.map((arg) => (typeof arg === 'string' ? arg : bufferOf(arg)))
    const { RESP_TYPES } = await clientLibrary()
    // Its own time-out is for what was not sent yet, and costs a signal for each command.
    const reply = client.sendCommand(words, {
      typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer },
      timeout: undefined,
    })
    const heard = await within(reply, patience, () => this.#silence()).catch((error: Error) => {
      throw this.#told(error)
    })
    this.#silent = 0
    return heard
  }

  #told(error: Error): Error {
    if (error instanceof EngineAway) return error
    // Replies that are errors have a code in capitals; what the library says itself does not.
    return /^[A-Z]{2,}\b/.test(error.message) && !isOfSocket(error) ? new EngineError(error.message) : this.#away(error)
  }

  /** What is late may still come; a connection that stays silent is given up for a new one. */
  #silence(): EngineAway {
    if (++this.#silent >= 3) {
      this.#silent = 0
      this.#client?.destroy()
      this.start()
    }
    return new EngineAway(`${this.name} has not replied within ${this.#options.patience} ms`)
  }

  #away(error?: Error): EngineAway {
    const why = error === undefined ? this.#trouble : plain(error)
    return new EngineAway(`${this.name}: ${why ?? 'it cannot be reached'}`, error && { cause: error })
  }

  #lost(error: Error): void {
    const isNews = this.#trouble === undefined
    this.#trouble = plain(error)
    if (isNews && !this.#isClosed) this.#options.report(`the engine at ${this.name} is away: ${this.#trouble}`)
  }

  #found(): void {
    const isNews = this.#trouble !== undefined && this.#wasThere
    this.#trouble = undefined
    this.#wasThere = true
    if (isNews) this.#options.report(`the engine at ${this.name} is back`)
  }

  close(): void {
    this.#isClosed = true
    this.#client?.destroy()
  }
}

/** Loaded by who needs it: most servers do without. */
let library: Promise<ClientLibrary> | undefined
/** Not where it is imported, or the compiler would read its types. */
const libraryName: string = '@redis/client'

function clientLibrary(): Promise<ClientLibrary> {
  library ??= import(libraryName).catch((cause) => {
    throw new TypeError(
      'A cluster speaks to its engine with @redis/client, which is not installed: npm install @redis/client',
      { cause },
    )
  })
  return library
}

/** Without the reply in time, what `late` says. */
function within<T>(reply: Promise<T>, patience: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = hostSetTimeout(() => reject(late()), patience)
    reply.then(resolve, reject).finally(() => hostClearTimeout(timer))
  })
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function isOfSocket(error: Error): boolean {
  return 'code' in error && 'syscall' in error
}

/** Errors of several addresses at once have an empty message, and a code. */
function plain(error: Error): string {
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name)
}
