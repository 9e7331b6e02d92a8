import { expect, test, vi } from 'vitest'
import { playScenario, type Scenario } from '../../packages/explore/src/scenarios.js'
import { startServer } from '../../packages/server/src/server.js'

/** Each in a language that nobody has loaded before. */
const libraryIn = (language: string): Scenario => ({
  name: 'a library',
  given: {
    commands: [
      ['HSET', 'book:1', 'title', 'Die Buddenbrooks'],
      ['SEARCH.CREATE', 'books', 'ON', 'HASH', 'PREFIX', 1, 'book:', 'LANGUAGE', language, 'SCHEMA', 'title', 'TEXT'],
    ],
  },
  destinations: [{ url: 'https://app.test/loans' }],
  steps: [{ advance: '1s' }],
})

test('the state that a scenario begins with may have indexes, before anybody searched', async () => {
  const { sandbox } = await playScenario(libraryIn('german'))
  expect(sandbox.store.run('SEARCH.COUNT', 'books', '{"title":"buddenbrooks"}')).toBe(1)
})

test('so may the one that a server begins with', async () => {
  const server = await startServer({ port: 0, scenario: libraryIn('swedish') })
  try {
    expect(server.tenant('main').store.run('SEARCH.LISTINDEXES')).toHaveLength(1)
  } finally {
    await server.close()
  }
})

test('so may the dump that it begins with', async () => {
  const { sandbox } = await playScenario(libraryIn('finnish'))
  const store = sandbox.store.dump()
  const commands = [['SEARCH.COUNT', 'books', '{"title":"buddenbrooks"}']]
  // As in a process in which nobody has searched.
  vi.resetModules()
  const { playScenario: play } = await import('../../packages/explore/src/scenarios.js')
  const again = await play({ ...libraryIn('finnish'), given: { store: store as never, commands } })
  expect(again.sandbox.store.run('SEARCH.LISTINDEXES')).toHaveLength(1)
})
