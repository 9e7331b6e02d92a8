import type { Bytes } from '../../kernel/bytes.js'
import { latin1, text } from '../../kernel/bytes.js'
import { globMatcher } from '../../kernel/glob.js'
import { bytes, key, named } from '../command/arguments.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import { ReplyError } from '../command/reply.js'
import { type SearchModule, searchModule } from '../search/load-search.js'
import { type IndexDefinition, sourceOf } from '../values/search-definition.js'
import { SearchIndex } from '../values/search-index.js'
import { listOptions, newIndex, queryOptions } from './search-arguments.js'
import { refuseBoundStream } from './stream-index.js'

const since = 'service'

/**
 * Finds an index by its name or an alias, and returns the result of a function for the index. If there is no such
 * index, returns `missing`.
 */
function ofIndex<T, U>(
  { db }: CommandContext,
  name: Bytes,
  missing: U,
  run: (engine: SearchModule, index: SearchIndex, name: Bytes) => T,
): T | U {
  const found = db.search.find(name)
  return found === undefined ? missing : run(searchModule(found.index.definition.language), found.index, found.name)
}

/**
 * Returns whether two definitions have the same prefixes and fields in any order. The language is not compared.
 * [search.md 1]
 */
function isSameIndex(one: IndexDefinition, other: IndexDefinition): boolean {
  const schema = ({ fields }: IndexDefinition) =>
    fields
      .map((field) =>
        JSON.stringify([field.path, field.type, !!field.fast, !!field.noStem, !!field.noTokenize, sourceOf(field)]),
      )
      .sort()
  const shape = (index: IndexDefinition) => JSON.stringify([index.dataType, [...index.prefixes].sort(), schema(index)])
  return shape(one) === shape(other)
}

const filter = named('filter', bytes)

