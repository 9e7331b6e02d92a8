import { eventReader } from '../../../src/kernel/server-events.js'
import type { Answered, OpenStream } from './case.js'

/** Maximum wait for one event, in milliseconds of host time. */
const patience = 10_000
/**
 * Maximum duration of a stream, in milliseconds of host time. Without it, a stream with events of other clients could
 * last forever.
 */
const life = 30_000

/** Reads the data of a stream's events, one event at a time. */
export class StreamEvents implements OpenStream {
  readonly answered: Omit<Answered, 'body'>
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  readonly #read = eventReader()
  readonly #abort: AbortController
  readonly #over: AbortSignal = AbortSignal.timeout(life)
  readonly #unread: string[] = []

  constructor(response: Response, headers: Record<string, string>, abort: AbortController) {
    this.answered = { status: response.status, headers }
    this.#abort = abort
    this.#reader = response.body?.getReader()
  }

  async next(): Promise<string | undefined> {
    const late = AbortSignal.timeout(patience)
    for (;;) {
      // Check the timeouts before `Promise.race()`. While events keep arriving, `Promise.race()` never reports a
      // timeout.
      if (late.aborted || this.#over.aborted) return undefined
      if (this.#unread.length > 0) return this.#unread.shift()
      const read = await Promise.race([this.#reader?.read(), whenAborted(late)])
      if (read === undefined || read.done) return undefined
      this.#unread.push(...this.#read(read.value).map(({ data }) => data))
    }
  }

  close(): void {
    this.#abort.abort()
    void this.#reader?.cancel().catch(() => {})
  }
}

function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }))
}
