import { expect, test, vi } from 'vitest'
import { playScenario, type Scenario } from '../../packages/explore/src/scenarios.js'
import { startServer } from '../../packages/server/src/server.js'

/** One language per test, which was not loaded before. */
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

test('playScenario() loads search indexes of the initial state before any search', async () => {
  const { sandbox } = await playScenario(libraryIn('german'))
  expect(sandbox.store.run('SEARCH.COUNT', 'books', '{"title":"buddenbrooks"}')).toBe(1)
})

test('a server loads search indexes of its scenario', async () => {
  const server = await startServer({ port: 0, scenario: libraryIn('swedish') })
  try {
    expect(server.tenant('main').store.run('SEARCH.LISTINDEXES')).toHaveLength(1)
  } finally {
    await server.close()
  }
})

test('a scenario loads search indexes of its dump', async () => {
  const { sandbox } = await playScenario(libraryIn('finnish'))
  const store = sandbox.store.dump()
  const commands = [['SEARCH.COUNT', 'books', '{"title":"buddenbrooks"}']]
  // Simulates a process without an earlier search.
  vi.resetModules()
  const { playScenario: play } = await import('../../packages/explore/src/scenarios.js')
  const again = await play({ ...libraryIn('finnish'), given: { store: store as never, commands } })
  expect(again.sandbox.store.run('SEARCH.LISTINDEXES')).toHaveLength(1)
})