/** Commands of the group `search`. [search.md] */
export const searchCommands: readonly Command[] = [
  command('SEARCH.CREATE', {
    flags: ['write', 'slow'],
    since,
    deviations:
      'The content of the index is built by the first command that reads it. `policy.searchIndexingDelay` delays updates, `policy.maxSearchDocument` limits how much of a document is read. An index is a key: DEL, RENAME, EXPIRE and FLUSHDB affect it like any other key.',
    args: [key('W'), newIndex],
    work: (db) => db.keyCount >>> 3,
    run(context, name, { definition, skipsScan, existsOk }) {
      const { db, store } = context
      const existing = db.value(name)
      if (existing instanceof SearchIndex) {
        if (!existsOk) throw new ReplyError(`ERR Index ${text(name)} already exists`)
        if (isSameIndex(existing.definition, definition)) return 0
        throw new ReplyError(`ERR Index ${text(name)} already exists with a different configuration`)
      }
      if (existing !== undefined) throw replyError('wrongType')
      refuseBoundStream(db, definition, name)
      const { maxSearchIndexes, searchKeywordFast } = store.options.policy
      const refused = definition.fields.find(({ type, fast }) => type === 'KEYWORD' && fast)
      if (refused !== undefined && searchKeywordFast === 'reject')
        throw new ReplyError(`ERR Option FAST is not supported for field '${text(refused.path)}' of type KEYWORD`)
      if (maxSearchIndexes !== undefined && db.search.all.size >= maxSearchIndexes)
        throw new ReplyError(`ERR Exceeded max index count of ${maxSearchIndexes}`)
      const index = new SearchIndex(definition)
      if (index.streamKey !== undefined) db.work.charge(db.sizeOf(index.streamKey))
      searchModule(definition.language).begin(index, skipsScan, context)
      db.set(name, index)
      return 1
    },
  }),

  command('SEARCH.REINDEX', {
    flags: ['write', 'slow'],
    since,
    deviations: 'The keys that the index covers are read before the next search.',
    args: [key('W')],
    work: (db, name) => {
      const streamKey = db.search.find(name)?.index.streamKey
      return 2 * (streamKey === undefined ? db.keyCount : db.sizeOf(streamKey))
    },
    run: (context, name) =>
      ofIndex(context, name, 0, (engine, index) => {
        engine.rebuild(index, context)
        return 1
      }),
  }),

  command('SEARCH.DROP', {
    flags: ['write', 'slow'],
    since,
    args: [key('W')],
    run({ db }, name) {
      if (!(db.value(name) instanceof SearchIndex)) return 0
      db.delete(name)
      db.notify('g', 'del', name)
      return 1
    },
  }),

  command('SEARCH.DESCRIBE', {
    flags: ['read', 'slow'],
    since,
    deviations: 'Fields are in the order of their declaration; `indexSize` is an estimate of the double.',
    args: [key('R')],
    run: (context, name) => ofIndex(context, name, null, (engine, index, own) => engine.described(own, index, context)),
  }),

  command('SEARCH.WAITINDEXING', {
    flags: ['read', 'slow'],
    since,
    deviations: 'Never waits: pending updates are indexed immediately, regardless of `policy.searchIndexingDelay`.',
    args: [key('R')],
    run: (context, name) =>
      ofIndex(context, name, 0, (engine, index) => {
        engine.complete(index, context)
        return 1
      }),
  }),

  command('SEARCH.LISTINDEXES', {
    flags: ['read', 'slow', 'keyspace'],
    since,
    deviations: 'Aliases are not listed.',
    args: [listOptions],
    run({ db }, { match, limit = 0, offset = 0 }) {
      const matches = match === undefined ? () => true : globMatcher(match, db.work)
      const found = [...db.search.all].filter(([name]) => matches(name)).sort(([a], [b]) => (a < b ? -1 : 1))
      return found
        .slice(offset, limit === 0 ? undefined : offset + limit)
        .map(([name, { definition }]) => [latin1('name'), name, latin1('type'), latin1(definition.dataType)])
    },
  }),

  command('SEARCH.QUERY', {
    flags: ['read', 'slow'],
    since,
    deviations:
      'Scores are BM25. The factors for each kind of match are those of the double, see `policy.searchScore`. The double finds the same documents as the service, but their order by score can differ.',
    args: [key('R'), filter, queryOptions],
    run(context, name, filter, options) {
      const { waiting, scripts } = context.store
      // [search.md 0] This package chose the error text; public sources leave it open.
      if (!options.nocontent && (waiting.isTransaction || scripts.isRunning))
        throw new ReplyError('ERR SEARCH.QUERY is only allowed with NOCONTENT inside transactions and scripts')
      return ofIndex(context, name, null, (engine, index) => engine.queried(index, filter, options, context))
    },
  }),

  command('SEARCH.COUNT', {
    flags: ['read', 'slow'],
    since,
    args: [key('R'), filter],
    run: (context, name, filter) =>
      ofIndex(context, name, -1, (engine, index) => engine.counted(index, filter, context)),
  }),

  command('SEARCH.AGGREGATE', {
    flags: ['read', 'slow'],
    since,
    deviations: 'Counts and percentiles are exact.',
    args: [key('R'), filter, named('aggregations', bytes)],
    run: (context, name, filter, aggregations) =>
      ofIndex(context, name, null, (engine, index) => engine.aggregate(index, filter, aggregations, context)),
  }),

  command('SEARCH.ALIASADD', {
    flags: ['write', 'fast'],
    since,
    deviations: 'An index takes precedence over an alias with the same name.',
    args: [named('alias', bytes), key('')],
    run({ db }, alias, index) {
      const isKnown = db.search.aliases.has(alias)
      db.search.aliases.set(alias, index)
      return isKnown ? 2 : 1
    },
  }),

  command('SEARCH.ALIASDEL', {
    flags: ['write', 'fast'],
    since,
    args: [named('alias', bytes)],
    run: ({ db }, alias) => Number(db.search.aliases.delete(alias)),
  }),

  command('SEARCH.LISTALIASES', {
    flags: ['read', 'slow'],
    since,
    deviations: 'Aliases are listed in the order of creation.',
    args: [],
    run: ({ db }) => [...db.search.aliases].map(([alias, index]) => [alias, index]),
  }),
]
