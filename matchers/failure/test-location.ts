import { hostDirectory } from '../../src/kernel/host.js'
import { plainText } from '../../src/report/safe-text.js'

/** Location of a test, as the test runner reports it. */
export interface TestLocation {
  /** Test runner of the test. The replay command begins with its name. */
  readonly runner: 'vitest' | 'jest' | 'playwright'
  /** Path, absolute or relative to the directory in which the runner was started. */
  readonly file: string
  /** Names of the suites, outermost first, and of the test. */
  readonly names?: readonly string[]
  /** Line of the test in the file, from 1. Only Playwright provides it. */
  readonly line?: number | undefined
  /**
   * Name of the project in the configuration of the runner. Absent if there is no project, or if the runner does not
   * report it.
   */
  readonly project?: string | undefined
}

/** Environment variable that overrides the seed of a sandbox that a fixture creates. */
export const seedVariable = 'STUNTDOUBLE_SEED'

/**
 * Returns the command that runs one test again, for a POSIX shell.
 * @example STUNTDOUBLE_SEED=7 npx vitest run test/orders.test.ts -t 'a retried order'
 */
export function replayCommand(place: TestLocation, seed: number | string | undefined): string {
  const file = fromHere(place.file)
  const words = {
    vitest: () => ['vitest', 'run', ...project(place), file, ...named(place)],
    // Jest and Playwright parse the path of a file as a regular expression.
    jest: () => ['jest', inExpression(file), ...named(place)],
    playwright: () => [
      'playwright',
      'test',
      ...project(place),
      `${inExpression(file)}${place.line === undefined ? '' : `:${place.line}`}`,
    ],
  }[place.runner]()
  const lead = seed === undefined ? '' : `${seedVariable}=${shellWord(plainText(String(seed)))} `
  return `${lead}npx ${words.map(shellWord).join(' ')}`
}

function project({ project: name }: TestLocation): string[] {
  return name === undefined || name === '' ? [] : [`--project=${plainText(name)}`]
}

/**
 * Maximum number of characters of a name in a filter. The filter may match any part of a test's name, so the beginning
 * is enough.
 */
const maxName = 200

function named({ names = [] }: TestLocation): string[] {
  // Some versions of Vitest join names with a space, others with ` > `.
  const expression = names.map((name) => [...name.slice(0, maxName)].map(charInExpression).join('')).join('.*')
  // The runner would parse a leading dash as an option, so write it as `[-]`.
  return expression === '' ? [] : ['-t', expression.replace(/^-/, '[-]')]
}

function charInExpression(char: string): string {
  if (/[\\^$.*+?()[\]{}|]/.test(char)) return `\\${char}`
  // The regular expressions of the runners have no `u` flag, so they cannot contain `\u{…}`. Match the two UTF-16 units
  // of the character with `..` instead.
  const plain = plainText(char)
  return plain.startsWith('\\u{') ? '..' : plain
}

/** Escapes a path for a regular expression. A dot is not escaped, because it also matches itself. */
function inExpression(path: string): string {
  return path.replace(/[\\^$*+?()[\]{}|]/g, '\\$&')
}

/** Returns a copy of a text in which all paths are relative to the working directory. */
export function fromHere(text: string): string {
  const here = hostDirectory()
  const plain = plainText(text).replaceAll('file:///', '/')
  return here === undefined || here === '/' ? plain : plain.replaceAll(`${here}/`, '')
}

/** Quotes an argument for a POSIX shell. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** Data about the test that a runner passes to a matcher. */
interface RunnerState {
  readonly testPath?: unknown
  readonly currentTestName?: unknown
  readonly task?: unknown
}

interface Task {
  readonly name?: string
  readonly suite?: Task
  readonly file?: { readonly filepath?: string; readonly projectName?: string }
}

let known: (() => TestLocation | undefined) | undefined

/**
 * Sets the function that returns the location of the running test. It is needed for runners that do not pass the
 * location to matchers.
 */
export function askForPlace(place: () => TestLocation | undefined): void {
  known = place
}

/** Returns the location of the test that called a matcher. Returns `undefined` outside of a runner. */
export function placeOf(state: unknown): TestLocation | undefined {
  const { task, testPath, currentTestName } = (state ?? {}) as RunnerState
  if (typeof task === 'object' && task !== null) return placeOfTask(task)
  if (typeof testPath !== 'string') return known?.()
  const name = typeof currentTestName === 'string' ? currentTestName : ''
  if ('__vitest_worker__' in globalThis) return { runner: 'vitest', file: testPath, names: name.split(' > ') }
  return { runner: 'jest', file: testPath, names: [name] }
}

export function placeOfTask(task: object): TestLocation | undefined {
  const { name = '', suite, file } = task as Task
  if (file?.filepath === undefined) return undefined
  const names = [name]
  for (let one = suite; one !== undefined; one = one.suite) if (one.name) names.unshift(one.name)
  return { runner: 'vitest', file: file.filepath, names, project: file.projectName }
}

export function placeOfInfo(info: {
  readonly file: string
  readonly line: number
  readonly project: { readonly name: string }
}): TestLocation {
  return { runner: 'playwright', file: info.file, line: info.line, project: info.project.name }
}
