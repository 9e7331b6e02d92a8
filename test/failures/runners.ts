// Runs tests that must fail under the real runners, in child processes, and reads their output. Node runs this file
// with type stripping, so its syntax is erasable.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Runner = 'vitest' | 'jest' | 'jest as a module' | 'playwright'

/** Result of one test. */
export interface Told {
  /** Message of the failure, `undefined` when the test passed. */
  readonly message: string | undefined
}

export interface Run {
  readonly runner: Runner
  readonly tests: ReadonlyMap<string, Told>
  /** Output in the terminal, without colors. */
  readonly printed: string
}

interface RunnerFacts {
  readonly file: string
  /** Returns the lines above the tests. They define `test`, `expect` and the names in `names`. */
  readonly head: (names: readonly string[]) => string
  readonly config?: readonly [file: string, text: string]
  readonly command: (modules: string, report: string) => readonly string[]
  readonly env?: (report: string) => Readonly<Record<string, string>>
  readonly read: (report: string) => ReadonlyMap<string, Told>
}

const importNames = (names: readonly string[]): string => `import { ${names.join(', ')} } from 'stuntdouble'`

const runners: Readonly<Record<Runner, RunnerFacts>> = {
  vitest: {
    file: 'failures.test.mjs',
    head: (names) =>
      `import { expect, test } from 'vitest'\nimport 'stuntdouble/vitest/extend'\n${importNames(names)}\n`,
    command: (modules, report) => [
      join(modules, 'vitest/vitest.mjs'),
      'run',
      '--root=.',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ],
    read: readJest,
  },
  jest: {
    file: 'failures.test.cjs',
    head: (names) => `require('stuntdouble/jest/extend')\nconst { ${names.join(', ')} } = require('stuntdouble')\n`,
    config: ['jest.config.cjs', jestConfig('cjs')],
    command: jestCommand,
    read: readJest,
  },
  'jest as a module': {
    file: 'failures.test.mjs',
    head: (names) => `import 'stuntdouble/jest/extend'\n${importNames(names)}\n`,
    config: ['jest.config.cjs', jestConfig('mjs')],
    command: jestCommand,
    env: () => ({ NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning' }),
    read: readJest,
  },
  playwright: {
    file: 'failures.spec.mjs',
    head: (names) =>
      `import { expect, test } from '@playwright/test'\nimport 'stuntdouble/playwright/extend'\n${importNames(names)}\n`,
    config: [
      'playwright.config.mjs',
      'export default { workers: 2, fullyParallel: true, preserveOutput: "never", outputDir: "./results" }\n',
    ],
    command: (modules) => [join(modules, '@playwright/test/cli.js'), 'test', '--reporter=list,json'],
    env: (report) => ({ PLAYWRIGHT_JSON_OUTPUT_FILE: report }),
    read: readPlaywright,
  },
}

export const runnerNames = Object.keys(runners) as readonly Runner[]

function jestConfig(suffix: string): string {
  return `module.exports = { rootDir: __dirname, testMatch: ['<rootDir>/*.test.${suffix}'], transform: {}, testEnvironment: 'node', haste: { enableSymlinks: false } }\n`
}

function jestCommand(modules: string, report: string): readonly string[] {
  return [join(modules, 'jest/bin/jest.js'), '--ci', '--runInBand', '--json', `--outputFile=${report}`]
}

/**
 * Makes a directory in which programs can import the package from another directory by its name, and everything that
 * this repository has installed.
 */
export function consumerOf(packageDirectory: string): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'stuntdouble-failures-'))
  const modules = join(path, 'node_modules')
  mkdirSync(modules)
  const installed = new URL('../../node_modules', import.meta.url).pathname
  for (const name of readdirSync(installed)) {
    if (name !== 'stuntdouble') symlinkSync(join(installed, name), join(modules, name))
  }
  symlinkSync(packageDirectory, join(modules, 'stuntdouble'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Returns the lines that define `test`, `expect` and these names of the package for a runner. */
export function headOf(runner: Runner, names: readonly string[]): string {
  return runners[runner].head(names)
}

/** Returns an import of names from another entry of the package. */
export function importFrom(runner: Runner, entry: string, names: readonly string[]): string {
  const all = `{ ${names.join(', ')} }`
  return runner === 'jest' ? `const ${all} = require('${entry}')\n` : `import ${all} from '${entry}'\n`
}

/**
 * Runs tests under one runner.
 * @param code tests in plain JavaScript, with their head
 */
export async function runUnder(runner: Runner, consumer: string, code: string): Promise<Run> {
  const facts = runners[runner]
  const place = mkdtempSync(join(consumer, `${runner.replaceAll(' ', '-')}-`))
  writeFileSync(join(place, facts.file), code)
  if (facts.config !== undefined) writeFileSync(join(place, facts.config[0]), facts.config[1])
  const report = join(place, 'report.json')
  const command = facts.command(join(consumer, 'node_modules'), report)
  const printed = await output(command, place, facts.env?.(report) ?? {})
  let tests: ReadonlyMap<string, Told>
  try {
    tests = facts.read(readFileSync(report, 'utf8'))
  } catch (error) {
    throw new Error(`${runner} wrote no report:\n${printed}`, { cause: error })
  }
  if (tests.size === 0) throw new Error(`${runner} ran no test:\n${printed}`)
  rmSync(place, { recursive: true, force: true })
  return { runner, tests, printed }
}

function output(command: readonly string[], cwd: string, more: Readonly<Record<string, string>>): Promise<string> {
  const { NODE_OPTIONS: _, VITEST: _vitest, FORCE_COLOR: _color, ...clean } = process.env
  // An inner runner must not read the settings of the outer one.
  const env = Object.fromEntries(
    Object.entries(clean).filter(([name]) => !/^(?:VITEST|JEST|PLAYWRIGHT|TEST)_/.test(name)),
  )
  return new Promise((resolve) => {
    const own = { ...env, NO_COLOR: '1', CI: '1', ...more } as unknown as NodeJS.ProcessEnv
    const child = spawn(process.execPath, command, { cwd, env: own })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', (part: string) => {
        text += part
      })
    }
    child.on('close', () => resolve(plain(text)))
  })
}

