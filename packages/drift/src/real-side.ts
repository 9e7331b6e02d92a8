import { setTimeout as sleep } from 'node:timers/promises'
import { type Bytes, fromArray, text, toArray } from '../../../src/kernel/bytes.js'
import { ownWords, refusal } from './allowed-requests.js'
import type { Answered, Delivery, DriftRequest, OpenStream, Side } from './case.js'
import { type DriftDestination, endpointUrl } from './endpoint.js'
import { ownIds, queueRefusal } from './harmless-queue.js'
import { type Address, inDialect, nameInDialect, neutralHeaders } from './in-dialect.js'
import { StreamEvents } from './stream-events.js'

/** Maximum duration of one request in milliseconds. */
const maxRequest = 30_000
/** Maximum size of one response in bytes. Responses to the contract's requests have only a few thousand bytes. */
const maxAnswer = 16 * 1024 * 1024
/**
 * Maximum number of seconds that a response with status 429 may ask to wait, and maximum number of such responses in a
 * row.
 */
const maxRest = 120
const maxRests = 5

/** Thrown for a request that must not be sent. Then the contract or the check of requests has a bug. */
export class NotSent extends Error {}

/** Thrown if the service cannot be reached, does not respond in time, or asks to wait too long. */
export class Away extends Error {}

export interface RealService {
  readonly store: Address | undefined
  readonly queue: Address | undefined
  readonly userAgent: string
  readonly fetch: typeof globalThis.fetch
}

/** The connection to the real service, for the whole run. It counts requests. Ctrl-C can abort them. */
export class RealConnection {
  sent = 0
  readonly #abort = new AbortController()

  /** @param patience timeout of one request including its response, in milliseconds of host time */
  constructor(
    readonly service: RealService,
    readonly patience: number = maxRequest,
  ) {}

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Aborts the requests in progress. After that, only the clean-up sends requests. */
  interrupt(): void {
    this.#abort.abort(new Away('interrupted'))
  }

  /**
   * Sends a request and reads the response.
   * @param signals signals that abort the request. Requests of the clean-up have no signal
   */
  async fetch<T>(
    ask: DriftRequest,
    signals: readonly AbortSignal[],
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const address = ask.service === 'store' ? this.service.store : this.service.queue
    if (address === undefined) throw new NotSent(`there is no URL of the ${ask.service}`)
    const { url, headers } = inDialect(ask, address)
    for (let rests = 0; ; rests++) {
      for (const signal of signals) signal.throwIfAborted()
      this.sent++
      const done = await this.#inTime(signals, async (signal) => {
        const response = await this.#once(ask, url, headers, signal)
        const rest = restAsked(response)
        if (rest === undefined || rests === maxRests) return { value: await read(response) }
        await response.body?.cancel()
        return { rest }
      })
      if ('value' in done) return done.value
      if (done.rest > maxRest) throw new Away(`the service responded with 429 and asks to wait ${done.rest} seconds`)
      await sleep(done.rest * 1000, undefined, { signal: AbortSignal.any([...signals]) })
    }
  }

  /**
   * Runs a function with a timeout. The timeout is a timer of its own, because `AbortSignal.timeout()` may never fire
   * in Node.js 20. If only `AbortSignal.any()` refers to the signal, Node.js may garbage-collect it.
   */
  async #inTime<T>(signals: readonly AbortSignal[], work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController()
    const { promise, reject } = withReject()
    const end = (reason: unknown): void => {
      reject(reason)
      abort.abort(reason)
    }
    const timer = setTimeout(() => end(new Away(`no response within ${this.patience / 1000} seconds`)), this.patience)
    const listening = signals.map((signal) => ({ signal, listener: () => end(signal.reason) }))
    for (const { signal, listener } of listening) signal.addEventListener('abort', listener)
    try {
      return await Promise.race([work(abort.signal), promise])
    } catch (error) {
      for (const signal of signals) signal.throwIfAborted()
      throw error instanceof Away ? error : new Away(reasonOf(error))
    } finally {
      clearTimeout(timer)
      for (const { signal, listener } of listening) signal.removeEventListener('abort', listener)
    }
  }

  #once(ask: DriftRequest, url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    return this.service.fetch(url, {
      method: ask.method,
      headers: { ...headers, 'user-agent': this.service.userAgent },
      ...(ask.body !== undefined && { body: toArray(ask.body as Bytes) }),
      // Following a redirect would send the token to another URL.
      redirect: 'manual',
      signal,
    })
  }
}

