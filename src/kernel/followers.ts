/** A foreign clock that ours drives, for example a runner's fake timers. */
export interface ClockFollower {
  advanceBy(milliseconds: number): unknown
  /**
   * Milliseconds until its next timer is due, 0 for one that is, `undefined` when none waits. A follower that says so is
   * never moved beyond that timer: a move stops there, and waits for what it starts. Any other is moved in larger steps,
   * and its timers see the time at the end of a step.
   */
  nextIn?(): number | undefined
  /**
   * Whether running work may wait for timers that were set at this very instant: `undefined` when there are none, or when
   * it may as well wait for something real. What is returned tells, later, whether one of them has fired.
   */
  setJustNow?(): (() => boolean) | undefined
}

/** The foreign clocks that one of ours drives. */
export class Followers {
  readonly #all = new Set<ClockFollower>()
  count = 0
  /** Whether one of them says when its timers are due. */
  tellTimes = false
  /** Something ran since their code, which nobody tracks, was last waited for. */
  mayBeStirred = false

  /** @returns what ends the following */
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

  /** Milliseconds until the first of their timers; infinite when none waits. */
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
