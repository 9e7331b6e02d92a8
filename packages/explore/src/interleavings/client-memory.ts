import type { OrderRun } from './client-run.js'
import { resultText } from './order-endings.js'

/**
 * Whether what a client does depends on what it was answered and on nothing else. Clients that share a variable, or use
 * what differs from run to run, could notice an exchange of requests that have nothing to do with each other.
 */
export class Memory {
  /** Nothing speaks against it yet. */
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
