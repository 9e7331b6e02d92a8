import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = new URL('../..', import.meta.url).pathname
const page = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8')
const [own = '', others = ''] = page.split('\n## Errors of other tools\n')

/** The strings of the sources, without the escapes of quotes. */
const sources = globSync('{src,matchers,fixtures,packages/*/src}/**/*.ts', {
  cwd: root,
  exclude: ['**/node_modules/**'],
})
  .map((file) => readFileSync(join(root, file), 'utf8').replace(/\\(['"`])/g, '$1'))
  .join('\n')

const headingsOf = (text: string): string[] => [...text.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading!)

/** Returns the fixed words of a heading: the parts between names, numbers and URLs. */
const fixedWordsOf = (heading: string): string[] =>
  heading
    .split('…')
    .map((part) => part.trim())
    .filter((part) => /\w/.test(part))

describe('the headings of docs/troubleshooting.md', () => {
  test('are many, and each one is unique', () => {
    const all = headingsOf(page)
    expect(all.length).toBeGreaterThan(25)
    expect(new Set(all).size).toBe(all.length)
    expect(headingsOf(others).length).toBeGreaterThan(0)
  })

  test.each(headingsOf(own))('%s occurs in the sources', (heading) => {
    const words = fixedWordsOf(heading)
    expect(words.length).toBeGreaterThan(0)
    expect(words.filter((part) => !sources.includes(part))).toEqual([])
  })
})

test('the tests on docs/troubleshooting.md are those of troubleshooting-fixes.test.ts', () => {
  const flush = (text: string): string => text.replace(/^ +/gm, '')
  const fixes = flush(readFileSync(join(root, 'test/house/troubleshooting-fixes.test.ts'), 'utf8'))
  const shown = [...page.matchAll(/^```ts\n(test\([\s\S]*?)^```$/gm)].map(([, code]) => code!)
  expect(shown.length).toBeGreaterThan(5)
  expect(shown.filter((code) => !fixes.includes(flush(code)))).toEqual([])
  expect(shown).toHaveLength(fixes.match(/^test\(/gm)!.length)
})
