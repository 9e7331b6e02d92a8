import { toArray } from '../kernel/bytes.js'
import { ConnectionBroken } from '../kernel/http.js'
import type { Task } from '../kernel/time.js'
import type { FaultyResponse as Answer } from './fault-context.js'

// Bodies that come slowly, in part or never. All are streams, so that every adapter carries them as its tool would:
// `fetch` rejects while it reads, a server cuts the socket.

/** After this long a client gives up: fetch in Node waits as long for headers, and for each part of a body. */
export const patience = 300_000

/** Most chunks of a slow body. */
export const maxChunks = 50

/** The body comes in even portions of virtual time; a body slower than clients wait for never comes. */
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

/** The headers are there, the body never comes; after a while the connection breaks. */
export function silentBody(answer: Answer, task: Task, forMs: number): Answer {
  const length = bytesOf(answer)?.length
  return streamed(answer, length, task, async (controller, body, signal) => {
    await body.sleep(forMs, signal)
    if (!signal.aborted) controller.error(terminated())
  })
}

/** Breaks off within the body, once the client has read the bytes before it. */
export function cutBody(answer: Answer, afterBytes: number): Answer {
  const bytes = bytesOf(answer)
  if (bytes === undefined || bytes.length <= afterBytes) return answer
  const part = bytes.slice(0, afterBytes)
  let sent = part.length === 0
  const body = new ReadableStream<Uint8Array>(
    {
      // Only on the next read: an error would discard what has not been read yet.
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

/** The error that `fetch` gives; other adapters cut the connection. */
export function terminated(): TypeError {
  return new TypeError('terminated', { cause: new ConnectionBroken('ECONNRESET', 'other side closed') })
}

type Emit = (controller: ReadableStreamDefaultController<Uint8Array>, task: Task, signal: AbortSignal) => Promise<void>

/** Work that goes on after the request was answered: its caller waits for it as for the request itself. */
function streamed(answer: Answer, length: number | undefined, task: Task, emit: Emit): Answer {
  if (answer.body === null) return answer
  const abort = new AbortController()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // It only fails when its world has ended.
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

/** The whole length is announced, so that a client can see what is missing. */
function withLength({ headers }: Answer, length: number): Answer['headers'] {
  return [...headers.filter(([name]) => name.toLowerCase() !== 'content-length'), ['content-length', String(length)]]
}
