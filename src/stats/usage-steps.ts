import * as v from 'valibot'
import { type Duration, milliseconds } from '../kernel/duration.js'
import { type Instant, instant, iso } from '../kernel/instant.js'
import { checkOptionNames, didYouMean, type OptionNames } from '../kernel/nearest-name.js'

/**
 * An instant: ISO text (UTC if the text has no time zone) or milliseconds since the epoch. A signed duration such as
 * `'-2h'` or `'+30m'` is relative to the time at which the script is set.
 */
export type UsageInstant = string | number

interface When {
  /** Instant at which the step begins. Default: the step has no start. */
  readonly from?: UsageInstant
  /** Instant at which the step ends. Default: the step has no end. */
  readonly until?: UsageInstant
}

interface Jittered {
  /**
   * Random variation from 0 (default) to 1: the fraction by which the count of a minute may differ. It depends on the
   * seed of the sandbox.
   */
  readonly jitter?: number
}

/** Usage of a search index. */
export interface SearchRates {
  /** Number of queries per minute. */
  readonly queries?: number
  /** Number of updates per minute. Updates do not change `vectors`. */
  readonly updates?: number
  /** Number of `rerank` operations per minute. */
  readonly reranks?: number
  /** Number of vectors in the index at the time `from`. Without `from`, at the time at which the script is set. */
  readonly vectors?: number
  /** Number of vectors that are added per minute. A negative number removes vectors. */
  readonly growth?: number
  /** Number of operations that have not been indexed. */
  readonly pending?: number
}

/** Usage of the queue. It is added to the usage from the traffic of the sandbox. */
export interface QueueRates {
  /** Number of messages per minute that are delivered. */
  readonly delivered?: number
  /** Number of attempts per minute that fail and are retried. */
  readonly retried?: number
  /** Number of messages per minute that fail permanently. */
  readonly failed?: number
  /** Number of messages per minute that are canceled. */
  readonly canceled?: number
  /** Number of workflow runs per minute that begin and succeed. */
  readonly runsSucceeded?: number
  /** Number of workflow runs per minute that begin and fail. */
  readonly runsFailed?: number
  /** Number of workflow runs per minute that begin and are canceled. */
  readonly runsCanceled?: number
  /** Number of dead letters. It is added to the number of dead letters in the sandbox. */
  readonly deadLetters?: number
}

/** Usage of the data store. It is added to the usage from the traffic of the sandbox. */
export interface StoreRates {
  /** Number of read commands per minute, such as `GET`. */
  readonly reads?: number
  /** Number of write commands per minute, such as `SET`. */
  readonly writes?: number
  /** Number of script commands per minute, such as `EVAL`. */
  readonly scripts?: number
  /** Number of other commands per minute, such as `PING`. */
  readonly others?: number
  /** Number of reads per minute that find no key. The other reads are hits. */
  readonly misses?: number
  /** Number of keys at the time `from`. Without `from`, at the time at which the script is set. */
  readonly keys?: number
  /** Number of keys that are added per minute. A negative number removes keys. */
  readonly growth?: number
  /** Number of connections over the Redis protocol. */
  readonly connections?: number
  /** Number of open MONITOR streams. */
  readonly monitors?: number
}

/** Latency in milliseconds. One number is both the mean and the 99th percentile. */
export type LatencyFigures =
  | number
  | {
      /** Mean latency in milliseconds. */
      readonly mean: number
      /** 99th percentile of the latency in milliseconds. */
      readonly p99: number
    }
/** Latencies of operations in milliseconds, by the name of the operation. */
export type LatencyTable = {
  readonly [Kind in 'query' | 'update' | 'embeds' | 'rerank']?: LatencyFigures
}
/** Latencies of commands of the data store in milliseconds. `command` means all commands. */
export type StoreLatencyTable = {
  readonly [Kind in 'command' | 'read' | 'write']?: LatencyFigures
}

