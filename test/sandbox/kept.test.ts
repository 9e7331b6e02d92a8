import { expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/index.js'

const large = 'x'.repeat(50_000)

const post = (sandbox: Sandbox, path: string, body: string): Promise<string> =>
  sandbox
    .fetch(`${sandbox.urls.store}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
      body,
    })
    .then((response) => response.text())

const filled = (sandbox: Sandbox): void => {
  sandbox.store.run('RPUSH', 'list', ...Array.from({ length: 1_000 }, (_, index) => `element number ${index}`))
}

/** Parts of requests that are kept in addition to their bodies: arguments, replies, messages. */
test.each<[string, (sandbox: Sandbox) => unknown]>([
  ['a key rewritten in a request', (sandbox) => post(sandbox, '/set/key', large)],
  ['a key rewritten in a pipeline', (sandbox) => post(sandbox, '/pipeline', JSON.stringify([['SET', 'key', large]]))],
  ['a key rewritten by a direct call', (sandbox) => sandbox.store.run('SET', 'key', large)],
  ['a key rewritten by a connection', (sandbox) => sandbox.store.connect().run('SET', 'key', large)],
  ['a list polled in requests', (sandbox) => post(sandbox, '/', JSON.stringify(['LRANGE', 'list', '0', '-1']))],
  ['a list polled by direct calls', (sandbox) => sandbox.store.run('LRANGE', 'list', 0, -1)],
  ['a long header', (sandbox) => sandbox.fetch(`${sandbox.urls.store}/get/${'k'.repeat(50_000)}`)],
  [
    'a command that is refused',
    (sandbox) =>
      sandbox.store
        .connect()
        .run('NOPE', large)
        .catch(() => {}),
  ],
])('the size of kept data is limited: %s', async (_, ask) => {
  using sandbox = createSandbox({ policy: { maxTrafficBytes: 1_000_000 } })
  filled(sandbox)
  for (let count = 0; count < 100 && sandbox.traffic.dropped === 0; count++) await ask(sandbox)
  expect(sandbox.traffic.entries[0]).toMatchObject({ type: 'dropped', unit: 'bytes', limit: 1_000_000 })
  for (let count = 0; count < 40; count++) await ask(sandbox)
  expect(JSON.stringify(sandbox.traffic.toTrace()).length).toBeLessThan(3_000_000)
  expect(sandbox.traffic.size).toBeLessThan(1_000)
})

test('asOf() and fork() report that the journal reached its size limit', async () => {
  using sandbox = createSandbox({ policy: { maxTrafficBytes: 1_000_000 } })
  for (let count = 0; count < 12; count++) await post(sandbox, '/set/key', large)
  const told = 'maxTrafficBytes'
  await expect(sandbox.fork()).rejects.toThrow(told)
  await expect(sandbox.fork({ at: '-0s' })).rejects.toThrow(told)
  expect(() => sandbox.asOf('-0s')).toThrow(told)
  sandbox.reset()
  await post(sandbox, '/set/key', 'small')
  expect(sandbox.asOf('-0s').store.get('key')).toBe('small')
})

test('reads of lists keep their arguments in the journal, and not their replies', async () => {
  using sandbox = createSandbox({ policy: { maxTrafficBytes: 1_000_000 } })
  filled(sandbox)
  for (let count = 0; count < 200; count++) sandbox.store.run('LRANGE', 'list', 0, -1)
  expect(sandbox.traffic.dropped).toBeGreaterThan(0)
  using fork = await sandbox.fork()
  expect(fork.store.run('LLEN', 'list')).toBe(1_000)
})

test('a command that its user may not run is not in the history of the store', async () => {
  using sandbox = createSandbox()
  sandbox.store.run('SET', 'key', 'old')
  const refused = await sandbox.fetch(`${sandbox.urls.store}/set/key/new`, {
    headers: { authorization: `Bearer ${sandbox.tokens.storeReadonly}` },
  })
  expect(await refused.text()).toContain('NOPERM')
  expect(sandbox.asOf('-0s').store.get('key')).toBe('old')
})
