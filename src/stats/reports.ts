import { dailyStamp, day, dayOf, minute, monthOf, periodStamp, weekday } from './calendar.js'
import type { Ledger, Tally } from './ledger.js'

export interface Point {
  readonly x: string
  readonly y: number
}

export interface RequestPoint extends Point {
  readonly workflow_message: number
  readonly workflow_run: number
}

export interface NamedSeries {
  readonly id: string
  readonly data_points: readonly Point[]
}

/** The answer of the queue's statistics. [statistics.md 4] */
export interface QueueReport {
  readonly days: readonly string[]
  readonly daily_requests: readonly RequestPoint[]
  readonly daily_billings: readonly Point[]
  readonly daily_bandwidths: readonly Point[]
  readonly daily_used: readonly Point[]
  readonly daily_used_workflow: readonly Point[]
  readonly daily_qstash_messages: readonly NamedSeries[]
  readonly daily_workflow_messages: readonly NamedSeries[]
  readonly dlq_message_count: number
  readonly daily_bandwidth_used: readonly Point[]
  readonly total_monthly_billing: number
}

/** The answer of a search index's statistics. [statistics.md 5] */
export interface SearchReport {
  readonly pending_index_count: number
  readonly current_vector_count: number
  readonly daily_query_count: number
  readonly daily_update_count: number
  readonly monthly_query_count: number
  readonly monthly_update_count: number
  readonly monthly_bandwidth_usage: number
  readonly storage_usage: number
  readonly monthly_cost: number
  readonly daily_update_requests: readonly Point[]
  readonly daily_query_requests: readonly Point[]
  readonly daily_bandwidths: readonly Point[]
  readonly days: readonly string[]
  readonly query_throughput: readonly Point[]
  readonly update_throughput: readonly Point[]
  readonly query_latency_mean: readonly Point[]
  readonly query_latency_99: readonly Point[]
  readonly update_latency_mean: readonly Point[]
  readonly update_latency_99: readonly Point[]
  readonly embeds_latency_mean: readonly Point[]
  readonly embeds_latency_99: readonly Point[]
  readonly vector_count: readonly Point[]
  readonly data_size: readonly Point[]
  readonly daily_rerank_count: number
  readonly monthly_rerank_count: number
  readonly daily_rerank_requests: readonly Point[]
  readonly rerank_latency_mean: readonly Point[]
  readonly rerank_latency_99: readonly Point[]
}

export type Period = '1h' | '3h' | '12h' | '1d' | '3d' | '7d' | '30d'

/** 60 points each, 240 for thirty days. [statistics.md 3.2] */
const periods: Readonly<Record<Period, { readonly points: number; readonly interval: number }>> = {
  '1h': { points: 60, interval: minute },
  '3h': { points: 60, interval: 3 * minute },
  '12h': { points: 60, interval: 12 * minute },
  '1d': { points: 60, interval: 24 * minute },
  '3d': { points: 60, interval: 72 * minute },
  '7d': { points: 60, interval: 168 * minute },
  '30d': { points: 240, interval: 180 * minute },
}

/** On both endpoints. [statistics.md 1] */
export const defaultPeriod: Period = '1h'

export const periodNames: readonly Period[] = Object.keys(periods) as Period[]

export function isPeriod(name: string): name is Period {
  return Object.hasOwn(periods, name)
}

/** The beginnings of a period's intervals; the last one contains now. Aligned to multiples since the epoch. */
export interface Grid {
  readonly from: number
  readonly interval: number
  readonly points: number
}

export function gridOf(period: Period, now: number): Grid {
  const { points, interval } = periods[period]
  const last = Math.floor(now / interval) * interval
  return { from: last - (points - 1) * interval, interval, points }
}

export function periodPoints(grid: Grid, values: readonly number[]): Point[] {
  return Array.from({ length: grid.points }, (_, index) => ({
    x: periodStamp(grid.from + index * grid.interval),
    y: values[index] ?? 0,
  }))
}

/** Every day's `x` carries the time of day of the request. [statistics.md 3.1] */
export function dailyPoints(days: readonly number[], now: number, values: readonly number[]): Point[] {
  const timeOfDay = now - dayOf(now) * day
  return days.map((number, index) => ({ x: dailyStamp(number * day + timeOfDay), y: values[index] ?? 0 }))
}

/** What messages cost. [statistics.md 6] */
export interface Price {
  /** Dollars per message. */
  readonly message: number
  /** Bytes per calendar month that cost nothing. */
  readonly freeBandwidth: number
  /** Dollars per 10^9 bytes beyond. */
  readonly gigabyte: number
}