/** A usage step with a constant rate, made by `usage.steady()`. */
export interface SteadyStep<Rates> extends When, Jittered {
  /** The step sets constant rates. */
  readonly kind: 'steady'
  /** Rates per minute, and levels such as `vectors`, by name. */
  readonly rates: Rates
}
/** A usage step that increases usage for a while, made by `usage.spikeAt()`. */
export interface SpikeStep {
  /** The step multiplies rates for a while. */
  readonly kind: 'spike'
  /** Instant at which the spike begins. */
  readonly at: UsageInstant
  /** Number by which the rates are multiplied, 0 or more. */
  readonly factor: number
  /** Duration of the spike. */
  readonly for: Duration
  /**
   * Names of the rates that the step multiplies. `growth` and levels such as `vectors` are not allowed. Default: all
   * rates.
   */
  readonly metrics?: readonly string[]
}
/** A usage step that stops all usage for a while, made by `usage.gap()`. */
export interface GapStep {
  /** The step stops all activity for a while. */
  readonly kind: 'gap'
  /** Instant at which the gap begins. */
  readonly at: UsageInstant
  /** Duration of the gap. */
  readonly for: Duration
}
/** A usage step that resets running totals, made by `usage.counterReset()`. */
export interface CounterResetStep {
  /** The step resets running totals to 0. */
  readonly kind: 'counter-reset'
  /** Instant of the reset. */
  readonly at: UsageInstant
  /** Names of the totals that are reset. Default: all totals except `vectors`. */
  readonly metrics?: readonly string[]
}
/** A usage step that sets latencies, made by `usage.latencies()`. */
export interface LatenciesStep<Latencies = LatencyTable> extends When, Jittered {
  /** The step sets latencies. */
  readonly kind: 'latencies'
  /** Latencies in milliseconds, by the name of the operation. */
  readonly metrics: Latencies
}
/** A usage step that increases usage at the end of each month, made by `usage.monthEnd()`. */
export interface MonthEndStep {
  /** The step multiplies rates at the end of every month. */
  readonly kind: 'month-end'
  /** Number by which the rates are multiplied, 0 or more. */
  readonly factor: number
  /** Duration in which the step applies. It ends at the end of each month (UTC), and is at most 28 days. */
  readonly for: Duration
  /**
   * Names of the rates that the step multiplies. `growth` and levels such as `vectors` are not allowed. Default: all
   * rates.
   */
  readonly metrics?: readonly string[]
}

/** One step of a usage script for the queue. Plain data that can be stored and sent. */
export type QueueUsageStep = SteadyStep<QueueRates> | SpikeStep | GapStep | CounterResetStep | MonthEndStep
/** One step of a usage script for the data store. Plain data that can be stored and sent. */
export type StoreUsageStep =
  | SteadyStep<StoreRates>
  | SpikeStep
  | GapStep
  | CounterResetStep
  | MonthEndStep
  | LatenciesStep<StoreLatencyTable>
/** One step of a usage script for a search index. Plain data that can be stored and sent. */
export type SearchUsageStep =
  | SteadyStep<SearchRates>
  | SpikeStep
  | GapStep
  | CounterResetStep
  | MonthEndStep
  | LatenciesStep

/** One step of any usage script. */
export type UsageStep = QueueUsageStep | SearchUsageStep | StoreUsageStep

interface WhenOptions {
  /** Instant at which the step begins. Default: the step has no start. */
  readonly from?: Instant
  /** Instant at which the step ends. Default: the step has no end. */
  readonly until?: Instant
}

interface Burst {
  /** Duration of the increase. Default: `'10m'` for `usage.spikeAt()`, `'1d'` for `usage.monthEnd()`. */
  readonly for?: Duration
  /**
   * Names of the rates that the step multiplies. `growth` and levels such as `vectors` are not allowed. Default: all
   * rates.
   */
  readonly metrics?: readonly string[]
}

