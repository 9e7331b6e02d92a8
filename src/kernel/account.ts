/**
 * Limits the memory for one purpose, such as bodies in transit, unread output or log entries. Accounts can have a
 * common parent: the parent then limits the sum of all these accounts. Code takes bytes from an account before it
 * allocates memory, and releases the bytes when it frees that memory. Sizes are computed and never measured, so that
 * the same calls fail at the same point on every machine.
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
   * @param above parent account, which limits the sum of its accounts
   */
  constructor(
    readonly limit: number,
    public above?: Account | undefined,
  ) {}

  get held(): number {
    return this.#held
  }

  /** Number of bytes that can still be taken from this account and from its parent. */
  get left(): number {
    const own = this.limit - this.#held
    return this.above === undefined ? own : Math.min(own, this.above.left)
  }

  /** Takes bytes and returns true. If fewer bytes are left, takes nothing and returns false. */
  take(bytes: number): boolean {
    if (bytes > this.left) return false
    this.put(bytes)
    return true
  }

  /**
   * Takes bytes for memory that is already allocated, even if the limit is exceeded. The caller must then free memory.
   */
  put(bytes: number): void {
    this.#held += bytes
    this.above?.put(bytes)
  }

  release(bytes: number = this.#held): void {
    this.put(-Math.min(bytes, this.#held))
  }

  /** Removes the account from its parent, so that its bytes no longer count there. */
  leave(): void {
    this.above?.put(-this.#held)
    this.above = undefined
  }
}
