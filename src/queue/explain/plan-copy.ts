import { reportsOf } from './forecast-causes.js'
import type { Cause, ForecastMessage } from './forecast-copies.js'

/** Limit of the plan for all deliveries in flight, if it is enforced. */
export class PlanCopy {
  readonly #most: number
  readonly #calls: ForecastMessage[]
  /** Reason why start times of deliveries are no longer known. */
  #cause: Cause | undefined
  #possible = 0
  /** Cause of deliveries at unknown times. */
  #disturbance: Cause | undefined

  constructor(most: number, inFlight: readonly ForecastMessage[]) {
    this.#most = most
    this.#calls = [...inFlight]
  }

  /** Takes one of the plan's deliveries. If it is unknown whether one is free, the item gets a cause. */
  call(item: ForecastMessage): void {
    if (item.cause !== undefined) return
    const calls = this.#calls.length
    if (calls >= this.#most) this.#cause ??= { kind: 'answer', of: [...this.#calls], first: true }
    item.cause = this.#cause ?? (calls + this.#possible < this.#most ? undefined : this.#disturbance)
    if (item.cause === undefined) this.#calls.push(item)
  }

  /** Registers deliveries that may start at unknown times. */
  mayCall(item: ForecastMessage, cause: Cause): void {
    let calls = item.retriesLeft + (item.cause === undefined ? 0 : 1)
    for (const [{ retries }, times] of reportsOf(item.settings, item.retriesLeft + 1)) calls += times * (retries + 1)
    this.#possible += calls
    if (calls > 0) this.#disturbance ??= cause
  }

  /** Registers unlimited deliveries at unknown times. */
  lose(cause: Cause): void {
    this.#possible = Number.POSITIVE_INFINITY
    this.#disturbance ??= cause
  }
}