function plain(text: string): string {
  return text.replace(/\x1b\[[\d;]*m/g, '')
}

interface JestReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly { title: string; status: string; failureMessages: readonly string[] }[]
  }[]
}

/** Reads the report of Vitest or Jest, which have the same format. */
function readJest(report: string): ReadonlyMap<string, Told> {
  const { testResults } = JSON.parse(report) as JestReport
  return new Map(
    testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .map(({ title, status, failureMessages }) => [
        title,
        { message: status === 'passed' ? undefined : messageOf(failureMessages[0] ?? '') },
      ]),
  )
}

interface PlaywrightSuite {
  readonly suites?: readonly PlaywrightSuite[]
  readonly specs: readonly {
    readonly title: string
    readonly tests: readonly { readonly results: readonly { readonly errors: readonly { message?: string }[] }[] }[]
  }[]
}

function readPlaywright(report: string): ReadonlyMap<string, Told> {
  const tests = new Map<string, Told>()
  const visit = ({ suites = [], specs }: PlaywrightSuite): void => {
    for (const { title, tests: variants } of specs) {
      const message = variants[0]?.results[0]?.errors[0]?.message
      tests.set(title, { message: message === undefined ? undefined : messageOf(message) })
    }
    suites.forEach(visit)
  }
  const { suites } = JSON.parse(report) as { suites: readonly PlaywrightSuite[] }
  suites.forEach(visit)
  return tests
}

/** Removes the name of the error before a message, and the stack or the code frame after it. */
function messageOf(failure: string): string {
  return plain(failure)
    .replace(/^(?:\w*Error: )?/, '')
    .replace(/\n\n[ >]+\d+ \|[\s\S]*$/, '')
    .replace(/\n\s+at [^\n]*:\d+\)?(?:\n[\s\S]*)?$/, '')
    .trimEnd()
}

const replays: Readonly<Record<Runner, (title: string) => RegExp>> = {
  vitest: (title) => replayOf(`vitest run failures\\.test\\.mjs -t '?${title}'?`),
  jest: (title) => replayOf(`jest failures\\.test\\.cjs -t '?${title}'?`),
  'jest as a module': (title) => replayOf(`jest failures\\.test\\.mjs -t '?${title}'?`),
  playwright: () => replayOf('playwright test failures\\.spec\\.mjs:\\d+'),
}

function replayOf(command: string): RegExp {
  return new RegExp(`^Replay: STUNTDOUBLE_SEED=(\\S+) npx ${command}$`, 'm')
}

/** Returns a failure as the page shows it: with the command that repeats a test of the reader. */
export function asShown(runner: Runner, message: string, title: string): string {
  const name = /^\w+$/.test(title) ? title : `'${title}'`
  return message.replace(
    replays[runner](title),
    (_, seed) => `Replay: STUNTDOUBLE_SEED=${seed} npx vitest run test/shop.test.ts -t ${name}`,
  )
}

/** Whether the output contains these lines in order, all with the same indentation. */
export function isPrinted(printed: string, message: string): boolean {
  const wanted = message.split('\n')
  const lines = printed.split('\n')
  return lines.some((line, start) => {
    const at = line.indexOf(wanted[0]!)
    if (at === -1) return false
    const indent = /^ */.exec(lines[start + 1] ?? '')![0].length
    return [0, 2, 4, 6, indent].some((width) =>
      wanted.every((text, index) => {
        if (index === 0) return true
        return (lines[start + index] ?? '').trimEnd() === (text === '' ? '' : `${' '.repeat(width)}${text}`.trimEnd())
      }),
    )
  })
}
