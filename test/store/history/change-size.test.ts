import { createSandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import { redactedChanges } from '../../../src/report/redacted-changes.js'

test('changes of values with a secret name are redacted: in a short or long hash, at a key and in JSON', () => {
  using sandbox = createSandbox()
  const { store, traffic } = sandbox
  const planted = 'hunter2-planted'
  store.run('HSET', 'user', 'password', planted, 'name', 'Ada')
  store.run('SET', 'api_key', planted)
  store.run('SET', 'profile', JSON.stringify({ password: planted, name: 'Ada' }))
  store.run('HSET', 'long', ...Array.from({ length: 80 }, (_, index) => [`field-${index}`, 'x']).flat())
  store.run('HSET', 'long', 'client_secret', planted)
  const told = JSON.stringify(redactedChanges(store, traffic.redaction()))
  expect(told).not.toContain(planted)
  expect(told).toContain('Ada')
  expect(redactedChanges(store, traffic.redaction(['body']))).toEqual([])
})

test('each push to a long list records only the new elements', () => {
  using sandbox = createSandbox()
  for (let number = 0; number < 3_000; number++) sandbox.store.run('RPUSH', 'list', `item-${number}`)
  const { length } = JSON.stringify(redactedChanges(sandbox.store, sandbox.traffic.redaction()))
  // In full it would be 3,000 times 1,500 items on average.
  expect(length).toBeLessThan(3_000_000)
})
