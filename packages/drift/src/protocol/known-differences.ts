import type { Change, Row } from './compare.js'
import type { ItemKind } from './items.js'

/** A difference that was checked and stays. */
export interface CheckedDifference {
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
const teams = 'The double has one account without teams, and rejects writes with 405. See docs/limits.md.'
const chat = 'The double does not imitate a language model. See docs/limits.md.'
const sharedBuilder = 'The SDK builds queries and counts with one function, and sends only the filter of a count.'
const computed = 'The SDK computes this field from `rate`; the service does not send it. See docs/protocol/queue.md.'
const forwarded = 'A header that the SDK forwards to itself. The queue returns it without reading it.'

/** Writes of the management API, each with the paths behind it. A name with `*` would also hide what is added to them. */
const managementWrites: readonly (readonly [prefix: string, ...paths: readonly string[]])[] = [
  ['DELETE /v2/redis/', 'database/{}', 'delete-backup/{}/{}'],
  ['PATCH /v2/redis/', 'update-budget/{}'],
  ['POST /v2/redis/', 'database', 'move-to-team', 'change-plan/{}', 'rename/{}', 'reset-password/{}'],
  ['POST /v2/redis/', 'enable-tls/{}', 'enable-eviction/{}', 'disable-eviction/{}', 'update-regions/{}'],
  ['POST /v2/redis/', 'enable-autoupgrade/{}', 'disable-autoupgrade/{}', 'create-backup/{}', 'restore-backup/{}'],
  ['POST /v2/redis/', 'enable-dailybackup/{}', 'disable-dailybackup/{}'],
  ['PATCH /v2/qstash/', 'update-budget/{}'],
  ['POST /v2/qstash/', 'move-to-team', 'rotate-token/{}', 'set-plan/{}', 'enable-prodpack/{}', 'disable-prodpack/{}'],
  ['DELETE /v2/search/', '{}'],
  ['POST /v2/search', '', '/{}/rename', '/{}/reset-password', '/{}/transfer'],
  ['DELETE /v2/vector/index/', '{}'],
  ['POST /v2/vector/index', '', '/{}/rename', '/{}/reset-password', '/{}/setplan', '/{}/transfer'],
]

/** All known differences. A row that explains nothing anymore is reported as stale. */
export const knownDifferences: readonly CheckedDifference[] = [
  ...managementWrites.flatMap(([prefix, ...paths]) =>
    paths.map((path) => newItem('cli', 'endpoint', `${prefix}${path}`, writes)),
  ),
  ...['DELETE /v2/team/{}', 'DELETE /v2/teams/member', 'POST /v2/team', 'POST /v2/teams/member'].map((name) =>
    newItem('cli', 'endpoint', name, teams),
  ),
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
function newItem(from: string, kind: ItemKind, name: string, reason: string): CheckedDifference {
  return { from, change: 'new', kind, name, reason }
}

/** A row of the comparison, and the package or the documents from which it is. */
export interface SourcedRow extends Row {
  readonly from: string
}

export interface Explained {
  readonly rows: readonly SourcedRow[]
  readonly explained: readonly (SourcedRow & { readonly reason: string })[]
  readonly stale: readonly CheckedDifference[]
}

/**
 * Separates the rows that the table explains from the others.
 * @param read packages without scope, and `documents`, that were read. Only their known differences can be stale
 */
export function explain(
  rows: readonly SourcedRow[],
  read: ReadonlySet<string>,
  table: readonly CheckedDifference[] = knownDifferences,
): Explained {
  const used = new Set<CheckedDifference>()
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

function explains({ from, change, kind, name }: CheckedDifference, row: SourcedRow): boolean {
  if (from !== row.from || change !== row.change || kind !== row.kind) return false
  return name.endsWith('*') ? row.name.startsWith(name.slice(0, -1)) : row.name === name
}
