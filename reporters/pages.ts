import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { pageOfFailure } from '../src/report/failure-page.js'
import { escaped } from '../src/report/page/document.js'

/** The story of one failed test. */
export interface FailedTest {
  /** Project, file and names of suites, outermost first, the test's own name last. */
  readonly titles: readonly string[]
  /** Below the root of the project, with slashes. */
  readonly file: string
  /** Where in it the first error was thrown. */
  readonly line?: number | undefined
  /** The first line of the first error. */
  readonly error?: string | undefined
  /** All of it, on which the page opens. */
  readonly message?: string | undefined
  /** What `JSON.stringify(sandbox.traffic)` gave. */
  readonly trace: string
}

export interface ReporterOptions {
  /** Directory of the pages, made anew by each run. Default `stuntdouble-report`. */
  readonly outputDir?: string
}

export const defaultDirectory = 'stuntdouble-report'

/** Writes a page for each story, in the given order, and an index of them; returns the index's path, `undefined` when there is nothing to tell. */
export function writePages(directory: string, tests: readonly FailedTest[]): string | undefined {
  rmSync(directory, { recursive: true, force: true })
  if (tests.length === 0) return undefined
  mkdirSync(directory, { recursive: true })
  const digits = String(tests.length).length
  const rows = tests.map((test, index) => {
    const name = `${String(index + 1).padStart(digits, '0')}-${slug(test.titles.at(-1) ?? '')}.html`
    writeFileSync(
      join(directory, name),
      pageOfFailure({ title: titleOf(test), trace: test.trace, message: test.message }),
    )
    const place = test.line === undefined ? test.file : `${test.file}:${test.line}`
    const error = test.error === undefined ? '' : `<br><code>${escaped(test.error)}</code>`
    return `<li><a href="${encodeURIComponent(name)}">${escaped(titleOf(test))}</a> <small>${escaped(place)}</small>${error}</li>`
  })
  const path = join(directory, 'index.html')
  writeFileSync(path, indexPage(rows))
  return path
}

/** The file below the root, as every system writes it in a url. */
export function relativeTo(root: string, file: string): string {
  return relative(root, file).replaceAll('\\', '/')
}

/** What a failure says first, without colours; the story that follows it is on the page. */
export function firstLine(message: string | undefined): string | undefined {
  const [line = ''] = stripVTControlCharacters(message ?? '')
    .trimStart()
    .split('\n')
  return line === '' ? undefined : line.slice(0, longestLine)
}
const longestLine = 300

/**
 * Stories in the order in which their tests began, those of one file together: files run side by side.
 */
export class RunOrder {
  readonly #files = new Map<string, number>()
  readonly #tests = new Map<string, readonly [file: number, test: number]>()

  /** A test begins, perhaps again. @param file whatever tells files and projects apart */
  began(id: string, file: string): void {
    if (this.#tests.has(id)) return
    if (!this.#files.has(file)) this.#files.set(file, this.#files.size)
    this.#tests.set(id, [this.#files.get(file)!, this.#tests.size])
  }

  sorted<T>(stories: ReadonlyMap<string, T>): T[] {
    const placeOf = (id: string): readonly [number, number] => this.#tests.get(id) ?? [this.#files.size, 0]
    return [...stories]
      .sort(([a], [b]) => placeOf(a)[0] - placeOf(b)[0] || placeOf(a)[1] - placeOf(b)[1])
      .map(([, story]) => story)
  }
}

function titleOf({ titles }: FailedTest): string {
  return titles.filter((title) => title !== '').join(' › ')
}

/** A name that every file system takes. */
function slug(title: string): string {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? ['test']
  return words.join('-').slice(0, 60)
}

function indexPage(rows: readonly string[]): string {
  const title = rows.length === 1 ? 'One failed test' : `${rows.length} failed tests`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem } li { margin-block: .5rem } small { opacity: .7 } code { font-size: .85em; overflow-wrap: anywhere }</style>
</head>
<body>
<h1>${title}</h1>
<ol>
${rows.join('\n')}
</ol>
</body>
</html>
`
}
