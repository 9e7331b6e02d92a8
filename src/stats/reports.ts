import { fiveDayGrid, type Grid, gridOf, monthGrid, type StatsPeriod } from './periods.js'
import type { TallyName, TallySource } from './tallies.js'
import { dailyStamp, day, dayOf, periodStamp, weekday } from './usage-calendar.js'

/** One point of a series: a time and a number. */
export interface SeriesPoint {
  /** Time in UTC, such as `2025-10-23 17:34:00.000 +0000 UTC`. Daily series have nanoseconds. [statistics.md 3] */
  readonly x: string
  /** Value at this time. Its unit depends on the series: a count, bytes, dollars or milliseconds. */
  readonly y: number
}

/** One point of the series `daily_requests`. */
export interface RequestPoint extends SeriesPoint {
  /** Number of delivery attempts of workflow runs on this day. The total `y` includes them. */
  readonly workflow_message: number
  /** Number of workflow runs that started on this day. */
  readonly workflow_run: number
}

/** A series with a name: numbers over time. */
export interface NamedSeries {
  /** Name of the series, such as `delivered`. */
  readonly id: string
  /** Points of the series, one for each interval of the period. */
  readonly data_points: readonly SeriesPoint[]
}

/** Usage report of the queue. The API endpoint returns the same JSON. [statistics.md 4] */
export interface QueueReport {
  /** English names of the weekdays of all days of the current month. [statistics.md 3.1] */
  readonly days: readonly string[]
  /** Number of billed messages on each day of the current month. Every delivery attempt is billed. [statistics.md 6] */
  readonly daily_requests: readonly RequestPoint[]
  /** Cost in dollars on each day of the current month. */
  readonly daily_billings: readonly SeriesPoint[]
  /** Bytes that deliveries sent and received on each day of the current month. */
  readonly daily_bandwidths: readonly SeriesPoint[]
  /** Number of billed messages in each interval of the period. Every delivery attempt is billed. [statistics.md 6] */
  readonly daily_used: readonly SeriesPoint[]
  /** Number of delivery attempts of workflow runs in each interval of the period. */
  readonly daily_used_workflow: readonly SeriesPoint[]
  /**
   * One series for each message state, such as `delivered`. Each point counts how many times messages entered the state
   * in an interval of the period.
   */
  readonly daily_qstash_messages: readonly NamedSeries[]
  /**
   * One series for each state of workflow runs, such as `success`. Each point is the number of runs that entered the
   * state in an interval of the period.
   */
  readonly daily_workflow_messages: readonly NamedSeries[]
  /** Current number of dead letters. */
  readonly dlq_message_count: number
  /** Bytes that deliveries sent and received in each interval of the period. */
  readonly daily_bandwidth_used: readonly SeriesPoint[]
  /** Cost in dollars since the start of the current month. */
  readonly total_monthly_billing: number
}

