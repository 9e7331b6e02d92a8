import { type Bytes, latin1 } from '../../kernel/bytes.js'
import type { Reply } from '../command/reply.js'
import type { Aggregating, AggregationOptions } from './aggregation-options.js'
import { flat } from './aggregation-replies.js'
import { scalarOf } from './field-values.js'
import type { Computing } from './metrics.js'

/** Implements `$facet`: returns the number of documents below each path of a facet, level by level. [search.md 13] */
export function facetCounts(options: AggregationOptions, over: Aggregating): Computing {
  const field = options.field(['FACET'])
  options.only('field', 'path', 'depth', 'size', 'minDocCount', 'order')
  const given = options.get('path') ?? latin1('/')
  const path = scalarOf('FACET', given) as Bytes | undefined
  if (path === undefined) throw options.refused('path', "a string that begins with '/'")
  const depth = options.whole('depth', 1, 1)
  const size = options.whole('size', 10, 1)
  const least = options.whole('minDocCount', 1, 0)
  const { by, descending } = options.order() ?? { by: latin1('count'), descending: true }
  if (by !== 'count' && by !== 'path') throw options.refused('order', 'count or path')
  const sign = descending ? -1 : 1
  const facets = over.content.facets(field.path)

  /**
   * Returns the direct children of a path. For children beyond the size limit, returns only the number of their
   * documents.
   */
  const level = (parent: Bytes, counts: ReadonlyMap<Bytes, Map<Bytes, number>>, left: number): readonly Reply[] => {
    over.work.charge(8 * (counts.get(parent)?.size ?? 0))
    const children = [...(counts.get(parent) ?? [])].filter(([, count]) => count >= least)
    children.sort(([a, one], [b, other]) =>
      by === 'path' ? sign * (a < b ? -1 : 1) : sign * (one - other) || (a < b ? -1 : 1),
    )
    const rows = children.slice(0, size).map(([child, count]) => {
      const below: readonly Reply[] = left > 1 ? level(child, counts, left - 1) : flat([['sumOtherDocCount', 0]])
      return [
        ...flat([
          ['path', child],
          ['docCount', count],
        ]),
        ...below,
      ]
    })
    const others = children.slice(size).reduce((sum, [, count]) => sum + count, 0)
    return flat([
      ['sumOtherDocCount', others],
      ['children', rows],
    ])
  }
  return (ids) => {
    const counts = new Map<Bytes, Map<Bytes, number>>()
    for (const id of ids) {
      const own = facets.valuesOf(id)
      over.work.charge(2 + 2 * own.length)
      for (const facet of own as readonly Bytes[]) {
        if (facet === '/') continue
        const parent = (facet.slice(0, facet.lastIndexOf('/')) || '/') as Bytes
        let children = counts.get(parent)
        if (children === undefined) {
          children = new Map()
          counts.set(parent, children)
        }
        children.set(facet, (children.get(facet) ?? 0) + 1)
      }
    }
    return [...flat([['path', path]]), ...level(path, counts, depth)]
  }
}
