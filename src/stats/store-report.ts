import { fiveDayGrid, type Grid, gridOf, monthGrid } from './periods.js'
import { dailyStamps, periodStamps, pointsAt, type SeriesPoint, toMicros, weekdays } from './reports.js'
import { commandGrid, commandTallies, type StoreCounter, type StoreLevel, type StoreTally } from './store-tallies.js'
import type { StoreOperation, StoreUsage } from './store-usage.js'
import { dailyStamp } from './usage-calendar.js'

/** The commands of one name over the current day. */
export interface CommandSeries {
  /** Name of the command in upper case, such as `EXISTS` or `XGROUP CREATE`. */
  readonly metric_identifier: string
  /** Number of commands in each of the 60 intervals of the current day. */
  readonly data_points: readonly SeriesPoint[]
}

/** Usage report of the data store. The API endpoint returns the same JSON. [developer-api.md 3] */
export interface StoreReport {
  /** Current number of open MONITOR streams. */
  readonly monitor_count: SeriesPoint
  /** Number of commands since midnight UTC. */
  readonly daily_net_commands: number
  /** Number of read commands since midnight UTC. */
  readonly daily_read_requests: number
  /** Number of write commands since midnight UTC. */
  readonly daily_write_requests: number
  /** Number of connections over the Redis protocol at the end of each minute. */
  readonly connection_count: readonly SeriesPoint[]
  /** Number of keys at the end of each minute. */
  readonly keyspace: readonly SeriesPoint[]
  /** Commands per second, as the mean of each minute. */
  readonly throughput: readonly SeriesPoint[]
  /** Bytes of all keys and values at the end of each minute. */
  readonly diskusage: readonly SeriesPoint[]
  /** Mean latency of all commands in milliseconds. 0 unless a script sets it. */
  readonly latencymean: readonly SeriesPoint[]
  /** 99th percentile of the latency of all commands in milliseconds. 0 unless a script sets it. */
  readonly latency_99: readonly SeriesPoint[]
  /** Mean latency of read commands in milliseconds. 0 unless a script sets it. */
  readonly read_latency_mean: readonly SeriesPoint[]
  /** 99th percentile of the latency of read commands in milliseconds. 0 unless a script sets it. */
  readonly read_latency_99: readonly SeriesPoint[]
  /** Mean latency of write commands in milliseconds. 0 unless a script sets it. */
  readonly write_latency_mean: readonly SeriesPoint[]
  /** 99th percentile of the latency of write commands in milliseconds. 0 unless a script sets it. */
  readonly write_latency_99: readonly SeriesPoint[]
  /** Number of keys that read commands found in each minute. */
  readonly hits: readonly SeriesPoint[]
  /** Number of keys that read commands did not find in each minute. */
  readonly misses: readonly SeriesPoint[]
  /** Number of read commands in each minute. */
  readonly read: readonly SeriesPoint[]
  /** Number of write commands in each minute. */
  readonly write: readonly SeriesPoint[]
  /** Number of commands on each of the last five days. */
  readonly dailyrequests: readonly SeriesPoint[]
  /** English names of the weekdays of the last five days, ending today. */
  readonly days: readonly string[]
  /** Cost in dollars on each of the last five days. */
  readonly dailybilling: readonly SeriesPoint[]
  /** Bytes of commands and replies since midnight UTC. */
  readonly dailybandwidth: number
  /** Bytes of commands and replies on each of the last five days. */
  readonly bandwidths: readonly SeriesPoint[]
  /** Bytes of commands and replies since the start of the month (UTC). */
  readonly total_monthly_bandwidth: number
  /** Number of commands since the start of the month (UTC). */
  readonly total_monthly_requests: number
  /** Number of read commands since the start of the month (UTC). */
  readonly total_monthly_read_requests: number
  /** Number of write commands since the start of the month (UTC). */
  readonly total_monthly_write_requests: number
  /** Number of script commands, such as `EVAL`, since the start of the month (UTC). */
  readonly total_monthly_script_requests: number
  /** Current bytes of all keys and values. */
  readonly total_monthly_storage: number
  /** Current bytes of all keys and values. */
  readonly current_storage: number
  /** Cost in dollars since the start of the month (UTC). */
  readonly total_monthly_billing: number
  /** Whether the database is optimized for queues. Always false. */
  readonly queue_optimized: boolean
  /** Commands of the current day by name. All their points add up to `daily_net_commands`. */
  readonly command_counts: readonly CommandSeries[]
}

/** Dollars per 100,000 commands. [developer-api.md 3, choice] */
export const commandPrice = 0.2

/** The numbers from which the fields of one report are computed. */
class StoreNumbers {
  readonly now: number
  readonly days: Grid
  readonly month: Grid
  readonly minutes: Grid
  readonly #counted: StoreCounter
  readonly #story: StoreUsage | undefined
  /** Names of commands that the report has in any case. */
  readonly #named: readonly string[]
  readonly #dates: readonly string[]
  readonly #times: readonly string[]
  /** Series of levels. Reading the present level visits all keys, so each is read once. */
  readonly #levels = new Map<StoreLevel, SeriesPoint[]>()

  constructor(counted: StoreCounter, story: StoreUsage | undefined, now: number, named: readonly string[]) {
    this.#named = named
    this.#counted = counted
    this.#story = story
    this.now = now
    this.days = fiveDayGrid(now)
    this.month = monthGrid(now)
    this.minutes = gridOf('1h', now)
    this.#dates = dailyStamps(this.days, now)
    this.#times = periodStamps(this.minutes)
  }