/** Usage report of a search index. The API endpoint returns the same JSON. [statistics.md 5] */
export interface SearchReport {
  /** Current number of operations that the index has not processed yet. */
  readonly pending_index_count: number
  /** Current number of vectors in the index. */
  readonly current_vector_count: number
  /** Number of queries since midnight UTC, or since a later `usage.counterReset()`. */
  readonly daily_query_count: number
  /** Number of updates since midnight UTC, or since a later `usage.counterReset()`. */
  readonly daily_update_count: number
  /** Number of queries since the start of the month (UTC), or since a later `usage.counterReset()`. */
  readonly monthly_query_count: number
  /** Number of updates since the start of the month (UTC), or since a later `usage.counterReset()`. */
  readonly monthly_update_count: number
  /** Bytes transferred since the start of the month (UTC), or since a later `usage.counterReset()`. */
  readonly monthly_bandwidth_usage: number
  /** Current size of all vectors in bytes. */
  readonly storage_usage: number
  /** Cost in dollars since the start of the month (UTC). A `usage.counterReset()` does not change it. */
  readonly monthly_cost: number
  /** Number of updates on each of the last five days. */
  readonly daily_update_requests: readonly SeriesPoint[]
  /** Number of queries on each of the last five days. */
  readonly daily_query_requests: readonly SeriesPoint[]
  /** Bytes transferred on each of the last five days. */
  readonly daily_bandwidths: readonly SeriesPoint[]
  /** English names of the weekdays of the last five days, ending today. [statistics.md 3.1] */
  readonly days: readonly string[]
  /** Number of queries in each interval of the period. */
  readonly query_throughput: readonly SeriesPoint[]
  /** Number of updates in each interval of the period. */
  readonly update_throughput: readonly SeriesPoint[]
  /** Mean latency of queries in milliseconds, for each interval of the period. */
  readonly query_latency_mean: readonly SeriesPoint[]
  /** 99th percentile of the latency of queries in milliseconds, for each interval of the period. */
  readonly query_latency_99: readonly SeriesPoint[]
  /** Mean latency of updates in milliseconds, for each interval of the period. */
  readonly update_latency_mean: readonly SeriesPoint[]
  /** 99th percentile of the latency of updates in milliseconds, for each interval of the period. */
  readonly update_latency_99: readonly SeriesPoint[]
  /** Mean latency of embedding operations in milliseconds, for each interval of the period. */
  readonly embeds_latency_mean: readonly SeriesPoint[]
  /** 99th percentile of the latency of embedding operations in milliseconds, for each interval of the period. */
  readonly embeds_latency_99: readonly SeriesPoint[]
  /** Number of vectors at the end of each interval of the period. */
  readonly vector_count: readonly SeriesPoint[]
  /** Size of all vectors in bytes at the end of each interval of the period. */
  readonly data_size: readonly SeriesPoint[]
  /** Number of `rerank` operations since midnight UTC, or since a later `usage.counterReset()`. */
  readonly daily_rerank_count: number
  /** Number of `rerank` operations since the start of the month (UTC), or since a later `usage.counterReset()`. */
  readonly monthly_rerank_count: number
  /** Number of `rerank` operations on each of the last five days. */
  readonly daily_rerank_requests: readonly SeriesPoint[]
  /** Mean latency of `rerank` operations in milliseconds, for each interval of the period. */
  readonly rerank_latency_mean: readonly SeriesPoint[]
  /** 99th percentile of the latency of `rerank` operations in milliseconds, for each interval of the period. */
  readonly rerank_latency_99: readonly SeriesPoint[]
}

/** Returns the start of each interval as text, such as `2025-10-23 17:34:00.000 +0000 UTC`. */
export function periodStamps({ from, interval, points }: Grid): string[] {
  return Array.from({ length: points }, (_, index) => periodStamp(from + index * interval))
}

/**
 * Returns one time per day as text. The time of day is always that of `now`, the time of the request for the report.
 * [statistics.md 3.1]
 */
export function dailyStamps(days: Grid, now: number): string[] {
  const timeOfDay = now - dayOf(now) * day
  return Array.from({ length: days.points }, (_, index) => dailyStamp(days.from + index * day + timeOfDay))
}

export function pointsAt(stamps: readonly string[], values: readonly number[]): SeriesPoint[] {
  return stamps.map((x, index) => ({ x, y: values[index] ?? 0 }))
}

export function weekdays(days: Grid): string[] {
  return Array.from({ length: days.points }, (_, index) => weekday(dayOf(days.from) + index))
}

/** Prices of messages. [statistics.md 6] */
export interface Price {
  /** Dollars per message. */
  readonly message: number
  /** Free bytes per calendar month. */
  readonly freeBandwidth: number
  /** Dollars per 10^9 bytes. The free bytes are not billed. */
  readonly gigabyte: number
}

const gigabyte = 1e9

/**
 * Default price: 1 dollar per 100,000 messages, and 0.05 dollars per GB after 50 GB per month. [statistics.md 6,
 * pricing]
 */
export const payAsYouGo: Price = { message: 1 / 100_000, freeBandwidth: 50 * gigabyte, gigabyte: 0.05 }

/** Price of the free plan and of plans with a fixed price. Their cost does not depend on usage. [statistics.md 6] */
export const unmetered: Price = { message: 0, freeBandwidth: 0, gigabyte: 0 }

