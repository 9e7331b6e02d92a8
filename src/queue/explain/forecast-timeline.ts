import { Heap, type HeapItem } from '../../kernel/heap.js'

interface Happening extends HeapItem {
  readonly isSlot: boolean
  run(at: number): void
}

/** Events of a model, in the order in which a clock would run them. */
export class ForecastTimeline {
  now: number
  readonly #heap = new Heap<Happening>()
  /**
   * Next sequence number of events without a timer. It is higher than that of any timer, so they run after timers of
   * the same instant.
   */
  #sequence = 2 ** 52
  /** Number of planned events except fire times of schedules, because those recur forever. */
  #open = 0

  constructor(now: number) {
    this.now = now
  }

  /**
   * @param place sequence number that orders events of the same instant: that of the clock's timer, or by default the
   * next one
   */
  at(at: number, run: (at: number) => void, place: number = this.#sequence++): void {
    this.#open++
    this.#heap.push({ at, sequence: place, isSlot: false, run })
  }

  atSlot(at: number, run: (at: number) => void, place: number = this.#sequence++): void {
    this.#heap.push({ at, sequence: place, isSlot: true, run })
  }

  /** Runs the events in order until `isDone()` returns `true` or only fire times of schedules are left. */
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
