import { expect, test } from 'vitest'
import { sandboxFetch } from './adapters/fetch.js'
import { cases } from './cases.js'
import { contractSuite } from './suite.js'

test('has more than 140 cases, each with a title of its own', () => {
  expect(cases.length).toBeGreaterThan(140)
  expect(new Set(cases.map(({ title }) => title)).size).toBe(cases.length)
})

contractSuite(sandboxFetch, cases)
