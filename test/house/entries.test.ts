import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { entries, listedIn, moduleEntries, programs, read } from '../support/entries.js'

test.each(listedIn)('%s lists the entries: `npm run docs` writes it', (file, written) => {
  expect(JSON.parse(read(file))).toEqual(JSON.parse(written(read(file))))
})

test('each entry has a source file', () => {
  const sources = Object.values({ ...entries, ...moduleEntries, ...programs })
  expect(sources.filter((source) => !existsSync(new URL(`../../${source}`, import.meta.url)))).toEqual([])
})
