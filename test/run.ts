// `npm test`, `npm run test:full`, `npm run test:nightly`: the steps of a tier, one sum at the end.
// `npm run test:full -- site twin` runs the named steps only; `npm run test:full -- --rest` leaves out what `npm test`
// has run. Runs on Node's type stripping, so its syntax is erasable.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installRuntime } from './runtimes/install-runtime.ts'
import { findChromium, noChromium } from './support/chromium.ts'
import { type Effort, notRun } from './support/effort.ts'
import { findRedisServer, noRedisServer } from './support/redis-server.ts'
import type { TierReport } from './support/tier-reporter.ts'

interface Outcome {
  passed: number
  failed: number
}

interface Step {
  name: string
  what: string
  /** Returns what this machine lacks, or `undefined` when the step can run. */
  missing?: () => string | undefined
  run: (output: Output) => Promise<Outcome>
}

/** What the programs of a step print: immediately, or kept until its end where steps run side by side. */
type Output = 'live' | Buffer[]

const root = new URL('..', import.meta.url).pathname
const bin = (name: string): string => join(root, 'node_modules', '.bin', name)
const node = process.execPath
/** TypeScript's native compiler takes a tenth of the time; the packages that build on the compiler's JavaScript need version 6. */
const tsc = [node, join(root, 'node_modules/typescript-7/bin/tsc')]
const npm = (script: string): string[] => ['npm', 'run', '--silent', script]
const reports = mkdtempSync(join(tmpdir(), 'stuntdouble-test-'))

const needsChromium = (): string | undefined => (findChromium() ? undefined : noChromium)
const needsRedisServer = (): string | undefined => (findRedisServer() ? undefined : noRedisServer)

/** The stages of each tier, one after the other. Steps of one stage run side by side. */
const tiers: Readonly<Record<Effort, readonly (readonly Step[])[]>> = {
  quick: [
    [
      check('types', 'type check', [...tsc, '-p', '.'], [...tsc, '-p', 'test']),
      check('lint', 'lint and format', [bin('biome'), 'check', '--error-on-warnings', '.']),
      check('unused', 'no unused file, export or dependency', [bin('knip'), '--no-progress']),
      check('spelling', 'American spelling', [bin('cspell'), '--no-progress', '--quiet']),
      check('prose', 'no retired words', [node, 'test/prose/check-prose.ts']),
      check('build', 'build without declarations', ['node', '--disable-warning=ExperimentalWarning', 'build.ts']),
    ],
    [vitest('unit', 'unit tests', '--project', 'quick*')],
    [
      vitest('smoke', 'the packed package in both formats', '--project', 'package-quick'),
      { name: 'jest', what: 'Jest on the CommonJS build', run: jest },
    ],
    [
      {
        ...vitest('twin-quick', 'one command group on a real redis-server', '--project', 'twin-quick'),
        missing: needsRedisServer,
      },
      {
        ...playwright('browser', 'a walk through an app in a browser', 'test/playwright', '/[^./]+\\.spec\\.ts$'),
        missing: needsChromium,
      },
    ],
  ],
  full: [
    [check('declarations', 'build with declarations', npm('build'))],
    [vitest('unit-full', 'more unit tests', '--project', 'full*')],
    [
      vitest('package', 'the packed package: entries, types, publint, attw, pages', '--project', 'package-full'),
      {
        ...vitest('twin', 'all commands on a real redis-server', '--project', 'twin-full'),
        missing: needsRedisServer,
      },
    ],
    [
      {
        ...playwright('playwright', 'Playwright with an app and its server', 'test/playwright', '\\.full\\.spec\\.ts$'),
        missing: needsChromium,
      },
      { ...playwright('site', 'the site in a browser', 'test/site', '\\.full\\.spec\\.ts$'), missing: needsChromium },
    ],
  ],
  nightly: [
    [check('build', 'build with declarations', npm('build'))],
    [vitest('unit-nightly', 'long unit tests', '--project', 'nightly*', '--testTimeout', '3600000')],
    [
      vitest(
        'effort',
        'all other unit tests, with many more runs',
        '--project',
        'quick*',
        '--project',
        'full*',
        '--testTimeout',
        '3600000',
      ),
    ],
    [check('speed', 'speed over the commit in bench/base', [node, 'bench/against.ts', '--guard'])],
    [check('mutants', 'mutants of the sources', [node, 'test/nightly/source-mutants.ts'])],
    [
      check('endurance', 'endurance of a server', [
        node,
        ...typescriptSources(),
        'packages/server/test/endurance/run.ts',
      ]),
    ],
    [check('protocol', "protocol of the vendor's packages", npm('protocol:drift'))],
    [check('soak', 'memory over hours of requests', [node, ...typescriptSources(), 'test/nightly/soak.ts'])],
    [{ name: 'runtimes', what: 'one suite in each runtime', run: runInRuntimes }],
    [{ name: 'walks', what: 'pages, init and reporters with each version of a runner', run: walk }],
    [check('old-peers', 'the packed package with old peers', [node, 'test/nightly/old-peers.ts'])],
    [
      check('next', 'build of the Next.js recipe', [node, 'examples/recipes/next/nightly.ts']),
      check('sveltekit', 'build of the SvelteKit recipe', [node, 'examples/recipes/sveltekit/nightly.ts']),
      check('emulate', 'the emulate recipe with the packed package', [node, 'examples/recipes/emulate/nightly.ts']),
    ],
    [
      check('redis-py', 'redis-py on the native port', [node, 'test/nightly/redis-py.ts']),
      check('redis-suite', "redis-server's own test suite", [node, 'test/nightly/redis-suite.ts']),
    ],
    [{ ...vitest('twin', 'all commands on a real redis-server', '--project', 'twin*'), missing: needsRedisServer }],
  ],
}

