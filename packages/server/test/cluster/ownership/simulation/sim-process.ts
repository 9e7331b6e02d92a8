import type { Random } from '../../../../../../src/kernel/random.js'
import type { NodeHost } from '../../../../src/cluster/tenant-lease.js'
import type { SimClock } from './sim-clock.js'

/** A process on a machine with a wrong clock. It can end between any two of its steps, or freeze and continue. */
export class SimProcess implements NodeHost {
  /** Whether its messages reach the Redis, and whether replies reach it. */
  hears = true
  speaks = true
  #isDead = false
  #isFrozen = false
  /** Number of calls until it ends. */
  #callsLeft = Number.POSITIVE_INFINITY
  /** Number of calls until it freezes. */
  #callsToFrost = Number.POSITIVE_INFINITY
  #waiting: (() => void)[] = []
  #ahead: number
  readonly #rate: number
  readonly #clock: SimClock
  readonly #random: Random

  constructor(clock: SimClock, random: Random) {
    this.#clock = clock
    this.#random = random
    this.#rate = 0.9 + random.float() * 0.2
    this.#ahead = random.int(1_000_000)
  }

  get isDead(): boolean {
    return this.#isDead
  }

  now(): number {
    this.acts()
    return this.#ahead + this.#clock.now * this.#rate
  }

  after(ms: number, run: () => void): () => void {
    if (!this.acts()) return () => {}
    let isCancelled = false
    const cancel = this.#clock.after(ms / this.#rate, () => this.happen(() => isCancelled || run()))
    return () => {
      isCancelled = true
      cancel()
    }
  }

  random(): number {
    return this.#random.float()
  }

  /** Makes one more step to the outside. @returns whether it is alive to make it */
  acts(): boolean {
    if (--this.#callsLeft < 0) this.#isDead = true
    if (--this.#callsToFrost < 0) this.#isFrozen = true
    return !this.#isDead
  }

  /** Delivers an event to the process. */
  happen(run: () => void): void {
    if (this.#isDead) return
    if (this.#isFrozen) this.#waiting.push(run)
    else run()
  }

  die(calls = 0): void {
    if (calls === 0) this.#isDead = true
    this.#callsLeft = calls
  }

  freeze(calls = 0): void {
    if (calls === 0) this.#isFrozen = true
    else this.#callsToFrost = calls
  }

  resume(): void {
    this.#isFrozen = false
    this.#callsToFrost = Number.POSITIVE_INFINITY
    for (const run of this.#waiting.splice(0)) this.#clock.after(0, () => this.happen(run))
  }

  /** Sets its clock. */
  jump(ms: number): void {
    this.#ahead += ms
  }
}
