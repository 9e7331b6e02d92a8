import { plainText } from '../../src/report/safe-text.js'

/** The test that asks, as its runner knows it. */
export interface TestLocation {
  readonly runner: 'vitest' | 'jest' | 'playwright'
  /** Absolute, or relative to where the runner was started. */
  readonly file: string
  /** The names of suites, outermost first, and the test's own. */
  readonly names?: readonly string[]
  readonly line?: number | undefined
  readonly project?: string | undefined
}

/** The variable from which the fixtures take the seed of a world, whatever its options say. */
export const seedVariable = 'STUNTDOUBLE_SEED'

/**
 * The command that runs one test again, for a POSIX shell.
 * @example STUNTDOUBLE_SEED=7 npx vitest run test/orders.test.ts -t 'a retried order'
 */
export function replayCommand(place: TestLocation, seed: number | string | undefined): string {
  const file = fromHere(place.file)
  const words = {
    vitest: () => ['vitest', 'run', ...project(place), file, ...named(place)],
    // Both take a file as an expression.
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

/** Longer names are cut: a filter looks for its text anywhere in the name. */
const maxName = 200

function named({ names = [] }: TestLocation): string[] {
  // Versions of runners write blanks between names, or ` > `.
  const expression = names.map((name) => [...name.slice(0, maxName)].map(charInExpression).join('')).join('.*')
  // A runner would take the word for an option.
  return expression === '' ? [] : ['-t', expression.replace(/^-/, '[-]')]
}

function charInExpression(char: string): string {
  if (/[\\^$.*+?()[\]{}|]/.test(char)) return `\\${char}`
  // Escapes of an expression, but for those that take a flag.
  const plain = plainText(char)
  return plain.startsWith('\\u{') ? '..' : plain
}

/** A path as an expression; a dot stands for itself well enough. */
function inExpression(path: string): string {
  return path.replace(/[\\^$*+?()[\]{}|]/g, '\\$&')
}

/** A text with the paths in it as they are seen from where the runner was started. */
export function fromHere(text: string): string {
  const { process } = globalThis as { process?: { cwd?: () => string } }
  const here = process?.cwd?.()
  const plain = plainText(text).replaceAll('file:///', '/')
  return here === undefined || here === '/' ? plain : plain.replaceAll(`${here}/`, '')
}

/** A word that a POSIX shell takes as it is. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** What a runner tells a matcher of the test that it runs in. */
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

/** For a runner that tells its matchers nothing: where to ask. */
export function askForPlace(place: () => TestLocation | undefined): void {
  known = place
}

/** The place of a matcher, by what its runner tells it; `undefined` outside of one. */
export function placeOf(state: unknown): TestLocation | undefined {
  const { task, testPath, currentTestName } = (state ?? {}) as RunnerState
  if (typeof task === 'object' && task !== null) return placeOfTask(task)
  if (typeof testPath !== 'string') return known?.()
  const name = typeof currentTestName === 'string' ? currentTestName : ''
  if ('__vitest_worker__' in globalThis) return { runner: 'vitest', file: testPath, names: name.split(' > ') }
  return { runner: 'jest', file: testPath, names: [name] }
}

/** The place of a test of Vitest. */
export function placeOfTask(task: object): TestLocation | undefined {
  const { name = '', suite, file } = task as Task
  if (file?.filepath === undefined) return undefined
  const names = [name]
  for (let one = suite; one !== undefined; one = one.suite) if (one.name) names.unshift(one.name)
  return { runner: 'vitest', file: file.filepath, names, project: file.projectName }
}

/** The place of a test of Playwright. */
export function placeOfInfo(info: {
  readonly file: string
  readonly line: number
  readonly project: { readonly name: string }
}): TestLocation {
  return { runner: 'playwright', file: info.file, line: info.line, project: info.project.name }
}