/** Every test file that ran, with its time. */
const files: TierReport['files'] = []

await main(process.argv[2] as Effort, process.argv.slice(3))

async function main(tier: Effort, wanted: readonly string[]): Promise<void> {
  const isRest = wanted.includes('--rest')
  const names = wanted.filter((name) => name !== '--rest')
  const ran: readonly Effort[] = tier === 'full' && !isRest ? ['quick', 'full'] : [tier]
  const known = ran.flatMap((name) => tiers[name].flat())
  const unknown = names.find((name) => !known.some((step) => step.name === name))
  if (unknown !== undefined) {
    console.error(`There is no step "${unknown}". Use one of: ${known.map(({ name }) => name).join(', ')}.`)
    process.exit(2)
  }
  // The steps `runtimes` and `walks` install the packages of runtimes there.
  process.env.STUNTDOUBLE_RUNTIMES = join(reports, 'runtimes')
  // The scripts of package.json find Node 24 first on their path, and a direct call of this file must, too. Texts are
  // compared without colors, those of child processes too.
  process.env.PATH = [join(root, 'node_modules/.bin'), process.env.PATH].join(':')
  process.env.NO_COLOR = '1'
  const given = process.env.EFFORT
  const outcomes: Outcome[] = []
  const lines: string[] = []
  for (const name of ran) {
    process.env.EFFORT = given ?? name
    for (const stage of tiers[name]) {
      const steps = stage.filter((step) => names.length === 0 || names.includes(step.name))
      const running = steps.filter((step) => step.missing?.() === undefined)
      lines.push(
        ...steps
          .filter((step) => !running.includes(step))
          .map((step) => `${step.what}: not run, because ${step.missing?.()}.`),
      )
      await Promise.all(
        running.map(async (step) => {
          const { outcome, seconds } = await runStep(step, running.length === 1 ? 'live' : [])
          outcomes.push(outcome)
          lines.push(`${step.what}: ${outcome.passed} passed, ${outcome.failed} failed, ${seconds} s`)
        }),
      )
    }
  }
  printSlowest()
  rmSync(reports, { recursive: true, force: true })
  const sum = (key: keyof Outcome): number => outcomes.reduce((total, outcome) => total + outcome[key], 0)
  console.log(`\n${lines.join('\n')}\n\n${sum('passed')} passed, ${sum('failed')} failed`)
  process.exitCode = sum('failed') > 0 ? 1 : 0
}

async function runStep(step: Step, output: Output): Promise<{ outcome: Outcome; seconds: number }> {
  const title = `\n── ${step.what}`
  if (output === 'live') console.log(title)
  const start = performance.now()
  const outcome = await step.run(output)
  if (output !== 'live') console.log(`${title}\n${Buffer.concat(output).toString()}`)
  return { outcome, seconds: Math.round((performance.now() - start) / 1000) }
}

/** A step whose commands pass or fail as a whole: each counts as one. */
function check(name: string, what: string, ...commands: string[][]): Step {
  const run = async (output: Output): Promise<Outcome> => {
    const outcome = { passed: 0, failed: 0 }
    for (const argv of commands) {
      const status = await command(argv, output)
      if (status !== notRun) outcome[status === 0 ? 'passed' : 'failed']++
    }
    return outcome
  }
  return { name, what, run }
}

