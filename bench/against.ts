// `npm run bench:against -- <commit>` measures another commit and this tree in turns, each with its own benchmarks, and
// compares the medians of figures with the same name. More arguments are passed to `bench/run.ts`: `npm run
// bench:against -- main store`.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compared, comparisonLines } from './compared.ts'
import type { Measured } from './harness.ts'

const own = fileURLToPath(new URL('..', import.meta.url))
const [commit, ...words] = process.argv.slice(2)
if (commit === undefined) throw new Error('Name the other commit: npm run bench:against -- main')

const place = mkdtempSync(join(tmpdir(), 'stuntdouble-against-'))
const other = join(place, 'tree')
// On Ctrl-C the running program also ends; then the worktree is removed.
process.on('SIGINT', () => undefined)
try {
  run(own, 'git', 'worktree', 'add', '--quiet', '--detach', other, commit)
  run(other, 'npm', 'ci', '--no-audit', '--no-fund')
  // The benchmarks need the build without declarations, which would take longer.
  for (const tree of [other, own]) run(tree, 'npm', 'run', '--silent', 'prestart')
  const [before, after]: [Measured[][], Measured[][]] = [[], []]
  for (let turn = 0; turn < 2; turn++) {
    before.push(measuredIn(other))
    after.push(measuredIn(own))
  }
  console.log(`\nThis tree over ${commit}:\n${comparisonLines(compared(before, after)).join('\n')}`)
} finally {
  run(own, 'git', 'worktree', 'remove', '--force', other)
  rmSync(place, { recursive: true, force: true })
}

/** Runs the benchmarks of a tree and returns what they append to its results. */
function measuredIn(tree: string): Measured[] {
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
