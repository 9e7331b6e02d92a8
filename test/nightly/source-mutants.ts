// Shows that the quick tests catch mistakes in `src`, `matchers` and `fixtures`: makes one change at a time (a mutant) and
// runs the tests until one fails. It tests the last commit, in a temporary worktree:
//   node test/nightly/source-mutants.ts [--count 10] [--seed 2026-11-26] [--from K] [--json FILE]
// It ends with 1 if the quick tests kill fewer than 90 % of the mutants that any tier kills. `--json` appends one line per
// mutant, so that `--from K` can continue after an interruption. Runs on Node's type stripping: its syntax is erasable.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { apply, choose, type Mutant, mutantsOf } from './mutate.ts'

type Verdict = 'killed by quick' | 'killed by full' | 'survived'

/** A line of `--json`. */
interface Result extends Mutant {
  readonly commit: string
  readonly seed: string
  readonly number: number
  readonly verdict: Verdict
  /** First test that failed, so that a test that fails at random can be recognized. */
  readonly by: string | undefined
  readonly seconds: number
}

interface Stage {
  readonly args: readonly string[]
  readonly tier: 'quick' | 'full'
}

interface Run {
  /** Why it failed; `undefined` if every test passed or there was none. */
  readonly failure: string | undefined
  readonly seconds: number
}

const everything: Stage = { args: [], tier: 'quick' }
const relatedQuick = (file: string): Stage => ({ args: ['related', file], tier: 'quick' })
const relatedFull = (file: string): Stage => ({ args: ['related', file], tier: 'full' })

/** Seconds after which the related full tests count as hanging; all of them together take less than 300 s on two cores. */
const slowestFull = 1800

const root = new URL('../..', import.meta.url).pathname
const options = readOptions()
// On the file system of `node_modules`, so that links to its files are possible.
fs.mkdirSync(join(root, '.cache'), { recursive: true })
const place = fs.mkdtempSync(join(root, '.cache/mutants-'))
const tree = join(place, 'tree')
const reportFile = join(place, 'report.json')
const outputFile = join(place, 'output.txt')
let running: ChildProcess | undefined

for (const [signal, code] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const]) {
  process.on(signal, () => {
    cleanUp()
    process.exit(code)
  })
}
try {
  await main()
} finally {
  cleanUp()
}

async function main(): Promise<void> {
  const commit = prepareTree()
  const mutants = choose(allMutants(commit), options.count, options.seed)
  const results = earlierResults(commit)
  console.log(`Commit ${commit.slice(0, 8)}, seed ${options.seed}: ${mutants.length} mutants.`)
  const normal = await passing(everything)
  console.log(`Without a mutant, the quick tests take ${normal} s.\n`)
  for (const [index, mutant] of mutants.entries()) {
    const number = index + 1
    if (number < options.from) continue
    const result: Result = { commit, seed: options.seed, number, ...mutant, ...(await tested(mutant, normal)) }
    results.push(result)
    if (options.json !== undefined) fs.appendFileSync(options.json, `${JSON.stringify(result)}\n`)
    console.log(lineOf(result))
  }
  summarize(results)
}

/** Runs the stages until one kills the mutant, and restores the file. */
async function tested(mutant: Mutant, normal: number): Promise<Pick<Result, 'verdict' | 'by' | 'seconds'>> {
  const path = join(tree, mutant.file)
  const original = fs.readFileSync(path, 'utf8')
  const start = performance.now()
  const killed = (verdict: Verdict, by?: string) => ({ verdict, by, seconds: secondsSince(start) })
  try {
    fs.writeFileSync(path, apply(original, mutant))
    // The related tests are a part of all, so the limit of all is long enough for them. Tests that reach the file through
    // a bundle or a child process are left out, so the share of quick is a lower bound.
    const quick = await run(relatedQuick(mutant.file), limitOf(normal))
    if (quick.failure !== undefined) return killed('killed by quick', quick.failure)
    const full = await run(relatedFull(mutant.file), slowestFull)
    return full.failure === undefined ? killed('survived') : killed('killed by full', full.failure)
  } finally {
    // A signal may have removed the tree meanwhile.
    if (fs.existsSync(path)) fs.writeFileSync(path, original)
  }
}

/** @returns the seconds that the stage takes without a mutant */
async function passing(stage: Stage): Promise<number> {
  const { failure, seconds } = await run(stage)
  if (failure === undefined) return seconds
  throw new Error(`vitest ${stage.args.join(' ')} fails without a mutant: ${failure}. Fix the test first.`)
}

/** Runs a stage in a process group of its own, which is killed after `limit` seconds. */
async function run({ args, tier }: Stage, limit?: number): Promise<Run> {
  const vitest = ['node_modules/vitest/vitest.mjs', ...args, '--run']
  const output = fs.openSync(outputFile, 'w')
  const start = performance.now()
  const { RUNS, SEED, ...inherited } = process.env
  const child = spawn(
    process.execPath,
    [
      ...vitest,
      '--project',
      `${tier}*`,
      '--bail',
      '1',
      '--passWithNoTests',
      '--reporter',
      'json',
      '--outputFile',
      reportFile,
    ],
    {
      cwd: tree,
      env: { ...inherited, EFFORT: tier, NO_COLOR: '1' },
      stdio: ['ignore', output, output],
      detached: true,
    },
  )
  running = child
  let isLate = false
  const timer =
    limit === undefined
      ? undefined
      : setTimeout(() => {
          isLate = true
          killGroup(child)
        }, limit * 1000)
  const [code] = await once(child, 'exit')
  clearTimeout(timer)
  // Programs that the tests started may outlive Vitest, most of all when it stops at the first failure.
  killGroup(child)
  running = undefined
  fs.closeSync(output)
  const failure = isLate ? `no end within ${limit} s` : code === 0 ? undefined : firstFailure()
  fs.rmSync(reportFile, { force: true })
  return { failure, seconds: secondsSince(start) }
}