function vitest(name: string, what: string, ...args: string[]): Step {
  return { name, what, run: (output) => runVitest(name, output, args) }
}

async function runVitest(
  name: string,
  output: Output,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  const report = join(reports, `${name}.json`)
  const reporters = ['--reporter=dot', `--reporter=${join(root, 'test/support/tier-reporter.ts')}`]
  const argv = [bin('vitest'), 'run', ...args, '--silent=passed-only', ...reporters]
  const status = await command(argv, output, { ...env, STUNTDOUBLE_TIER_REPORT: report })
  return counted(report, status, (text) => {
    const { passed, failed, files: ran } = JSON.parse(text) as TierReport
    files.push(...ran)
    return { passed, failed }
  })
}

async function runInRuntimes(output: Output): Promise<Outcome> {
  const report = join(reports, 'runtimes.json')
  const status = await command([node, 'test/runtimes/run.ts'], output, { STUNTDOUBLE_TIER_REPORT: report })
  return counted(report, status, (text) => JSON.parse(text) as Outcome)
}

/** Follows the pages. Those of Bun, Deno, workerd and browser mode need packages that `npm ci` does not install. */
async function walk(output: Output): Promise<Outcome> {
  const place = process.env.STUNTDOUBLE_RUNTIMES!
  // Without a build, the walks themselves report what is missing.
  if (existsSync(join(root, 'dist/index.cjs'))) {
    for (const folder of ['bun', 'deno', 'workerd-vitest-5', 'browser-mode']) installRuntime(folder, place)
  }
  const programs = ['bun', 'deno'].map((name) => join(place, name, 'node_modules/.bin'))
  const env = { PATH: [process.env.PATH, ...programs].join(':') }
  return runVitest('walks', output, ['--project', 'package-full', 'walks', 'init', 'reporters'], env)
}

function printSlowest(): void {
  const ten = files.toSorted((one, other) => other.seconds - one.seconds).slice(0, 10)
  if (ten.length > 0) console.log('\nSlowest files:')
  for (const { file, seconds } of ten) console.log(`${seconds.toFixed(1).padStart(6)} s  ${file}`)
}

async function jest(output: Output): Promise<Outcome> {
  const report = join(reports, 'jest.json')
  const argv = [bin('jest'), '--config', 'test/jest/jest.config.cjs', '--json', '--outputFile', report]
  const status = await command(argv, output)
  return counted(report, status, (text) => {
    const sums = JSON.parse(text) as Record<string, number>
    return { passed: sums.numPassedTests!, failed: sums.numFailedTests! + sums.numRuntimeErrorTestSuites! }
  })
}

/** @param files a regular expression over paths, as Playwright takes it */
function playwright(name: string, what: string, folder: string, files: string): Step {
  const run = async (output: Output): Promise<Outcome> => {
    const report = join(reports, `${name}.json`)
    const argv = [bin('playwright'), 'test', '--config', `${folder}/playwright.config.ts`, files]
    const status = await command(argv, output, { PLAYWRIGHT_JSON_OUTPUT_FILE: report })
    return counted(report, status, (text) => {
      const { stats, errors } = JSON.parse(text) as {
        stats: { expected: number; unexpected: number; flaky: number }
        errors: unknown[]
      }
      return { passed: stats.expected, failed: stats.unexpected + stats.flaky + errors.length }
    })
  }
  return { name, what, run }
}

/** A run that ends with an error although no test failed, or that leaves no report, is one failure. */
function counted(report: string, status: number, read: (text: string) => Outcome): Outcome {
  if (!existsSync(report)) return { passed: 0, failed: 1 }
  const { passed, failed } = read(readFileSync(report, 'utf8'))
  return { passed, failed: failed === 0 && status !== 0 ? 1 : failed }
}

/** Options with which Node runs TypeScript sources whose imports end in `.js`. */
function typescriptSources(): string[] {
  const loader = './test/support/typescript-sources.mjs'
  return ['--experimental-transform-types', '--disable-warning=ExperimentalWarning', '--import', loader]
}

function command(argv: readonly string[], output: Output, more: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(argv[0]!, argv.slice(1), {
      cwd: root,
      env: { ...process.env, ...more },
      stdio: output === 'live' ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    })
    if (output !== 'live') {
      child.stdout?.on('data', (chunk: Buffer) => output.push(chunk))
      child.stderr?.on('data', (chunk: Buffer) => output.push(chunk))
    }
    child.on('error', (error) => {
      console.error(`${argv[0]} did not start: ${error.message}`)
      resolve(1)
    })
    child.on('close', (code) => resolve(code ?? 1))
  })
}
