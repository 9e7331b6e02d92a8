import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sampleFiles, samplePages, samplesOf, withSamples } from '../support/samples.js'

const root = new URL('../..', import.meta.url).pathname
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

test.each(samplePages.filter((page) => samplesOf(read(page)).length > 0))(
  '%s shows files of examples as they are (`npm run docs` writes them)',
  (page) => expect(read(page)).toBe(withSamples(read(page))),
)

test('every file of examples/guides is shown on a page', () => {
  const shown = new Set(samplePages.flatMap((page) => samplesOf(read(page))))
  expect([...shown].filter((file) => file.startsWith('examples/guides/')).sort()).toEqual(sampleFiles)
})
