import type { Bytes } from '../../kernel/bytes.js'
import type { CommandContext } from '../command/command.js'
import type { Content } from './content.js'
import { anyOf, type SearchFilter } from './filter.js'
import { matchesOf } from './filter-matching.js'
import { TopDocuments } from './ranking.js'
import type { FilterQuery, Query, SimilarityQuery } from './retrievers.js'
import { refusal } from './search-errors.js'

/** Documents that a query found, in any order. */
export interface Found {
  readonly ids: readonly number[]
  /** Units of work for one score. */
  readonly cost: number
  score(document: number): number
  /** Conditions that decide which words are highlighted. */
  readonly filter: SearchFilter
}

export interface Retrieval {
  readonly content: Content
  readonly context: CommandContext
  /**
   * Maximum number of results of `$ann`, and the default window of `$rrf`. `undefined` for commands that read all
   * documents, and that do not allow `$ann`.
   */
  readonly limit: number | undefined
  readonly offset: number
  readonly command: string
}

/** Returns the documents that match a query or a retriever, and their scores. */
export function retrieved(query: Query, retrieval: Retrieval): Found {
  if (query.kind === 'filter') return filtered(query.filter, retrieval)
  if (query.kind === 'similar') {
    const { limit, offset } = retrieval
    return ofScores(similar(query, (limit ?? 0) + offset, retrieval), anyOf([]))
  }
  // Without a limit, the window contains all documents. This package chose this rule; public sources leave it open.
  const window = query.window ?? retrieval.limit ?? Number.POSITIVE_INFINITY
  const scores = new Map<number, number>()
  for (const part of query.parts) {
    for (const [at, [document]] of ranked(part, window, retrieval).entries()) {
      scores.set(document, (scores.get(document) ?? 0) + part.weight / (query.rankConstant + at + 1))
    }
  }
  const filters = query.parts.flatMap((part) => (part.kind === 'filter' ? [part.filter] : []))
  // No page lies beyond the window.
  return ofScores(retrieval.offset < window ? [...scores] : [], anyOf(filters))
}

type Scored = readonly (readonly [document: number, score: number])[]

function filtered(filter: SearchFilter, { content, context }: Retrieval): Found {
  const { work } = context.db
  const isRanked = context.store.options.policy.searchScore === 'bm25'
  const matches = matchesOf(filter, { content, work, isRanked })
  work.charge(matches.atMost)
  const ids: number[] = []
  for (const id of matches.ids()) ids.push(id)
  return { ids, cost: matches.cost, score: (id) => matches.score(id), filter }
}

function ofScores(scored: Scored, filter: SearchFilter): Found {
  const scores = new Map(scored)
  return { ids: [...scores.keys()], cost: 1, score: (id) => scores.get(id) ?? 0, filter }
}

/** Returns the first results of a part of `$rrf`, in the order in which SEARCH.QUERY returns them. */
function ranked(part: FilterQuery | SimilarityQuery, window: number, retrieval: Retrieval): Scored {
  if (part.kind === 'similar') return similar(part, window, retrieval)
  const { ids, cost, score } = filtered(part.filter, retrieval)
  retrieval.context.db.work.charge((4 + cost) * ids.length)
  return best(new Map(ids.map((id) => [id, score(id)])), window)
}

/** Returns the documents with the highest scores. Documents of equal score keep the order of their arrival. */
function best(scores: ReadonlyMap<number, number>, most: number): Scored {
  const ranking = new TopDocuments(Math.min(most, scores.size), true)
  for (const [id, score] of scores) ranking.add({ id, rank: score, score })
  return ranking.sorted.map(({ id, score }) => [id, score])
}

function similar({ path, query, profile, filter }: SimilarityQuery, top: number, retrieval: Retrieval): Scored {
  const { content, context, command } = retrieval
  const { store, db, random } = context
  if (retrieval.limit === undefined) throw refusal(`$ann is not allowed in ${command}`)
  const { embed, policy } = store.options
  if (embed === undefined)
    throw refusal('$ann needs embeddings, and the sandbox has no model: pass createSandbox({ embed })')
  const selected = filter && new Set(filtered(filter, retrieval).ids)
  return content
    .embedded(path as Bytes)
    .nearest({
      ...{ query, top, profile, embed, random, work: db.work },
      keyOf: (document) => content.keyOf(document),
      policy: { vectorScore: 'normalized', vectorDot: 'clamp', vectorRecall: policy.vectorRecall },
      ...(selected && { accepts: (document: number) => selected.has(document) }),
    })
    .map(({ document, score }) => [document, score])
}
