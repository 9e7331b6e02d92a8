import { bindMethods } from '../kernel/bind-methods.js'
import type { StatsPeriod } from '../stats/periods.js'
import type { QueueReport, SearchReport } from '../stats/reports.js'
import type { QueueStatistics, SearchStatistics, Stats, StoreStatistics } from '../stats/statistics.js'
import type { StoreReport } from '../stats/store-report.js'
import type { ControlClient } from './control-client.js'

/** The methods `Names` of `T`, with the same arguments. Each method returns a promise. */
type Promised<T, Names extends keyof T> = {
  readonly [Name in Names]: T[Name] extends (...given: infer Given) => infer Answer
    ? (...given: Given) => Promise<Answer>
    : never
}
type StatsWriter = 'override' | 'script' | 'clear'

/** The usage statistics of a tenant: `sandbox.stats`. */
export class RemoteStatistics implements Promised<Stats, 'forbid' | 'clear'> {
  static {
    bindMethods(RemoteStatistics)
  }

  /** Statistics of the queue. */
  readonly queue: RemoteReport<QueueReport, QueueStatistics>
  /** Statistics of the data store. Its report has no period. */
  readonly store: RemoteReport<StoreReport, StoreStatistics>
  readonly #wire: ControlClient

  /** @internal */
  constructor(wire: ControlClient) {
    this.#wire = wire
    this.queue = new RemoteReport(wire, '/stats/queue')
    this.store = new RemoteReport(wire, '/stats/store')
  }

  /**
   * Returns the statistics of a database that the option `databases` added. If the database is unknown, all promises of
   * the returned object reject.
   * @example const { daily_net_commands } = await sandbox.stats.storeIn('us').report()
   */
  storeIn(database: string): RemoteReport<StoreReport, StoreStatistics> {
    return new RemoteReport(this.#wire.ofDatabase(database), '/stats/store')
  }

  /**
   * Returns the statistics of one search index.
   * @example await sandbox.stats.search('products').override({ monthly_cost: 0.5 })
   */
  search(id: string): RemoteReport<SearchReport, SearchStatistics> {
    return new RemoteReport(this.#wire, `/stats/search/${encodeURIComponent(id)}`)
  }

  /**
   * Returns the statistics of one vector index.
   * @example await sandbox.stats.vector('embeddings').override({ monthly_cost: 0.5 })
   */
  vector(id: string): RemoteReport<SearchReport, SearchStatistics> {
    return new RemoteReport(this.#wire, `/stats/vector/${encodeURIComponent(id)}`)
  }

  /**
   * Makes the service respond 403 to requests for the statistics of the resource with this ID, such as `products`.
   * @example await sandbox.stats.forbid('products')
   */
  async forbid(id: string): Promise<void> {
    await this.#wire.post('/stats/forbid', { id })
  }

  /**
   * Removes overrides, scripts and the 403 responses that `forbid()` set up. Counted usage stays.
   * @example await sandbox.stats.clear()
   */
  async clear(): Promise<void> {
    await this.#wire.post('/stats/clear')
  }
}

type Arguments<T, Name extends keyof T> = T[Name] extends (...given: infer Given) => unknown ? Given : never

/** One report of the statistics, which you can read, override or script. */
export class RemoteReport<Report, Local extends Record<StatsWriter, unknown> & object> {
  static {
    bindMethods(RemoteReport)
  }

  readonly #wire: ControlClient
  readonly #path: string

  /** @internal */
  constructor(wire: ControlClient, path: string) {
    this.#wire = wire
    this.#path = path
  }

  /**
   * Returns the report that the statistics endpoint returns now.
   * @example const { daily_used } = await sandbox.stats.queue.report('3h')
   */
  async report(period?: StatsPeriod): Promise<Report> {
    const query = period === undefined ? '' : `?period=${encodeURIComponent(period)}`
    return (await this.#wire.get(this.#path + query)) as Report
  }

  /**
   * Overrides fields of the report.
   * @example await sandbox.stats.queue.override({ dlq_message_count: 3 })
   */
  async override(...[fields = {}]: Arguments<Local, 'override'>): Promise<void> {
    await this.#wire.send('PUT', `${this.#path}/overrides`, { ...(fields as object) })
  }

  /**
   * Scripts the usage over time. Replaces an earlier script.
   * @example await sandbox.stats.queue.script([usage.steady({ delivered: 120 })])
   */
  async script(...[steps, options]: Arguments<Local, 'script'>): Promise<void> {
    await this.#wire.send('PUT', `${this.#path}/script`, { steps, ...(options !== undefined && { scale: options }) })
  }

  /**
   * Removes the overrides and the script. Counted usage stays.
   * @example
   * await sandbox.stats.queue.override({ dlq_message_count: 3 })
   * await sandbox.stats.queue.clear()
   */
  async clear(): Promise<void> {
    await this.#wire.send('DELETE', this.#path)
  }
}
