/**
 * What is held in memory for one purpose, in bytes: bodies under way, output that was not taken, entries of a log. Every
 * account may stand below another one, so that each has a limit of its own and all together have one, too.
 *
 * Who wants to hold something asks first, and gives back what it took. Bytes are counted from the sizes of what is held,
 * never measured, so that the same calls are refused at the same place on every machine.
 *
 * @example
 * const all = new Account(1000)
 * const connection = new Account(800, all)
 * connection.take(600) // true
 * new Account(800, all).take(600) // false: all together would hold 1200
 * connection.release()
 */
export class Account {
  #held = 0

  /**
   * @param limit bytes that it may hold
   * @param above which holds the same bytes, too
   */
  constructor(
    readonly limit: number,
    readonly above?: Account | undefined,
  ) {}

  get held(): number {
    return this.#held
  }

  /** Bytes that can still be taken. */
  get left(): number {
    const own = this.limit - this.#held
    return this.above === undefined ? own : Math.min(own, this.above.left)
  }

  /** Takes bytes, or nothing where they are more than are left. */
  take(bytes: number): boolean {
    if (bytes > this.left) return false
    this.#add(bytes)
    return true
  }

  /** Gives bytes back; all by default. */
  release(bytes: number = this.#held): void {
    this.#add(-Math.min(bytes, this.#held))
  }

  #add(bytes: number): void {
    this.#held += bytes
    if (this.above !== undefined) this.above.#add(bytes)
  }
}
