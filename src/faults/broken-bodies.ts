import { toArray } from '../kernel/bytes.js'
import { ConnectionBroken } from '../kernel/http.js'
import type { Task } from '../kernel/time.js'
import type { FaultyResponse as Answer } from './fault-context.js'

// Response bodies that arrive slowly, in part or never. All are streams, so each adapter transports them as its library
// does: `fetch` rejects while it reads, a server closes the socket.

/**
 * Milliseconds after which a client gives up. In Node.js, `fetch` waits this long for headers and for each chunk of a
 * body.
 */
export const patience = 300_000

/** Maximum number of chunks of a slow body. */
export const maxChunks = 50

/** Sends the body in equal chunks of virtual time. If the body takes longer than clients wait, it never arrives. */
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

/** Sends the headers but no body, and breaks the connection after `forMs`. */
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
      // Waits for the next read, because an error discards what the client has not read yet.
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

/** The error that `fetch` rejects with when a body breaks off. Other adapters close the connection. */
export function terminated(): TypeError {
  return new TypeError('terminated', { cause: new ConnectionBroken('ECONNRESET', 'other side closed') })
}

type Emit = (controller: ReadableStreamDefaultController<Uint8Array>, task: Task, signal: AbortSignal) => Promise<void>

/** Replaces the body by a stream. The clock waits for the work that fills it, as it waits for the request itself. */
function streamed(answer: Answer, length: number | undefined, task: Task, emit: Emit): Answer {
  if (answer.body === null) return answer
  const abort = new AbortController()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // This work rejects only when the sandbox is disposed.
      task.beside!('request whose body is on its way', (beside) => emit(controller, beside, abort.signal)).catch(() =>
        controller.error(terminated()),
      )
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

/** Announces the full length in `Content-Length`, so that a client can notice missing bytes. */
function withLength({ headers }: Answer, length: number): Answer['headers'] {
  return [...headers.filter(([name]) => name.toLowerCase() !== 'content-length'), ['content-length', String(length)]]
}