/**
 * Sets constant rates per minute. If several steps set the same rate, the last one applies.
 * @example usage.steady({ queries: 120, updates: 12, vectors: 10_000 }, { jitter: 0.2 })
 */
export function steady<const Rates extends SearchRates | QueueRates | StoreRates>(
  rates: Rates,
  when: WhenOptions & Jittered = {},
): SteadyStep<Rates> {
  checkOptionNames('The rates of usage.steady()', rates, rateNames)
  checkWhen('steady()', when)
  return { kind: 'steady', rates, ...plainWhen(when), ...(when.jitter !== undefined && { jitter: when.jitter }) }
}

/**
 * Multiplies the rates by a factor for a while, from the instant `at` on. The default duration is ten minutes.
 * @example
 * sandbox.stats.search('products').script([usage.steady({ queries: 60 }), usage.spikeAt('-30m', 10, { for: '5m' })])
 */
export function spikeAt(at: Instant, factor: number, options: Burst = {}): SpikeStep {
  checkOptionNames('usage.spikeAt()', options, { for: true, metrics: true })
  return {
    kind: 'spike',
    at: plainMoment(at),
    factor,
    for: options.for ?? '10m',
    ...(options.metrics && { metrics: options.metrics }),
  }
}

/**
 * Stops all activity for a duration. Counts and latencies are 0, and levels stay unchanged.
 * @example sandbox.stats.queue.script([usage.steady({ delivered: 60 }), usage.gap('-30m', '10m')])
 */
export function gap(at: Instant, length: Duration): GapStep {
  return { kind: 'gap', at: plainMoment(at), for: length }
}

/**
 * Resets the totals of the day and the month to 0. In daily series, also resets the point of this day. Series over a
 * period stay unchanged. `vectors` is reset only if `metrics` contains it, and this empties the index.
 * @example sandbox.stats.queue.script([usage.steady({ delivered: 60 }), usage.counterReset('-10m')])
 */
export function counterReset(at: Instant, metrics?: readonly string[]): CounterResetStep {
  return { kind: 'counter-reset', at: plainMoment(at), ...(metrics && { metrics }) }
}

/**
 * Sets the latencies of operations, in milliseconds.
 * @example usage.latencies({ query: { mean: 12, p99: 40 }, update: 20 }, { from: '-30m' })
 */
export function latencies<const Latencies extends LatencyTable | StoreLatencyTable>(
  metrics: Latencies,
  when: WhenOptions & Jittered = {},
): LatenciesStep<Latencies> {
  checkOptionNames('usage.latencies()', metrics, operationNames)
  for (const [name, figures] of Object.entries(metrics))
    if (typeof figures === 'object') checkOptionNames(`${name} of usage.latencies()`, figures, ['mean', 'p99'])
  checkWhen('latencies()', when)
  return {
    kind: 'latencies',
    metrics,
    ...plainWhen(when),
    ...(when.jitter !== undefined && { jitter: when.jitter }),
  }
}

/**
 * Multiplies the rates by a factor at the end of every month. The default duration is one day: the last day of the
 * month (UTC).
 * @example sandbox.stats.queue.script([usage.steady({ delivered: 60 }), usage.monthEnd(5)])
 */
export function monthEnd(factor: number, options: Burst = {}): MonthEndStep {
  checkOptionNames('usage.monthEnd()', options, { for: true, metrics: true })
  return {
    kind: 'month-end',
    factor,
    for: options.for ?? '1d',
    ...(options.metrics && { metrics: options.metrics }),
  }
}

const operationNames: readonly string[] = Object.keys({
  ...({ query: true, update: true, embeds: true, rerank: true } satisfies OptionNames<LatencyTable>),
  ...({ command: true, read: true, write: true } satisfies OptionNames<StoreLatencyTable>),
})

