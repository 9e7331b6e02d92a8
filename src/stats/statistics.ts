import { bindMethods } from '../kernel/bind-methods.js'
import { utf8 } from '../kernel/bytes.js'
import { checkedDatabase } from '../kernel/database-name.js'
import { sha1Hex } from '../kernel/digest.js'
import { type Changes, type InputRecorder, type MethodEffects, unrecorded } from '../kernel/input-recorder.js'
import { createRandom, type Random } from '../kernel/random.js'
import type { TrafficLog } from '../kernel/traffic-log.js'
import { checkFields, checkFigures, type StatsOverrides, withFigures } from './figures.js'
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
import { SearchUsage, type SearchUsageOptions, searchMetrics, vectorMetrics } from './search-usage.js'
import { type ObservedStore, StoreLedger } from './store-ledger.js'
import { type StoreReport, storeReport } from './store-report.js'
import { StoreUsage, type StoreUsageOptions, storeMetrics } from './store-usage.js'
import { sumOf } from './tallies.js'
import { UsageScript } from './usage-script.js'
import type { QueueUsageStep, SearchUsageStep, StoreUsageStep, UsageMetrics } from './usage-steps.js'

/** User of the queue. Requests to the management API can contain the ID or the UUID. */
export interface StatisticsUser {
  /** ID of the user, such as `defaultUser`. */
  readonly id: string
  /** UUID of the user. The service uses it in the URL of the statistics. [statistics.md 1] */
  readonly uuid: string
}

/** User of the vendor's development server. The ID is public. [statistics.md 1, queue.md 12] */
export const defaultUser: StatisticsUser = { id: 'defaultUser', uuid: '99a4c327-31f0-490f-a594-043ade84085a' }

/** Database of a sandbox. Requests to the management API must contain its ID. */
export interface StatisticsDatabase {
  /** UUID of the database, derived from its name. The service uses it in the URL of the statistics. */
  readonly id: string
  /** Name of the database: the name of the sandbox, or `main`. */
  readonly name: string
}

export interface StatisticsOptions {
  readonly traffic: TrafficLog
  readonly now: () => number
  /** Data store whose commands are counted. */
  readonly store?: ObservedStore
  /** Name of the database. Default: `main`. */
  readonly database?: string | undefined
  /** Added databases whose commands are counted, by name. */
  readonly databases?: ReadonlyMap<string, ObservedStore> | undefined
  readonly deadLetters?: () => number
  readonly user?: StatisticsUser
  /** Price of messages. Default: pay as you go. */
  readonly price?: Price
  /** Random stream for the jitter of scripts. */
  readonly random?: Random
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export type StatisticsEffects = MethodEffects<
  Stats,
  {
    storeIn: 'reads'
    storeAt: 'reads'
    search: 'reads'
    vector: 'reads'
    forbid: 'changes'
    clear: 'changes'
    isForbidden: 'reads'
    knowsUser: 'reads'
    knowsIndex: 'reads'
    knowsVectorIndex: 'reads'
  }
>

/**
 * Usage statistics of a sandbox. The usage of the data store and of the queue is counted from the traffic. The usage of
 * a search or vector index must be described by a script, because the sandbox does not imitate these products. All
 * statistics accept a script, and a test can override every field of their reports.
 * @example
 * sandbox.stats.store.report().daily_net_commands
 * sandbox.stats.queue.report('3h').daily_used
 * sandbox.stats.search('products').script([usage.steady({ queries: 120 }), usage.spikeAt('-30m', 10)])
 * sandbox.stats.search('products').override({ monthly_cost: 0.5 })
 */
export class Stats {
  static {
    bindMethods(Stats)
  }

