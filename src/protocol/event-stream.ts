import type { Account } from '../kernel/account.js'
import { type Bytes, toArray } from '../kernel/bytes.js'
import { hostTurnNumber } from '../kernel/host.js'

/** Writes a server-sent event stream to one reader. */
export interface EventStream {
  readonly body: ReadableStream<Uint8Array>
  /** Sends one `data:` event, with one `data: ` line per line of the payload. */
  send(data: Bytes): void
  /** Sends a frame that `dataFrame` created. If several streams send the same frame, they share its memory. */
  sendFrame(frame: Uint8Array): void
  /** Sends a comment, which clients ignore, to keep the connection open. */
  comment(text: string): void
  close(): void
  /** Breaks the stream, so that its reader gets this error. */
  fail(error: Error): void
  /** Whether the reader has taken everything that was sent. */
  readonly isRead: boolean
}

export interface EventStreamOptions {
  /** Called once when the client disconnects or aborts, or when its buffer is full. */
  onEnd(reason: 'aborted' | 'closed' | 'overflow'): void
  readonly signal?: AbortSignal | undefined
  /**
   * Maximum number of bytes that are buffered for a slow reader. If the next event would exceed it, the reader is
   * disconnected, so that one reader cannot block others. A reader that has taken everything had no time to read within
   * the present turn of the event loop. In that turn, up to `maxEvent` bytes are buffered for the reader.
   */
  readonly bufferLimit?: number
}

const defaultBufferLimit = 1_048_576

/**
 * Maximum number of bytes that are buffered within a turn of the event loop, for a reader that had taken everything.
 * redis-server has the same limit for subscribers. [redis 7.0]
 */
export const maxEvent = 33_554_432

/** Error of a stream whose reader was too slow. Events in the buffer are discarded. */
export class ReaderTooSlow extends Error {}

/** Counts the bytes of chunks that readers have not taken yet. A chunk that several readers wait for counts once. */
export class HeldChunks {
  readonly #account: Account
  readonly #readers = new Map<Uint8Array, number>()

  constructor(account: Account) {
    this.#account = account
  }

  /** Registers a reader that waits for a chunk. Returns `false` if no memory is left for the chunk. */
  hold(chunk: Uint8Array): boolean {
    const readers = this.#readers.get(chunk) ?? 0
    if (readers === 0 && !this.#account.take(chunk.length)) return false
    this.#readers.set(chunk, readers + 1)
    return true
  }

  /** Removes a reader from a chunk, because it has taken the chunk or has disconnected. */
  letGo(chunk: Uint8Array): void {
    const readers = this.#readers.get(chunk)
    if (readers === undefined) return
    if (readers > 1) this.#readers.set(chunk, readers - 1)
    else if (this.#readers.delete(chunk)) this.#account.release(chunk.length)
  }
}

/** Object that counts chunks that readers have not taken yet. */
export type ChunkHolder = Pick<HeldChunks, 'hold' | 'letGo'>

/** Bodies whose readers do not modify chunks, each with the object that counts the chunks. */
const heldBy = new WeakMap<ReadableStream<Uint8Array>, ChunkHolder>()

/**
 * Declares that the reader of a body does not modify its chunks. Several such readers can then share a chunk. The chunk
 * counts in `held` until each of them has taken it.
 */
export function readsInPlace(body: ReadableStream<Uint8Array>, held: ChunkHolder): void {
  heldBy.set(body, held)
}

/**
 * Returns a chunk that the reader of a body can have: the chunk itself if the reader does not modify chunks, otherwise
 * a copy. Returns `undefined` if no memory is left.
 */
export function chunkFor(body: ReadableStream<Uint8Array>, chunk: Uint8Array): Uint8Array | undefined {
  const held = heldBy.get(body)
  if (held === undefined) return chunk.slice()
  return held.hold(chunk) ? chunk : undefined
}

/**
 * Maximum size in bytes of an event that a reader gets although no memory is left. The reader must have taken all
 * earlier events.
 */
const always = 16_384

/** Matches everything that readers of event streams treat as a line break. */
const lineEnds = /\r\n|\r|\n/g

/** Creates an event stream whose writer never waits for the reader. A reader that is too slow is disconnected. */
export function eventStream(options: EventStreamOptions): EventStream {
  const limit = options.bufferLimit ?? defaultBufferLimit
  /** Chunks that were sent and are not yet in the queue of `body`. */
  const waiting: Uint8Array[] = []
  let size = 0
  /** Number of the latest event loop turn in which the reader had taken all chunks. */
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
      controller?.error(new ReaderTooSlow('The reader of this event stream was too slow and was disconnected.'))
    else if (reason === 'closed' && waiting.length === 0) controller?.close()
    options.onEnd(reason)
  }
  const onAbort = (): void => {
    const stream = controller
    end('aborted')
    stream?.error(new DOMException('This operation was aborted', 'AbortError'))
  }
  /** Passes one chunk to the reader, on demand. */
  const pass = (): void => {
    const chunk = waiting.shift()
    if (chunk === undefined) return
    size -= chunk.length
    // The reader may transfer the memory of a chunk. So the reader gets a copy, unless `readsInPlace()` was called for
    // this body.
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

export function dataFrame(data: Bytes): Uint8Array {
  return toArray(dataLine(data))
}

export function dataLine(data: Bytes): Bytes {
  return `data: ${data.replace(lineEnds, '\ndata: ')}\n\n` as Bytes
}
