import { bindMethods } from '../../kernel/bind-methods.js'
import { shownUrl } from '../../secrets/urls.js'
import type { Attempt } from '../message/message-entries.js'

/** What arrived at a destination, or at a foreign host, in order. */
export interface Recorder<Request = Attempt> {
  readonly requests: readonly Request[]
  readonly count: number
  /**
   * The latest request. @throws when nothing has arrived
   * @example
   * const orders = sandbox.destinations.record('https://shop.test/orders')
   * await checkout()
   * await sandbox.clock.drain()
   * orders.last().json() // { id: 42 }
   */
  last(): Request
  /**
   * Forgets the requests that were recorded.
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
      `Nothing has arrived at ${shownUrl(this.#pattern)} yet. Await clock.drain() or clock.advance() first.`,
    )
  }

  clear(): void {
    this.requests.length = 0
  }
}
