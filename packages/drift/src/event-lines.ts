import type { Answered, OpenStream } from './case.js'

/** Longest wait for one line, milliseconds of the host. */
const patience = 10_000
/** Longest life of a stream: of others on the same server there may be lines without an end. */
const life = 30_000

/** The lines of an event stream, one at a time. */
export class EventLines implements OpenStream {
  readonly answered: Omit<Answered, 'body'>
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  readonly #decoder = new TextDecoder()
  readonly #abort: AbortController
  readonly #over: AbortSignal = AbortSignal.timeout(life)
  #buffer = ''

  constructor(response: Response, headers: Record<string, string>, abort: AbortController) {
    this.answered = { status: response.status, headers }
    this.#abort = abort
    this.#reader = response.body?.getReader()
  }

  async next(): Promise<string | undefined> {
    const late = AbortSignal.timeout(patience)
    for (;;) {
      // A line that is there already would win every race.
      if (late.aborted || this.#over.aborted) return undefined
      const end = this.#buffer.indexOf('\n')
      if (end !== -1) {
        const line = this.#buffer.slice(0, end)
        this.#buffer = this.#buffer.slice(end + 1)
        if (line.startsWith('data: ')) return line.slice(6)
        continue
      }
      const read = await Promise.race([this.#reader?.read(), whenAborted(late)])
      if (read === undefined || read.done) return undefined
      this.#buffer += this.#decoder.decode(read.value, { stream: true })
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