  /** User of this sandbox. Requests for the statistics of the queue must contain the ID or UUID of this user. */
  readonly user: StatisticsUser
  /** Database of this sandbox. Requests for the statistics of the data store must contain its ID. */
  readonly database: StatisticsDatabase
  /** Statistics of the queue. */
  readonly queue: QueueStatistics
  /** Statistics of the data store. If databases were added, these are the statistics of the first database. */
  readonly store: StoreStatistics
  /** All databases of the data store. The first is `database`. Requests can contain the ID of each. */
  readonly databases: readonly StatisticsDatabase[]
  readonly #queueFigures = new OwnFigures<QueueUsage, QueueReport>()
  readonly #storeFigures = new OwnFigures<StoreUsage, StoreReport>()
  readonly #added: ReadonlyMap<string, StoreStatistics>
  readonly #addedFigures: OwnFigures<StoreUsage, StoreReport>[] = []
  readonly #searchIndexes: IndexTable
  readonly #vectorIndexes: IndexTable
  readonly #forbidden = new Set<string>()
  readonly #inputs: InputRecorder<Changes<StatisticsEffects>>

  /** @internal */
  constructor(options: StatisticsOptions, inputs: InputRecorder = unrecorded) {
    const { now, random = createRandom(1), database = 'main', databases = new Map<string, ObservedStore>() } = options
    this.#inputs = inputs
    this.#searchIndexes = new IndexTable(searchMetrics, { now, random }, (id) => inputs.below(['search', id]))
    this.#vectorIndexes = new IndexTable(vectorMetrics, { now, random }, (id) => inputs.below(['vector', id]))
    this.user = options.user ?? defaultUser
    this.database = { id: databaseId(database), name: database }
    this.queue = new QueueStatistics(
      { ...options, random: random.fork('queue') },
      inputs.below('queue'),
      this.#queueFigures,
    )
    this.store = new StoreStatistics(
      { now, random: random.fork('store'), observed: options.store },
      inputs.below('store'),
      this.#storeFigures,
    )
    this.databases = [
      this.database,
      ...[...databases.keys()].map((name) => ({ id: databaseId(`${database}/${name}`), name })),
    ]
    this.#added = new Map(
      [...databases].map(([name, observed]) => {
        const figures = new OwnFigures<StoreUsage, StoreReport>()
        this.#addedFigures.push(figures)
        const options = { now, random: random.fork(`store/${name}`), observed }
        return [name, new StoreStatistics(options, inputs.below(['storeIn', name]), figures)]
      }),
    )
  }

  /**
   * Returns the statistics of a database that the option `databases` added.
   * @throws RangeError when there is no such database
   * @example
   * using sandbox = createSandbox({ databases: ['us'] })
   * expect(sandbox.stats.storeIn('us').report().daily_net_commands).toBe(0)
   */
  storeIn(database: string): StoreStatistics {
    return this.#added.get(checkedDatabase(database, [...this.#added.keys()]))!
  }

  /**
   * Returns the statistics of the database with this position in `databases`.
   * @internal
   */
  storeAt(index: number): StoreStatistics {
    return index === 0 ? this.store : this.storeIn(this.databases[index]!.name)
  }

  /**
   * Returns the statistics of one search index. The same ID always returns the same object.
   * @example sandbox.stats.search('products').script([usage.steady({ queries: 120 })])
   */
  search(id: string): SearchStatistics {
    return this.#searchIndexes.at(id)
  }

  /**
   * Returns the statistics of one vector index. The same ID always returns the same object. The indexes of the `VECTOR`
   * commands belong to the data store and have no such statistics.
   * @example sandbox.stats.vector('embeddings').script([usage.steady({ queries: 120, vectors: 10_000 })])
   */
  vector(id: string): SearchStatistics {
    return this.#vectorIndexes.at(id)
  }

  /**
   * IDs of the search indexes that have a script or overridden fields.
   * @internal
   */
  get searchIndexes(): readonly string[] {
    return this.#searchIndexes.known
  }

  /**
   * IDs of the vector indexes that have a script or overridden fields.
   * @internal
   */
  get vectorIndexes(): readonly string[] {
    return this.#vectorIndexes.known
  }

  /**
   * Makes an ID belong to another account. Requests for the statistics of this ID then get a 403. [statistics.md 2]
   * @example
   * sandbox.stats.forbid('products')
   * expect(sandbox.stats.isForbidden('products')).toBe(true)
   */
  forbid(id: string): void {
    this.#inputs.record('forbid', id)
    this.#forbidden.add(id.toLowerCase())
  }

