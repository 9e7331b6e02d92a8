import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Shares of the heap. Above the first one nothing more is stored; above the second one every request that can be
 * rejected is rejected.
 */
export const fullAt = 0.6
export const criticalAt = 0.8

export interface HeapOptions {
  /** Size of the heap in bytes. */
  readonly limit: number
  /** Returns the bytes in use, directly after a garbage collection. */
  readonly held: () => number
  /** Frees memory that the server can do without. The effect is measured a second after the first call. */
  readonly forget: () => void
  readonly tell: (line: string) => void
  /** Runs a garbage collection. */
  readonly collect: () => void
  /** Returns the host time in milliseconds. */
  readonly now: () => number
  /** Runs a function after a number of host milliseconds. */
  readonly later: (run: () => void, ms: number) => void
}

/** Number of requests between two checks of the heap. A check takes microseconds. */
const looks = 16
/** Share of the heap that may be allocated, garbage included, before a collection is forced. */
const step = 0.05
/** Host milliseconds between two collections after deletions, and the time in which a deletion takes effect. */
const pause = 1_000
/** Longest pause while a caller waits for memory. Each pause is twice as long as the one before. */
const maxPause = 60_000

/**
 * Memory of all sandboxes of a server together, which no single account covers. It is measured after each collection of
 * the whole heap, when everything that remains is in use. A server far from its limit is never affected.
 */
export class HeapWatch {
  readonly #options: HeapOptions
  #share = 0
  #isTold = false
  #isWaitTold = false
  #isLooking = false
  /** Callers that wait until the heap is no longer full. */
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

  /** Why nothing more is stored, and what to do. */
  get sentence(): string {
    const megabytes = Math.round(this.#options.limit / 1_048_576)
    return `The server uses more than ${100 * fullAt} % of its heap of ${megabytes} MB, and stores nothing more. Delete or reset a tenant (DELETE /_control/NAME, POST /_control/NAME/reset), or start it with NODE_OPTIONS=--max-old-space-size=MEGABYTES.`
  }

  /**
   * Checks the heap before a request runs. V8 may let garbage grow by half of the heap before it collects, and collects
   * nothing while every request is rejected, so near the limit a collection is forced.
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

  /** Notes that data was deleted. */
  freed(): void {
    if (this.isFull) this.#freedAt = this.#options.now()
  }

  /**
   * Calls back once when the heap is no longer full. It checks regularly, because an idle process does not collect
   * garbage.
   */
  whenRoom(run: () => void): void {
    this.#waiting.push(run)
    if (this.#isLooking) return
    this.#isLooking = true
    const { tell, later, collect } = this.#options
    if (!this.#isWaitTold) tell('stuntdouble: deliveries over the network wait until the heap has free memory.')
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

  /** Measures the heap after a full collection. */
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

/** Bytes that V8 adds to the heap limit for young objects: three semi-spaces, of 64 MiB each since V8 13. */
const young = (Number.parseInt(process.versions.v8, 10) >= 13 ? 192 : 48) * 1_048_576

/** Returns the bytes that this process can hold, as `--max-old-space-size` counts them. */
export function heapLimit(): number {
  const { heap_size_limit } = getHeapStatistics()
  return Math.max(heap_size_limit - young, heap_size_limit / 4)
}

/** Collects the whole heap. V8 provides the function only behind a flag. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  collect()
}

/** Returns the bytes that this process uses in the heap and outside of it. */
export function heldBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
}
