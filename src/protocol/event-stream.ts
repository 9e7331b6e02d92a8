import type { Account } from '../kernel/account.js'
import { type Bytes, toArray } from '../kernel/bytes.js'
import { hostTurnNumber } from '../kernel/host.js'

/** The writing end of a server-sent event stream. */
export interface EventStream {
  readonly body: ReadableStream<Uint8Array>
  /** Sends one `data:` event, a line of `data: ` for each line of the payload. */
  send(data: Bytes): void
  /** Sends what `dataFrame` made; for one event that goes to many streams, which hold it once. */
  sendFrame(frame: Uint8Array): void
  /** Sends a comment, which readers skip: keeps connections open. */
  comment(text: string): void
  close(): void
  /** Breaks the stream off: its reader sees the error. */
  fail(error: Error): void
  /** Whether the reader has taken everything that was sent. */
  readonly isRead: boolean
}

export interface EventStreamOptions {
  /** The client went away, was aborted, or its buffer was full. Called once. */
  onEnd(reason: 'aborted' | 'closed' | 'overflow'): void
  readonly signal?: AbortSignal | undefined
  /**
   * Bytes that may wait for a slow reader: with more, the stream is dropped before an event is added, so that it holds
   * nobody else up. A reader that has taken everything is sent what one turn of the event loop brings, up to `maxEvent`:
   * it has had no time to take any of it.
   */
  readonly bufferLimit?: number
}

const defaultBufferLimit = 1_048_576

/** Bytes for a reader that had taken everything, as redis-server limits its subscribers. [redis 7.0] */
export const maxEvent = 33_554_432

/** The stream of a reader that took nothing for too long. What waits is not worth waiting for. */
export class ReaderTooSlow extends Error {}

/** Chunks that readers have not taken, each held once however many wait for it. */
export class HeldChunks {
  readonly #account: Account
  readonly #readers = new Map<Uint8Array, number>()

  constructor(account: Account) {
    this.#account = account
  }

  /** One more reader has not taken it; `false` where there is no room for it. */
  hold(chunk: Uint8Array): boolean {
    const readers = this.#readers.get(chunk) ?? 0
    if (readers === 0 && !this.#account.take(chunk.length)) return false
    this.#readers.set(chunk, readers + 1)
    return true
  }

  /** A reader has taken it, or is gone. */
  letGo(chunk: Uint8Array): void {
    const readers = this.#readers.get(chunk)
    if (readers === undefined) return
    if (readers > 1) this.#readers.set(chunk, readers - 1)
    else if (this.#readers.delete(chunk)) this.#account.release(chunk.length)
  }
}

/** Holds chunks for a reader. */
export type ChunkHolder = Pick<HeldChunks, 'hold' | 'letGo'>

/** Who reads event streams in place, and what holds their chunks. */
const heldBy = new WeakMap<ReadableStream<Uint8Array>, ChunkHolder>()

/**
 * Tells that the reader of a body only reads its chunks. Those of an event stream are the ones that others get, then, and
 * are held until the reader lets go of them.
 */
export function readsInPlace(body: ReadableStream<Uint8Array>, held: ChunkHolder): void {
  heldBy.set(body, held)
}

/** A chunk as the reader of a body gets it: the same one that others get, or a copy; `undefined` where it has no room. */
export function chunkFor(body: ReadableStream<Uint8Array>, chunk: Uint8Array): Uint8Array | undefined {
  const held = heldBy.get(body)
  if (held === undefined) return chunk.slice()
  return held.hold(chunk) ? chunk : undefined
}

/** Bytes of an event that a reader who has taken everything gets although there is no room. */
const always = 16_384

/** Whatever readers of event streams take for the end of a line. */
const lineEnds = /\r\n|\r|\n/g

/** An event stream that never makes its writer wait: a reader that falls too far behind is disconnected. */
export function eventStream(options: EventStreamOptions): EventStream {
  const limit = options.bufferLimit ?? defaultBufferLimit
  /** What the reader has not taken, beside what the stream holds for it. */
  const waiting: Uint8Array[] = []
  let size = 0
  /** In which turn of the event loop the reader had taken everything. */
  let upToDate = 0
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let ended = false
  const forget = (): void => {
    for (const chunk of waiting) heldBy.get(body)?.letGo(chunk)
    waiting.length = 0
    size = 0
  }
  const end = (reason: 'aborted' | 'closed' | 'overflow'): void => {
    if (ended) return
    ended = true
    options.signal?.removeEventListener('abort', onAbort)
    if (reason !== 'closed') forget()
    if (reason === 'overflow')
      controller?.error(new ReaderTooSlow('The reader of this event stream was too slow and was dropped.'))
    else if (reason === 'closed' && waiting.length === 0) controller?.close()
    options.onEnd(reason)
  }
  const onAbort = (): void => {
    const stream = controller
    end('aborted')
    stream?.error(new DOMException('This operation was aborted', 'AbortError'))
  }
  /** Hands on one event, when the reader asks for it. */
  const pass = (): void => {
    const chunk = waiting.shift()
    if (chunk === undefined) return
    size -= chunk.length
    // Whoever gets it may hand it on for good, so that it gets a copy.
    controller!.enqueue(heldBy.has(body) ? chunk : chunk.slice())
    if (ended && waiting.length === 0) controller!.close()
  }
  let isAsked = false
  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given
      },
      pull() {
        isAsked = true
        if (waiting.length > 0) {
          isAsked = false
          pass()
        }
      },
      cancel() {
        end('aborted')
      },
    },
    { highWaterMark: 0 },
  )
  const write = (chunk: Uint8Array): void => {
    if (ended) return
    if (size === 0) upToDate = hostTurnNumber()
    const isUpToDate = size + chunk.length > limit && upToDate === hostTurnNumber()
    const fits = size + chunk.length <= (isUpToDate ? Math.max(limit, maxEvent) : limit)
    const isHeld = fits && heldBy.get(body)?.hold(chunk) !== false
    if (!isHeld && !(fits && size === 0 && chunk.length <= always)) {
      end('overflow')
      return
    }
    waiting.push(chunk)
    size += chunk.length
    if (!isAsked) return
    isAsked = false
    pass()
  }
  if (options.signal?.aborted) onAbort()
  else options.signal?.addEventListener('abort', onAbort)
  return {
    body,
    send: (data) => write(dataFrame(data)),
    sendFrame: write,
    comment: (text) => write(toArray(`: ${text}\n\n` as Bytes)),
    get isRead() {
      return !ended && size === 0
    },
    close: () => end('closed'),
    fail: (error) => {
      if (ended) return
      const stream = controller
      end('aborted')
      stream?.error(error)
    },
  }
}

/** The bytes of one `data:` event. */
export function dataFrame(data: Bytes): Uint8Array {
  return toArray(dataLine(data))
}

/** One `data:` event. */
export function dataLine(data: Bytes): Bytes {
  return `data: ${data.replace(lineEnds, '\ndata: ')}\n\n` as Bytes
}
