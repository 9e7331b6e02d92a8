import { expect, test } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { partOf } from '../../src/kernel/bytes.js'

test.each([
  [10, 0, 5],
  [10_000, 0, 5],
  [10_000, 3, 40],
  [10_000, 0, 9_000],
  [10_000, 9_990, 20_000],
  [10_000, 5, 5],
])('partOf() of %d from %d to %d is a slice', (length, from, to) => {
  const whole = Array.from({ length }, (_, index) => String.fromCharCode(32 + (index % 200))).join('')
  expect(partOf(whole, from, to)).toBe(whole.slice(from, to))
  expect(partOf(whole, from)).toBe(whole.slice(from))
})

test('arguments of long bodies and paths arrive unchanged', async () => {
  using sandbox = createSandbox()
  const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
  const [key, value] = ['a key that is long enough to be cut', 'ä'.repeat(10_000)]
  const body = JSON.stringify([['SET', key, value]])
  await sandbox.fetch(`${sandbox.urls.store}/pipeline`, { method: 'POST', headers, body })
  expect(sandbox.store.get(key)).toBe(value)
  await sandbox.fetch(`${sandbox.urls.store}/set/another%20key/${'b'.repeat(9_000)}//`, { headers })
  await sandbox.fetch(`${sandbox.urls.store}/set/third%20key/${'b'.repeat(9_000)}?px=100000`, { headers })
  expect(sandbox.store.get('third key')).toBe('b'.repeat(9_000))
  expect(sandbox.store.run('GETRANGE', key, 0, 19)).toBe('ä'.repeat(10))
})

test('keys that expire and are never read again are removed', async () => {
  using sandbox = createSandbox({ policy: { maxTrafficEntries: 1_000 } })
  const { store } = sandbox
  const expired = new Set<unknown>()
  sandbox.traffic.subscribe((entry) => {
    if (entry.type === 'keyspace' && entry.event === 'expired') expired.add(entry.key)
  })
  for (let round = 0; round < 10; round++) {
    for (let count = 0; count < 1_000; count++) store.run('SET', `window ${round} ${count}`, 1, 'EX', 1)
    await sandbox.clock.advance('2s')
  }
  store.run('PING')
  expect(expired.size).toBeGreaterThan(4_000)
})
