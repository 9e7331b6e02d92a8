import type { ComparableStore } from './store-changes.js'

/** Facts about a sandbox that reports of its entries need. */
export interface TrafficContext {
  /** The sandbox's seed. Failure messages tell you how to repeat a run with it. */
  readonly seed?: number | string
  readonly now?: () => number
  /** Prefix of the service's own headers in the sandbox's dialect: `Service-`. */
  readonly headerPrefix?: string
  /** Base URLs of the services. Hints use them to detect a wrong URL. */
  readonly addresses?: Readonly<Record<string, unknown>>
  /** Returns the sandbox's tokens and keys, which no output shows. */
  readonly secrets?: () => readonly string[]
  /** Returns more facts that explain failures, such as handler errors and unused faults. */
  readonly world?: () => object
  /** Store that `recordStoreChanges()` compares. */
  readonly store?: ComparableStore
  /** Returns whether the host's timers, including `Date`, have followed the clock. */
  readonly followed?: () => boolean
  /**
   * Returns a message that names the handlers that wait in virtual time while the clock does not move, or `undefined`.
   */
  readonly waits?: () => string | undefined
  /** Returns the present billed totals of the store. Each mark stores them. */
  readonly spend?: () => StoreCostTotals
}

/** Billed totals of the store: commands, and bytes of their arguments and replies. */
export interface StoreCostTotals {
  /**
   * Number of commands, including those in pipelines, transactions and scripts; a transaction counts two more.
   * [store.md 4]
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
