import { hostPause } from './host.js'

/** Responses after which the host gets a pause. */
const responsesPerPause = 64
/** Rounds of microtasks that are counted after the latest arrival at a closed gate. */
const quietRounds = 64
/** Waiters that keep their places by counting. Of more, which came at the same time, the order of arrival decides. */
const maxCounted = 64

/**
 * Lets the host's timers run however many responses an app awaits in a loop. Code that only awaits what is already there
 * never leaves the microtask queue, so no timeout of the runner or of the app could end it. Therefore each n-th response
 * closes the gate until the host has done all its work, and the clock does not move meanwhile.
 *
 * Requests and responses that arrive at a closed gate wait. When it opens, each of them continues as many rounds of
 * microtasks after the first one as it arrived after it, and within a round in the same order. So up to 64 concurrent loops
 * interleave as if the gate had never closed, unless they share something else, such as the batch of a client.
 * @example
 * while (!gate.isOpen) await gate.turn()
 * const response = serve(request)
 * if (gate.closesAfterResponse()) await gate.turn()
 * return response
 */
export class Gate {
  /** How many responses pass between two pauses. */
  every: number = responsesPerPause
  /** Responses so far. */
  responses: number = 0
  #sincePause = 0
  #closing: Closing | undefined

  /** Whether a request may be served. In the round in which the gate closed it may: no waiter could have continued before. */
  get isOpen(): boolean {
    return this.#closing === undefined || this.#closing.rounds === 0
  }

  /** Resolves when the host has done its work, `undefined` when it need not. What waits continues in the microtasks after. */
  get pause(): Promise<void> | undefined {
    return this.#closing?.end
  }

  /** Counts a response. @returns whether it must wait for its turn */
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

  /** `work.then(finish, fail)`, which comes in as a request does and goes out as a response. */
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

  /** The outcome of work, as a response. */
  async leaving<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } finally {
      if (this.closesAfterResponse()) await this.turn()
    }
  }
}

interface Waiter {
  /** Rounds of microtasks from the closing to its arrival. */
  readonly round: number
  /** Rounds until now; infinite where they are not counted. */
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
  /** When the host has done its work. */
  readonly end: Promise<void> = hostPause()
  /** In the order of their places in the microtask queue: a waiter keeps its place by counting the rounds there. */
  readonly waiters: Waiter[] = []
  #isOver = false
  #countedUntil = 0

  constructor() {
    void this.end.then(() => {
      this.#isOver = true
    })
  }

  /** Rounds of microtasks since it began. */
  get rounds(): number {
    return this.waiters[0]?.rounds ?? 0
  }

  wait(): Promise<void> {
    const { waiters, rounds: round } = this
    this.#countedUntil = round + quietRounds
    const isCounted = waiters.length < maxCounted
    const last = waiters.at(-1)
    // What awaits the same promise continues in the order of arrival.
    if (!isCounted && last?.round === round) return last.turn
    let resume = (): void => {}
    const turn = new Promise<void>((resolve) => {
      resume = resolve
    })
    const waiter = { round, rounds: isCounted ? round : Number.POSITIVE_INFINITY, turn, resume }
    // Those whose places come later have yet to count this round.
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
