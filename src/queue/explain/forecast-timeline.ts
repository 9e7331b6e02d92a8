import { Heap, type HeapItem } from '../../kernel/heap.js'

interface Happening extends HeapItem {
  readonly isSlot: boolean
  run(at: number): void
}

/** Events of a model, in the order in which a clock would run them. */
export class ForecastTimeline {
  now: number
  readonly #heap = new Heap<Happening>()
  /** Sequence numbers after those of all timers of the clock. */
  #sequence = 2 ** 52
  /** Number of events other than fire times of schedules, which have no end. */
  #open = 0

  constructor(now: number) {
    this.now = now
  }

  /** @param place sequence number of the clock's timer, for an event with one; by default after all planned events */
  at(at: number, run: (at: number) => void, place: number = this.#sequence++): void {
    this.#open++
    this.#heap.push({ at, sequence: place, isSlot: false, run })
  }

  atSlot(at: number, run: (at: number) => void, place: number = this.#sequence++): void {
    this.#heap.push({ at, sequence: place, isSlot: true, run })
  }

  /** Runs until `isDone()`, or until only fire times are left. */
  run(isDone: () => boolean): void {
    while (!isDone() && this.#open > 0) {
      const next = this.#heap.pop()!
      if (!next.isSlot) this.#open--
      // Late events keep their place in the order of due events.
      this.now = Math.max(this.now, next.at)
      next.run(this.now)
    }
  }
}
