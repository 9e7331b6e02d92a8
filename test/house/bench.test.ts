import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { bundled, type Create } from '../../bench/bundled.js'
import { compared, comparisonLines } from '../../bench/compared.js'
import type { Measured } from '../../bench/harness.js'

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
