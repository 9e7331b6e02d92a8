import type { ComparableStore } from './store-changes.js'

/** Facts for reports about the world that the entries come from. */
export interface TrafficContext {
  /** The sandbox's seed, for the line that says how to replay. */
  readonly seed?: number | string
  readonly now?: () => number
  /** Prefix of the service's own headers in the sandbox's vocabulary: `Service-`. */
  readonly headerPrefix?: string
  /** Base addresses of the services, for hints about a wrong one. */
  readonly addresses?: Readonly<Record<string, unknown>>
  /** Texts that no rendering shows: tokens and keys. */
  readonly secrets?: () => readonly string[]
  /** What else is known of the world, for failures that tell why: what handlers threw, faults that never struck. */
  readonly world?: () => object
  /** What `recordStoreChanges()` looks into. */
  readonly store?: ComparableStore
  /** Whether the host's timers, and with them its `Date`, have followed the clock. */
  readonly followed?: () => boolean
  /** A sentence that names who waits in virtual time now while nothing moves it. */
  readonly waits?: () => string | undefined
  /** What the data store has billed so far: each mark remembers it. */
  readonly spend?: () => StoreCostTotals
}

/** What the data store bills: commands, and bytes of their arguments and replies. */
export interface StoreCostTotals {
  readonly commands: number
  readonly reads: number
  readonly writes: number
  readonly bytesIn: number
  readonly bytesOut: number
}
