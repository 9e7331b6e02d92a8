// `node test/prose/check-prose.ts [PATH…]`: finds retired words in comments, texts, titles of tests and pages,
// and sentences of pages that are too long.
// Runs on Node's type stripping, so its syntax is erasable.
import { globSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { longSentences, proseOf, proseOfPage, withoutCode } from './prose.ts'
import { retiredWords } from './retired-words.ts'

export interface Find {
  readonly line: number
  readonly kind: string
  readonly word: string
  readonly write: string
  readonly text: string
}

const folders = ['src', 'matchers', 'fixtures', 'packages', 'test', 'docs']
const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md']
/** The table and the test of this check quote the retired words. */
const quoting = /^test\/prose\//
const patterns = retiredWords.map((entry) => ({ ...entry, pattern: new RegExp(`\\b(?:${entry.words})(?!\\w)`, 'i') }))

/** The retired words of a source file or a page. */
export function retiredIn(file: string, source: string): Find[] {
  const own = patterns.filter(({ allowedIn = [] }) => !allowedIn.some((folder) => file.startsWith(`${folder}/`)))
  return (file.endsWith('.md') ? proseOfPage(source) : proseOf(file, source)).flatMap(({ line, kind, text }) =>
    own.flatMap(({ pattern, write }) => {
      const word = pattern.exec(withoutCode(text))?.[0]
      return word === undefined ? [] : [{ line, kind, word, write, text }]
    }),
  )
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const given = process.argv.slice(2)
  const inFolders = (given.length > 0 ? given : [...folders, ...pages]).map((path) => `${path}{,/**/*.{ts,tsx,mts,md}}`)
  const files = globSync(inFolders, { exclude: ['**/node_modules/**'] })
    .filter((file) => /\.(?:m?tsx?|md)$/.test(file) && !quoting.test(file))
    .sort()
  let count = 0
  for (const file of files) {
    if (file.endsWith('.md')) {
      for (const { line, text } of longSentences(readFileSync(file, 'utf8'))) {
        count++
        console.log(`${file}:${line}: more than 28 words: split it\n    ${text}`)
      }
    }
    for (const { line, kind, word, write, text } of retiredIn(file, readFileSync(file, 'utf8'))) {
      count++
      console.log(`${file}:${line}: ${kind}: "${word}": write ${write}\n    ${text.replace(/\s+/g, ' ').slice(0, 160)}`)
    }
  }
  console.log(`${count === 0 ? 'No' : count} problems in ${files.length} files.`)
  process.exitCode = count === 0 ? 0 : 1
}
