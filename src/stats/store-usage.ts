import type { Grid } from './periods.js'
import { commandTallies, type StoreCounter, type StoreLevel, type StoreTally } from './store-tallies.js'
import type { UsageScript } from './usage-script.js'
import type { UsageMetrics } from './usage-steps.js'

/** Options of a usage script for the data store: sizes and prices. */
export interface StoreUsageOptions {
  /** Bytes that one command transfers, with its reply. Default: 1024. */
  readonly requestSize?: number
  /** Bytes of one key with its value. Default: 1024. */
  readonly keySize?: number
  /** Dollars per 100,000 commands, counted and scripted ones. Default: 0.2. */
  readonly price?: number
}

const rates = [...commandTallies, 'misses'] as const

export const storeMetrics: UsageMetrics = {
  caller: 'stats.store.script()',
  rates,
  levels: ['keys', 'growth', 'connections', 'monitors'],
  operations: ['command', 'read', 'write'],
  counters: [...rates, 'keys'],
}

/** Command that represents the scripted commands of each kind in `command_counts`. */
const representatives: Readonly<Record<(typeof commandTallies)[number], string>> = {
  reads: 'GET',
  writes: 'SET',
  scripts: 'EVAL',
  others: 'PING',
}

/** Operations of the data store for which reports contain a latency. */
export type StoreOperation = 'command' | 'read' | 'write'

/** Counters of each operation. An operation has no latency in intervals in which all its counters are 0. */
const causes: Readonly<Record<StoreOperation, readonly (typeof commandTallies)[number][]>> = {
  command: commandTallies,
  read: ['reads'],
  write: ['writes'],
}

/** Usage of the data store that a script describes. It is added to the usage that is counted from the traffic. */
export class StoreUsage implements StoreCounter {
  readonly #story: UsageScript
  readonly #now: () => number
  readonly #requestSize: number
  readonly #keySize: number
  /** Dollars per 100,000 commands, if the script sets a price. */
  readonly price: number | undefined

  constructor(story: UsageScript, now: () => number, { requestSize = 1024, keySize = 1024, price }: StoreUsageOptions) {
    this.#story = story
    this.#now = now
    this.#requestSize = requestSize
    this.#keySize = keySize
    this.price = price
  }

  get monitors(): number {
    return this.#story.level('monitors', this.#now())
  }

  series(tally: StoreTally, grid: Grid): number[] {
    if (tally === 'bytes') return this.#commands(grid).map((count) => count * this.#requestSize)
    if (tally !== 'hits') return this.#story.series(tally, grid)
    const misses = this.series('misses', grid)
    return this.series('reads', grid).map((reads, index) => Math.max(0, reads - misses[index]!))
  }

  levels(level: StoreLevel, { from, interval, points }: Grid): number[] {
    const now = this.#now()
    return Array.from({ length: points }, (_, index) =>
      this.#level(level, Math.min(from + (index + 1) * interval - 1, now)),
    )
  }

  commands(grid: Grid): ReadonlyMap<string, readonly number[]> {
    const mentioned = commandTallies.filter((tally) => this.#story.mentions(tally))
    return new Map(mentioned.map((tally) => [representatives[tally], this.series(tally, grid)]))
  }

  latency(operation: StoreOperation, figure: 'mean' | 'p99', grid: Grid): number[] {
    const latencies = this.#story.latency(operation, figure, grid)
    const known = causes[operation].filter((tally) => this.#story.mentions(tally))
    if (known.length === 0) return latencies
    const counts = known.map((tally) => this.series(tally, grid))
    return latencies.map((latency, index) => (counts.every((each) => each[index] === 0) ? 0 : latency))
  }

  #commands(grid: Grid): number[] {
    const each = commandTallies.map((tally) => this.series(tally, grid))
    return each[0]!.map((_, index) => each.reduce((sum, counts) => sum + counts[index]!, 0))
  }

  #level(level: StoreLevel, at: number): number {
    if (level === 'connections') return this.#story.level(level, at)
    return this.#story.moved('keys', 'growth', at) * (level === 'bytes' ? this.#keySize : 1)
  }
}