const gigabyte = 1e9

/** One dollar per 100 000 messages; 50 GB a month free, then 0.05 dollar per GB. [statistics.md 6, pricing] */
export const payAsYouGo: Price = { message: 1 / 100_000, freeBandwidth: 50 * gigabyte, gigabyte: 0.05 }

/** The free plan, and plans with a fixed price that does not depend on use. [statistics.md 6] */
export const unmetered: Price = { message: 0, freeBandwidth: 0, gigabyte: 0 }

/** The ids of the series, in this order, always all of them. [statistics.md 4, choice] */
const messageSeries: readonly Tally[] = ['created', 'active', 'delivered', 'retried', 'error', 'failed', 'canceled']
const workflowSeries: readonly (readonly [id: string, tally: Tally])[] = [
  ['started', 'runsStarted'],
  ['success', 'runsSucceeded'],
  ['failed', 'runsFailed'],
  ['canceled', 'runsCanceled'],
]

/** The queue's statistics, counted. */
export function queueReport(
  ledger: Ledger,
  now: number,
  period: Period,
  price: Price,
  deadLetters: number,
): QueueReport {
  const days = monthOf(now)
  const daily = (tally: Tally): number[] => ledger.series(tally, days[0]! * day, day, days.length)
  const grid = gridOf(period, now)
  const counted = (tally: Tally): Point[] =>
    periodPoints(grid, ledger.series(tally, grid.from, grid.interval, grid.points))
  const messages = daily('attempts')
  const bytes = daily('bytes')
  const [workflowMessages, workflowRuns] = [daily('workflowAttempts'), daily('runsStarted')]
  const bills = billings(messages, bytes, price)
  return {
    days: days.map(weekday),
    daily_requests: dailyPoints(days, now, messages).map((point, index) => ({
      ...point,
      workflow_message: workflowMessages[index]!,
      workflow_run: workflowRuns[index]!,
    })),
    daily_billings: dailyPoints(days, now, bills.map(toMicros)),
    daily_bandwidths: dailyPoints(days, now, bytes),
    daily_used: counted('attempts'),
    daily_used_workflow: counted('workflowAttempts'),
    daily_qstash_messages: messageSeries.map((id) => ({ id, data_points: counted(id) })),
    daily_workflow_messages: workflowSeries.map(([id, tally]) => ({ id, data_points: counted(tally) })),
    dlq_message_count: deadLetters,
    daily_bandwidth_used: counted('bytes'),
    total_monthly_billing: toMicros(bills.reduce((sum, bill) => sum + bill, 0)),
  }
}

/** Each day's bill: its messages, and its bytes as far as the month's free ones are used up. */
function billings(messages: readonly number[], bytes: readonly number[], price: Price): number[] {
  let used = 0
  return messages.map((count, index) => {
    const before = Math.max(0, used - price.freeBandwidth)
    used += bytes[index]!
    const billed = Math.max(0, used - price.freeBandwidth) - before
    return count * price.message + (billed / gigabyte) * price.gigabyte
  })
}

/** Money is told to 6 decimals. [statistics.md 6, choice] */
function toMicros(dollars: number): number {
  return Math.round(dollars * 1e6) / 1e6
}

/** A search index about which nothing is known: zeros, with correct lengths and times. [statistics.md 6] */
export function emptySearchReport(now: number, period: Period): SearchReport {
  const days = lastFiveDays(now)
  const daily = dailyPoints(days, now, [])
  const series = periodPoints(gridOf(period, now), [])
  return {
    pending_index_count: 0,
    current_vector_count: 0,
    daily_query_count: 0,
    daily_update_count: 0,
    monthly_query_count: 0,
    monthly_update_count: 0,
    monthly_bandwidth_usage: 0,
    storage_usage: 0,
    monthly_cost: 0,
    daily_update_requests: daily,
    daily_query_requests: daily,
    daily_bandwidths: daily,
    days: days.map(weekday),
    query_throughput: series,
    update_throughput: series,
    query_latency_mean: series,
    query_latency_99: series,
    update_latency_mean: series,
    update_latency_99: series,
    embeds_latency_mean: series,
    embeds_latency_99: series,
    vector_count: series,
    data_size: series,
    daily_rerank_count: 0,
    monthly_rerank_count: 0,
    daily_rerank_requests: daily,
    rerank_latency_mean: series,
    rerank_latency_99: series,
  }
}

/** Ending today. [statistics.md 3.1] */
function lastFiveDays(now: number): number[] {
  return [-4, -3, -2, -1, 0].map((offset) => dayOf(now) + offset)
}
