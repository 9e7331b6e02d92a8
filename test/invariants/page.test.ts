import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { faultKinds } from '../../src/faults/catalog.js'
import { invariants } from '../../src/invariants/invariant-table.js'
import { withPromiseTable } from '../support/promise-table.js'

test('the table of invariants in docs/invariants.md is up to date; `npm run docs` writes it', () => {
  const page = readFileSync(new URL('../../docs/invariants.md', import.meta.url), 'utf8')
  expect(page).toBe(withPromiseTable(page))
})

test('invariants are suspended only by existing kinds of faults', () => {
  const named = invariants.flatMap(({ suspendedBy = {} }) => Object.keys(suspendedBy))
  expect(named.filter((kind) => !(faultKinds as readonly string[]).includes(kind))).toEqual([])
})
