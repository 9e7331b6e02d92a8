import { Heap } from '../../../../../../src/kernel/heap.js'

interface Event {
  readonly at: number
  readonly sequence: number
  run: (() => void) | undefined
}

/** The only clock of a simulation. Everything that waits for no time finishes between two events. */
export class SimClock {
  now = 0
  #sequence = 0
  readonly #events = new Heap<Event>()

  /** Runs a function later. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void {
    const event: Event = { at: this.now + Math.max(0, ms), sequence: this.#sequence++, run }
    this.#events.push(event)
    return () => {
      event.run = undefined
    }
  }

  async runUntil(time: number): Promise<void> {
    for (let next = this.#events.peek(); next !== undefined && next.at <= time; next = this.#events.peek()) {
      this.#events.pop()
      this.now = next.at
      if (next.run === undefined) continue
      next.run()
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    this.now = time
  }
}
