/** A clock that follows the sandbox's clock, such as fake timers of a test runner. */
export interface ClockFollower {
  advanceBy(milliseconds: number): unknown
  /**
   * Returns the milliseconds until the follower's next timer is due (0 if it is due now), or `undefined` if no timer
   * waits. If a follower has this method, a clock move stops at each of its timers and waits for the work that the
   * timer starts. Without this method, the follower moves in larger steps, and its timers see the time at the end of a
   * step.
   */
  nextIn?(): number | undefined
  /**
   * Checks whether running work may be waiting for timers that the follower set at this instant. If so, returns a
   * function that returns whether one of these timers has fired. Returns `undefined` if there are no such timers, or if
   * the work may be waiting for a socket or a file.
   */
  setJustNow?(): (() => boolean) | undefined
}

export class Followers {
  readonly #all = new Set<ClockFollower>()
  count = 0
  /** Whether at least one follower has the method `nextIn`. */
  tellTimes = false
  /** Whether untracked code of followers may have run since the clock last waited for such code. */
  mayBeStirred = false

  /** Adds a follower. @returns a function that removes it */
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

  /** Returns the milliseconds until the first timer of all followers is due; infinite if no timer waits. */
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
