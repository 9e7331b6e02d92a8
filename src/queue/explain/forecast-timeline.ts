import { Heap, type HeapItem } from '../../kernel/heap.js'

interface Happening extends HeapItem {
  readonly isSlot: boolean
  run(at: number): void
}

/** Events of a forecast. They run in the same order as with a clock. */
export class ForecastTimeline {
  now: number
  readonly #heap = new Heap<Happening>()
  /**
   * Next sequence number for an event that has no timer in the queue. It is higher than those of all timers, so the
   * event runs after timers of the same instant.
   */
  #sequence = 2 ** 52
  /** Number of planned events without the fire times of schedules, which recur forever. */
  #open = 0

  constructor(now: number) {
    this.now = now
  }

  /**
   * @param place sequence number that orders events of the same instant; for a timer of the queue, the sequence number
   * of the timer
   */
  at(at: number, run: (at: number) => void, place: number = this.#sequence++): void {
    this.#open++
    this.#heap.push({ at, sequence: place, isSlot: false, run })
  }

  atSlot(at: number, run: (at: number) => void, place: number = this.#sequence++): void {
    this.#heap.push({ at, sequence: place, isSlot: true, run })
  }

  /** Runs the events in order. Stops when `isDone()` returns `true` or when only fire times of schedules are left. */
  run(isDone: () => boolean): void {
    while (!isDone() && this.#open > 0) {
      const next = this.#heap.pop()!
      if (!next.isSlot) this.#open--
      // An overdue event runs at the current time, because the clock never moves back.
      this.now = Math.max(this.now, next.at)
      next.run(this.now)
    }
  }
}