/**
 * IDs of the series about message states. A report always contains all of them in this order, even if all values are 0.
 * This package chose the order; public sources leave it open. [statistics.md 4]
 */
const messageSeries: readonly TallyName[] = ['created', 'active', 'delivered', 'retried', 'error', 'failed', 'canceled']
const workflowSeries: readonly (readonly [id: string, tally: TallyName])[] = [
  ['started', 'runsStarted'],
  ['success', 'runsSucceeded'],
  ['failed', 'runsFailed'],
  ['canceled', 'runsCanceled'],
]

export function queueReport(
  source: TallySource,
  now: number,
  period: StatsPeriod,
  price: Price,
  deadLetters: number,
): QueueReport {
  const days = monthGrid(now)
  const grid = gridOf(period, now)
  const [dates, times] = [dailyStamps(days, now), periodStamps(grid)]
  const daily = (tally: TallyName): number[] => source.series(tally, days)
  const counted = (tally: TallyName): SeriesPoint[] => pointsAt(times, source.series(tally, grid))
  const [messages, bytes] = [daily('attempts'), daily('bytes')]
  const [workflowMessages, workflowRuns] = [daily('workflowAttempts'), daily('runsStarted')]
  const bills = billings(messages, bytes, price)
  return {
    days: weekdays(days),
    daily_requests: pointsAt(dates, messages).map((point, index) => ({
      ...point,
      workflow_message: workflowMessages[index]!,
      workflow_run: workflowRuns[index]!,
    })),
    daily_billings: pointsAt(dates, bills.map(toMicros)),
    daily_bandwidths: pointsAt(dates, bytes),
    daily_used: counted('attempts'),
    daily_used_workflow: counted('workflowAttempts'),
    daily_qstash_messages: messageSeries.map((id) => ({ id, data_points: counted(id) })),
    daily_workflow_messages: workflowSeries.map(([id, tally]) => ({ id, data_points: counted(tally) })),
    dlq_message_count: deadLetters,
    daily_bandwidth_used: counted('bytes'),
    total_monthly_billing: toMicros(bills.reduce((sum, bill) => sum + bill, 0)),
  }
}

/**
 * Returns the cost of each day in dollars, for messages and bytes. Bytes are billed after the free bytes of the month
 * are used up.
 */
function billings(messages: readonly number[], bytes: readonly number[], price: Price): number[] {
  let used = 0
  return messages.map((count, index) => {
    const before = Math.max(0, used - price.freeBandwidth)
    used += bytes[index]!
    const billed = Math.max(0, used - price.freeBandwidth) - before
    return count * price.message + (billed / gigabyte) * price.gigabyte
  })
}

/**
 * Rounds an amount of money to 6 decimals. This package chose the number; public sources leave it open. [statistics.md
 * 6]
 */
export function toMicros(dollars: number): number {
  return Math.round(dollars * 1e6) / 1e6
}

/** Operations of a search index for which reports contain a latency. */
export type SearchOperation = 'query' | 'update' | 'embeds' | 'rerank'

/** Sums over all search indexes, or over all vector indexes. The API endpoint returns the same JSON. */
export interface IndexSums {
  /** Current number of vectors. */
  readonly record_count: number
  /** Number of queries and updates since the start of the month (UTC). */
  readonly request: number
  /** Bytes transferred since the start of the month (UTC). */
  readonly bandwidth: number
  /** Current size of all vectors in bytes. */
  readonly storage: number
  /** Number of `rerank` operations since the start of the month (UTC). */
  readonly rerank_count: number
  /** Cost in dollars since the start of the month (UTC). */
  readonly billing: number
}

/** The fields of a report that each sum adds up. [developer-api.md 4] */
const summands: { readonly [Name in keyof IndexSums]: readonly (keyof SearchReport)[] } = {
  record_count: ['current_vector_count'],
  request: ['monthly_query_count', 'monthly_update_count'],
  bandwidth: ['monthly_bandwidth_usage'],
  storage: ['storage_usage'],
  rerank_count: ['monthly_rerank_count'],
  billing: ['monthly_cost'],
}

