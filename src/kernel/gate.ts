import { hostPause } from './host.js'

/** Number of responses between two pauses of the host. */
const responsesPerPause = 64
/** Number of rounds of microtasks that waiters count after the latest arrival at a closed gate. */
const quietRounds = 64
/**
 * Maximum number of waiters that keep their position by counting. Beyond it, waiters of the same round continue in the
 * order of arrival.
 */
const maxCounted = 64

/**
 * Lets the host's timers run even if an app awaits responses in a loop. Code that awaits only available values never
 * leaves the microtask queue, so no timeout of the test runner or the app could end it. Therefore, every n-th response
 * closes the gate until the host has done all its work. The clock does not move in the meantime.
 * Requests and responses wait at a closed gate. When the gate opens, they continue in the order of their arrival and
 * with the same distances, in rounds of microtasks. Up to 64 concurrent loops therefore interleave as if the gate had
 * never closed, unless they share state such as a client's batch.
 * @example
 * while (!gate.isOpen) await gate.turn()
 * const response = serve(request)
 * if (gate.closesAfterResponse()) await gate.turn()
 * return response
 */
export class Gate {
  /** Number of responses between two pauses. */
  every: number = responsesPerPause
  /** Number of responses so far. */
  responses: number = 0
  #sincePause = 0
  #closing: Closing | undefined

  /**
   * Whether a request may proceed. A request may also proceed in the round in which the gate closed, because no waiter
   * could have continued earlier.
   */
  get isOpen(): boolean {
    return this.#closing === undefined || this.#closing.rounds === 0
  }

  /**
   * Promise that resolves when the host has done its work; `undefined` if the gate is open. Waiters continue in the
   * microtasks after it resolves.
   */
  get pause(): Promise<void> | undefined {
    return this.#closing?.end
  }

  /** Counts a response. @returns whether the gate is closed, so that the response must wait for `turn()` */
  closesAfterResponse(): boolean {
    this.responses++
    if (this.#closing !== undefined) return true
    if (++this.#sincePause < this.every) return false
    this.#sincePause = 0
    const closing = new Closing()
    this.#closing = closing
    void closing.end.then(() => {
      this.#closing = undefined
      for (const { round, resume } of closing.waiters) {
        if (round === 0) resume()
        else void later(round, resume)
      }
    })
    return true
  }

  /** Waits at the closed gate. */
  turn(): Promise<void> {
    return this.#closing!.wait()
  }

  /**
   * Continues with the outcome of work, as `work.then(finish, fail)` does. The call passes the gate like a request, and
   * its result like a response.
   */
  async after<T, R>(work: Promise<T>, finish: (result: T) => R, fail: (error: unknown) => R): Promise<R> {
    let settled: () => R
    try {
      const result = await work
      settled = () => finish(result)
    } catch (error) {
      settled = () => fail(error)
    }
    while (!this.isOpen) await this.turn()
    try {
      return settled()
    } finally {
      if (this.closesAfterResponse()) await this.turn()
    }
  }

  /** Returns the outcome of work, which passes the gate like a response. */
  async leaving<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } finally {
      if (this.closesAfterResponse()) await this.turn()
    }
  }
}

interface Waiter {
  /** Number of rounds of microtasks between the closing of the gate and the arrival of this waiter. */
  readonly round: number
  /** Number of rounds that this waiter has counted since the closing; infinite if it does not count. */
  rounds: number
  readonly turn: Promise<void>
  readonly resume: () => void
}

async function later(rounds: number, resume: () => void): Promise<void> {
  for (let left = rounds; left > 0; left--) await undefined
  resume()
}

/** The gate while it is closed. */
class Closing {
  /** Resolves when the host has done its work. */
  readonly end: Promise<void> = hostPause()
  /**
   * Waiters in the order of their positions in the microtask queue. A waiter keeps its position by awaiting one
   * microtask per round.
   */
  readonly waiters: Waiter[] = []
  #isOver = false
  #countedUntil = 0

  constructor() {
    void this.end.then(() => {
      this.#isOver = true
    })
  }

  /** Rounds of microtasks since the gate closed. */
  get rounds(): number {
    return this.waiters[0]?.rounds ?? 0
  }

  wait(): Promise<void> {
    const { waiters, rounds: round } = this
    this.#countedUntil = round + quietRounds
    const isCounted = waiters.length < maxCounted
    const last = waiters.at(-1)
    // Waiters that share a promise continue in the order of their arrival.
    if (!isCounted && last?.round === round) return last.turn
    let resume = (): void => {}
    const turn = new Promise<void>((resolve) => {
      resume = resolve
    })
    const waiter = { round, rounds: isCounted ? round : Number.POSITIVE_INFINITY, turn, resume }
    // A waiter that has counted fewer rounds runs later in this round, so the new waiter is inserted before it.
    let place = waiters.length
    while (place > 0 && waiters[place - 1]!.rounds < round) place--
    waiters.splice(place, 0, waiter)
    if (isCounted) void this.#count(waiter)
    return turn
  }

  async #count(waiter: Waiter): Promise<void> {
    while (!this.#isOver && waiter.rounds < this.#countedUntil) {
      await undefined
      waiter.rounds++
    }
  }
}
