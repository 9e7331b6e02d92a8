import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { bundled, type Create } from '../../bench/bundled.js'
import { type Comparisons, compared, comparisonLines, guarded } from '../../bench/compared.js'
import type { Measured } from '../../bench/harness.js'
import { nameOf, rowsOf, withTable } from '../../bench/table.js'

const folder = new URL('../../bench/', import.meta.url)

describe.each([
  ['with', true, 503, 500],
  ['without', false, 200, 200],
] as const)('the bundle %s fault points', (_, withPoints, stored, delivered) => {
  let create: Create
  beforeAll(async () => {
    create = await bundled(withPoints)
  })

  test('rules are injected into a request to the store and a delivery, or not at all', async () => {
    using sandbox = create()
    sandbox.destinations.respond('https://shop.test/*', 200)
    sandbox.faults.add([
      { on: 'store.request', fault: { kind: 'status', status: 503 } },
      { on: 'queue.delivery', fault: { kind: 'status', status: 500 } },
    ])
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    const answer = await sandbox.fetch(`${sandbox.urls.store}/ping`, { headers })
    expect(answer.status).toBe(stored)
    sandbox.queue.publish({ to: 'https://shop.test/orders', retries: 0 })
    await sandbox.clock.drain()
    expect(sandbox.traffic.ofType('attempt').map(({ outcome }) => outcome?.status)).toEqual([delivered])
  })
})

test('no measurement rewrites sources, because they change', () => {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(({ name }) => name.endsWith('.ts'))
  expect(files.length).toBeGreaterThan(30)
  for (const { parentPath, name } of files)
    expect(readFileSync(`${parentPath}/${name}`, 'utf8'), name).not.toMatch(/\bonLoad\b|\btransform\s*\(/)
})

describe('comparison of two trees', () => {
  const measured = (figure: string, variant: string, amount: number): Measured => ({
    ...{ figure, variant, amount, baseline: 'peer', unit: 'µs', rounds: 15 },
    ...{ ratio: 1, low: 1, high: 1 },
  })
  const before = [
    [measured('GET', 'ours', 10), measured('gone', 'ours', 1)],
    [measured('GET', 'ours', 30), measured('gone', 'ours', 1)],
  ]
  const after = [
    [measured('GET', 'ours', 12), measured('new', 'ours', 1)],
    [measured('GET', 'ours', 33), measured('new', 'ours', 1)],
  ]
  const both = compared(before, after)

  test('divides the medians of the turns by name, with the range of the ratios', () => {
    expect(both.rows).toEqual([
      { name: 'GET: ours', unit: 'µs', before: 20, after: 22.5, ratio: 1.125, low: 1.1, high: 1.2 },
    ])
  })

  test('lists figures that only one tree has', () => {
    expect(both).toMatchObject({ onlyBefore: ['gone: ours'], onlyAfter: ['new: ours'] })
  })

  test('marks figures that are more than 10 % higher', () => {
    expect(comparisonLines(both)).toEqual([
      'GET: ours   1.13 ×  (1.10 to 1.20)      20.0 to     22.5 µs  more than 1.1',
      'Only before: gone: ours',
      'Only in this tree: new: ours',
    ])
    expect(comparisonLines(compared(before, before))[0]).not.toContain('more than')
  })
})

describe('the nightly guard', () => {
  const withRatios = (ratios: Record<string, number>): Comparisons => ({
    rows: Object.entries(ratios).map(([name, ratio]) => {
      return { name, word: name, unit: 'µs' as const, before: 1, after: ratio, ratio, low: ratio, high: ratio }
    }),
    onlyBefore: [],
    onlyAfter: [],
  })
  const names = (rows: Comparisons['rows']): string[] => rows.map(({ name }) => name)

  test.each([
    ['reports figures above 1.15, the largest first', { a: 1.15, b: 1.16, c: 1.29 }, {}, ['c', 'b'], []],
    ['fails for a figure above 1.3 in both runs', { a: 1.31, b: 1 }, { a: 1.4 }, ['a'], ['a']],
    ['only reports a figure above 1.3 in one run', { a: 1.31 }, { a: 1.3 }, ['a'], []],
    ['ignores another figure of the second run', { a: 1.2 }, { a: 2, b: 2 }, ['a'], []],
    ['passes without a slower figure', { a: 0.5 }, {}, [], []],
  ])('%s', (_, first, again, reported, failed) => {
    const outcome = guarded(withRatios(first), withRatios(again as Record<string, number>))
    expect(names(outcome.reported)).toEqual(reported)
    expect(names(outcome.failed)).toEqual(failed)
  })

  test('compares with a commit', () => {
    expect(readFileSync(new URL('base', folder), 'utf8')).toMatch(/^[0-9a-f]{40}\n$/)
  })
})

describe('the table of figures', () => {
  const page = readFileSync(new URL('../../docs/decisions/speed.md', import.meta.url), 'utf8')
  const words = readdirSync(new URL('figures/', folder)).map((file) => file.replace('.ts', ''))
  const on = { node: 'v24.21.0', date: '2026-11-28' }

  test('has rows for exactly the files of figures, and changes only by a run', () => {
    expect([...new Set(rowsOf(page).map(([word]) => word))]).toEqual(words.sort())
    expect(withTable(page, words, [], on)).toBe(page)
  })

  test('gets the medians of the runs, and keeps other rows', () => {
    const run = (variant: string, ratio: number, amount: number): Measured => ({
      ...{ word: 'queue', figure: 'attempts', variant, baseline: 'loop', unit: 'µs', rounds: 9, atMost: 2 },
      ...{ ratio, amount, low: ratio, high: ratio },
    })
    const runs = [run('loop', 1, 1), run('plain', 1, 3), run('plain', 3, 1), run('plain', 2.5, 2)]
    const rows = rowsOf(withTable(page, words, runs, on))
    expect(rows.filter(([word, figure]) => word === 'queue' && nameOf(figure!) === 'attempts')).toEqual([
      ['queue', 'attempts: plain', '2.50', '2.00', '**missed**', '2.00 µs', '2026-11-28, Node 24.21.0'],
    ])
    expect(rows.filter(([word]) => word !== 'queue')).toEqual(rowsOf(page).filter(([word]) => word !== 'queue'))
  })
})
