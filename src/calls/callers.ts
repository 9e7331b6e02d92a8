import { type HostContext, hostContext } from '../kernel/host.js'

/**
 * Cause of an outbound request: the `seq` of the log entry whose handler sent the request, such as a delivery attempt.
 * `possibleCauses` lists all candidates if there are several. Both fields are absent if the cause is unknown, for
 * example because the test itself sent the request.
 */
export interface Caller {
  readonly cause?: number
  readonly possibleCauses?: readonly number[]
}

const nobody: Caller = {}

/**
 * Finds the log entry whose handler sends an outbound request. For a handler in this process the result is exact,
 * because its asynchronous context carries the `seq` of the entry. For code behind a socket, each entry that is still
 * being handled is a candidate. A single candidate is the cause.
 */
export class Callers {
  #context: HostContext<number> | undefined
  /** Whether causes are tracked. Off until `watch()` is called, so that tracking costs nothing by default. */
  watching = false
  /**
   * Entries that are being handled, by `seq`. `times` is the number of calls in progress, and `inside` whether these
   * calls run in this process.
   */
  readonly #open = new Map<number, { times: number; readonly inside: boolean }>()

  watch(): void {
    if (this.watching) return
    this.watching = true
    this.#context = hostContext()
  }

  /**
   * Runs `work()`, the code that handles the entry `seq`. The entry is tracked until the promise of `work()` settles.
   * @param place `inside`: all the code runs in this process; `outside`: some of the code may run behind a socket
   */
  runs<T>(seq: number, work: () => T, place: 'inside' | 'outside' = 'inside'): T {
    if (!this.watching) return work()
    const end = this.#begin(seq, place === 'inside')
    try {
      const result = this.#context === undefined ? work() : this.#context.run(seq, work)
      if (isThenable(result)) Promise.resolve(result).then(end, end)
      else end()
      return result
    } catch (error) {
      end()
      throw error
    }
  }

  /**
   * Returns the cause of a request that is sent now.
   * @param outside whether the request arrived through a socket or from a browser
   */
  caller(outside: boolean): Caller {
    const known = this.#context?.getStore()
    if (known !== undefined) return { cause: known }
    const knowsOwn = this.#context !== undefined && !outside
    const could = [...this.#open].filter(([, { inside }]) => !(inside && knowsOwn)).map(([seq]) => seq)
    if (could.length === 0) return nobody
    return could.length === 1 ? { cause: could[0]! } : { possibleCauses: could.sort((a, b) => a - b) }
  }

  #begin(seq: number, inside: boolean): () => void {
    const open = this.#open.get(seq) ?? { times: 0, inside }
    open.times++
    this.#open.set(seq, open)
    return () => {
      if (--open.times === 0) this.#open.delete(seq)
    }
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
}
