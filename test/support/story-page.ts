// The case studies of docs/case-studies.md: each test, its failure and the fix. `npm run docs` writes
// them; `npm run docs -- stories` first runs the case studies and stores their failures.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { diffLines } from '../../matchers/text-diff.js'

const studies = new URL('../../examples/case-studies/', import.meta.url)
const begin = /^<!-- generated: case study ([\w-]+) -->$/gm
const end = '<!-- end -->'

/** Names of all case studies. */
export const caseStudyNames: readonly string[] = readdirSync(studies)
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => file.replace('.test.ts', ''))

/** Returns the names of case studies on a page, in order. */
export function shownStudies(page: string): string[] {
  return [...page.matchAll(begin)].map(([, name]) => name!)
}

/** Returns the page with its case studies up to date. */
export function withCaseStudies(page: string): string {
  let out = page
  for (const name of shownStudies(page)) {
    const mark = `<!-- generated: case study ${name} -->`
    const from = out.indexOf(mark)
    const to = out.indexOf(end, from)
    if (to === -1) throw new Error(`docs/case-studies.md has no end of the case study ${name}.`)
    out = `${out.slice(0, from)}${mark}\n\n${studyBlocks(name)}\n\n${out.slice(to)}`
  }
  return out
}

function studyBlocks(name: string): string {
  const read = (file: string): string => readFileSync(new URL(file, studies), 'utf8')
  // If the fix is in the test, there is one app, and the page describes the fix.
  const isOneApp = !existsSync(new URL(`${name}/broken.ts`, studies))
  return [
    block('ts', testIn(read(`${name}.test.ts`))),
    block('text', read(`${name}/failure.txt`).trimEnd()),
    isOneApp
      ? block('ts', read(`${name}/app.ts`).trimEnd())
      : block('diff', difference(read(`${name}/broken.ts`), read(`${name}/fixed.ts`))),
  ].join('\n\n')
}

function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

/** Returns the lines inside `caseStudy(…)`. */
function testIn(source: string): string {
  const inside = /^caseStudy\([\s\S]*?\(test, app\) => \{\n([\s\S]*?)^\}\)/m.exec(source)?.[1]
  if (inside === undefined) throw new Error('There is no case study in this file.')
  return inside
    .split('\n')
    .map((line) => line.replace(/^ {2}/, ''))
    .join('\n')
    .trimEnd()
}

const context = 2

/** Returns the changed lines with some context. */
function difference(before: string, after: string): string {
  const lines = diffLines(before.trimEnd().split('\n'), after.trimEnd().split('\n'))
  const isNear = (at: number): boolean =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(([mark]) => mark !== ' ')
  return lines
    .flatMap(([mark, text], at) => {
      if (!isNear(at)) return at > 0 && isNear(at - 1) && at < lines.length - 1 ? ['@@'] : []
      return [`${mark} ${text}`.trimEnd()]
    })
    .join('\n')
    .replace(/\n@@$/, '')
}
