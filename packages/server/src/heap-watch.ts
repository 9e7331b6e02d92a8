import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Shares of the heap: beyond the first nothing more is stored, beyond the second nothing is done that can be refused. */
export const fullAt = 0.6
export const criticalAt = 0.8

export interface HeapOptions {
  /** Bytes of the heap. */
  readonly limit: number
  /** Bytes that are held, asked when a collection has just freed what nobody holds. */
  readonly held: () => number
  /** Gives memory back that can be missed. Whether that was enough is seen a second after it was asked first. */
  readonly forget: () => void
  readonly tell: (line: string) => void
  /** Frees what nobody holds. */
  readonly collect: () => void
  /** Host milliseconds. */
  readonly now: () => number
  /** Runs something after so many host milliseconds. */
  readonly later: (run: () => void, ms: number) => void
}

/** Requests between two looks at the heap: a look costs microseconds. */
const looks = 16
/** Share of the heap that may be added, garbage included, before it is collected. */
const step = 0.05
/** Host milliseconds between two collections for what was deleted, and in which a deletion is done. */
const pause = 1_000
/** The same while somebody waits for room: each time is twice as long as the one before, up to so many. */
const maxPause = 60_000

/**
 * What all sandboxes of a server hold together, of which no single account knows. It is measured after each collection of
 * the whole heap, when all that is left is really held: so a server that is far from its limit never hears of it.
 */
export class HeapWatch {
  readonly #options: HeapOptions
  #share = 0
  #isTold = false
  #isWaitTold = false
  #isLooking = false
  /** Who waits until it is full no longer. */
  #waiting: (() => void)[] = []
  #asked = 0
  #measuredAt = Number.NEGATIVE_INFINITY
  #freedAt = Number.NEGATIVE_INFINITY
  #observer: PerformanceObserver | undefined

  constructor(options: HeapOptions) {
    this.#options = options
  }

  get isFull(): boolean {
    return this.#share > fullAt
  }

  get isCritical(): boolean {
    return this.#share > criticalAt
  }

  /** Why nothing more is stored, and what helps. */
  get sentence(): string {
    const megabytes = Math.round(this.#options.limit / 1_048_576)
    return `The server holds more than ${100 * fullAt} % of its heap of ${megabytes} MB, and stores nothing more. Delete or reset a tenant (DELETE /_control/NAME, POST /_control/NAME/reset), or start it with NODE_OPTIONS=--max-old-space-size=MEGABYTES.`
  }

  /**
   * A request is about to run. The engine may let garbage and what is held grow by half of the heap before it collects, and
   * collects nothing while everything is refused: near the limit it is told to.
   */
  look(): void {
    if (this.#observer === undefined || (++this.#asked % looks !== 0 && !this.isFull)) return
    const { limit, held, now, collect } = this.#options
    const share = this.isFull ? 0 : held() / limit
    const hasGrown = share > fullAt && share > this.#share + step
    const mayBeFree = this.isFull && now() - this.#measuredAt > pause && this.#measuredAt < this.#freedAt + pause
    if (!hasGrown && !mayBeFree) return
    collect()
    this.collected()
  }

  /** Something was deleted. */
  freed(): void {
    if (this.isFull) this.#freedAt = this.#options.now()
  }

  /** Calls back, once, when it is full no longer. Where nothing else happens nothing is collected: it looks by and by. */
  whenRoom(run: () => void): void {
    this.#waiting.push(run)
    if (this.#isLooking) return
    this.#isLooking = true
    const { tell, later, collect } = this.#options
    if (!this.#isWaitTold) tell('stuntdouble: Deliveries over the network wait until the heap has room.')
    this.#isWaitTold = true
    const lookAfter = (ms: number): void =>
      later(() => {
        this.#isLooking = this.#waiting.length > 0
        if (!this.#isLooking) return
        collect()
        this.collected()
        lookAfter(Math.min(2 * ms, maxPause))
      }, ms)
    lookAfter(pause)
  }

  /** The whole heap was collected. */
  collected(): void {
    const { limit, held, forget, tell, now } = this.#options
    const wasFull = this.isFull
    this.#share = held() / limit
    this.#measuredAt = now()
    if (!this.isFull) {
      for (const run of this.#waiting.splice(0)) run()
      return
    }
    forget()
    if (!wasFull) this.freed()
    if (this.#isTold) return
    this.#isTold = true
    tell(`stuntdouble: ${this.sentence}`)
  }

  start(): void {
    this.#observer = new PerformanceObserver((list) => {
      const isWhole = list
        .getEntries()
        .some((entry) => (entry as PerformanceEntry & Detailed).detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)
      if (isWhole) this.collected()
    })
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  end(): void {
    this.#observer?.disconnect()
    this.#waiting = []
  }
}

interface Detailed {
  readonly detail: { readonly kind?: number }
}

/** What V8 adds to the limit of the heap for objects that are young: three times a semi-space, 64 MiB since V8 13. */
const young = (Number.parseInt(process.versions.v8, 10) >= 13 ? 192 : 48) * 1_048_576

/** Bytes of what is held in this process, as `--max-old-space-size` has them. */
export function heapLimit(): number {
  const { heap_size_limit } = getHeapStatistics()
  return Math.max(heap_size_limit - young, heap_size_limit / 4)
}

/** Collects the whole heap. Its function is there only where it is asked for. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  collect()
}

/** What this process holds in the heap, and outside of it on its account. */
export function heldBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
}
