import { bindMethods } from '../kernel/bind-methods.js'
import { type Changes, type InputRecorder, type MethodEffects, unrecorded } from '../kernel/input-recorder.js'
import { createRandom, type Random } from '../kernel/random.js'
import type { TrafficLog } from '../kernel/traffic-log.js'
import { checkFigures, type StatsOverrides, withFigures } from './figures.js'
import { countedTypes, Ledger } from './ledger.js'
import { defaultPeriod, isPeriod, periodNames, type StatsPeriod } from './periods.js'
import { QueueUsage, type QueueUsageOptions, queueMetrics } from './queue-usage.js'
import {
  type Price,
  payAsYouGo,
  type QueueReport,
  queueReport,
  type SearchReport,
  searchReport,
  unknownIndex,
} from './reports.js'
import { SearchUsage, type SearchUsageOptions, searchMetrics } from './search-usage.js'
import { sumOf } from './tallies.js'
import { UsageScript } from './usage-script.js'
import type { QueueUsageStep, SearchUsageStep, UsageMetrics } from './usage-steps.js'

/** A user of the queue, as the management API names it: either id is accepted. */
export interface StatisticsUser {
  readonly id: string
  readonly uuid: string
}

/** The development server's user, with the id that the public document shows. [statistics.md 1, queue.md 12] */
export const defaultUser: StatisticsUser = { id: 'defaultUser', uuid: '99a4c327-31f0-490f-a594-043ade84085a' }

export interface StatisticsOptions {
  readonly traffic: TrafficLog
  readonly now: () => number
  /** How many dead letters there are now. */
  readonly deadLetters?: () => number
  readonly user?: StatisticsUser
  /** What messages cost. Default: pay as you go. */
  readonly price?: Price
  /** Where the jitter of stories comes from. */
  readonly random?: Random
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export type StatisticsEffects = MethodEffects<
  Stats,
  {
    search: 'reads'
    forbid: 'changes'
    clear: 'changes'
    isForbidden: 'reads'
    knowsUser: 'reads'
    knowsIndex: 'reads'
  }
>

/**
 * Usage statistics: the queue's are counted from the traffic; a search index's are told, because there is no such index
 * here. Both can be told as a story, and every field of both can be set by hand.
 * @example
 * sandbox.stats.queue.report('3h').daily_used
 * sandbox.stats.search('products').script([usage.steady({ queries: 120 }), usage.spikeAt('-30m', 10)])
 * sandbox.stats.search('products').override({ monthly_cost: 0.5 })
 */
export class Stats {
  static {
    bindMethods(Stats)
  }

  readonly user: StatisticsUser
  /** The queue's statistics. */
  readonly queue: QueueStatistics
  readonly #queueFigures = new OwnFigures<QueueUsage, QueueReport>()
  readonly #options: Required<Pick<StatisticsOptions, 'now' | 'random'>>
  readonly #indexes = new Map<string, SearchStatistics>()
  readonly #indexFigures: OwnFigures<SearchUsage, SearchReport>[] = []
  readonly #forbidden = new Set<string>()
  readonly #inputs: InputRecorder<Changes<StatisticsEffects>>

  /** @internal */
  constructor(options: StatisticsOptions, inputs: InputRecorder = unrecorded) {
    const { now, random = createRandom(1) } = options
    this.#options = { now, random }
    this.#inputs = inputs
    this.user = options.user ?? defaultUser
    this.queue = new QueueStatistics(
      { ...options, random: random.fork('queue') },
      inputs.below('queue'),
      this.#queueFigures,
    )
  }

  /**
   * The statistics of one search index. Always the same object for one id.
   * @example sandbox.stats.search('products').script([usage.steady({ queries: 120 })])
   */
  search(id: string): SearchStatistics {
    let index = this.#indexes.get(id)
    if (index === undefined) {
      const { now, random } = this.#options
      const figures = new OwnFigures<SearchUsage, SearchReport>()
      const inputs = this.#inputs.below(['search', id])
      index = new SearchStatistics(now, random.fork(`search/${id}`), inputs, figures)
      this.#indexFigures.push(figures)
      this.#indexes.set(id, index)
    }
    return index
  }

  /**
   * Makes an id one of somebody else's account: asking for it is answered with 403. [statistics.md 2]
   * @example
   * sandbox.stats.forbid('products')
   * expect(sandbox.stats.isForbidden('products')).toBe(true)
   */
  forbid(id: string): void {
    this.#inputs.record('forbid', id)
    this.#forbidden.add(id.toLowerCase())
  }

