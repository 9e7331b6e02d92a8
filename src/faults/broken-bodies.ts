import { toArray } from '../kernel/bytes.js'
import { ConnectionBroken } from '../kernel/http.js'
import type { Task } from '../kernel/time.js'
import type { FaultyResponse as Answer } from './fault-context.js'

// Response bodies that arrive slowly, in part or never. Each of these bodies is a stream that can fail. When the stream
// fails, each adapter breaks off the response: `fetch` rejects while the body is read, and a server closes the socket.

/**
 * Milliseconds of virtual time after which a client stops waiting. In Node.js, `fetch` waits this long for headers and
 * for each chunk of a body.
 */
export const patience = 300_000

export const maxChunks = 50

/**
 * Sends the body in equal chunks at intervals of virtual time. If the interval is longer than a client waits for a
 * chunk, no chunk is sent, and the connection breaks after the time for which the client waits.
 */
export function slowBody(answer: Answer, task: Task, bytesPerSecond: number): Answer {
  const bytes = bytesOf(answer)
  if (bytes === undefined || bytes.length === 0) return answer
  const chunks = Math.min(maxChunks, bytes.length)
  const total = (bytes.length / bytesPerSecond) * 1000
  if (total / chunks > patience) return silentBody(answer, task, patience)
  return streamed(answer, bytes.length, task, async (controller, body, signal) => {
    let slept = 0
    for (let count = 1; count <= chunks && !signal.aborted; count++) {
      const until = Math.round((total * count) / chunks)
      await body.sleep(until - slept, signal)
      slept = until
      if (signal.aborted) return
      controller.enqueue(
        bytes.slice(Math.floor((bytes.length * (count - 1)) / chunks), Math.floor((bytes.length * count) / chunks)),
      )
    }
    if (!signal.aborted) controller.close()
  })
}

/** Sends the headers but no body. Breaks the connection after `forMs` milliseconds of virtual time. */
export function silentBody(answer: Answer, task: Task, forMs: number): Answer {
  const length = bytesOf(answer)?.length
  return streamed(answer, length, task, async (controller, body, signal) => {
    await body.sleep(forMs, signal)
    if (!signal.aborted) controller.error(terminated())
  })
}

/** Breaks the connection within the body, after the client has read the first `afterBytes` bytes. */
export function cutBody(answer: Answer, afterBytes: number): Answer {
  const bytes = bytesOf(answer)
  if (bytes === undefined || bytes.length <= afterBytes) return answer
  const part = bytes.slice(0, afterBytes)
  let sent = part.length === 0
  const body = new ReadableStream<Uint8Array>(
    {
      // An error discards data that the client has not read yet. So the stream fails only when the client reads again.
      pull(controller) {
        if (sent) controller.error(terminated())
        else controller.enqueue(part)
        sent = true
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  )
  return { ...answer, headers: withLength(answer, bytes.length), body }
}

/** Returns the error with which `fetch` rejects when a body breaks off. Other adapters close the connection instead. */
export function terminated(): TypeError {
  return new TypeError('terminated', { cause: new ConnectionBroken('ECONNRESET', 'other side closed') })
}

type Emit = (controller: ReadableStreamDefaultController<Uint8Array>, task: Task, signal: AbortSignal) => Promise<void>

/** Replaces the body by a stream that `emit` fills. The clock waits for `emit`. */
function streamed(answer: Answer, length: number | undefined, task: Task, emit: Emit): Answer {
  if (answer.body === null) return answer
  const abort = new AbortController()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // `emit` rejects only when the sandbox is disposed. The body then breaks off.
      task.beside!('request whose response body is in transit', (beside) =>
        emit(controller, beside, abort.signal),
      ).catch(() => controller.error(terminated()))
    },
    cancel() {
      abort.abort()
    },
  })
  return { ...answer, headers: length === undefined ? answer.headers : withLength(answer, length), body }
}

function bytesOf({ body }: Answer): Uint8Array | undefined {
  return typeof body === 'string' ? toArray(body) : undefined
}

/** Sets `Content-Length` to the full length, so that a client can detect missing bytes. */
function withLength({ headers }: Answer, length: number): Answer['headers'] {
  return [...headers.filter(([name]) => name.toLowerCase() !== 'content-length'), ['content-length', String(length)]]
}
