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
    // A canceled timer stays in the heap until it reaches the top, so it must not keep its work in memory.
    this.run = nothing
    this.owner.forget(this)
  }
}

/** The timers of a clock in the order in which they fire: by time, then by insertion. */
export class Timers {
  /** Number of timers that have been added so far. */
  count = 0
  #heap = new Heap<ScheduledTimer>()
  #cancelled = 0
  #foreground = 0

  /** Number of waiting timers, including canceled ones that are still in the heap. */
  get size(): number {
    return this.#heap.size
  }

  /** Whether the running drain must wait for at least one timer. */
  get hasForeground(): boolean {
    return this.#foreground > 0
  }

  /**
   * Whether at least one waiting timer is not recurring. Such a timer counts even if the running drain does not wait
   * for it.
   */
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

  /** Removes the timer that `next()` returned, before it fires. */
  take(timer: ScheduledTimer): void {
    this.#heap.pop()
    if (!timer.background) this.#foreground--
    // The timer fires, so `cancel()` must have no effect.
    timer.cancelled = true
  }

  forget(timer: ScheduledTimer): void {
    if (!timer.background) this.#foreground--
    // A canceled timer stays in the heap until it reaches the top. If most timers are canceled, the heap is rebuilt.
    if (++this.#cancelled > 64 && this.#cancelled * 2 > this.#heap.size) {
      this.#heap.keep((item) => !item.cancelled)
      this.#cancelled = 0
    }
  }

  /**
   * Makes the next drain wait for timers that earlier drains ignored: timers of work that a schedule started during
   * those drains.
   */
  promoteAll(): void {
    for (const timer of this.#heap.values()) {
      if (timer.awaited) continue
      if (timer.background && !timer.cancelled) this.#foreground++
      timer.background = false
    }
  }

  /** Returns the waiting timers, earliest first. */
  waiting(): readonly ScheduledTimer[] {
    return this.#heap
      .values()
      .filter((timer) => !timer.cancelled)
      .sort((a, b) => a.at - b.at || a.sequence - b.sequence)
  }

  stop(): void {
    for (const { run, cancelled } of this.#heap.values()) {
      if (!cancelled && typeof run !== 'function') run.stopped?.()
    }
    this.#heap = new Heap()
    this.#foreground = 0
    this.#cancelled = 0
  }
}