  /**
   * Forgets what was set, told and forbidden. What was counted stays.
   * @example
   * sandbox.stats.forbid('products')
   * sandbox.stats.clear()
   * expect(sandbox.stats.isForbidden('products')).toBe(false)
   */
  clear(): void {
    this.#inputs.record('clear')
    this.#queueFigures.clear()
    for (const figures of this.#indexFigures) figures.clear()
    this.#forbidden.clear()
  }

  /**
   * Returns whether `forbid()` was called for an ID.
   * @example
   * sandbox.stats.forbid('products')
   * expect(sandbox.stats.isForbidden('products')).toBe(true)
   */
  isForbidden(id: string): boolean {
    return this.#forbidden.has(id.toLowerCase())
  }

  /**
   * Returns whether an ID or UUID is that of the user of this sandbox.
   * @example expect(sandbox.stats.knowsUser(sandbox.stats.user.id)).toBe(true)
   */
  knowsUser(id: string): boolean {
    return id === this.user.id || id.toLowerCase() === this.user.uuid.toLowerCase()
  }

  /**
   * Once one index is set or told, only those that are exist; until then, every UUID is taken for one.
   * @example
   * sandbox.stats.search('products').override({ monthly_cost: 0.5 })
   * expect(sandbox.stats.knowsIndex('products')).toBe(true)
   */
  knowsIndex(id: string): boolean {
    const known = [...this.#indexes].filter(([, index]) => index.isKnown)
    return known.length === 0 ? uuid.test(id) : known.some(([name]) => name === id)
  }
}

/** What takes the place of counted figures, or is added to them. */
class OwnFigures<Story, Report> {
  story: Story | undefined
  /** Fields that were set by hand. */
  fields: StatsOverrides<Report> | undefined

  clear(): void {
    this.story = undefined
    this.fields = undefined
  }
}

export type QueueStatisticsEffects = MethodEffects<
  QueueStatistics,
  { report: 'reads'; override: 'changes'; script: 'changes'; clear: 'changes' }
>

/** The queue's statistics: what was counted, what a story adds to it, and what was set by hand. */
export class QueueStatistics {
  static {
    bindMethods(QueueStatistics)
  }

  readonly #options: StatisticsOptions & { readonly random: Random }
  /** What was counted so far. @internal */
  readonly ledger: Ledger = new Ledger()
  readonly #inputs: InputRecorder<Changes<QueueStatisticsEffects>>
  readonly #own: OwnFigures<QueueUsage, QueueReport>

  /** @internal */
  constructor(
    options: StatisticsOptions & { readonly random: Random },
    inputs: InputRecorder = unrecorded,
    own: OwnFigures<QueueUsage, QueueReport> = new OwnFigures(),
  ) {
    this.#options = options
    this.#inputs = inputs
    this.#own = own
    options.traffic.subscribe(this.ledger.note, countedTypes)
  }

  /**
   * What the endpoint answers now.
   * @example
   * await checkout()
   * sandbox.stats.queue.report('3h').daily_used
   */
  report(period: StatsPeriod = defaultPeriod): QueueReport {
    const { now, price = payAsYouGo, deadLetters } = this.#options
    const { story, fields = {} } = this.#own
    const source = story === undefined ? this.ledger : sumOf(this.ledger, story)
    const letters = (deadLetters?.() ?? 0) + (story?.deadLetters ?? 0)
    return withFigures(queueReport(source, now(), checkedPeriod(period), price, letters), fields)
  }

  /**
   * Sets fields by hand; those not named follow traffic and story. Later calls add to earlier ones.
   * @example
   * sandbox.stats.queue.override({ dlq_message_count: 3 })
   * expect(sandbox.stats.queue.report().dlq_message_count).toBe(3)
   */
  override(fields: StatsOverrides<QueueReport>): void {
    const [given] = this.#inputs.record('override', fields)
    checkFigures('stats.queue.override()', given, this.report())
    this.#own.fields = { ...this.#own.fields, ...given }
  }

  /**
   * Tells what went on beside the traffic of the sandbox, which is counted as well. Replaces an earlier story.
   * @example sandbox.stats.queue.script([usage.steady({ delivered: 120 }), usage.gap('-30m', '10m')])
   */
  script(steps: readonly QueueUsageStep[], options: QueueUsageOptions = {}): void {
    const [given, sizes] = this.#inputs.record('script', steps, options)
    const { now, random } = this.#options
    checkScale(queueMetrics, sizes, ['messageSize', 'messagesPerRun'])
    this.#own.story = new QueueUsage(
      new UsageScript(given, { words: queueMetrics, told: now(), now, random }),
      now,
      sizes,
    )
  }

  /**
   * Forgets what was set and told. What was counted stays.
   * @example
   * sandbox.stats.queue.override({ dlq_message_count: 3 })
   * sandbox.stats.queue.clear()
   * expect(sandbox.stats.queue.report().dlq_message_count).toBe(0)
   */
  clear(): void {
    this.#inputs.record('clear')
    this.#own.clear()
  }
}

export type SearchStatisticsEffects = MethodEffects<
  SearchStatistics,
  { report: 'reads'; override: 'changes'; script: 'changes'; clear: 'changes' }
>

/** One search index's statistics: what a story tells, and what was set by hand; else zeros. */
export class SearchStatistics {
  static {
    bindMethods(SearchStatistics)
  }

