import type { Bytes } from '../../kernel/bytes.js'
import type { Reply } from '../command/reply.js'
import { depthOf, type Json, type JsonObject } from '../values/json-value.js'
import { type Aggregating, AggregationOptions, aggregationRefusal } from './aggregation-options.js'
import { BucketCount } from './bucket-count.js'
import { bucketOperators, type Inner } from './buckets.js'
import { composite, exampleSources } from './composite.js'
import { facetCounts } from './facet-counts.js'
import { readObject } from './filter-syntax.js'
import { metrics, singleValued } from './metrics.js'
import { refusal, shown } from './search-errors.js'

/** Maximum nesting of aggregations. [a limit of this package] */
export const deepest = 64

/** Returns the results by name, each a list of alternating names and values. [search.md 9, 13] */
export function aggregated(source: Bytes, given: Omit<Aggregating, 'buckets'>): Reply {
  const root = readObject(source, 'aggregations')
  if (depthOf(root) > deepest) throw refusal(`aggregations are nested more than ${deepest} levels deep`)
  const over = { ...given, buckets: new BucketCount() }
  return readAll(root, over, true).flatMap(({ name, compute }) => [name, compute(over.ids)])
}

function readAll(all: JsonObject, over: Aggregating, isOutermost: boolean): Inner[] {
  return [...all].map(([name, given]) => readOne(name, given, over, isOutermost))
}

function readOne(name: Bytes, given: Json, over: Aggregating, isOutermost: boolean): Inner {
  // [search.md 13: the error text]
  if (!(given instanceof Map)) throw aggregationRefusal(name, 'must be a JSON object')
  const operators = [...given.keys()].filter((key) => key !== '$aggs')
  const [operator] = operators
  if (operator === undefined || operators.length > 1) throw aggregationRefusal(name, 'must have exactly one operator')
  const args = given.get(operator)!
  if (operator === '$composite' && !(args instanceof Map))
    throw aggregationRefusal(name, `operator '$composite' takes an object such as { "sources": ${exampleSources} }`)
  // [search.md 13: the same error text as for a missing property]
  if (!(args instanceof Map)) throw aggregationRefusal(name, "is missing required 'field' property")
  const options = new AggregationOptions(name, operator, args, over)
  const within = given.get('$aggs' as Bytes)
  const buckets =
    operator === '$composite'
      ? composite
      : Object.hasOwn(bucketOperators, operator)
        ? bucketOperators[operator]
        : undefined
  if (buckets !== undefined) {
    if (within !== undefined && !(within instanceof Map)) throw aggregationRefusal(name, "takes an object for '$aggs'")
    const inner = within === undefined ? [] : readAll(within, over, false)
    return { name, compute: buckets(options, over, inner), isSingle: false }
  }
  if (within !== undefined) throw aggregationRefusal(name, `operator '${shown(operator)}' takes no '$aggs'`)
  if (operator === '$facet') {
    if (!isOutermost) throw aggregationRefusal(name, "operator '$facet' cannot be a sub-aggregation")
    return { name, compute: facetCounts(options, over), isSingle: false }
  }
  const metric = Object.hasOwn(metrics, operator) ? metrics[operator] : undefined
  if (metric === undefined) throw aggregationRefusal(name, `has an unknown operator '${shown(operator)}'`)
  return { name, compute: metric(options, over), isSingle: singleValued.has(operator) }
}
