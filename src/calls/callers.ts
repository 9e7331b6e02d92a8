import { type HostContext, hostContext } from '../kernel/host.js'

/**
 * Cause of an outbound request: one entry, several candidates, or neither if unknown, such as a request of the test
 * itself.
 */
export interface Caller {
  readonly cause?: number
  readonly possibleCauses?: readonly number[]
}

const nobody: Caller = {}

/**
 * Finds the entry whose code sends an outbound request. A handler in this process carries the `seq` of its entry in an
 * asynchronous context, where the host has them; that is exact. Code behind a socket is identified only by the work in
 * progress: a single open entry is the cause, and several are reported as candidates without a guess.
 */
export class Callers {
  #context: HostContext<number> | undefined
  /** Whether requests are tracked; until then tracking costs nothing. */
  watching = false
  /** Entries whose work is in progress: how often, and whether the code runs in this process. */
  readonly #open = new Map<number, { times: number; readonly inside: boolean }>()

  watch(): void {
    if (this.watching) return
    this.watching = true
    this.#context = hostContext()
  }

  /**
   * Runs the code that works on an entry and tracks it until its promise settles.
   * @param place `outside`: parts of the code may run elsewhere, behind a socket
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
