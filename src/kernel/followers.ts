/** A clock that follows the sandbox's clock, such as fake timers of a test runner. */
export interface ClockFollower {
  advanceBy(milliseconds: number): unknown
  /**
   * Returns the milliseconds until its next timer is due (0 if one is due), or `undefined` if none waits.
   * With this method, a move never passes that timer: it stops there and waits for the work that the timer starts.
   * Without it, the follower moves in larger steps, and its timers see the time at the end of a step.
   */
  nextIn?(): number | undefined
  /**
   * Returns a function if running work may be waiting for timers that were set at this instant. It returns later
   * whether one has fired.
   * `undefined`: there are no such timers, or the work may be waiting for something in host time.
   */
  setJustNow?(): (() => boolean) | undefined
}

/** The clocks that follow one clock. */
export class Followers {
  readonly #all = new Set<ClockFollower>()
  count = 0
  /** Whether one of them knows when its timers are due. */
  tellTimes = false
  /** Whether something ran since their untracked code was last awaited. */
  mayBeStirred = false

  /** @returns a function that ends the following */
  add(follower: ClockFollower): () => void {
    this.#all.add(follower)
    this.#look()
    return () => {
      this.#all.delete(follower)
      this.#look()
    }
  }

  #look(): void {
    this.count = this.#all.size
    this.tellTimes = [...this.#all].some(({ nextIn }) => nextIn !== undefined)
  }

  /** Returns the milliseconds until the first of their timers; infinite if none waits. */
  nextIn(): number {
    let least = Number.POSITIVE_INFINITY
    for (const follower of this.#all) least = Math.min(least, Math.max(0, follower.nextIn?.() ?? least))
    return least
  }

  setJustNow(): (() => boolean) | undefined {
    const answers = [...this.#all].map((follower) => follower.setJustNow?.()).filter((answer) => answer !== undefined)
    return answers.length === 0 ? undefined : () => answers.some((hasFired) => hasFired())
  }

  async advanceBy(milliseconds: number): Promise<void> {
    for (const follower of this.#all) await follower.advanceBy(milliseconds)
  }
}
