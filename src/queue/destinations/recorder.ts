import { bindMethods } from '../../kernel/bind-methods.js'
import { shownUrl } from '../../secrets/urls.js'
import type { Attempt } from '../message/message-entries.js'

/** Recorded requests to a destination or an external host, in the order of arrival. */
export interface Recorder<Request = Attempt> {
  /** Recorded requests, oldest first. */
  readonly requests: readonly Request[]
  /** Number of recorded requests. */
  readonly count: number
  /**
   * Returns the latest request. @throws Error when no request has arrived
   * @example
   * const orders = sandbox.destinations.record('https://shop.test/orders')
   * await checkout()
   * await sandbox.clock.drain()
   * orders.last().json() // { id: 42 }
   */
  last(): Request
  /**
   * Removes all recorded requests.
   * @example
   * const orders = sandbox.destinations.record('https://shop.test/orders')
   * await checkout()
   * await sandbox.clock.drain()
   * orders.clear()
   * expect(orders.count).toBe(0)
   */
  clear(): void
}

export class RecorderList<Request = Attempt> implements Recorder<Request> {
  static {
    bindMethods(RecorderList)
  }

  readonly requests: Request[] = []
  readonly #pattern: string

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  get count(): number {
    return this.requests.length
  }

  last(): Request {
    const last = this.requests.at(-1)
    if (last !== undefined) return last
    throw new Error(
      `last(): no request has arrived at ${shownUrl(this.#pattern)} yet. Await clock.drain() or clock.advance() first.`,
    )
  }

  clear(): void {
    this.requests.length = 0
  }
}
