import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { transportTable, unsupported } from './transport.js'

const folder = new URL('.', import.meta.url)
const textOf = (file: string): string => readFileSync(new URL(file, folder), 'utf8')
const groups = (texts: readonly string[], pattern: RegExp): (string | undefined)[] =>
  texts.flatMap((text) => [...text.matchAll(pattern)].map(([, found]) => found))

test('runs the contract for every adapter', () => {
  const sources = readdirSync(new URL('adapters/', folder)).map((file) => textOf(`adapters/${file}`))
  const tests = readdirSync(folder).flatMap((file) => (file.endsWith('.test.ts') ? [textOf(file)] : []))
  const defined = groups(sources, /^export const (\w+): \w+Adapter /gm)
  expect(groups(sources, /^ {2}name: '(.+)',$/gm)).toEqual(expect.arrayContaining(Object.keys(unsupported)))
  expect(groups(sources, /^ {2}name: '(.+)',$/gm)).toHaveLength(defined.length)
  expect(groups(tests, /^contractSuite\((\w+)/gm).sort()).toEqual(defined.sort())
})

test('finds the page of adapters up to date: `npm run docs` writes it', () => {
  expect(textOf('../../docs/adapters/index.md')).toBe(transportTable())
})