  /**
   * Removes all scripts, overridden fields and forbidden IDs. Counts stay.
   * @example
   * sandbox.stats.forbid('products')
   * sandbox.stats.clear()
   * expect(sandbox.stats.isForbidden('products')).toBe(false)
   */
  clear(): void {
    this.#inputs.record('clear')
    this.#queueFigures.clear()
    this.#storeFigures.clear()
    for (const figures of this.#addedFigures) figures.clear()
    this.#searchIndexes.clear()
    this.#vectorIndexes.clear()
    this.#forbidden.clear()
  }

  /**
   * Returns whether `forbid()` was called with an ID.
   * @example
   * sandbox.stats.forbid('products')
   * expect(sandbox.stats.isForbidden('products')).toBe(true)
   */
  isForbidden(id: string): boolean {
    return this.#forbidden.has(id.toLowerCase())
  }

  /**
   * Returns whether an ID or UUID belongs to the user of this sandbox.
   * @example expect(sandbox.stats.knowsUser(sandbox.stats.user.id)).toBe(true)
   */
  knowsUser(id: string): boolean {
    return id === this.user.id || id.toLowerCase() === this.user.uuid.toLowerCase()
  }

  /**
   * Returns whether the API knows a search index. The API knows each index that has a script or overridden fields. If
   * there is no such index, the API knows every UUID.
   * @example
   * sandbox.stats.search('products').override({ monthly_cost: 0.5 })
   * expect(sandbox.stats.knowsIndex('products')).toBe(true)
   */
  knowsIndex(id: string): boolean {
    return this.#searchIndexes.knows(id)
  }

  /**
   * Returns whether the API knows a vector index, by the same rule as for a search index.
   * @example
   * sandbox.stats.vector('embeddings').override({ monthly_cost: 0.5 })
   * expect(sandbox.stats.knowsVectorIndex('embeddings')).toBe(true)
   */
  knowsVectorIndex(id: string): boolean {
    return this.#vectorIndexes.knows(id)
  }
}

/** Returns the UUID of a database. It depends only on the name, so it is the same in every run. */
function databaseId(name: string): string {
  const hex = sha1Hex(utf8(`stuntdouble database ${name}`))
  // The digits for the version and the variant of a UUID that is derived from a name.
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `5${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`]
  return [...parts, hex.slice(20, 32)].join('-')
}

/** The search indexes or the vector indexes of a sandbox, by ID. */
class IndexTable {
  readonly #metrics: UsageMetrics
  readonly #options: Required<Pick<StatisticsOptions, 'now' | 'random'>>
  readonly #inputs: (id: string) => InputRecorder
  readonly #indexes = new Map<string, SearchStatistics>()
  readonly #figures: OwnFigures<SearchUsage, SearchReport>[] = []

  constructor(
    metrics: UsageMetrics,
    options: Required<Pick<StatisticsOptions, 'now' | 'random'>>,
    inputs: (id: string) => InputRecorder,
  ) {
    this.#metrics = metrics
    this.#options = options
    this.#inputs = inputs
  }