function withReject(): { readonly promise: Promise<never>; readonly reject: (reason: unknown) => void } {
  let reject: (reason: unknown) => void
  const promise = new Promise<never>((_, rejecting) => {
    reject = rejecting
  })
  return { promise, reject: reject! }
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: { code?: string; message?: string } }
  return cause?.code ?? cause?.message ?? message
}

/** Returns the number of seconds that a response with status 429 asks to wait. */
function restAsked(response: Response): number | undefined {
  if (response.status !== 429) return undefined
  const asked = response.headers.get('retry-after')
  if (asked === null) return 1
  const seconds = /^\d+$/.test(asked) ? Number(asked) : Math.ceil((Date.parse(asked) - Date.now()) / 1000)
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 1
}

/** Reads the whole body. @throws Error if it exceeds the maximum size */
async function bodyOf(response: Response): Promise<Bytes> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    // If the loop ends early, the stream is canceled.
    if (size > maxAnswer) throw new Error(`a response of more than ${maxAnswer} bytes`)
    chunks.push(chunk)
  }
  return fromArray(new Uint8Array(Buffer.concat(chunks)))
}

type Undo = (side: Pick<Side, 'ask'>) => Promise<unknown>

/**
 * The real service, while one case runs on it. It records the keys in its requests, so that the clean-up can delete
 * them.
 */
export class RealSide implements Side {
  readonly name: 'real' = 'real'
  /** Keys in requests that were sent. These keys may now exist. */
  readonly keys: Set<Bytes> = new Set()
  readonly undos: { readonly what: string; readonly work: Undo }[] = []
  /** IDs of this run's messages and dead letters. All of them occurred in responses to requests of this run. */
  readonly #ids = new Set<string>()

  constructor(
    readonly prefix: string,
    readonly connection: RealConnection,
    readonly reached: DriftDestination | undefined,
    /** Whether Ctrl-C aborts the requests of this side. `false` during the clean-up. */
    readonly isInterruptible: boolean = true,
  ) {}

  /** Returns a copy of this side. Ctrl-C does not abort the requests of the copy. */
  forCleanUp(): RealSide {
    const cleaner = new RealSide(this.prefix, this.connection, this.reached, false)
    for (const id of this.#ids) cleaner.#ids.add(id)
    return cleaner
  }

  undo(what: string, work: Undo): void {
    this.undos.push({ what, work })
  }

  endpoint(asked: Readonly<Record<string, string | number>> = {}): string {
    return endpointUrl(this.reached, this.prefix, asked)
  }

  own(name: string): string {
    const { store, queue } = this.connection.service
    return nameInDialect(name, (queue ?? store)!.dialect)
  }

  deliveries(): readonly Delivery[] {
    return this.reached?.deliveries(this.prefix) ?? []
  }

  now(): number {
    return Date.now()
  }

  async wait(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.connection.signal })
  }

  async ask(ask: DriftRequest): Promise<Answered> {
    return this.#fetch(ask, async (response) => {
      if (!this.isInterruptible && response.status >= 500) throw new Away(`status ${response.status}`)
      const body = await bodyOf(response)
      for (const id of ownIds(ask, text(body), this.#ids)) this.#ids.add(id)
      return { status: response.status, headers: this.#headers(ask, response), body }
    })
  }

  async open(ask: DriftRequest): Promise<OpenStream> {
    const abort = new AbortController()
    const stream = await this.#fetch(
      ask,
      async (response) => new StreamEvents(response, this.#headers(ask, response), abort),
    )
    this.connection.signal.addEventListener('abort', () => stream.close(), { once: true })
    return stream
  }

  async #fetch<T>(ask: DriftRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const reason =
      ask.service === 'store'
        ? refusal(ask, this.prefix)
        : queueRefusal(ask, { prefix: this.prefix, endpoint: this.reached?.url, ids: this.#ids })
    if (reason !== undefined) throw new NotSent(reason)
    for (const word of ownWords(ask, this.prefix)) this.keys.add(word)
    return this.connection.fetch(ask, this.isInterruptible ? [this.connection.signal] : [], read)
  }

  #headers(ask: DriftRequest, response: Response): Record<string, string> {
    const { store, queue } = this.connection.service
    return neutralHeaders(response.headers, (ask.service === 'store' ? store : queue)!.dialect)
  }
}
