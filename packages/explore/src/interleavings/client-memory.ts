import type { OrderRun } from './client-run.js'
import { resultText } from './order-endings.js'

/**
 * Finds out whether the requests of a client depend only on the responses that this client got. Otherwise, an order
 * cannot represent the orders that are equivalent to it. For example, two clients may share a variable, or a client may
 * use a value that differs in each run.
 */
export class Memory {
  isOwn = true
  readonly #next = new Map<string, string>()

  note({ steps, results }: OrderRun): void {
    const pasts = new Map<string, string>()
    for (const { client: who, request, reply } of steps) {
      const past = pasts.get(who) ?? who
      this.#compare(past, request)
      pasts.set(who, `${past}\n${request}\n${reply}`)
    }
    for (const [who, result] of results) this.#compare(pasts.get(who) ?? who, `end: ${resultText(result)}`)
  }

  #compare(past: string, next: string): void {
    const before = this.#next.get(past)
    if (before === undefined) this.#next.set(past, next)
    else if (before !== next) this.isOwn = false
  }
}
