import { createSandbox } from 'stuntdouble'
import { expect, test } from 'stuntdouble/vitest'

test('toHaveKey() accepts each type that the command TYPE replies for an index', async () => {
  using sandbox = createSandbox()
  const { store } = sandbox
  await store.loadSearch()
  store.run('SEARCH.CREATE', 'words', 'ON', 'HASH', 'PREFIX', 1, 'w:', 'SCHEMA', 'text', 'TEXT')
  store.run('VECTOR.CREATE', 'vectors', 'DIM', 2, 'METRIC', 'DOT')
  for (const key of ['words', 'vectors']) expect(store).toHaveKey(key, { type: store.run('TYPE', key) as 'search' })
  expect(() => expect(store).toHaveKey('words', { type: 'vector' })).toThrow("'search'")
})
