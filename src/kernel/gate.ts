import { hostPause } from './host.js'

/** Number of responses after which the gate closes for a pause of the host. */
const responsesPerPause = 64
/** Number of rounds of microtasks for which a waiter counts rounds. The count restarts when another waiter arrives. */
const quietRounds = 64
/**
 * Maximum number of waiters that count rounds, to keep their position in the microtask queue. Further waiters of the
 * same round continue in the order of their arrival.
 */
const maxCounted = 64

/**
 * Lets the host's timers run even if an app awaits responses in a loop. Such a loop runs in the microtask queue only,
 * so no timer could fire, not even a timeout of the test runner. Therefore, every n-th response closes the gate until
 * the host has done all its work. The clock does not move in the meantime. Requests and responses wait at a closed
 * gate. When the gate opens, they continue in the order of their arrival, and as many rounds of microtasks apart as
 * they arrived. Up to 64 concurrent loops therefore interleave as if the gate had never closed, unless they share state
 * such as a client's batch.
 * @example
 * while (!gate.isOpen) await gate.turn()
 * const response = serve(request)
 * if (gate.closesAfterResponse()) await gate.turn()
 * return response
 */
export class Gate {
  /** Number of responses after which the gate closes. */
  every: number = responsesPerPause
  responses: number = 0
  #sincePause = 0
  #closing: Closing | undefined

  /**
   * Whether a request may proceed. In the round of microtasks in which the gate closes, a request may still proceed,
   * because it overtakes no waiter.
   */
  get isOpen(): boolean {
    return this.#closing === undefined || this.#closing.rounds === 0
  }

  /**
   * Promise that resolves when the host has done its work and the gate opens. Waiters continue some microtasks later.
   * `undefined` if the gate is open.
   */
  get pause(): Promise<void> | undefined {
    return this.#closing?.end
  }

  /**
   * Counts a response.
   * @returns true if the gate is closed and the response must await `turn()`
   */
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

  turn(): Promise<void> {
    return this.#closing!.wait()
  }

  /**
   * Calls `finish` or `fail` with the outcome of work, as `work.then(finish, fail)` does. Waits for an open gate before
   * this call, as a request does. The result counts as a response, and waits if the gate is then closed.
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

  /** Returns the outcome of work. If the gate is closed then, waits until it opens, as a response does. */
  async leaving<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } finally {
      if (this.closesAfterResponse()) await this.turn()
    }
  }
}

interface Waiter {
  /** Round of microtasks in which this waiter arrived. The gate closed in round 0. */
  readonly round: number
  /**
   * Number of rounds since the gate closed that this waiter has counted; infinite if the waiter does not count rounds.
   */
  rounds: number
  readonly turn: Promise<void>
  readonly resume: () => void
}

async function later(rounds: number, resume: () => void): Promise<void> {
  for (let left = rounds; left > 0; left--) await undefined
  resume()
}

/** The state of a closed gate: its waiters, and the pause of the host that opens it. */
class Closing {
  readonly end: Promise<void> = hostPause()
  /**
   * Waiters in the order in which they would run in the microtask queue. A waiter awaits one microtask per round, so
   * that it stays in this order.
   */
  readonly waiters: Waiter[] = []
  #isOver = false
  #countedUntil = 0

  constructor() {
    void this.end.then(() => {
      this.#isOver = true
    })
  }

  get rounds(): number {
    return this.waiters[0]?.rounds ?? 0
  }

  wait(): Promise<void> {
    const { waiters, rounds: round } = this
    this.#countedUntil = round + quietRounds
    const isCounted = waiters.length < maxCounted
    const last = waiters.at(-1)
    // Two waiters that await the same promise continue in the order in which they arrived.
    if (!isCounted && last?.round === round) return last.turn
    let resume = (): void => {}
    const turn = new Promise<void>((resolve) => {
      resume = resolve
    })
    const waiter = { round, rounds: isCounted ? round : Number.POSITIVE_INFINITY, turn, resume }
    // Waiters that have not counted the present round yet run later in this round. The new waiter runs now, so insert
    // it before them.
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
