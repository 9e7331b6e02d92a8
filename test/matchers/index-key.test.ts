import { createSandbox } from 'stuntdouble'
import { expect, test } from 'stuntdouble/vitest'
import { verdictOf } from './failure.js'

test('toHaveKey() accepts each type that the command TYPE replies for an index', async () => {
  using sandbox = createSandbox()
  const { store } = sandbox
  await store.loadSearch()
  store.run('SEARCH.CREATE', 'words', 'ON', 'HASH', 'PREFIX', 1, 'w:', 'SCHEMA', 'text', 'TEXT')
  store.run('VECTOR.CREATE', 'vectors', 'DIM', 2, 'METRIC', 'DOT')
  for (const key of ['words', 'vectors']) expect(store).toHaveKey(key, { type: store.run('TYPE', key) as 'search' })
  expect(() => expect(store).toHaveKey('words', { type: 'vector' })).toThrow("'search'")
})

test('toHaveKey() with a value says that a search index has none, and what can be compared', async () => {
  using sandbox = createSandbox()
  const { store } = sandbox
  await store.loadSearch()
  store.run('SEARCH.CREATE', 'words', 'ON', 'HASH', 'PREFIX', 1, 'w:', 'SCHEMA', 'text', 'TEXT')
  expect(store).not.toHaveKey('words', { value: {} })
  const text = verdictOf(() => expect(store).toHaveKey('words', { value: {}, type: 'search' }))
  expect(text).toContain('  words   search, does not expire: a search index\n')
  expect(text).toContain('✗ value: expected {}, received a search index')
  expect(text).toMatch(/^Hint: words is a search index, which has no value\. Compare its type,.*SEARCH\.QUERY\.$/m)
  expect(text).not.toContain('WRONGTYPE')
})
