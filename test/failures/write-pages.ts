// Runs the failing tests of the pages and writes their output into the pages: `npm run docs -- failures`, after a
// build.
import { readFileSync, writeFileSync } from 'node:fs'
import { programOf, readPage, withOutputs } from './page.ts'
import { asShown, consumerOf, runUnder } from './runners.ts'

const root = new URL('../..', import.meta.url).pathname
const consumer = consumerOf(process.argv[2] ?? root)
try {
  const path = `${root}docs/reference/matchers.md`
  const page = readFileSync(path, 'utf8')
  const { tests } = await runUnder('vitest', consumer.path, programOf(readPage(page), 'vitest'))
  const outputs = [...tests].map(([title, { message }]): [string, string] => {
    if (message === undefined) throw new Error(`The test '${title}' shall fail, and it passed.`)
    return [title, asShown('vitest', message, title)]
  })
  writeFileSync(path, withOutputs(page, new Map(outputs)))
} finally {
  consumer.remove()
}
