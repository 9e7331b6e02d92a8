import type { Change, Row } from './compare.js'
import type { ItemKind } from './items.js'

/** A difference that was checked and stays. */
export interface KnownDifference {
  /** Package without its scope, or `documents`. */
  readonly from: string
  readonly change: Change
  readonly kind: ItemKind
  /** Name of the item. A final `*` means all names that begin with the text before it. */
  readonly name: string
  readonly reason: string
}

const writes =
  'The management API of the double has statistics and lists, and rejects writes with 405. See docs/limits.md.'
const teams = 'The double has one account without teams. See docs/limits.md.'
const chat = 'The double does not imitate a language model. See docs/limits.md.'
const sharedBuilder = 'The SDK builds queries and counts with one function, and sends only the filter of a count.'
const computed = 'The SDK computes this field from `rate`; the service does not send it. See docs/protocol/queue.md.'
const forwarded = 'A header that the SDK forwards to itself. The queue returns it without reading it.'

/** Rows for the endpoints of the management API that an account needs, and an app under test does not. */
const management: readonly KnownDifference[] = [
  ...[
    ...['DELETE /v2/redis/*', 'PATCH /v2/redis/*', 'POST /v2/redis/*', 'GET /v2/redis/list-backup/{}'],
    ...['PATCH /v2/qstash/*', 'POST /v2/qstash/*'],
    ...['DELETE /v2/search/*', 'POST /v2/search*', 'DELETE /v2/vector/*', 'POST /v2/vector/*'],
  ].map((name) => newItem('cli', 'endpoint', name, writes)),
  ...['DELETE /v2/team*', 'GET /v2/team*', 'POST /v2/team*'].map((name) => newItem('cli', 'endpoint', name, teams)),
]

/** All known differences. A row that explains nothing anymore is reported as stale. */
export const knownDifferences: readonly KnownDifference[] = [
  ...management,
  newItem('qstash', 'endpoint', 'POST /llm/v1/chat/completions', chat),
  newItem('qstash', 'endpoint', 'POST /v1/chat/completions', chat),
  newItem('qstash', 'field', 'Message ratePerSecond', computed),
  newItem('qstash', 'field', 'Schedule ratePerSecond', computed),
  ...['qstash', 'workflow'].flatMap((from) => [
    newItem(from, 'header', 'upstash-workflow-callback', forwarded),
    newItem(from, 'header', 'upstash-workflow-contenttype', forwarded),
  ]),
  newItem('redis', 'option', 'SEARCH.COUNT *', sharedBuilder),
]

/** An item that the packages have and our tables do not. */
function newItem(from: string, kind: ItemKind, name: string, reason: string): KnownDifference {
  return { from, change: 'new', kind, name, reason }
}

/** A row of the comparison, and the package or the documents from which it is. */
export interface SourcedRow extends Row {
  readonly from: string
}

export interface Explained {
  readonly rows: readonly SourcedRow[]
  readonly explained: readonly (SourcedRow & { readonly reason: string })[]
  readonly stale: readonly KnownDifference[]
}

/**
 * Separates the rows that the table explains from the others.
 * @param read packages without scope, and `documents`, that were read. Only their known differences can be stale
 */
export function explain(
  rows: readonly SourcedRow[],
  read: ReadonlySet<string>,
  table: readonly KnownDifference[] = knownDifferences,
): Explained {
  const used = new Set<KnownDifference>()
  const explained: (SourcedRow & { reason: string })[] = []
  const others: SourcedRow[] = []
  for (const row of rows) {
    const known = table.find((one) => explains(one, row))
    if (known === undefined) others.push(row)
    else {
      used.add(known)
      explained.push({ ...row, reason: known.reason })
    }
  }
  return { rows: others, explained, stale: table.filter((one) => read.has(one.from) && !used.has(one)) }
}

function explains({ from, change, kind, name }: KnownDifference, row: SourcedRow): boolean {
  if (from !== row.from || change !== row.change || kind !== row.kind) return false
  return name.endsWith('*') ? row.name.startsWith(name.slice(0, -1)) : row.name === name
}
