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
  run: (report: string) => Promise<Outcome>
}

const root = new URL('..', import.meta.url).pathname
const bin = (name: string): string => join(root, 'node_modules', '.bin', name)
/** TypeScript's native compiler takes a tenth of the time; the packages that build on the compiler's JavaScript need version 6. */
const tsc = [process.execPath, join(root, 'node_modules/typescript-7/bin/tsc')]
const reports = mkdtempSync(join(tmpdir(), 'stuntdouble-test-'))
// The scripts of package.json find Node 24 first on their path; a direct call of this file shall, too.
// Texts are compared as they are without colours, those of child processes too.
const env = { ...process.env, NO_COLOR: '1', PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}` }

const steps: Step[] = [
  check('types', 'type check', [
    [...tsc, '-p', '.'],
    [...tsc, '-p', 'test'],
  ]),
  check('lint', 'lint and format', [[bin('biome'), 'check', '--error-on-warnings', '.']]),
  check('build', 'build', [[bin('tsup'), '--silent']]),
  vitest('unit', 'unit tests', 'shared', 'alone'),
  vitest('package', 'the packed package: entries, types, publint, attw', 'package'),
  {
    name: 'jest',
    what: 'Jest on the CommonJS build',
    run: async (report) => {
      const args = ['--config', 'test/jest/jest.config.cjs', '--json', '--outputFile', report]
      await command([bin('jest'), ...args])
      return countJest(report)
    },
  },
  {
    name: 'playwright',
    what: "Playwright with a browser and an app's own server",
    missing: () => (findChromium() ? undefined : noChromium),
    run: (report) => playwright('test/playwright', report),
  },
  {
    name: 'site',
    what: 'the site in a browser',
    missing: () => (findChromium() ? undefined : noChromium),
    run: (report) => playwright('test/site', report),
  },
  {
    ...vitest('twin', 'comparison with a real redis-server', 'twin'),
    missing: () =>
      findRedisServer()
        ? undefined
        : 'there is no redis-server on this machine (`npm run test:twin` obtains one from Debian)',
  },
]

await main(process.argv.slice(2))

async function main(wanted: string[]): Promise<void> {
  const unknown = wanted.find((name) => !steps.some((step) => step.name === name))
  if (unknown !== undefined) {
    console.error(`There is no step ${unknown}. Use one of: ${steps.map((step) => step.name).join(', ')}.`)
    process.exit(2)
  }
  // Asked for by name, the real server is fetched; a plain `npm test` only uses what is there.
  if (wanted.includes('twin') && !findRedisServer()) await obtainRedisServer()
  const total: Outcome = { passed: 0, failed: 0 }
  const lines: string[] = []
  for (const step of steps) {
    if (wanted.length > 0 && !wanted.includes(step.name)) continue
    const missing = step.missing?.()
    if (missing !== undefined) {
      lines.push(`${step.what}: not run, because ${missing}.`)
      continue
    }
    console.log(`\n── ${step.what}`)
    const start = performance.now()
    const outcome = await step.run(join(reports, `${step.name}.json`))
    const seconds = Math.round((performance.now() - start) / 1000)
    total.passed += outcome.passed
    total.failed += outcome.failed
    lines.push(`${step.what}: ${outcome.passed} passed, ${outcome.failed} failed, ${seconds} s`)
  }
  rmSync(reports, { recursive: true, force: true })
  console.log(`\n${lines.join('\n')}\n\n${total.passed} passed, ${total.failed} failed`)
  process.exitCode = total.failed > 0 ? 1 : 0
}

/** A step that passes or fails as a whole: each command counts as one. */
function check(name: string, what: string, commands: string[][]): Step {
  return {
    name,
    what,
    run: async () => {
      const outcome: Outcome = { passed: 0, failed: 0 }
      for (const argv of commands) {
        if ((await command(argv)) === 0) outcome.passed++
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
    run: async (report) => {
      const chosen = projects.flatMap((project) => ['--project', project])
      const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`]
      const status = await command([bin('vitest'), 'run', ...chosen, ...reporters])
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

async function playwright(folder: string, report: string): Promise<Outcome> {
  const more = { PLAYWRIGHT_JSON_OUTPUT_FILE: report }
  await command([bin('playwright'), 'test', '--config', `${folder}/playwright.config.ts`], more)
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

function command(argv: string[], more: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(argv[0]!, argv.slice(1), { cwd: root, env: { ...env, ...more }, stdio: 'inherit' })
    child.on('error', (error) => {
      console.error(`${argv[0]} did not start: ${error.message}`)
      resolve(1)
    })
    child.on('close', (code) => resolve(code ?? 1))
  })
}
