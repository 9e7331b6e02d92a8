import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { cases } from './cases.js'
import { contractSuite } from './suite.js'
import { carriage, carriageTable } from './transport.js'
import { ways } from './ways.js'

test('there are more than 120 cases, each of its own', () => {
  expect(cases.length).toBeGreaterThan(120)
  expect(new Set(cases.map(({ title }) => title)).size).toBe(cases.length)
})

test('every way of the page is tested', () => {
  expect([...ways.map(({ name }) => name), 'stuntdouble/nock']).toEqual(expect.arrayContaining(Object.keys(carriage)))
})

test('the page is up to date: `npm run docs` writes it', () => {
  const page = new URL('../../docs/adapters/index.md', import.meta.url)
  expect(readFileSync(page, 'utf8')).toBe(carriageTable())
})

for (const kind of ways) contractSuite(kind)
