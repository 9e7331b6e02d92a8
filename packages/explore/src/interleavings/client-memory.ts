import type { OrderRun } from './client-run.js'
import { resultText } from './order-endings.js'

/**
 * Tracks whether the requests of a client depend only on the responses that it got. Clients that share a variable, or
 * use values that differ between runs, could behave differently if independent requests are swapped.
 */
export class Memory {
  /** Whether every request so far depended only on the client's own responses. */
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