  readonly #now: () => number
  readonly #random: Random
  readonly #inputs: InputRecorder<Changes<SearchStatisticsEffects>>
  readonly #own: OwnFigures<SearchUsage, SearchReport>

  /** @internal */
  constructor(
    now: () => number,
    random: Random,
    inputs: InputRecorder = unrecorded,
    own: OwnFigures<SearchUsage, SearchReport> = new OwnFigures(),
  ) {
    this.#now = now
    this.#random = random
    this.#inputs = inputs
    this.#own = own
  }

  /** Whether anything was set or told. */
  get isKnown(): boolean {
    return this.#own.story !== undefined || this.#own.fields !== undefined
  }

  /**
   * What the endpoint answers now.
   * @example sandbox.stats.search('products').report('3h').monthly_cost
   */
  report(period: StatsPeriod = defaultPeriod): SearchReport {
    const { story = unknownIndex, fields } = this.#own
    const report = searchReport(story, this.#now(), checkedPeriod(period))
    return fields === undefined ? report : withFigures(report, fields)
  }

  /**
   * Sets fields by hand; those not named follow the story. Later calls add to earlier ones.
   * @example sandbox.stats.search('products').override({ monthly_cost: 0.5 })
   */
  override(fields: StatsOverrides<SearchReport> = {}): void {
    const [given] = this.#inputs.record('override', fields)
    checkFigures('stats.search(id).override()', given, this.report())
    this.#own.fields = { ...this.#own.fields, ...given }
  }

  /**
   * Tells what went on at this index. Replaces an earlier story.
   * @example sandbox.stats.search('products').script([usage.steady({ queries: 120 }), usage.spikeAt('-30m', 10)])
   */
  script(steps: readonly SearchUsageStep[], options: SearchUsageOptions = {}): void {
    const [given, sizes] = this.#inputs.record('script', steps, options)
    const [now, random] = [this.#now, this.#random]
    checkScale(searchMetrics, sizes, ['vectorSize', 'requestSize', 'price'])
    this.#own.story = new SearchUsage(
      new UsageScript(given, { words: searchMetrics, told: now(), now, random }),
      now,
      sizes,
    )
  }

  /**
   * Forgets what was set and told.
   * @example
   * const products = sandbox.stats.search('products')
   * products.override({ monthly_cost: 0.5 })
   * products.clear()
   * expect(products.isKnown).toBe(false)
   */
  clear(): void {
    this.#inputs.record('clear')
    this.#own.clear()
  }
}

function checkedPeriod(period: StatsPeriod): StatsPeriod {
  if (isPeriod(period)) return period
  throw new RangeError(`There is no period ${JSON.stringify(period)}. Use one of ${periodNames.join(', ')}.`)
}

function checkScale({ caller }: UsageMetrics, scale: object, names: readonly string[]): void {
  for (const [name, value] of Object.entries(scale)) {
    if (!names.includes(name))
      throw new TypeError(`${caller} has no setting ${JSON.stringify(name)}. The settings are ${names.join(', ')}.`)
    if (typeof value !== 'number' || !(value >= 0 && value < Number.POSITIVE_INFINITY))
      throw new RangeError(`${caller}: ${name} is a number, 0 or more, not ${JSON.stringify(value)}.`)
  }
}
