import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { expect, test } from 'vitest'

/** Files that build regular expressions, and why input cannot make them backtrack. */
const known: Readonly<Record<string, string>> = {
  'src/protocol/dialect-detector.ts': 'of the names of the dialects, without any repetition',
  'src/scenarios/import/import-scenario.ts': 'of words that are written there',
  'src/protocol/gateway.ts': 'of a name of the dialect, followed by a class that is not repeated twice',
  'src/store/values/regex.ts': 'one char class; the matcher itself is ours and counts its steps',
  'matchers/compare-values.ts': 'an expression that the test itself has written',
}

test('a pattern from input never becomes a regular expression: src/kernel/address-pattern.ts reads it', async () => {
  const found: string[] = []
  for await (const file of glob('{src,fixtures,matchers,reporters}/**/*.ts')) {
    if (/new RegExp\(|[^.\w]RegExp\(/.test(readFileSync(file, 'utf8'))) found.push(file)
  }
  expect(found.sort()).toEqual(Object.keys(known).sort())
})
