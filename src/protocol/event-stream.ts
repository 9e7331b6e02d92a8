import { type Bytes, toArray } from '../kernel/bytes.js'

/** The writing end of a server-sent event stream. */
export interface EventStream {
  readonly body: ReadableStream<Uint8Array>
  /** Sends one `data:` event, a line of `data: ` for each line of the payload. */
  send(data: Bytes): void
  /** Sends what `dataFrame` made; for one event that goes to many streams. */
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
  /** Bytes that may wait for a slow reader before the stream is dropped, so that it holds nobody else up. */
  readonly bufferLimit?: number
}

const defaultBufferLimit = 1_048_576

/** Whatever readers of event streams take for the end of a line. */
const lineEnds = /\r\n|\r|\n/g

/** An event stream that never makes its writer wait: a reader that falls too far behind is disconnected. */
export function eventStream(options: EventStreamOptions): EventStream {
  const limit = options.bufferLimit ?? defaultBufferLimit
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let ended = false
  const end = (reason: 'aborted' | 'closed' | 'overflow'): void => {
    if (ended) return
    ended = true
    options.signal?.removeEventListener('abort', onAbort)
    if (reason === 'overflow')
      controller?.error(new Error('The reader of this event stream was too slow and was dropped.'))
    else if (reason === 'closed') controller?.close()
    options.onEnd(reason)
  }
  const onAbort = (): void => {
    const stream = controller
    end('aborted')
    stream?.error(new DOMException('This operation was aborted', 'AbortError'))
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given
      },
      cancel() {
        end('aborted')
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: limit }),
  )
  const write = (chunk: Uint8Array): void => {
    if (ended) return
    controller!.enqueue(chunk)
    if ((controller!.desiredSize ?? 0) < 0) end('overflow')
  }
  if (options.signal?.aborted) onAbort()
  else options.signal?.addEventListener('abort', onAbort)
  return {
    body,
    send: (data) => write(dataFrame(data)),
    // Streams may hand their chunks on for good, so each gets a copy of its own.
    sendFrame: (frame) => write(frame.slice()),
    comment: (text) => write(toArray(`: ${text}\n\n` as Bytes)),
    get isRead() {
      return controller?.desiredSize === limit
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
  return toArray(`data: ${data.replace(lineEnds, '\ndata: ')}\n\n` as Bytes)
}
