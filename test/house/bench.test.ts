import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { bundled, type Create } from '../../bench/bundled.js'

const folder = new URL('../../bench/', import.meta.url)

describe.each([
  ['with', true, 503, 500],
  ['without', false, 200, 200],
] as const)('the bundle %s fault points', (_, withPoints, stored, delivered) => {
  let create: Create
  beforeAll(async () => {
    create = await bundled(withPoints)
  })

  test('rules strike a request to the store and a delivery, or nothing does', async () => {
    using sandbox = create()
    sandbox.destinations.answer('https://shop.test/*', 200)
    sandbox.faults.add([
      { on: 'store.request', fault: { kind: 'status', status: 503 } },
      { on: 'queue.delivery', fault: { kind: 'status', status: 500 } },
    ])
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    const answer = await sandbox.fetch(`${sandbox.addresses.store}/ping`, { headers })
    expect(answer.status).toBe(stored)
    sandbox.queue.publish({ to: 'https://shop.test/orders', retries: 0 })
    await sandbox.clock.drain()
    expect(sandbox.traffic.of('attempt').map(({ outcome }) => outcome?.status)).toEqual([delivered])
  })
})

test('no measurement rewrites sources: they change, and it would find nothing to rewrite', () => {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(({ name }) => name.endsWith('.ts'))
  expect(files.length).toBeGreaterThan(30)
  for (const { parentPath, name } of files)
    expect(readFileSync(`${parentPath}/${name}`, 'utf8'), name).not.toMatch(/\bonLoad\b|\btransform\s*\(/)
})
