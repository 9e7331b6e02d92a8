/**
 * Counts the bytes in memory for one purpose, such as bodies in transit, unread output or log entries. An account can
 * have a parent, so that each account has its own limit and all accounts of the parent share another limit.
 * Code takes bytes before it allocates memory, and releases them afterwards. Sizes are computed and never measured, so
 * that the same calls fail at the same point on every machine.
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
   * @param limit maximum number of bytes
   * @param above parent account, which counts the same bytes
   */
  constructor(
    readonly limit: number,
    public above?: Account | undefined,
  ) {}

  get held(): number {
    return this.#held
  }

  /** Number of bytes that can still be taken. */
  get left(): number {
    const own = this.limit - this.#held
    return this.above === undefined ? own : Math.min(own, this.above.left)
  }

  /** Takes bytes, or nothing if fewer are left. Returns whether it took them. */
  take(bytes: number): boolean {
    if (bytes > this.left) return false
    this.put(bytes)
    return true
  }

  /** Takes bytes that are already allocated, even beyond the limit. The caller must then free memory. */
  put(bytes: number): void {
    this.#held += bytes
    this.above?.put(bytes)
  }

  /** Releases bytes, by default all. */
  release(bytes: number = this.#held): void {
    this.put(-Math.min(bytes, this.#held))
  }

  /** Detaches the account from its parent, which no longer counts its bytes. */
  leave(): void {
    this.above?.put(-this.#held)
    this.above = undefined
  }
}
