import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './places.ts'

// The reference of an entry with many exports has one page for each area. The file that declares an export decides its
// area, so a new export needs no change here unless its folder is new.

/** Areas of an entry: the name of each area, and the folders or files whose exports belong to it. */
type Areas = Readonly<Record<string, readonly string[]>>

export const areasOf: Readonly<Record<string, Areas>> = {
  index: {
    sandbox: ['src/sandbox', 'src/protocol', 'src/kernel/bytes', 'src/kernel/http'],
    clock: ['src/kernel/clock', 'src/kernel/duration', 'src/kernel/instant', 'src/kernel/time', 'src/adapters/timers'],
    policy: ['src/policy'],
    faults: ['src/faults', 'src/rules'],
    queue: ['src/queue'],
    destinations: ['src/queue/destinations'],
    signatures: ['src/queue/signing'],
    store: ['src/store'],
    workflow: ['src/workflow'],
    outbound: ['src/calls'],
    statistics: ['src/stats'],
    traffic: ['src/report'],
    'traffic-entries': ['src/kernel/traffic-log'],
    invariants: ['src/invariants'],
    scenarios: ['src/scenarios'],
    dumps: ['src/sandbox/sandbox-dump', 'src/queue/dump', 'src/store/dump', 'src/store/access', 'src/stats/ledger'],
  },
  checks: {
    idempotency: ['packages/explore/src/delivery', 'packages/explore/src/interleavings/exploration'],
    interleavings: ['packages/explore/src/interleavings'],
    'crash-points': ['packages/explore/src/crash'],
    campaigns: ['packages/explore/src/campaign'],
    replay: ['packages/explore/src/replay', 'src/workflow'],
    verification: ['packages/explore/src/verification', 'matchers/signatures'],
  },
}

/** One area and its part of the entry's source. */
export interface Area {
  readonly name: string
  /** Statements `export … from '…'` with paths from the root of the repository. */
  readonly statements: readonly string[]
}

/**
 * Divides the source of an entry, which consists of statements `export … from '…'`.
 * @throws when an export belongs to no area, or an area has no export
 */
export function divide(entry: string, source: string): readonly Area[] {
  const areas = Object.entries(areasOf[entry] ?? {})
  const byArea = new Map<string, string[]>(areas.map(([name]) => [name, []]))
  const text = readFileSync(join(root, source), 'utf8')
  for (const [statement, from = ''] of text.matchAll(/^export [^;]*?\bfrom '([^']+)'$/gm)) {
    const file = join(dirname(source), from)
    const name = areaOf(file, areas)
    if (name === undefined) throw new Error(`${source}: no area contains ${file}. Add its folder to site/areas.ts.`)
    byArea.get(name)!.push(statement.replace(from, file))
  }
  const empty = [...byArea].find(([, statements]) => statements.length === 0)
  if (empty !== undefined)
    throw new Error(`${source}: the area "${empty[0]}" has no export. Remove it from site/areas.ts.`)
  return [...byArea].map(([name, statements]) => ({ name, statements }))
}

/** The area with the longest path that contains the file. */
function areaOf(file: string, areas: readonly (readonly [string, readonly string[]])[]): string | undefined {
  return areas
    .flatMap(([name, paths]) => paths.map((path) => ({ name, path })))
    .filter(({ path }) => file.startsWith(`${path}/`) || file === `${path}.js`)
    .sort((one, other) => other.path.length - one.path.length)[0]?.name
}
