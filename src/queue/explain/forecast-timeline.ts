import { Heap, type HeapItem } from '../../kernel/heap.js'

interface Happening extends HeapItem {
  readonly isSlot: boolean
  run(at: number): void
}

/** What is to happen in a copied world, in the order in which a clock would have it. */
export class ForecastTimeline {
  now: number
  readonly #heap = new Heap<Happening>()
  /** Behind every timer of the clock. */
  #sequence = 2 ** 52
  /** Happenings that are no slots of schedules, of which there is no end. */
  #open = 0

  constructor(now: number) {
    this.now = now
  }

  /** @param place of the clock's timer, for what was planned there; else behind all that is planned */
  at(at: number, run: (at: number) => void, place: number = this.#sequence++): void {
    this.#open++
    this.#heap.push({ at, sequence: place, isSlot: false, run })
  }

  atSlot(at: number, run: (at: number) => void, place: number = this.#sequence++): void {
    this.#heap.push({ at, sequence: place, isSlot: true, run })
  }

  /** Until it is done, or nothing is left but slots. */
  run(isDone: () => boolean): void {
    while (!isDone() && this.#open > 0) {
      const next = this.#heap.pop()!
      if (!next.isSlot) this.#open--
      // What is late keeps its place in the order of what is due.
      this.now = Math.max(this.now, next.at)
      next.run(this.now)
    }
  }
}
