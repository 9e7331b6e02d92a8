import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { escaped, toHtml } from '../src/report/html.js'

/** The story of one failed test. */
export interface FailedTest {
  /** Project, file and names of suites, outermost first, the test's own name last. */
  readonly titles: readonly string[]
  readonly file: string
  /** What `JSON.stringify(sandbox.traffic)` gave. */
  readonly trace: string
}

export interface ReporterOptions {
  /** Directory of the pages, made anew by each run. Default `stuntdouble-report`. */
  readonly outputDir?: string
}

export const defaultDirectory = 'stuntdouble-report'

/** Writes a page for each story and an index of them; returns the index's path, `undefined` when there is nothing to tell. */
export function writePages(directory: string, tests: readonly FailedTest[]): string | undefined {
  rmSync(directory, { recursive: true, force: true })
  if (tests.length === 0) return undefined
  mkdirSync(directory, { recursive: true })
  const sorted = [...tests].sort((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1))
  const digits = String(sorted.length).length
  const rows = sorted.map((test, index) => {
    const name = `${String(index + 1).padStart(digits, '0')}-${slug(test.titles.at(-1) ?? '')}.html`
    writeFileSync(join(directory, name), toHtml(test.trace, { title: titleOf(test) }))
    return `<li><a href="${encodeURIComponent(name)}">${escaped(titleOf(test))}</a> <small>${escaped(test.file)}</small></li>`
  })
  const path = join(directory, 'index.html')
  writeFileSync(path, indexPage(rows))
  return path
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
<style>body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem } small { opacity: .7 }</style>
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
