import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Above this fraction of the heap, requests that store data are rejected. Above `criticalAt`, only requests that free
 * memory or move time are accepted.
 */
export const fullAt = 0.6
export const criticalAt = 0.8

export interface HeapOptions {
  /** Size of the heap in bytes. */
  readonly limit: number
  /** Returns the number of bytes in use. The function is called directly after a garbage collection. */
  readonly held: () => number
  /**
   * Drops data that the server can do without, such as old log entries. The heap is measured again a second after the
   * first call.
   */
  readonly forget: () => void
  readonly tell: (line: string) => void
  readonly collect: () => void
  /** Returns the current host time in milliseconds. */
  readonly now: () => number
  readonly later: (run: () => void, ms: number) => void
}

/** Number of requests between two checks of the heap. A check takes microseconds. */
const looks = 16
/**
 * If the allocated memory, including garbage, has grown by this fraction of the heap since the last measurement, a
 * collection is forced.
 */
const step = 0.05
/**
 * Minimum time between two forced collections, in milliseconds of host time. After a deletion, collections are forced
 * only for this time.
 */
const pause = 1_000
/**
 * Longest pause between two checks while a caller waits for memory, in milliseconds of host time. Each pause is twice
 * as long as the previous one.
 */
const maxPause = 60_000

/**
 * Watches the memory of all sandboxes of a server. The limits of single sandboxes do not limit the memory of all
 * sandboxes together. The heap is measured after each full garbage collection, because it contains no garbage then. A
 * server far from its limit is never slowed down.
 */
export class HeapWatch {
  readonly #options: HeapOptions
  #share = 0
  #isTold = false
  #isWaitTold = false
  #isLooking = false
  /** Callbacks to run when the heap is no longer full. */
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

  /** Error message for a request that is rejected because the heap is full. */
  get sentence(): string {
    const megabytes = Math.round(this.#options.limit / 1_048_576)
    return `The server uses more than ${100 * fullAt} % of its heap of ${megabytes} MB, and stores nothing more. Delete or reset a tenant (DELETE /_control/NAME, POST /_control/NAME/reset), or start the server with NODE_OPTIONS=--max-old-space-size=MEGABYTES.`
  }

  /**
   * Checks the heap before a request runs. Near the limit it forces a collection. Otherwise, garbage could fill half of
   * the heap, and V8 would not collect it while every request is rejected.
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

  /** Registers that data was deleted, so that a collection may free memory. */
  freed(): void {
    if (this.isFull) this.#freedAt = this.#options.now()
  }

  /**
   * Runs a function when the heap is no longer full. Until then, collections are forced, because V8 does not collect in
   * an idle process.
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

  /** Measures the heap. This method is called after a full collection. */
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

/** The heap limit of V8 includes these bytes for young objects: three semi-spaces, of 64 MiB each since V8 13. */
const young = (Number.parseInt(process.versions.v8, 10) >= 13 ? 192 : 48) * 1_048_576

/**
 * Returns the heap limit of this process in bytes, without the space for young objects. `--max-old-space-size` sets
 * this limit.
 */
export function heapLimit(): number {
  const { heap_size_limit } = getHeapStatistics()
  return Math.max(heap_size_limit - young, heap_size_limit / 4)
}

/** Runs a full garbage collection. V8 provides this function only while a flag is set. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  collect()
}

/** Returns the bytes that this process uses in the heap and in buffers outside of the heap. */
export function heldBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
}