const rateNames: readonly string[] = Object.keys({
  ...({
    queries: true,
    updates: true,
    reranks: true,
    vectors: true,
    growth: true,
    pending: true,
  } satisfies OptionNames<SearchRates>),
  ...({
    delivered: true,
    retried: true,
    failed: true,
    canceled: true,
    runsSucceeded: true,
    runsFailed: true,
    runsCanceled: true,
    deadLetters: true,
  } satisfies OptionNames<QueueRates>),
  ...({
    reads: true,
    writes: true,
    scripts: true,
    others: true,
    misses: true,
    keys: true,
    growth: true,
    connections: true,
    monitors: true,
  } satisfies OptionNames<StoreRates>),
})

function checkWhen(called: string, when: WhenOptions & Jittered): void {
  checkOptionNames(called, when, { from: true, until: true, jitter: true })
}

function plainMoment(at: Instant): UsageInstant {
  return typeof at === 'object' ? iso(instant(at)) : at
}

function plainWhen({ from, until }: WhenOptions): When {
  return {
    ...(from !== undefined && { from: plainMoment(from) }),
    ...(until !== undefined && { until: plainMoment(until) }),
  }
}

const withoutZone = /^[+-]?\d{4,6}-\d\d-\d\dT[\d:.]+$/

/**
 * Returns an instant in milliseconds since the epoch.
 * @param told time in milliseconds at which the script is set; signed durations are relative to it
 */
export function resolved(moment: UsageInstant, told: number): number {
  const signed = typeof moment === 'string' ? /^([+-])(?=[\d.]+[a-z])(.*)$/.exec(moment) : null
  if (signed) return told + (signed[1] === '-' ? -1 : 1) * milliseconds(signed[2] as Duration)
  return instant(typeof moment === 'string' && withoutZone.test(moment) ? `${moment}Z` : moment)
}

const amount = v.pipe(v.number(), v.finite(), v.minValue(0))
const moment = v.union([v.string(), v.number()])
const burst = { factor: amount, for: moment, metrics: v.optional(v.array(v.string())) }
const when = { from: v.optional(moment), until: v.optional(moment) }
const jitter = { jitter: v.optional(v.pipe(amount, v.maxValue(1))) }
const figures = v.union([amount, v.strictObject({ mean: amount, p99: amount })])

/** Names that a usage script of one kind of statistics may use. */
export interface UsageMetrics {
  /** Name of the call for error messages, such as `stats.queue.script()`. */
  readonly caller: string
  /** Rates per minute. Spikes can multiply them. */
  readonly rates: readonly string[]
  /** Levels such as `vectors`, and rates that change a level such as `growth`. */
  readonly levels: readonly string[]
  /** Operations that have a latency. */
  readonly operations: readonly string[]
  /** Counters that a `counter-reset` step may reset. */
  readonly counters: readonly string[]
}

/**
 * Checks the steps of a script.
 * @throws TypeError when a step is invalid or uses an unknown name
 */
export function checkSteps(steps: readonly unknown[], words: UsageMetrics): void {
  if (!Array.isArray(steps)) {
    throw new TypeError(
      `${words.caller}: pass a list of steps, such as [usage.gap('-5m', '2m')] (got ${JSON.stringify(steps)}).`,
    )
  }
  const rate = v.optional(v.pipe(v.number(), v.finite()))
  const allRates = Object.fromEntries([...words.rates, ...words.levels].map((name) => [name, rate]))
  const allFigures = Object.fromEntries(words.operations.map((name) => [name, v.optional(figures)]))
  const schema = v.variant('kind', [
    v.strictObject({ kind: v.literal('steady'), rates: v.strictObject(allRates), ...when, ...jitter }),
    v.strictObject({ kind: v.literal('spike'), at: moment, ...burst }),
    v.strictObject({ kind: v.literal('gap'), at: moment, for: moment }),
    v.strictObject({ kind: v.literal('counter-reset'), at: moment, metrics: burst.metrics }),
    v.strictObject({ kind: v.literal('month-end'), ...burst }),
    v.strictObject({ kind: v.literal('latencies'), metrics: v.strictObject(allFigures), ...when, ...jitter }),
  ])
  for (const step of steps) {
    if (words.operations.length === 0 && (step as Partial<SearchUsageStep> | null)?.kind === 'latencies') {
      throw new TypeError(`${words.caller}: the statistics of the queue have no latencies. Remove the step.`)
    }
    checkLatencies(step as Partial<LatenciesStep> | null, words.caller)
    const result = v.safeParse(schema, step)
    if (!result.success) throw refusal(step, result.issues[0], words)
    checkNames(result.output as UsageStep, words)
  }
}

