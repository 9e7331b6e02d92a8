// `npm test`: every check of the package, one after the other, and one sum at the end.
// `npm test -- unit jest` runs the named steps only. Runs on Node's type stripping, so its syntax is erasable.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findChromium, noChromium } from './support/chromium.ts'
import { findRedisServer, obtainRedisServer } from './support/redis-server.ts'

interface Outcome {
  passed: number
  failed: number
}

interface Step {
  name: string
  what: string
  /** `undefined` when the step can run, else one sentence that says what is missing. */
  missing?: () => string | undefined
  run: (report: string, output: Output) => Promise<Outcome>
}

/** What the programs of a step print: at once, or kept until its end, where several run side by side. */
type Output = 'live' | Buffer[]

const root = new URL('..', import.meta.url).pathname
const bin = (name: string): string => join(root, 'node_modules', '.bin', name)
/** TypeScript's native compiler takes a tenth of the time; the packages that build on the compiler's JavaScript need version 6. */
const tsc = [process.execPath, join(root, 'node_modules/typescript-7/bin/tsc')]
const reports = mkdtempSync(join(tmpdir(), 'stuntdouble-test-'))
// The scripts of package.json find Node 24 first on their path; a direct call of this file shall, too.
// Texts are compared as they are without colours, those of child processes too.
const env = { ...process.env, NO_COLOR: '1', PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}` }

/** One stage after the other; the steps of one run side by side, where none of them fills the machine. */
const stages: Step[][] = [
  [
    check('types', 'type check', [
      [...tsc, '-p', '.'],
      [...tsc, '-p', 'test'],
    ]),
    check('lint', 'lint and format', [[bin('biome'), 'check', '--error-on-warnings', '.']]),
    // Declarations of all entries in two formats come near the memory that Node takes by itself.
    check('build', 'build', [[process.execPath, '--max-old-space-size=8192', bin('tsup'), '--silent']]),
  ],
  [
    vitest('unit', 'unit tests', 'shared', 'alone'),
    vitest('package', 'the packed package: entries, types, publint, attw', 'package'),
  ],
  [
    {
      name: 'playwright',
      what: "Playwright with a browser and an app's own server",
      missing: () => (findChromium() ? undefined : noChromium),
      run: (report, output) => playwright('test/playwright', report, output),
    },
    {
      ...vitest('twin', 'comparison with a real redis-server', 'twin'),
      missing: () =>
        findRedisServer()
          ? undefined
          : 'there is no redis-server on this machine (`npm run test:twin` obtains one from Debian)',
    },
    {
      name: 'jest',
      what: 'Jest on the CommonJS build',
      run: async (report, output) => {
        const args = ['--config', 'test/jest/jest.config.cjs', '--json', '--outputFile', report]
        await command([bin('jest'), ...args], output)
        return countJest(report)
      },
    },
    {
      name: 'site',
      what: 'the site in a browser',
      missing: () => (findChromium() ? undefined : noChromium),
      run: (report, output) => playwright('test/site', report, output),
    },
  ],
]

const outcomes = new Map<Step, Outcome & { seconds: number }>()

await main(process.argv.slice(2))

async function main(wanted: string[]): Promise<void> {
  const steps = stages.flat()
  const unknown = wanted.find((name) => !steps.some((step) => step.name === name))
  if (unknown !== undefined) {
    console.error(`There is no step ${unknown}. Use one of: ${steps.map((step) => step.name).join(', ')}.`)
    process.exit(2)
  }
  // Asked for by name, the real server is fetched; a plain `npm test` only uses what is there.
  if (wanted.includes('twin') && !findRedisServer()) await obtainRedisServer()
  const isWanted = ({ name }: Step): boolean => wanted.length === 0 || wanted.includes(name)
  for (const stage of stages) {
    const running = stage.filter((step) => isWanted(step) && step.missing?.() === undefined)
    await Promise.all(running.map((step) => runStep(step, running.length === 1 ? 'live' : [])))
  }
  const total: Outcome = { passed: 0, failed: 0 }
  const lines = steps.filter(isWanted).map((step) => {
    const outcome = outcomes.get(step)
    if (outcome === undefined) return `${step.what}: not run, because ${step.missing?.()}.`
    total.passed += outcome.passed
    total.failed += outcome.failed
    return `${step.what}: ${outcome.passed} passed, ${outcome.failed} failed, ${outcome.seconds} s`
  })
  rmSync(reports, { recursive: true, force: true })
  console.log(`\n${lines.join('\n')}\n\n${total.passed} passed, ${total.failed} failed`)
  process.exitCode = total.failed > 0 ? 1 : 0
}

async function runStep(step: Step, output: Output): Promise<void> {
  const title = `\n── ${step.what}`
  if (output === 'live') console.log(title)
  const start = performance.now()
  const outcome = await step.run(join(reports, `${step.name}.json`), output)
  outcomes.set(step, { ...outcome, seconds: Math.round((performance.now() - start) / 1000) })
  if (output !== 'live') console.log(`${title}\n${Buffer.concat(output).toString()}`)
}

/** A step that passes or fails as a whole: each command counts as one. */
function check(name: string, what: string, commands: string[][]): Step {
  return {
    name,
    what,
    run: async (_, output) => {
      const outcome: Outcome = { passed: 0, failed: 0 }
      for (const argv of commands) {
        if ((await command(argv, output)) === 0) outcome.passed++
        else outcome.failed++
      }
      return outcome
    },
  }
}

function vitest(name: string, what: string, ...projects: string[]): Step {
  return {
    name,
    what,
    run: async (report, output) => {
      const chosen = projects.flatMap((project) => ['--project', project])
      const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`]
      const status = await command([bin('vitest'), 'run', ...chosen, ...reporters], output)
      const outcome = countJest(report)
      // An error outside of every test fails the run without failing a test.
      if (status !== 0 && outcome.failed === 0) outcome.failed = 1
      return outcome
    },
  }
}

/** Vitest writes the report format of Jest. */
function countJest(report: string): Outcome {
  if (!existsSync(report)) return { passed: 0, failed: 1 }
  const result = JSON.parse(readFileSync(report, 'utf8')) as {
    numPassedTests: number
    numFailedTests: number
    numTotalTests: number
    testResults: { status: string; assertionResults: unknown[] }[]
  }
  const brokenFiles = result.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  )
  return { passed: result.numPassedTests, failed: result.numFailedTests + brokenFiles.length }
}

async function playwright(folder: string, report: string, output: Output): Promise<Outcome> {
  const more = { PLAYWRIGHT_JSON_OUTPUT_FILE: report }
  await command([bin('playwright'), 'test', '--config', `${folder}/playwright.config.ts`], output, more)
  return countPlaywright(report)
}

function countPlaywright(report: string): Outcome {
  if (!existsSync(report)) return { passed: 0, failed: 1 }
  const { stats, errors } = JSON.parse(readFileSync(report, 'utf8')) as {
    stats: { expected: number; unexpected: number; flaky: number }
    errors: unknown[]
  }
  return { passed: stats.expected, failed: stats.unexpected + stats.flaky + errors.length }
}

function command(argv: string[], output: Output, more: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(argv[0]!, argv.slice(1), {
      cwd: root,
      env: { ...env, ...more },
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
