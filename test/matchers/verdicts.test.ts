import { sandboxMatchers } from 'stuntdouble/matchers'
import { afterAll, expect, test } from 'vitest'
import { broken, rows, world } from './verdicts.js'

const given = await world()
afterAll(() => given.dispose())

test('every matcher answers as the table says', () => {
  expect(broken(sandboxMatchers, given)).toEqual([])
})

test('the table has a verdict of both kinds for every matcher', () => {
  for (const matcher of Object.keys(sandboxMatchers)) {
    // A command has no place of its own in the world.
    const kinds = matcher === 'commandOf' ? [false] : [false, true]
    const verdicts = new Set(rows.filter((row) => row.matcher === matcher).map(({ pass }) => pass))
    expect([...verdicts].sort(), matcher).toEqual(kinds)
  }
})