/** Without a report Vitest did not run any test, which says nothing about the mutant. */
function firstFailure(): string {
  const output = fs.readFileSync(outputFile, 'utf8')
  if (!fs.existsSync(reportFile)) throw new Error(`Vitest wrote no report:\n${output.slice(-4000)}`)
  const { testResults } = JSON.parse(fs.readFileSync(reportFile, 'utf8')) as {
    testResults: { name: string; message: string; assertionResults: { fullName: string; status: string }[] }[]
  }
  const failures = testResults.flatMap(({ name, message, assertionResults }) => {
    const test = assertionResults.find(({ status }) => status === 'failed')?.fullName
    // After the first failure, files that have not run yet are reported as failed as well, without a message.
    return test === undefined && message === '' ? [] : [`${relative(tree, name)}: ${test ?? message.split('\n')[0]}`]
  })
  return failures[0] ?? 'an error outside of the tests'
}

/** A busy machine can take three times as long; starting Vitest alone takes seconds. */
function limitOf(normalSeconds: number): number {
  return Math.max(60, 3 * normalSeconds)
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // Every process of the group has ended.
  }
}

/** @returns the commit of the worktree */
function prepareTree(): string {
  const commit = git('rev-parse', 'HEAD').trim()
  git('worktree', 'add', '--detach', tree, commit)
  // Hard links, because some tests look where a module lies.
  const linked = spawnSync('cp', ['-al', join(root, 'node_modules'), join(tree, 'node_modules')], { encoding: 'utf8' })
  if (linked.status !== 0) throw new Error(`node_modules could not be linked: ${linked.stderr}`)
  // `related` reads the graph of imports before Vitest builds this page, and takes files with a missing import as related.
  const { status, stderr } = spawnSync(process.execPath, ['packages/inspector/build.ts'], {
    cwd: tree,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`packages/inspector/build.ts failed: ${stderr}`)
  return commit
}

/** Every mutant of the sources that the tests of Vitest can reach: the inspector is tested in a browser. */
function allMutants(commit: string): Mutant[] {
  const files = git('ls-tree', '-r', '--name-only', commit, 'src', 'matchers', 'fixtures', 'packages').split('\n')
  return files
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts') && !file.startsWith('packages/inspector/src/'))
    .flatMap((file) => mutantsOf(file, fs.readFileSync(join(tree, file), 'utf8')))
}

/** Results that `--json` has of the same choice, before `--from`. */
function earlierResults(commit: string): Result[] {
  if (options.json === undefined || !fs.existsSync(options.json)) return []
  const lines = fs
    .readFileSync(options.json, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  const before = lines
    .map((line) => JSON.parse(line) as Result)
    .filter((result) => result.commit === commit && result.seed === options.seed && result.number < options.from)
  return [...new Map(before.map((result) => [result.number, result])).values()]
}

function lineOf({ number, file, line, operator, before, after, verdict, seconds }: Result): string {
  const change = `${before} → ${after}`.replace(/\s+/g, ' ')
  const cut = change.length > 100 ? `${change.slice(0, 99)}…` : change
  return `${number}. ${file}:${line} ${operator}: ${cut}\n   ${verdict}, ${seconds} s`
}

function summarize(results: readonly Result[]): void {
  const count = (start: string): number => results.filter(({ verdict }) => verdict.startsWith(start)).length
  const [quick, full, survived] = [count('killed by quick'), count('killed by full'), count('survived')]
  const any = quick + full
  const share = any === 0 ? 100 : (100 * quick) / any
  console.log(`\nKilled by quick: ${quick}. Killed by full only: ${full}. Survived: ${survived}.`)
  console.log(`quick kills ${quick} of the ${any} that any tier kills (${Math.floor(share)} %)`)
  process.exitCode = share < 90 ? 1 : 0
}

function secondsSince(start: number): number {
  return Math.round((performance.now() - start) / 1000)
}

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')} failed: ${stderr}`)
  return stdout
}

function cleanUp(): void {
  if (running !== undefined) killGroup(running)
  spawnSync('git', ['worktree', 'remove', '--force', tree], { cwd: root })
  fs.rmSync(place, { recursive: true, force: true })
}

function readOptions(): { count: number; seed: string; from: number; json: string | undefined } {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '10' },
      seed: { type: 'string', default: new Date().toISOString().slice(0, 10) },
      from: { type: 'string', default: '1' },
      json: { type: 'string' },
    },
  })
  const [count, from] = [Number(values.count), Number(values.from)]
  for (const [name, value] of Object.entries({ count, from })) {
    if (!Number.isInteger(value) || value < 1)
      throw new TypeError(`--${name} must be a positive integer (got "${values[name as 'count' | 'from']}").`)
  }
  return { count, from, seed: values.seed, json: values.json }
}
