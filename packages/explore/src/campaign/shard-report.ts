import * as v from 'valibot'
import { blockCount, blockLength, runsOf, type Shard } from './blocks.js'
import type { CoverageRow } from './coverage-rows.js'
import { type CheckName, checkNames, type FailedRun } from './index-space.js'

// The report file of one shard.

export interface ShardReport {
  readonly format: 'stuntdouble campaign'
  readonly formatVersion: 1
  /** Version of stuntdouble. */
  readonly version: string
  readonly campaign: {
    /** Path of the campaign's file, relative to the folder in which the shard was run. */
    readonly file: string
    /** SHA-256 of the text in the campaign's file. */
    readonly digest: string
  }
  readonly seed: number
  /** The requested number of runs. The check may have fewer runs. */
  readonly runs: number
  readonly blockLength: number
  readonly shard: Shard
  /** The check, and how many runs it has. Absent if the runs have not been counted yet. */
  readonly counted?: CountedCheck
  /** Blocks that were finished. */
  readonly blocks: readonly BlockReport[]
  /** Unfinished blocks, with the reason. If the runs were never counted, `blocks` is empty. */
  readonly notRun: readonly { readonly blocks: readonly number[]; readonly why: string }[]
  readonly coverage: readonly CoverageRow[]
  readonly notes: readonly string[]
}

export interface BlockReport {
  readonly block: number
  readonly failed: number
  readonly skipped: number
  readonly first?: FailedRun
}

export interface CountedCheck {
  readonly check: CheckName
  readonly size: number
}

const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const positive = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
const text = v.pipe(v.string(), v.maxLength(10_000))

/**
 * Maximum number of notes in the report of one shard. A shard omits further notes, and a file with more notes is
 * rejected.
 */
export const maxNotes = 1_000
/** Maximum number of faults in one row of the coverage. A file with more faults is rejected. */
export const maxFaults = 1_000

const schema: v.GenericSchema<unknown, ShardReport> = v.strictObject({
  format: v.literal('stuntdouble campaign'),
  formatVersion: v.literal(1),
  version: text,
  campaign: v.strictObject({ file: text, digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)) }),
  seed: v.pipe(v.number(), v.safeInteger()),
  runs: positive,
  blockLength: v.literal(blockLength),
  shard: v.strictObject({ nth: positive, of: positive }),
  counted: v.exactOptional(v.strictObject({ check: v.picklist(checkNames), size: positive })),
  blocks: v.array(
    v.strictObject({
      block: whole,
      failed: whole,
      skipped: whole,
      first: v.exactOptional(v.strictObject({ run: whole, why: text })),
    }),
  ),
  notRun: v.array(v.strictObject({ blocks: v.array(whole), why: text })),
  coverage: v.array(
    v.strictObject({
      state: text,
      point: text,
      seen: positive,
      moment: whole,
      could: v.pipe(v.array(text), v.maxLength(maxFaults)),
      struck: v.pipe(
        v.record(v.string(), positive),
        v.check((struck) => Object.keys(struck).length <= maxFaults),
      ),
    }),
  ),
  notes: v.pipe(v.array(text), v.maxLength(maxNotes)),
})

/** Thrown for a damaged report file, and for files that do not belong together. */
export class ShardError extends Error {}

/**
 * Reads and checks the report file of a shard.
 * @param given text of the file
 * @param name name of the file, for error messages
 * @throws ShardError if the file is invalid
 */
export function shardReportFrom(given: string, name: string): ShardReport {
  const parsed = v.safeParse(schema, parsedJson(given, name), { abortEarly: true })
  if (!parsed.success) {
    const [issue] = parsed.issues
    const place = v.getDotPath(issue)
    throw new ShardError(
      `${name} is not the report file of a shard${place === null ? '' : `, or it is damaged: the value of ${place} is invalid`}. Pass a file that stuntdouble campaign run --out FILE has written.`,
    )
  }
  const problem = problemOf(parsed.output)
  if (problem === undefined) return parsed.output
  throw new ShardError(`${name} is damaged: ${problem}. Run its shard again.`)
}

function parsedJson(given: string, name: string): unknown {
  try {
    return JSON.parse(given)
  } catch {
    throw new ShardError(
      `${name} is not JSON, so it is incomplete or not the report file of a shard. Run its shard again, or leave the file out.`,
    )
  }
}

/** Maximum number of blocks of a campaign, which is 10 billion runs. */
export const maxBlocks = 10_000_000

/** Returns the contradiction between two valid values, such as `shard 9 of 8`, or `undefined` if there is none. */
function problemOf({ shard, counted, blocks, notRun, coverage }: ShardReport): string | undefined {
  if (shard.nth > shard.of) return `it is shard ${shard.nth} of ${shard.of}`
  if (counted === undefined)
    return blocks.length + coverage.length > 0 ? 'it has results, although its runs were never counted' : undefined
  const { size } = counted
  if (blockCount(size) > maxBlocks) return `it has ${blockCount(size)} blocks, but the maximum is ${maxBlocks}`
  // The file states the number of blocks, so a list of all blocks of its shard could be huge. Check each listed block
  // instead.
  const owns = (block: number): boolean => block < blockCount(size) && block % shard.of === shard.nth - 1
  const seen = new Set<number>()
  for (const one of [...blocks.map((each) => each.block), ...notRun.flatMap((each) => each.blocks)]) {
    if (!owns(one)) return `block ${one} does not belong to shard ${shard.nth}/${shard.of}`
    if (seen.has(one)) return `block ${one} is listed twice`
    seen.add(one)
  }
  for (let block = shard.nth - 1; block < blockCount(size); block += shard.of)
    if (!seen.has(block)) return `block ${block} is missing`
  for (const { block: nth, failed, skipped, first } of blocks) {
    const { from, to } = runsOf(nth, size)
    if (failed + skipped > to - from) return `block ${nth} has more failures than runs`
    if (failed > 0 !== (first !== undefined))
      return `the number of failures of block ${nth} and its first failing run contradict each other`
    if (first !== undefined && (first.run < from || first.run >= to)) return `run ${first.run} is not in block ${nth}`
  }
  const ran = blocks.reduce((most, { block: nth }) => Math.max(most, runsOf(nth, size).to), 0)
  const odd = coverage.find(({ seen: run, struck }) => run > ran || Object.values(struck).some((each) => each > ran))
  return odd === undefined ? undefined : 'its coverage names a run that it does not have'
}
