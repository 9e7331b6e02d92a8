import type { Grid } from './periods.js'
import type { SearchCounter, SearchLevel, SearchOperation, SearchSource } from './reports.js'
import type { UsageScript } from './usage-script.js'
import type { UsageMetrics } from './usage-steps.js'

/** Options of a usage script for a search index: sizes and prices. */
export interface SearchUsageOptions {
  /** Bytes per vector. Default: 4096, which is 1024 numbers of four bytes. */
  readonly vectorSize?: number
  /** Bytes that one operation transfers. Default: one vector. */
  readonly requestSize?: number
  /** Dollars per 100,000 operations. Default: 0.4. */
  readonly price?: number
}

const operations = ['queries', 'updates', 'reranks'] as const

export const searchMetrics: UsageMetrics = {
  caller: 'stats.search(id).script()',
  rates: operations,
  levels: ['vectors', 'growth', 'pending'],
  operations: ['query', 'update', 'embeds', 'rerank'],
  counters: [...operations, 'vectors'],
}

/** The same names for a vector index, whose report has the same fields. */
export const vectorMetrics: UsageMetrics = { ...searchMetrics, caller: 'stats.vector(id).script()' }

/** Counter of each operation. An operation has no latency in intervals in which its counter is 0. */
const causes: Readonly<Partial<Record<SearchOperation, SearchCounter>>> = {
  query: 'queries',
  update: 'updates',
  rerank: 'reranks',
}

/**
 * Usage of a search index that a script describes. All values are computed from a few counters, so they are consistent.
 */
export class SearchUsage implements SearchSource {
  readonly #story: UsageScript
  readonly #now: () => number
  readonly #vectorSize: number
  readonly #requestSize: number
  readonly #price: number

  constructor(
    story: UsageScript,
    now: () => number,
    { vectorSize = 4096, requestSize = vectorSize, price = 0.4 }: SearchUsageOptions,
  ) {
    this.#story = story
    this.#now = now
    this.#vectorSize = vectorSize
    this.#requestSize = requestSize
    this.#price = price
  }

  series(counter: SearchCounter, grid: Grid): number[] {
    if (counter !== 'bytes') return this.#story.series(counter, grid)
    const each = operations.map((name) => this.#story.series(name, grid))
    return each[0]!.map((_, index) => this.#requestSize * each.reduce((sum, counts) => sum + counts[index]!, 0))
  }

  total(counter: SearchCounter, since: number): number {
    if (counter !== 'bytes') return this.#story.total(counter, since)
    return this.#requestSize * operations.reduce((sum, name) => sum + this.#story.total(name, since), 0)
  }

  level(name: SearchLevel): number {
    return this.#at(name, this.#now())
  }

  levels(name: SearchLevel, { from, interval, points }: Grid): number[] {
    const now = this.#now()
    return Array.from({ length: points }, (_, index) =>
      this.#at(name, Math.min(from + (index + 1) * interval - 1, now)),
    )
  }

  latency(operation: SearchOperation, figure: 'mean' | 'p99', grid: Grid): number[] {
    const latencies = this.#story.latency(operation, figure, grid)
    const cause = causes[operation]
    if (cause === undefined || !this.#story.mentions(cause)) return latencies
    const counts = this.series(cause, grid)
    return latencies.map((latency, index) => (counts[index] === 0 ? 0 : latency))
  }

  cost(since: number): number {
    return (this.#price / 100_000) * operations.reduce((sum, name) => sum + this.#story.count(name, since), 0)
  }

  #at(name: SearchLevel, at: number): number {
    if (name === 'pending') return this.#story.level(name, at)
    return this.#story.moved('vectors', 'growth', at) * (name === 'storage' ? this.#vectorSize : 1)
  }
}
