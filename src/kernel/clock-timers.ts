import { Heap, type HeapItem } from './heap.js'
import type { Timer, TimerOptions, TimerRun, TimerTarget } from './time.js'

const nothing: TimerRun = () => {}

export class ScheduledTimer implements Timer, HeapItem {
  cancelled = false

  constructor(
    readonly at: number,
    readonly sequence: number,
    readonly label: string,
    public background: boolean,
    readonly awaited: boolean,
    public run: TimerRun | TimerTarget,
    readonly owner: Timers,
  ) {}

  cancel(): void {
    if (this.cancelled) return
    this.cancelled = true
    // It stays in the heap for a while, and what it would have worked on may be large.
    this.run = nothing
    this.owner.forget(this)
  }
}

/** The timers of a clock, in the order in which they fire: by time, then by the order in which they were set. */
export class Timers {
  /** How many timers have been set so far. */
  count = 0
  #heap = new Heap<ScheduledTimer>()
  /** Timers in the heap that were canceled. */
  #cancelled = 0
  #foreground = 0

  /** How many timers wait, including canceled ones that have not left yet. */
  get size(): number {
    return this.#heap.size
  }

  /** Whether a timer waits that keeps a drain going. */
  get hasForeground(): boolean {
    return this.#foreground > 0
  }

  /** Whether a timer waits that does not renew itself for ever. */
  get hasAwaited(): boolean {
    if (this.#foreground > 0) return true
    for (const timer of this.#heap.values()) if (!timer.awaited && !timer.cancelled) return true
    return false
  }

  add(at: number, label: string, run: TimerRun | TimerTarget, options: TimerOptions | undefined): ScheduledTimer {
    const awaited = options?.awaited !== false
    const background = options?.background === true || !awaited
    const timer = new ScheduledTimer(at, this.count++, label, background, awaited, run, this)
    this.#heap.push(timer)
    if (!background) this.#foreground++
    return timer
  }

  next(): ScheduledTimer | undefined {
    for (;;) {
      const timer = this.#heap.peek()
      if (timer?.cancelled !== true) return timer
      this.#heap.pop()
      this.#cancelled--
    }
  }

  /** Removes the timer that `next()` returned, which fires now. */
  take(timer: ScheduledTimer): void {
    this.#heap.pop()
    if (!timer.background) this.#foreground--
    // From here on cancel() has nothing left to do.
    timer.cancelled = true
  }

  forget(timer: ScheduledTimer): void {
    if (!timer.background) this.#foreground--
    // Canceled timers leave with their turn; a heap that holds mostly such ones is rebuilt.
    if (++this.#cancelled > 64 && this.#cancelled * 2 > this.#heap.size) {
      this.#heap.keep((item) => !item.cancelled)
      this.#cancelled = 0
    }
  }

  /** A drain begins: it waits for the timers of work that a schedule started in an earlier one. */
  promoteAll(): void {
    for (const timer of this.#heap.values()) {
      if (timer.awaited) continue
      if (timer.background && !timer.cancelled) this.#foreground++
      timer.background = false
    }
  }

  /** The timers that wait, earliest first. */
  waiting(): readonly ScheduledTimer[] {
    return this.#heap
      .values()
      .filter((timer) => !timer.cancelled)
      .sort((a, b) => a.at - b.at || a.sequence - b.sequence)
  }

  /** Drops all timers. */
  stop(): void {
    for (const { run, cancelled } of this.#heap.values()) {
      if (!cancelled && typeof run !== 'function') run.stopped?.()
    }
    this.#heap = new Heap()
    this.#foreground = 0
    this.#cancelled = 0
  }
}