  get monitors(): number {
    return this.#counted.monitors + (this.#story?.monitors ?? 0)
  }

  series(grid: Grid, ...tallies: readonly StoreTally[]): number[] {
    return this.#sum(tallies.flatMap((tally) => this.#sources.map((source) => source.series(tally, grid))))
  }

  daily(...tallies: readonly StoreTally[]): SeriesPoint[] {
    return pointsAt(this.#dates, this.series(this.days, ...tallies))
  }

  today(...tallies: readonly StoreTally[]): number {
    return this.series(this.days, ...tallies).at(-1)!
  }

  monthly(...tallies: readonly StoreTally[]): number {
    return this.series(this.month, ...tallies).reduce((sum, count) => sum + count, 0)
  }

  perMinute(...tallies: readonly StoreTally[]): SeriesPoint[] {
    return pointsAt(this.#times, this.series(this.minutes, ...tallies))
  }

  perSecond(...tallies: readonly StoreTally[]): SeriesPoint[] {
    return this.perMinute(...tallies).map(({ x, y }) => ({ x, y: y / 60 }))
  }

  levels(level: StoreLevel): SeriesPoint[] {
    let points = this.#levels.get(level)
    if (points === undefined) {
      const values = this.#sources.map((source) => source.levels(level, this.minutes))
      points = pointsAt(this.#times, this.#sum(values))
      this.#levels.set(level, points)
    }
    return points
  }

  level(level: StoreLevel): number {
    return this.levels(level).at(-1)!.y
  }

  latency(operation: StoreOperation, figure: 'mean' | 'p99'): SeriesPoint[] {
    return pointsAt(this.#times, this.#story?.latency(operation, figure, this.minutes) ?? [])
  }

  dollars(commands: number): number {
    return toMicros((commands * (this.#story?.price ?? commandPrice)) / 100_000)
  }

  commands(): CommandSeries[] {
    const grid = commandGrid(this.now)
    const stamps = periodStamps(grid)
    const counts = new Map<string, readonly number[]>(this.#named.map((name) => [name, []]))
    for (const source of this.#sources)
      for (const [name, own] of source.commands(grid)) counts.set(name, this.#sum([own, counts.get(name) ?? []]))
    return [...counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, own]) => ({ metric_identifier: name, data_points: pointsAt(stamps, own) }))
  }

  get #sources(): readonly StoreCounter[] {
    return this.#story === undefined ? [this.#counted] : [this.#counted, this.#story]
  }

  #sum([first = [], ...others]: readonly (readonly number[])[]): number[] {
    return first.map((count, index) => others.reduce((sum, each) => sum + (each[index] ?? 0), count))
  }
}

const fields: { readonly [Name in keyof StoreReport]: (usage: StoreNumbers) => StoreReport[Name] } = {
  monitor_count: ({ now, monitors }) => ({ x: dailyStamp(now), y: monitors }),
  daily_net_commands: (usage) => usage.today(...commandTallies),
  daily_read_requests: (usage) => usage.today('reads'),
  daily_write_requests: (usage) => usage.today('writes'),
  connection_count: (usage) => usage.levels('connections'),
  keyspace: (usage) => usage.levels('keys'),
  throughput: (usage) => usage.perSecond(...commandTallies),
  diskusage: (usage) => usage.levels('bytes'),
  latencymean: (usage) => usage.latency('command', 'mean'),
  latency_99: (usage) => usage.latency('command', 'p99'),
  read_latency_mean: (usage) => usage.latency('read', 'mean'),
  read_latency_99: (usage) => usage.latency('read', 'p99'),
  write_latency_mean: (usage) => usage.latency('write', 'mean'),
  write_latency_99: (usage) => usage.latency('write', 'p99'),
  hits: (usage) => usage.perMinute('hits'),
  misses: (usage) => usage.perMinute('misses'),
  read: (usage) => usage.perMinute('reads'),
  write: (usage) => usage.perMinute('writes'),
  dailyrequests: (usage) => usage.daily(...commandTallies),
  days: ({ days }) => weekdays(days),
  dailybilling: (usage) => usage.daily(...commandTallies).map(({ x, y }) => ({ x, y: usage.dollars(y) })),
  dailybandwidth: (usage) => usage.today('bytes'),
  bandwidths: (usage) => usage.daily('bytes'),
  total_monthly_bandwidth: (usage) => usage.monthly('bytes'),
  total_monthly_requests: (usage) => usage.monthly(...commandTallies),
  total_monthly_read_requests: (usage) => usage.monthly('reads'),
  total_monthly_write_requests: (usage) => usage.monthly('writes'),
  total_monthly_script_requests: (usage) => usage.monthly('scripts'),
  total_monthly_storage: (usage) => usage.level('bytes'),
  current_storage: (usage) => usage.level('bytes'),
  total_monthly_billing: (usage) => usage.dollars(usage.monthly(...commandTallies)),
  queue_optimized: () => false,
  command_counts: (usage) => usage.commands(),
}

/** @param named names of commands that `command_counts` has even if no such command was counted */
export function storeReport(
  counted: StoreCounter,
  story: StoreUsage | undefined,
  now: number,
  named: readonly string[] = [],
): StoreReport {
  const usage = new StoreNumbers(counted, story, now, named)
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, field(usage)]),
  ) as unknown as StoreReport
}
