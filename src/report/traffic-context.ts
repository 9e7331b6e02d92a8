import type { ComparableStore } from './store-changes.js'

/** Facts for reports about the sandbox of the entries. */
export interface TrafficContext {
  /** The sandbox's seed, for the replay instruction. */
  readonly seed?: number | string
  readonly now?: () => number
  /** Prefix of the service's own headers in the sandbox's dialect: `Service-`. */
  readonly headerPrefix?: string
  /** Base URLs of the services, for hints about a wrong one. */
  readonly addresses?: Readonly<Record<string, unknown>>
  /** Returns texts that no output shows: tokens and keys. */
  readonly secrets?: () => readonly string[]
  /** Returns further facts for explanations of failures: handler errors, unused faults. */
  readonly world?: () => object
  /** Store that `recordStoreChanges()` compares. */
  readonly store?: ComparableStore
  /** Returns whether the host's timers, including `Date`, have followed the clock. */
  readonly followed?: () => boolean
  /** Returns a message that names handlers that wait in virtual time while the clock does not move. */
  readonly waits?: () => string | undefined
  /** Returns the store's billed totals so far, which each mark saves. */
  readonly spend?: () => StoreCostTotals
}

/** Billed totals of the store: commands, and bytes of their arguments and replies. */
export interface StoreCostTotals {
  readonly commands: number
  readonly reads: number
  readonly writes: number
  readonly bytesIn: number
  readonly bytesOut: number
}
