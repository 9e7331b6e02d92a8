// `npm run bench:against -- <commit>` measures another commit and this tree in turns, each with its own benchmarks, and
// compares the medians of figures with the same name. More arguments are passed to `bench/run.ts`: `npm run
// bench:against -- main store`. `--guard` compares with the commit in `bench/base`, as the nightly does.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Comparisons, compared, comparisonLines, guarded, guardLimits, suspicious } from './compared.ts'
import type { Measured } from './harness.ts'

const own = fileURLToPath(new URL('..', import.meta.url))
const [named, ...words] = process.argv.slice(2)
if (named === undefined) throw new Error('Name the other commit: npm run bench:against -- main')
const isGuard = named === '--guard'
const commit = isGuard ? readFileSync(join(own, 'bench/base'), 'utf8').trim() : named

const place = mkdtempSync(join(tmpdir(), 'stuntdouble-against-'))
const other = join(place, 'tree')
// On Ctrl-C the running program also ends; then the worktree is removed.
process.on('SIGINT', () => undefined)
try {
  run(own, 'git', 'worktree', 'add', '--quiet', '--detach', other, commit)
  run(other, 'npm', 'ci', '--no-audit', '--no-fund')
  // The benchmarks need the build without declarations, which would take longer.
  for (const tree of [other, own]) run(tree, 'npm', 'run', '--silent', 'prestart')
  const first = comparedTurns(words)
  const limit = isGuard ? guardLimits.report : undefined
  console.log(`\nThis tree over ${commit}:\n${comparisonLines(first, limit).join('\n')}`)
  if (isGuard) guard(first)
} finally {
  run(own, 'git', 'worktree', 'remove', '--force', other)
  rmSync(place, { recursive: true, force: true })
}

/** Measures both trees in turns. @param words select the figures, as for `bench/run.ts` */
function comparedTurns(words: readonly string[]): Comparisons {
  const [before, after]: [Measured[][], Measured[][]] = [[], []]
  for (let turn = 0; turn < 2; turn++) {
    before.push(measuredIn(other, words))
    after.push(measuredIn(own, words))
  }
  return compared(before, after)
}

/**
 * Fails if a figure is suspicious twice. It is measured again at once and not in the next night, because two nights
 * would need a stored state, and a drift is then reported on the day on which it happens.
 */
function guard(first: Comparisons): void {
  const again = [...new Set(suspicious(first).map(({ word = '' }) => word))]
  if (again.length > 0) console.log(`\nMore than ${guardLimits.fail} ×, so measured again: ${again.join(', ')}`)
  const second: Comparisons = again.length === 0 ? { rows: [], onlyBefore: [], onlyAfter: [] } : comparedTurns(again)
  const { reported, failed } = guarded(first, second)
  for (const { name, ratio } of reported) console.log(`Slower or larger than ${commit}: ${name}, ${ratio.toFixed(2)} ×`)
  for (const { name } of failed) console.log(`More than ${guardLimits.fail} × in two runs in a row: ${name}`)
  if (failed.length > 0) process.exitCode = 1
}

/** Runs the benchmarks of a tree and returns what they append to its results. */
function measuredIn(tree: string, words: readonly string[]): Measured[] {
  const known = resultsOf(tree).length
  run(tree, process.execPath, '--expose-gc', 'bench/run.ts', ...words)
  return resultsOf(tree)
    .slice(known)
    .map((line) => JSON.parse(line))
}

function resultsOf(tree: string): readonly string[] {
  const file = join(tree, 'bench/results.jsonl')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

function run(cwd: string, program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { cwd, stdio: 'inherit' })
}