function refusal(step: unknown, issue: v.BaseIssue<unknown>, { caller, ...words }: UsageMetrics): TypeError {
  const place = v.getDotPath(issue)
  const { kind } = (step ?? {}) as { readonly kind?: unknown }
  if (place === null || place === 'kind') {
    return new TypeError(
      `${caller}: a step must be a value such as usage.steady({ ${words.rates[0]}: 10 }), usage.spikeAt('-1h', 10) or usage.gap('-2h', '10m') (got ${JSON.stringify(step)}).`,
    )
  }
  const known = place.startsWith('rates.') ? [...words.rates, ...words.levels] : words.operations
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    const name = String(issue.path?.at(-1)?.key)
    const fields = /^(?:rates|metrics)\.\w+$/.test(place)
      ? known
      : place.includes('.')
        ? ['mean', 'p99']
        : stepFields(kind)
    return new TypeError(
      `${caller}: step ${JSON.stringify(kind)}: unknown field ${place}.${didYouMean(name, fields)} Use one of ${fields.join(', ')}.`,
    )
  }
  const hint = issue.type === 'strict_object' && known.length > 0 ? ` Use one of ${known.join(', ')}.` : ''
  return new TypeError(`${caller}: step ${JSON.stringify(kind)}: ${place}: ${issue.message}.${hint}`)
}

/**
 * Checks the fields of latencies. A latency may be a number or an object, so the error of the schema would not name the
 * wrong field.
 */
function checkLatencies(step: Partial<LatenciesStep> | null, caller: string): void {
  if (step?.kind !== 'latencies') return
  for (const [name, given] of Object.entries(Object(step.metrics)))
    if (typeof given === 'object' && given !== null) checkOptionNames(`${name} in ${caller}`, given, ['mean', 'p99'])
}

function stepFields(kind: unknown): readonly string[] {
  if (kind === 'steady') return ['rates', 'from', 'until', 'jitter']
  if (kind === 'latencies') return ['metrics', 'from', 'until', 'jitter']
  if (kind === 'gap') return ['at', 'for']
  if (kind === 'counter-reset') return ['at', 'metrics']
  return kind === 'spike' ? ['at', 'factor', 'for', 'metrics'] : ['factor', 'for', 'metrics']
}

function checkNames(step: UsageStep, { caller, rates, levels, counters }: UsageMetrics): void {
  if (step.kind === 'steady') {
    const negative = Object.entries(step.rates).find(([name, rate]) => rate < 0 && name !== 'growth')
    if (negative) throw new RangeError(`${caller}: ${negative[0]} must be 0 or more (got ${negative[1]}).`)
  }
  const named =
    step.kind === 'spike' || step.kind === 'month-end' || step.kind === 'counter-reset' ? step.metrics : undefined
  const known = step.kind === 'counter-reset' ? counters : rates
  const unknown = named?.find((name) => !known.includes(name))
  if (unknown === undefined) return
  const level = levels.includes(unknown) ? ', which is a level' : ''
  throw new TypeError(
    `${caller}: step ${JSON.stringify(step.kind)} cannot name ${JSON.stringify(unknown)}${level}. Use one of ${known.join(', ')}.`,
  )
}
