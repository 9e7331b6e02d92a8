import type { Reply } from '../command/reply.js'
import type { FieldDefinition } from '../values/search-definition.js'
import type { Aggregating, AggregationOptions } from './aggregation-options.js'
import { flat, numberReply, type Pairs } from './aggregation-replies.js'
import type { Scalar } from './sorted-values.js'

/** Computes a value over documents. */
export type Computing = (ids: readonly number[]) => Reply

export type MetricOperator = (options: AggregationOptions, over: Aggregating) => Computing

const numeric = ['U64', 'I64', 'F64', 'DATE'] as const
const countable = [...numeric, 'BOOL', 'KEYWORD', 'FACET'] as const
const measured = [...numeric, 'BOOL'] as const

/** Operators that compute numbers. [search.md 13] */
export const metrics: Readonly<Record<string, MetricOperator>> = {
  $avg: single((values) => (values.length === 0 ? null : total(values) / values.length)),
  $sum: single((values) => (values.length === 0 ? null : total(values))),
  $min: single((values) => leastOf(values)),
  $max: single((values) => mostOf(values)),
  $count: (options, over) => {
    const values = valuesFor(options, over, countable)
    options.only('field', 'missing')
    return (ids) => valueReply(values(ids).length)
  },
  $cardinality: (options, over) => {
    const values = valuesFor(options, over, countable)
    options.only('field', 'missing')
    return (ids) => {
      over.work.charge(2 * ids.length)
      return valueReply(new Set(values(ids)).size)
    }
  },
  $stats: (options, over) => {
    const values = valuesFor(options, over, measured)
    options.only('field', 'missing')
    return (ids) => flat(stats(values(ids).map(Number)))
  },
  $extendedStats: (options, over) => {
    const values = valuesFor(options, over, numeric)
    options.only('field', 'missing', 'sigma')
    // This package chose the default of 2; public sources leave it open.
    const sigma = options.number('sigma', 2)
    if (!(sigma >= 0)) throw options.refused('sigma', 'a number of at least 0')
    return (ids) => flat(extendedStats(values(ids).map(Number), sigma))
  },
  $percentiles: (options, over) => {
    const values = valuesFor(options, over, numeric)
    options.only('field', 'missing', 'percents', 'keyed')
    const percents = percentsIn(options)
    const isKeyed = options.boolean('keyed', true)
    return (ids) => {
      const sorted = values(ids)
        .map(Number)
        .sort((a, b) => a - b)
      over.work.charge(8 * (sorted.length + percents.length))
      const found = percents.map((percent) => [percent, numberReply(percentile(sorted, percent))] as const)
      if (!isKeyed) {
        const rows = found.map(([percent, value]) =>
          flat([
            ['key', numberReply(percent)],
            ['value', value],
          ]),
        )
        return flat([['values', rows]])
      }
      return flat([['values', flat(found.map(([percent, value]) => [percentKey(percent), value]))]])
    }
  },
}

/** Operators whose result is a single number, by which buckets can be sorted. */
export const singleValued: ReadonlySet<string> = new Set(['$avg', '$sum', '$min', '$max', '$count', '$cardinality'])

function single(compute: (values: readonly number[]) => number | null): MetricOperator {
  return (options, over) => {
    const values = valuesFor(options, over, measured)
    options.only('field', 'missing')
    return (ids) => valueReply(compute(values(ids).map(Number)))
  }
}

function valueReply(value: number | null): Reply {
  return flat([['value', numberReply(value)]])
}

/** Returns the values of documents. If the option `missing` is set, its value counts for documents without a value. */
export function valuesFor(
  options: AggregationOptions,
  over: Aggregating,
  types: readonly FieldDefinition['type'][],
): (ids: readonly number[]) => readonly Scalar[] {
  const field = options.field(types)
  const missing = options.missing(field)
  const values = over.content.scalar(field.path)
  return (ids) => {
    over.work.charge(4 * ids.length)
    const all: Scalar[] = []
    for (const id of ids) {
      const own = values.chargedValuesOf(id, over.work)
      for (const value of own) all.push(value)
      if (own.length === 0 && missing !== undefined) all.push(missing)
    }
    return all
  }
}

function total(values: readonly number[]): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

function leastOf(values: readonly number[]): number | null {
  let least: number | null = null
  for (const value of values) if (least === null || value < least) least = value
  return least
}

function mostOf(values: readonly number[]): number | null {
  let most: number | null = null
  for (const value of values) if (most === null || value > most) most = value
  return most
}

function stats(values: readonly number[]): Pairs {
  const count = values.length
  const sum = total(values)
  return [
    ['count', count],
    ['min', numberReply(leastOf(values))],
    ['max', numberReply(mostOf(values))],
    ['sum', numberReply(sum)],
    ['avg', numberReply(count === 0 ? null : sum / count)],
  ]
}

/**
 * Implements `$extendedStats`. `variance` is the population variance. This package chose this kind of variance; public
 * sources leave the kind open.
 */
function extendedStats(values: readonly number[], sigma: number): Pairs {
  const count = values.length
  const mean = count === 0 ? null : total(values) / count
  const squares = values.reduce((sum, value) => sum + value * value, 0)
  const spread = mean === null ? null : values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0)
  const population = spread === null ? null : spread / count
  const sampling = spread === null || count < 2 ? null : spread / (count - 1)
  const root = (value: number | null) => (value === null ? null : Math.sqrt(value))
  const away = (deviation: number | null, times: number) =>
    numberReply(deviation === null || mean === null ? null : mean + times * deviation)
  return [
    ...stats(values),
    ['sumOfSquares', numberReply(squares)],
    ['variance', numberReply(population)],
    ['variancePopulation', numberReply(population)],
    ['varianceSampling', numberReply(sampling)],
    ['stdDeviation', numberReply(root(population))],
    ['stdDeviationPopulation', numberReply(root(population))],
    ['stdDeviationSampling', numberReply(root(sampling))],
    [
      'stdDeviationBounds',
      flat([
        ['upper', away(root(population), sigma)],
        ['lower', away(root(population), -sigma)],
        ['upperSampling', away(root(sampling), sigma)],
        ['lowerSampling', away(root(sampling), -sigma)],
        ['upperPopulation', away(root(population), sigma)],
        ['lowerPopulation', away(root(population), -sigma)],
      ]),
    ],
  ]
}

const usualPercents = [1, 5, 25, 50, 75, 95, 99]
/** Maximum number of percentiles. [a limit of this package] */
export const maxPercents = 1000

function percentsIn(options: AggregationOptions): readonly number[] {
  const given = options.get('percents')
  if (given === undefined) return usualPercents
  const percents = Array.isArray(given) ? given.map((percent) => options.bound('percents', percent)) : []
  if (percents.length === 0 || percents.length > maxPercents || percents.some((one) => !(one >= 0 && one <= 100)))
    throw options.refused('percents', 'a list of numbers from 0 to 100')
  return percents
}

function percentKey(percent: number): string {
  return Number.isInteger(percent) ? percent.toFixed(1) : String(percent)
}

/** Interpolates between the two nearest values. This package chose exact percentiles; the service may estimate them. */
function percentile(sorted: readonly number[], percent: number): number | null {
  if (sorted.length === 0) return null
  const place = (percent / 100) * (sorted.length - 1)
  const below = sorted[Math.floor(place)]!
  const above = sorted[Math.ceil(place)]!
  return below + (above - below) * (place - Math.floor(place))
}