export function indexSums(reports: readonly SearchReport[]): IndexSums {
  const sum = (names: readonly (keyof SearchReport)[]): number =>
    reports.reduce((total, report) => names.reduce((all, name) => all + (report[name] as number), total), 0)
  const sums = Object.entries(summands).map(([name, names]) => [name, sum(names)])
  const all = Object.fromEntries(sums) as IndexSums
  return { ...all, billing: toMicros(all.billing) }
}

/**
 * Source of the numbers in the report of a search index. Only usage scripts implement it, because the sandbox has no
 * search index.
 */
export interface SearchSource {
  /**
   * Returns the number of operations in each interval. For `bytes`, returns the number of bytes that were transferred.
   */
  series(counter: SearchCounter, grid: Grid): number[]
  /** Returns the number of operations since an instant. For `bytes`, returns the number of bytes. */
  total(counter: SearchCounter, since: number): number
  level(name: SearchLevel): number
  /** Returns one number per interval: a level, such as the number of vectors, at the end of the interval. */
  levels(name: SearchLevel, grid: Grid): number[]
  latency(operation: SearchOperation, figure: 'mean' | 'p99', grid: Grid): number[]
  /** Returns the cost in dollars since an instant. */
  cost(since: number): number
}

export type SearchCounter = 'queries' | 'updates' | 'reranks' | 'bytes'
export type SearchLevel = 'pending' | 'vectors' | 'storage'

/** Source for a search index without a script. All its values are 0. [statistics.md 6] */
export const unknownIndex: SearchSource = {
  series: () => [],
  total: () => 0,
  level: () => 0,
  levels: () => [],
  latency: () => [],
  cost: () => 0,
}

/**
 * Returns the usage report of a search index. Each series has all its points. A point without usage has the value 0.
 */
export function searchReport(source: SearchSource, now: number, period: StatsPeriod): SearchReport {
  const days = fiveDayGrid(now)
  const grid = gridOf(period, now)
  const [today, month] = [dayOf(now) * day, monthGrid(now).from]
  const [dates, times] = [dailyStamps(days, now), periodStamps(grid)]
  const daily = (counter: SearchCounter): SeriesPoint[] => pointsAt(dates, source.series(counter, days))
  const counted = (counter: SearchCounter): SeriesPoint[] => pointsAt(times, source.series(counter, grid))
  const levels = (name: SearchLevel): SeriesPoint[] => pointsAt(times, source.levels(name, grid))
  const mean = (operation: SearchOperation): SeriesPoint[] => pointsAt(times, source.latency(operation, 'mean', grid))
  const p99 = (operation: SearchOperation): SeriesPoint[] => pointsAt(times, source.latency(operation, 'p99', grid))
  return {
    pending_index_count: source.level('pending'),
    current_vector_count: source.level('vectors'),
    daily_query_count: source.total('queries', today),
    daily_update_count: source.total('updates', today),
    monthly_query_count: source.total('queries', month),
    monthly_update_count: source.total('updates', month),
    monthly_bandwidth_usage: source.total('bytes', month),
    storage_usage: source.level('storage'),
    monthly_cost: toMicros(source.cost(month)),
    daily_update_requests: daily('updates'),
    daily_query_requests: daily('queries'),
    daily_bandwidths: daily('bytes'),
    days: weekdays(days),
    query_throughput: counted('queries'),
    update_throughput: counted('updates'),
    query_latency_mean: mean('query'),
    query_latency_99: p99('query'),
    update_latency_mean: mean('update'),
    update_latency_99: p99('update'),
    embeds_latency_mean: mean('embeds'),
    embeds_latency_99: p99('embeds'),
    vector_count: levels('vectors'),
    data_size: levels('storage'),
    daily_rerank_count: source.total('reranks', today),
    monthly_rerank_count: source.total('reranks', month),
    daily_rerank_requests: daily('reranks'),
    rerank_latency_mean: mean('rerank'),
    rerank_latency_99: p99('rerank'),
  }
}
