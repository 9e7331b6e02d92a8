import { reportsOf } from './forecast-causes.js'
import type { Cause, ForecastMessage } from './forecast-copies.js'

/** Limit of the plan for deliveries in flight, as a forecast simulates it. Exists only if this limit is enforced. */
export class PlanCopy {
  readonly #most: number
  readonly #calls: ForecastMessage[]
  /** Responses that must arrive before a further delivery can start. `undefined` until the limit is reached. */
  #cause: Cause | undefined
  #possible = 0
  /** Responses that decide whether the `#possible` deliveries happen, and when. */
  #disturbance: Cause | undefined

  constructor(most: number, inFlight: readonly ForecastMessage[]) {
    this.#most = most
    this.#calls = [...inFlight]
  }

  /** Counts an item as in flight if the limit certainly allows its delivery. Otherwise sets the `cause` of the item. */
  call(item: ForecastMessage): void {
    if (item.cause !== undefined) return
    const calls = this.#calls.length
    if (calls >= this.#most) this.#cause ??= { kind: 'answer', of: [...this.#calls], first: true }
    item.cause = this.#cause ?? (calls + this.#possible < this.#most ? undefined : this.#disturbance)
    if (item.cause === undefined) this.#calls.push(item)
  }

  /** Counts the retries and callbacks of an item. They may be delivered at unknown times. */
  mayCall(item: ForecastMessage, cause: Cause): void {
    let calls = item.retriesLeft + (item.cause === undefined ? 0 : 1)
    for (const [{ retries }, times] of reportsOf(item.settings, item.retriesLeft + 1)) calls += times * (retries + 1)
    this.#possible += calls
    if (calls > 0) this.#disturbance ??= cause
  }

  lose(cause: Cause): void {
    this.#possible = Number.POSITIVE_INFINITY
    this.#disturbance ??= cause
  }
}
