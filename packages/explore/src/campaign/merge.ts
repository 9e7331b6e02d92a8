import { blocksOf, runsOf, type Shard } from './blocks.js'
import { type CoverageRow, united } from './coverage-rows.js'
import type { FailedRun } from './index-space.js'
import { type BlockReport, type CountedCheck, ShardError, type ShardReport } from './shard-report.js'

export interface NamedReport {
  readonly name: string
  readonly report: ShardReport
}

/** Merged results of all shards. */
export interface Merged {
  readonly campaign: ShardReport['campaign']
  readonly seed: number
  readonly runs: number
  readonly counted: CountedCheck | undefined
  /** The shard that the report covers, or `undefined` for the whole campaign. */
  readonly shard: Shard | undefined
  /** Number of runs that belong to this shard, or to the whole campaign. */
  readonly of: number
  readonly tried: number
  readonly failed: number
  readonly skipped: number
  /** The failing run with the lowest number. */
  readonly first: FailedRun | undefined
  /** Blocks that were not finished, grouped by the reason. */
  readonly notRun: readonly { readonly why: string; readonly blocks: readonly number[] }[]
  /** Blocks that no file mentions. */
  readonly missing: readonly number[]
  readonly coverage: readonly CoverageRow[]
  readonly notes: readonly string[]
}

/**
 * Merges the reports of shards. A file that is passed twice counts once.
 * @param shard limits the check for missing blocks to this shard
 * @throws ShardError if the files do not belong together
 */
export function merged(files: readonly NamedReport[], shard?: Shard): Merged {
  const [first] = files
  if (first === undefined) throw new ShardError('There is no file to merge. Pass the report files of the shards.')
  for (const other of files) refuseOther(first, other)
  const { campaign, seed, runs } = first.report
  const counted = countedIn(files)
  const blocks = blocksIn(files)
  const size = counted?.size ?? 0
  const all = blocksOf(shard ?? { nth: 1, of: 1 }, size)
  const reasons = new Map<string, Set<number>>()
  for (const { report } of files) {
    for (const { why, blocks: left } of report.notRun) {
      const known = reasons.get(why) ?? new Set<number>()
      for (const block of left) if (!blocks.has(block)) known.add(block)
      if (known.size > 0 || left.length === 0) reasons.set(why, known)
    }
  }
  const known = new Set([...blocks.keys(), ...[...reasons.values()].flatMap((each) => [...each])])
  const reports = [...blocks.values()].map(({ report }) => report).sort((a, b) => a.block - b.block)
  return {
    campaign,
    seed,
    runs,
    counted,
    shard,
    of: runsIn(all, size),
    tried: runsIn(
      reports.map(({ block }) => block),
      size,
    ),
    failed: reports.reduce((sum, { failed }) => sum + failed, 0),
    skipped: reports.reduce((sum, { skipped }) => sum + skipped, 0),
    first: reports.find((report) => report.first !== undefined)?.first,
    notRun: [...reasons]
      .map(([why, left]) => ({ why, blocks: [...left].sort((a, b) => a - b) }))
      .sort((a, b) => (a.blocks[0] ?? -1) - (b.blocks[0] ?? -1) || (a.why < b.why ? -1 : 1)),
    missing: all.filter((block) => !known.has(block)),
    coverage: united(files.map(({ report }) => report.coverage)),
    notes: [...new Set(files.flatMap(({ report }) => report.notes))].sort(),
  }
}

function runsIn(blocks: readonly number[], size: number): number {
  return blocks.reduce((sum, block) => sum + runsOf(block, size).to - runsOf(block, size).from, 0)
}

function refuseOther(one: NamedReport, other: NamedReport): void {
  const [a, b] = [one.report, other.report]
  const differ = (what: string, left: unknown, right: unknown): never => {
    throw new ShardError(
      `${one.name} and ${other.name} do not belong together: ${what} ${left} in the first file and ${right} in the second. Merge the files of one campaign.`,
    )
  }
  if (a.campaign.digest !== b.campaign.digest)
    differ(
      'they are of different campaigns,',
      `${a.campaign.file} (${a.campaign.digest.slice(0, 8)})`,
      `${b.campaign.file} (${b.campaign.digest.slice(0, 8)})`,
    )
  if (a.version !== b.version) differ('the version of stuntdouble is', a.version, b.version)
  if (a.seed !== b.seed) differ('the seed is', a.seed, b.seed)
  if (a.runs !== b.runs) differ('the number of runs is', a.runs, b.runs)
}

function countedIn(files: readonly NamedReport[]): CountedCheck | undefined {
  const having = files.flatMap(({ name, report }) =>
    report.counted === undefined ? [] : [{ name, ...report.counted }],
  )
  const [first] = having
  if (first === undefined) return undefined
  const other = having.find(({ check, size }) => check !== first.check || size !== first.size)
  if (other !== undefined)
    throw new ShardError(
      `${first.name} counts ${first.size} runs of ${first.check}(), but ${other.name} counts ${other.size} runs of ${other.check}(): the code under test differs, or depends on the machine. Run the shards from the same commit.`,
    )
  const { check, size } = first
  return { check, size }
}

/** Returns each block once. @throws ShardError if two files have different results for one block */
function blocksIn(files: readonly NamedReport[]): ReadonlyMap<number, { name: string; report: BlockReport }> {
  const blocks = new Map<number, { name: string; report: BlockReport }>()
  for (const { name, report } of files) {
    for (const one of report.blocks) {
      const known = blocks.get(one.block)
      if (known === undefined) blocks.set(one.block, { name, report: one })
      else if (outcomeOf(known.report) !== outcomeOf(one))
        throw new ShardError(
          `${known.name} and ${name} have different results for block ${one.block}: ${outcomeOf(known.report)} and ${outcomeOf(one)}. The code under test is not repeatable: it uses time, randomness or memory from outside of its sandbox.`,
        )
    }
  }
  return blocks
}

function outcomeOf({ failed, skipped, first }: BlockReport): string {
  return `${failed} failed and ${skipped} skipped runs${first === undefined ? '' : `, the first failure in run ${first.run}`}`
}
