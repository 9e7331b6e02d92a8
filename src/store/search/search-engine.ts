import { type Bytes, latin1 } from '../../kernel/bytes.js'
import type { CommandContext } from '../command/command.js'
import type { Reply } from '../command/reply.js'
import { formatScore } from '../command/text.js'
import { type FieldDefinition, type IndexDefinition, isTextual } from '../values/search-definition.js'
import type { SearchIndex } from '../values/search-index.js'
import { aggregated } from './aggregate.js'
import type { Content } from './content.js'
import type { Reading } from './field-operators.js'
import { highlighter } from './highlight.js'
import type { QueryOptions } from './query-options.js'
import { TopDocuments } from './ranking.js'
import { type Found, type Retrieval, retrieved } from './retrieval.js'
import { readQuery } from './retrievers.js'
import { refusal, shown, unknownField } from './search-errors.js'
import { contentRows } from './search-rows.js'
import { catchUp, complete, currentContent, currentSource, emptyContent, noteAll, rebuild } from './upkeep.js'
import { valueScore } from './value-score.js'

// Search commands on the content of an index, which must exist.

export { catchUp, complete, rebuild }

/**
 * Returns whether a field has fast values. A KEYWORD field always has fast values, as observed on the service. Other
 * fields have fast values if they are declared FAST. [search.md 1, 11]
 */
export function isFast({ type, fast }: FieldDefinition, byDefault: boolean): boolean {
  if (isTextual(type) || type === 'FACET') return false
  return fast === true || type === 'KEYWORD' || (byDefault && (type === 'BOOL' || type === 'DATE'))
}

/** Begins a new index with all keys that it covers, or without keys if `skipsScan` is set. */
export function begin(index: SearchIndex, skipsScan: boolean, { now, store }: CommandContext): void {
  // Creates the content immediately, so that this command reports a missing stemmer.
  const content = emptyContent(index, store)
  if (skipsScan) index.content = content
  else if (store.options.policy.searchIndexingDelay > 0) {
    index.content = content
    noteAll(index, store, now)
  }
}

/** Implements SEARCH.DESCRIBE. [search.md 4] */
export function described(name: Bytes, index: SearchIndex, context: CommandContext): Reply {
  const { dataType, prefixes, language, fields }: IndexDefinition = index.definition
  const content = currentContent(index, context)
  // Each field and each prefix is a row.
  context.db.work.charge(16 * (fields.length + prefixes.length))
  return [
    ...[latin1('name'), name],
    ...[latin1('type'), latin1(dataType)],
    ...[latin1('prefixes'), [...prefixes]],
    ...[latin1('language'), latin1(language)],
    ...[latin1('indexSize'), content.size],
    ...[latin1('pendingUpdates'), index.pending.size],
    ...[latin1('schema'), fields.map(describedField)],
  ]
}

function describedField({ path, type, noStem, noTokenize, fast, from }: FieldDefinition): Reply {
  return [
    path,
    latin1(type),
    ...(noStem ? [latin1('NOSTEM')] : []),
    ...(noTokenize ? [latin1('NOTOKENIZE')] : []),
    ...(fast ? [latin1('FAST')] : []),
    ...(from === undefined ? [] : [latin1('FROM'), from]),
  ]
}

/** Implements SEARCH.COUNT. [search.md 8] */
export function counted(index: SearchIndex, filter: Bytes, context: CommandContext): number {
  return found(index, filter, { context, command: 'SEARCH.COUNT' }).ids.length
}

/** Implements SEARCH.AGGREGATE. [search.md 9] */
export function aggregate(index: SearchIndex, filter: Bytes, aggregations: Bytes, context: CommandContext): Reply {
  context.db.work.charge(unitsPerByte * aggregations.length)
  const { content, ids } = found(index, filter, { context, command: 'SEARCH.AGGREGATE' })
  const { searchFastByDefault, searchEmptyAggregate } = context.store.options.policy
  const reply = aggregated(aggregations, {
    content,
    ids,
    work: context.db.work,
    isFast: (field) => isFast(field, searchFastByDefault),
  })
  // [search.md 0] Invalid aggregations are errors even then.
  return ids.length === 0 && searchEmptyAggregate === 'null' ? null : reply
}

