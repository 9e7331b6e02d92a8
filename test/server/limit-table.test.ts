import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { serveArguments } from '../../src/server/config.js'
import { defaultLimits, limitRows } from '../../src/server/limits.js'
import { attacks } from '../endurance/attack-list.js'
import { withLimitTable } from '../support/limit-table.js'

test.each(['docs/server.md', 'SECURITY.md'])(
  '%s lists every limit as the table has it (`npm run docs` writes it)',
  (file) => {
    const page = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
    expect(page).toBe(withLimitTable(page))
  },
)

test('every limit of the server has a row and an option of the command line', () => {
  const options = limitRows.flatMap(({ set }) => (set.startsWith('--') ? [set.slice(2)] : []))
  expect(options.toSorted()).toEqual(
    Object.keys(defaultLimits)
      .map((name) => `max-${name}`)
      .toSorted(),
  )
  for (const name of options) expect(serveArguments).toHaveProperty(name)
})

test('the limits that stop attacks are in the table', () => {
  const names = attacks.flatMap(({ limit }) => limit ?? [])
  expect(names.length).toBeGreaterThan(3)
  for (const name of names) expect(limitRows.some(({ set, what }) => [set, what].includes(name)) ? '' : name).toBe('')
})
