import type { ClockMode } from '../kernel/clock-mode.js'
import type { Replacement } from '../kernel/replacement.js'
import type { ComparableStore } from './store-changes.js'

/** Facts about a sandbox. They are needed for reports about its traffic. */
export interface TrafficContext {
  /** The sandbox's seed. Failure messages tell you how to repeat a run with it. */
  readonly seed?: number | string
  readonly now?: () => number
  /** Prefix of the service's own headers in the sandbox's dialect: `Service-`. */
  readonly headerPrefix?: string
  /** Base URLs of the services. With them, hints detect requests to a wrong URL. */
  readonly addresses?: Readonly<Record<string, unknown>>
  /** Returns the sandbox's tokens and keys, which must be hidden in all output. */
  readonly secrets?: () => readonly string[]
  /** Returns an object with facts that explain failures, such as handler errors and unused faults. */
  readonly world?: () => object
  /** Store that `recordStoreChanges()` compares. */
  readonly store?: ComparableStore
  /** Returns whether `Date` and the timers of the host follow the sandbox's clock, or have followed it earlier. */
  readonly followed?: () => boolean
  /**
   * Returns a message that names the handlers that wait for virtual time while the clock does not move. Returns
   * `undefined` if there are none.
   */
  readonly waits?: () => string | undefined
  /** Returns the current billed totals of the store. Every mark stores them. */
  readonly spend?: () => StoreCostTotals
  /**
   * Returns the traffic of each database, if databases were added. A mark is taken in all of them. Reports show the
   * changes of all of them.
   */
  readonly databases?: () => readonly { mark(): number; readonly context: TrafficContext }[]
  /** How time moves in the sandbox. */
  readonly clock?: ClockMode
  /** Region of `sandbox.queue`. */
  readonly homeRegion?: string
  /** Whether a reset or load of the sandbox replaced the core of this log. */
  readonly replacement?: Replacement
  /** Name of the added database to which `store` belongs; absent for the first database. */
  readonly database?: string
}

/** Billed totals of the store: commands, and bytes of their arguments and replies. */
export interface StoreCostTotals {
  /**
   * Number of billed commands. Each command in a pipeline, transaction or script counts as one. A transaction itself
   * counts as two more. [store.md 4]
   */
  readonly commands: number
  /** Number of commands that cannot change data, such as `GET`. */
  readonly reads: number
  /** Number of commands that can change data, such as `SET`. */
  readonly writes: number
  /** Number of bytes in the arguments of commands. */
  readonly bytesIn: number
  /** Number of bytes in replies. */
  readonly bytesOut: number
}

/** Returns the billed totals of all databases together. */
export function sumOfCosts(costs: readonly StoreCostTotals[]): StoreCostTotals {
  return costs.reduce((sum, cost) => ({
    commands: sum.commands + cost.commands,
    reads: sum.reads + cost.reads,
    writes: sum.writes + cost.writes,
    bytesIn: sum.bytesIn + cost.bytesIn,
    bytesOut: sum.bytesOut + cost.bytesOut,
  }))
}
