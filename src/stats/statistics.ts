import type { Traffic } from '../kernel/traffic.js'
import { type Figures, withFigures } from './figures.js'
import { Ledger } from './ledger.js'
import {
  defaultPeriod,
  emptySearchReport,
  isPeriod,
  type Period,
  type Price,
  payAsYouGo,
  periodNames,
  type QueueReport,
  queueReport,
  type SearchReport,
} from './reports.js'

/** A user of the queue, as the management API names it: either id is accepted. */
export interface StatisticsUser {
  readonly id: string
  readonly uuid: string
}

/** The development server's user, with the id that the public document shows. [statistics.md 1, queue.md 12] */
export const defaultUser: StatisticsUser = { id: 'defaultUser', uuid: '99a4c327-31f0-490f-a594-043ade84085a' }

export interface StatisticsOptions {
  readonly traffic: Traffic
  readonly now: () => number
  /** How many dead letters there are now. */
  readonly deadLetters?: () => number
  readonly user?: StatisticsUser
  /** What messages cost. Default: pay as you go. */
  readonly price?: Price
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * Usage statistics: the queue's are counted from the traffic, a search index's are set by hand because there is no
 * such index here. Every field of either can be set.
 * @example
 * sandbox.stats.setQueue({ total_monthly_billing: 5.806, daily_used: [0, 3, 12] })
 * sandbox.stats.setSearch('99a4c327-31f0-490f-a594-043ade84085b', { current_vector_count: 1000, query_latency_99: 18 })
 */
export class Statistics {
  readonly user: StatisticsUser
  readonly #options: StatisticsOptions
  readonly #ledger = new Ledger()
  #queueFigures: Figures<QueueReport> = {}
  #searchFigures = new Map<string, Figures<SearchReport>>()

  constructor(options: StatisticsOptions) {
    this.#options = options
    this.user = options.user ?? defaultUser
    options.traffic.subscribe(this.#ledger.note)
  }

  /** The queue's statistics as its endpoint answers them now. */
  queue(period: Period = defaultPeriod): QueueReport {
    const { now, price = payAsYouGo, deadLetters } = this.#options
    const counted = queueReport(this.#ledger, now(), checkedPeriod(period), price, deadLetters?.() ?? 0)
    return withFigures(counted, this.#queueFigures)
  }

  /** A search index's statistics as its endpoint answers them now. */
  search(id: string, period: Period = defaultPeriod): SearchReport {
    const empty = emptySearchReport(this.#options.now(), checkedPeriod(period))
    return withFigures(empty, this.#searchFigures.get(id) ?? {})
  }

  /** Sets fields of the queue's statistics by hand; those not named follow the traffic. Later calls add to earlier ones. */
  setQueue(figures: Figures<QueueReport>): void {
    checkNames('setQueue', figures, this.queue())
    this.#queueFigures = { ...this.#queueFigures, ...figures }
  }

  /**
   * Sets fields of a search index's statistics by hand; those not named are 0. Once one index is set, only those that
   * are set exist; until then, every UUID is taken for one.
   */
  setSearch(id: string, figures: Figures<SearchReport> = {}): void {
    checkNames('setSearch', figures, this.search(id))
    this.#searchFigures.set(id, { ...this.#searchFigures.get(id), ...figures })
  }

  /** Forgets what was set by hand. What was counted stays. */
  clearFigures(): void {
    this.#queueFigures = {}
    this.#searchFigures = new Map()
  }

  knowsUser(id: string): boolean {
    return id === this.user.id || id.toLowerCase() === this.user.uuid.toLowerCase()
  }

  knowsIndex(id: string): boolean {
    return this.#searchFigures.size === 0 ? uuid.test(id) : this.#searchFigures.has(id)
  }
}

function checkedPeriod(period: Period): Period {
  if (isPeriod(period)) return period
  throw new RangeError(`There is no period ${JSON.stringify(period)}. Use one of ${periodNames.join(', ')}.`)
}

function checkNames(method: string, figures: object, report: object): void {
  const unknown = Object.keys(figures).find((name) => !(name in report))
  if (unknown === undefined) return
  throw new TypeError(
    `stats.${method}() knows no field ${JSON.stringify(unknown)}. The fields are ${Object.keys(report).join(', ')}.`,
  )
}
