import { reportsOf } from './forecast-causes.js'
import type { Cause, ForecastMessage } from './forecast-copies.js'

/** The limit of the plan for all calls in flight, where it is enforced. */
export class PlanCopy {
  readonly #most: number
  readonly #calls: ForecastMessage[]
  /** Why nobody calls at a time that is known any more. */
  #cause: Cause | undefined
  #possible = 0
  /** What calls at unknown times come from. */
  #disturbance: Cause | undefined

  constructor(most: number, inFlight: readonly ForecastMessage[]) {
    this.#most = most
    this.#calls = [...inFlight]
  }

  /** Takes one of the calls; when it cannot be known whether there is one, that is why the item starts later. */
  call(item: ForecastMessage): void {
    if (item.cause !== undefined) return
    const calls = this.#calls.length
    if (calls >= this.#most) this.#cause ??= { kind: 'answer', of: [...this.#calls], first: true }
    item.cause = this.#cause ?? (calls + this.#possible < this.#most ? undefined : this.#disturbance)
    if (item.cause === undefined) this.#calls.push(item)
  }

  /** Calls may be made at times that nobody knows. */
  mayCall(item: ForecastMessage, cause: Cause): void {
    let calls = item.retriesLeft + (item.cause === undefined ? 0 : 1)
    for (const [{ retries }, times] of reportsOf(item.settings, item.retriesLeft + 1)) calls += times * (retries + 1)
    this.#possible += calls
    if (calls > 0) this.#disturbance ??= cause
  }

  /** There is no end of such calls. */
  lose(cause: Cause): void {
    this.#possible = Number.POSITIVE_INFINITY
    this.#disturbance ??= cause
  }
}