  at(id: string): SearchStatistics {
    let index = this.#indexes.get(id)
    if (index === undefined) {
      const { now, random } = this.#options
      const figures = new OwnFigures<SearchUsage, SearchReport>()
      const stream = `${this.#metrics === vectorMetrics ? 'vector' : 'search'}/${id}`
      index = new SearchStatistics(now, random.fork(stream), this.#inputs(id), figures, this.#metrics)
      this.#figures.push(figures)
      this.#indexes.set(id, index)
    }
    return index
  }

  clear(): void {
    for (const figures of this.#figures) figures.clear()
  }

  /** IDs of the indexes that have a script or overridden fields. */
  get known(): readonly string[] {
    return [...this.#indexes].filter(([, index]) => index.isKnown).map(([id]) => id)
  }

  knows(id: string): boolean {
    const { known } = this
    return known.length === 0 ? uuid.test(id) : known.includes(id)
  }
}

/** Script and overridden fields of one report, as set by a test. */
class OwnFigures<Story, Report> {
  story: Story | undefined
  /** Overridden fields. */
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

/** Statistics of the queue: counts, a script that adds to them, and overridden fields. */
export class QueueStatistics {
  static {
    bindMethods(QueueStatistics)
  }

  readonly #options: StatisticsOptions & { readonly random: Random }
  /**
   * Counts of events in the traffic log.
   * @internal
   */
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
   * Returns the report that the endpoint would return now.
   * @throws RangeError when the period is unknown
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
   * Overrides fields of the report. All other fields are still computed from the traffic and the script. Fields that an
   * earlier call has overridden stay overridden.
   * @throws TypeError when a field is unknown or has another type
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
   * Sets a usage script. Its usage is added to the counted traffic. An earlier script is replaced.
   * @throws TypeError when a step is invalid
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
   * Removes the script and the overridden fields. Counts stay.
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

export type StoreStatisticsEffects = MethodEffects<
  StoreStatistics,
  { report: 'reads'; override: 'changes'; script: 'changes'; clear: 'changes' }
>

interface StoreStatisticsOptions {
  readonly now: () => number
  readonly random: Random
  readonly observed: ObservedStore | undefined
}

/** Statistics of the data store: counts, a script that adds to them, and overridden fields. */
export class StoreStatistics {
  static {
    bindMethods(StoreStatistics)
  }

  readonly #now: () => number
  readonly #random: Random
  /**
   * Counts of commands. The cost meter of the store reports each command to it.
   * @internal
   */
  readonly ledger: StoreLedger
  readonly #inputs: InputRecorder<Changes<StoreStatisticsEffects>>
  readonly #own: OwnFigures<StoreUsage, StoreReport>

  /** @internal */
  constructor(
    { now, random, observed }: StoreStatisticsOptions,
    inputs: InputRecorder = unrecorded,
    own: OwnFigures<StoreUsage, StoreReport> = new OwnFigures(),
  ) {
    this.#now = now
    this.#random = random
    this.ledger = new StoreLedger(now, observed)
    this.#inputs = inputs
    this.#own = own
  }

  /**
   * Returns the report that the endpoint would return now. This endpoint has no period.
   * @example
   * await checkout()
   * sandbox.stats.store.report().daily_net_commands
   */
  report(): StoreReport {
    const { story, fields = {} } = this.#own
    return withFigures(storeReport(this.ledger, story, this.#now(), namedCommands(fields)), fields)
  }

  /**
   * Overrides fields of the report. All other fields are still computed from the traffic and the script. Fields that an
   * earlier call has overridden stay overridden.
   * @throws TypeError when a field is unknown or has another type
   * @example
   * sandbox.stats.store.override({ total_monthly_billing: 12.5, command_counts: { GET: 3 } })
   * expect(sandbox.stats.store.report().total_monthly_billing).toBe(12.5)
   */
  override(fields: StatsOverrides<StoreReport>): void {
    const [given] = this.#inputs.record('override', fields)
    checkFields('stats.store.override()', given)
    const named = ['GET', ...namedCommands(given)]
    checkFigures('stats.store.override()', given, storeReport(this.ledger, undefined, this.#now(), named))
    this.#own.fields = { ...this.#own.fields, ...given }
  }

  /**
   * Sets a usage script. Its usage is added to the counted traffic. An earlier script is replaced.
   * @throws TypeError when a step is invalid
   * @example sandbox.stats.store.script([usage.steady({ reads: 600, writes: 120, keys: 5000 }), usage.latencies({ read: 3 })])
   */
  script(steps: readonly StoreUsageStep[], options: StoreUsageOptions = {}): void {
    const [given, sizes] = this.#inputs.record('script', steps, options)
    const [now, random] = [this.#now, this.#random]
    checkScale(storeMetrics, sizes, ['requestSize', 'keySize', 'price'])
    this.#own.story = new StoreUsage(
      new UsageScript(given, { words: storeMetrics, told: now(), now, random }),
      now,
      sizes,
    )
  }

  /**
   * Removes the script and the overridden fields. Counts stay.
   * @example
   * sandbox.stats.store.override({ daily_net_commands: 3 })
   * sandbox.stats.store.clear()
   * expect(sandbox.stats.store.report().daily_net_commands).toBe(0)
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

/** Statistics of one search or vector index, from a script and overridden fields. Without these, all values are 0. */
export class SearchStatistics {
  static {
    bindMethods(SearchStatistics)
  }

  readonly #now: () => number
  readonly #random: Random
  readonly #inputs: InputRecorder<Changes<SearchStatisticsEffects>>
  readonly #own: OwnFigures<SearchUsage, SearchReport>
  readonly #metrics: UsageMetrics

  /** @internal */
  constructor(
    now: () => number,
    random: Random,
    inputs: InputRecorder = unrecorded,
    own: OwnFigures<SearchUsage, SearchReport> = new OwnFigures(),
    metrics: UsageMetrics = searchMetrics,
  ) {
    this.#now = now
    this.#random = random
    this.#inputs = inputs
    this.#own = own
    this.#metrics = metrics
  }

  /** Whether the index has a script or overridden fields. */
  get isKnown(): boolean {
    return this.#own.story !== undefined || this.#own.fields !== undefined
  }

  /**
   * Returns the report that the endpoint would return now.
   * @throws RangeError when the period is unknown
   * @example sandbox.stats.search('products').report('3h').monthly_cost
   */
  report(period: StatsPeriod = defaultPeriod): SearchReport {
    const { story = unknownIndex, fields } = this.#own
    const report = searchReport(story, this.#now(), checkedPeriod(period))
    return fields === undefined ? report : withFigures(report, fields)
  }

  /**
   * Overrides fields of the report. All other fields are still computed from the script. Fields that an earlier call
   * has overridden stay overridden.
   * @throws TypeError when a field is unknown or has another type
   * @example sandbox.stats.search('products').override({ monthly_cost: 0.5 })
   */
  override(fields: StatsOverrides<SearchReport> = {}): void {
    const [given] = this.#inputs.record('override', fields)
    checkFigures(this.#metrics.caller.replace('script', 'override'), given, this.report())
    this.#own.fields = { ...this.#own.fields, ...given }
  }

  /**
   * Sets a script that describes the usage of this index. An earlier script is replaced.
   * @throws TypeError when a step is invalid
   * @example sandbox.stats.search('products').script([usage.steady({ queries: 120 }), usage.spikeAt('-30m', 10)])
   */
  script(steps: readonly SearchUsageStep[], options: SearchUsageOptions = {}): void {
    const [given, sizes] = this.#inputs.record('script', steps, options)
    const [now, random] = [this.#now, this.#random]
    checkScale(this.#metrics, sizes, ['vectorSize', 'requestSize', 'price'])
    this.#own.story = new SearchUsage(
      new UsageScript(given, { words: this.#metrics, told: now(), now, random }),
      now,
      sizes,
    )
  }

  /**
   * Removes the script and the overridden fields.
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

/** Returns the names of the commands whose counts are overridden one by one. */
function namedCommands({ command_counts: counts = {} }: StatsOverrides<StoreReport>): readonly string[] {
  return Array.isArray(counts) ? [] : Object.keys(Object(counts))
}

function checkedPeriod(period: StatsPeriod): StatsPeriod {
  if (isPeriod(period)) return period
  throw new RangeError(`report(): unknown period ${JSON.stringify(period)}. Use one of ${periodNames.join(', ')}.`)
}

function checkScale({ caller }: UsageMetrics, scale: object, names: readonly string[]): void {
  for (const [name, value] of Object.entries(scale)) {
    if (!names.includes(name))
      throw new TypeError(`${caller}: unknown option ${JSON.stringify(name)}. Use one of ${names.join(', ')}.`)
    if (typeof value !== 'number' || !(value >= 0 && value < Number.POSITIVE_INFINITY))
      throw new RangeError(`${caller}: ${name} must be a number, 0 or more (got ${JSON.stringify(value)}).`)
  }
}
