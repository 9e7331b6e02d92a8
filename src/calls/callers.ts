import { type HostContext, hostContext } from '../kernel/host.js'

/** Who made a call: one attempt or call, or one of several, or nobody that is known, such as the test itself. */
export interface Caller {
  readonly cause?: number
  readonly possibleCauses?: readonly number[]
}

const nobody: Caller = {}

/**
 * Finds whose code makes a call. A handler in this process carries the number of its entry along, where the host has
 * asynchronous contexts; that is exact. Code elsewhere, behind a socket, can be told by nothing but by what is under way:
 * if one delivery is, it is the caller; of several each can be, and none is guessed.
 */
export class Callers {
  #context: HostContext<number> | undefined
  /** Whether anybody asks: until then nothing is spent on it. */
  watching = false
  /** Entries whose work is under way, how often, and whether it is in this process. */
  readonly #open = new Map<number, { times: number; readonly inside: boolean }>()

  watch(): void {
    if (this.watching) return
    this.watching = true
    this.#context = hostContext()
  }

  /**
   * Runs the code that works on an entry.
   * @param place `outside`: some of it may run elsewhere, behind a socket
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

  /** @param outside whether the call came in through a socket, or from a browser */
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