/** Implements SEARCH.QUERY. [search.md 7] */
export function queried(index: SearchIndex, source: Bytes, options: QueryOptions, context: CommandContext): Reply {
  const { db, store } = context
  const { work } = db
  const { limit = 10, offset = 0, orderby, select, nocontent, highlight, scorefunc } = options
  const { definition } = index
  const { searchFastByDefault, searchScoreMode } = store.options.policy
  if (orderby !== undefined) fastField(definition, orderby.field, searchFastByDefault)
  for (const { field } of scorefunc?.values ?? []) {
    const { type, path } = fastField(definition, field, searchFastByDefault)
    if (type !== 'U64' && type !== 'I64' && type !== 'F64')
      throw refusal(`SCOREFUNC needs a numeric field, and '${shown(path)}' is of type ${type}`)
  }
  const {
    content,
    ids,
    cost,
    score: relevanceOf,
    filter,
  } = found(index, source, {
    ...{ context, limit, offset },
    command: 'SEARCH.QUERY',
  })
  const mark = highlight === undefined ? undefined : highlighter(highlight, filter, content, work)
  const worth =
    scorefunc === undefined ? undefined : valueScore(scorefunc, content, searchScoreMode === 'sum' ? 'SUM' : 'MULTIPLY')
  const ranking = new TopDocuments(offset + limit, orderby?.descending ?? true)
  const sorted = orderby === undefined ? undefined : content.scalar(orderby.field)
  work.charge(4 * ids.length)
  for (const id of ids) {
    if (sorted !== undefined) {
      const rank = sorted.valuesOf(id)[0]
      ranking.add({ id, rank, score: rank === undefined || typeof rank === 'string' ? 0 : Number(rank) })
      continue
    }
    work.charge(cost)
    const relevance = relevanceOf(id)
    const score = finite(worth === undefined ? relevance : worth(id, relevance))
    ranking.add({ id, rank: score, score })
  }
  const rows: Reply[] = []
  for (const { id, score } of ranking.sorted.slice(offset)) {
    const key = content.keyOf(id)
    // The row shows the current value of the key. With an indexing delay, a document that was deleted in the meantime
    // has no row. This package chose this rule; public sources leave it open.
    const value = currentSource(index, key, db)
    if (typeof value === 'string') work.charge(value.length >>> 1)
    else if (Array.isArray(value)) work.charge(value.length)
    const document = content.documentOf(value)
    if (document === undefined) continue
    const shownScore = formatScore(score)
    if (nocontent) rows.push([key, shownScore])
    else rows.push([key, shownScore, contentRows(mark === undefined ? document : mark(document), select, work)])
  }
  return rows
}

/** Limits a score to finite numbers. An infinite score could not be sorted, and clients could not parse it. */
function finite(score: number): number {
  if (Number.isNaN(score)) return 0
  return Math.max(-Number.MAX_VALUE, Math.min(score, Number.MAX_VALUE))
}

function fastField({ fields }: IndexDefinition, path: Bytes, byDefault: boolean): FieldDefinition {
  const field = fields.find((one) => one.path === path)
  if (field === undefined) throw unknownField(path)
  if (!isFast(field, byDefault)) throw refusal(`Field '${shown(path)}' is not FAST`)
  return field
}

/** Units of work for one byte of a filter, which is parsed and analyzed. */
const unitsPerByte = 2

function found(
  index: SearchIndex,
  source: Bytes,
  asked: Pick<Retrieval, 'context' | 'command'> & Partial<Retrieval>,
): Found & { readonly content: Content } {
  const { context, limit, offset = 0, command } = asked
  const { work } = context.db
  const { policy } = context.store.options
  const content = currentContent(index, context)
  const reading: Reading = {
    fields: new Map(index.definition.fields.map((field) => [field.path, field])),
    analyse: ({ path }) => content.text(path).analyse,
    policy,
    work,
  }
  work.charge(unitsPerByte * source.length)
  const query = readQuery(source, reading)
  return { content, ...retrieved(query, { content, context, limit, offset, command }) }
}
