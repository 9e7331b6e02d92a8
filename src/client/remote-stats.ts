import { bindMethods } from '../kernel/bind-methods.js'
import type { StatsPeriod } from '../stats/periods.js'
import type { QueueReport, SearchReport } from '../stats/reports.js'
import type { QueueStatistics, SearchStatistics, Stats } from '../stats/statistics.js'
import type { ControlClient } from './control-client.js'

/** Methods with the same arguments that return a promise of the result. */
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

  readonly queue: RemoteReport<QueueReport, QueueStatistics>
  readonly #wire: ControlClient

  /** @internal */
  constructor(wire: ControlClient) {
    this.#wire = wire
    this.queue = new RemoteReport(wire, '/stats/queue')
  }

  search(id: string): RemoteReport<SearchReport, SearchStatistics> {
    return new RemoteReport(this.#wire, `/stats/search/${encodeURIComponent(id)}`)
  }

  async forbid(id: string): Promise<void> {
    await this.#wire.post('/stats/forbid', { id })
  }

  async clear(): Promise<void> {
    await this.#wire.post('/stats/clear')
  }
}

type Arguments<T, Name extends keyof T> = T[Name] extends (...given: infer Given) => unknown ? Given : never

/** One report of the statistics: read, overridden, or scripted. */
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

  async report(period?: StatsPeriod): Promise<Report> {
    const query = period === undefined ? '' : `?period=${encodeURIComponent(period)}`
    return (await this.#wire.get(this.#path + query)) as Report
  }

  async override(...[fields = {}]: Arguments<Local, 'override'>): Promise<void> {
    await this.#wire.send('PUT', `${this.#path}/overrides`, { ...(fields as object) })
  }

  async script(...[steps, scale]: Arguments<Local, 'script'>): Promise<void> {
    await this.#wire.send('PUT', `${this.#path}/script`, { steps, ...(scale !== undefined && { scale }) })
  }

  async clear(): Promise<void> {
    await this.#wire.send('DELETE', this.#path)
  }
}
