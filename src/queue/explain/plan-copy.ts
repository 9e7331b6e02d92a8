import { reportsOf } from './forecast-causes.js'
import type { Cause, ForecastMessage } from './forecast-copies.js'

/** Copy of the plan's limit for deliveries in flight, for a forecast. It exists only if the limit is enforced. */
export class PlanCopy {
  readonly #most: number
  readonly #calls: ForecastMessage[]
  /** Responses on which start times depend since the limit was reached; `undefined` before. */
  #cause: Cause | undefined
  #possible = 0
  /** Responses on which deliveries at unknown times depend. */
  #disturbance: Cause | undefined

  constructor(most: number, inFlight: readonly ForecastMessage[]) {
    this.#most = most
    this.#calls = [...inFlight]
  }

  /**
   * Counts the delivery of an item as in flight. If it is unknown whether the limit allows it, sets `cause` of the item
   * instead.
   */
  call(item: ForecastMessage): void {
    if (item.cause !== undefined) return
    const calls = this.#calls.length
    if (calls >= this.#most) this.#cause ??= { kind: 'answer', of: [...this.#calls], first: true }
    item.cause = this.#cause ?? (calls + this.#possible < this.#most ? undefined : this.#disturbance)
    if (item.cause === undefined) this.#calls.push(item)
  }

  /** Adds the retries and callbacks of an item, which may start at unknown times. */
  mayCall(item: ForecastMessage, cause: Cause): void {
    let calls = item.retriesLeft + (item.cause === undefined ? 0 : 1)
    for (const [{ retries }, times] of reportsOf(item.settings, item.retriesLeft + 1)) calls += times * (retries + 1)
    this.#possible += calls
    if (calls > 0) this.#disturbance ??= cause
  }

  /** Adds any number of deliveries at unknown times. */
  lose(cause: Cause): void {
    this.#possible = Number.POSITIVE_INFINITY
    this.#disturbance ??= cause
  }
}
