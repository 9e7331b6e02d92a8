import { Heap } from '../../../../../../src/kernel/heap.js'

interface Event {
  readonly at: number
  readonly sequence: number
  run: (() => void) | undefined
}

/** The one clock of a simulation. Between two events everything comes to rest that waits for no time. */
export class SimClock {
  now = 0
  #sequence = 0
  readonly #events = new Heap<Event>()

  /** @returns cancels it */
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
