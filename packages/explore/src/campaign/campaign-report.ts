import { plural as countOf } from '../../../../src/kernel/plural.js'
import { blocksText } from './blocks.js'
import { amountOf } from './coverage-rows.js'
import { figureText } from './coverage-text.js'
import type { Merged } from './merge.js'

/** First run that failed, with its shrunk counterexample. */
export interface ShrunkFailure {
  /** Shrunk counterexample as text. If there is no counterexample, the reason why. */
  readonly told: string
}

/** Maximum number of notes and reasons that a report prints. The report only counts the others. */
const maxShown = 100

/** Returns the report of a campaign. The text does not depend on which machine ran which shard. */
export function campaignReport(merged: Merged, story?: ShrunkFailure): string {
  const { campaign, seed, skipped, notes, first, shard } = merged
  const part = shard === undefined ? '' : `, shard ${shard.nth}/${shard.of}`
  const lines = [`${campaign.file}, seed ${seed}${part}: ${verdictOf(merged)}`]
  if (skipped > 0)
    lines.push(
      `${countOf(skipped, 'run')} gave no result: every delivery of a message failed because of injected faults.`,
    )
  lines.push(...shown(notes, 'note'), ...gapsOf(merged), ...coverageOf(merged))
  if (first !== undefined) lines.push('', `The first run that fails is run ${first.run}: ${first.why}`)
  if (story !== undefined) lines.push('', story.told)
  return lines.join('\n')
}

function shown(given: readonly string[], what: string): string[] {
  const lines = given.slice(0, maxShown)
  const left = given.length - lines.length
  return left > 0 ? [...lines, `… and ${countOf(left, `more ${what}`)}`] : lines
}

export function isWhole({ counted, missing, notRun }: Merged): boolean {
  return counted !== undefined && missing.length === 0 && notRun.length === 0
}

function verdictOf(merged: Merged): string {
  const { counted, tried, failed, of } = merged
  const runs = `${number(tried)} ${tried === 1 ? 'run' : 'runs'}`
  const verdict =
    failed > 0
      ? `${number(failed)} of ${runs} ${failed === 1 ? 'fails' : 'fail'}.`
      : `${runs} ${tried === 1 ? 'holds' : 'hold'}.`
  if (isWhole(merged)) return `${verdict} All runs were tried.`
  return `${verdict} ${counted === undefined ? 'The number of runs is unknown.' : `The campaign has ${number(of)} runs, of which not all were tried.`}`
}

function gapsOf({ counted, missing, notRun }: Merged): string[] {
  const size = counted?.size ?? 0
  const of = (blocks: readonly number[]): string => blocksText(blocks, size)
  const gaps = notRun.map(({ why, blocks }) => `Not run: ${blocks.length === 0 ? '' : `${of(blocks)}: `}${why}`)
  return [
    ...shown(gaps, 'reason'),
    ...(missing.length > 0 ? [`Missing from the files: ${of(missing)}. Merge the files of all shards.`] : []),
  ]
}

function coverageOf({ coverage, counted }: Merged): string[] {
  if (coverage.length === 0) return []
  const { reached, possible } = amountOf(coverage)
  const never = coverage.flatMap(({ state, point, could, struck }) =>
    could.filter((fault) => struck[fault] === undefined).map((fault) => ({ state, point, fault })),
  )
  const places =
    counted?.check === 'assertCrashSafe' ? new Set(coverage.map(({ state }) => state)).size : coverage.length
  return [figureText(reached, possible, places, never)]
}

function number(given: number): string {
  return given.toLocaleString('en-US')
}
