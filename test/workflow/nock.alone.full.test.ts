import nock from 'nock'
import { afterAll, expect, test } from 'vitest'
import { nockScopes } from '../../src/adapters/nock.js'
import { createSandbox } from '../../src/index.js'
import { connectionOf, everyKind, expected } from './every-kind.js'

// Separate file, because nock patches the process as soon as it is imported.

afterAll(() => nock.restore())

test('a workflow with every kind of step runs through nock', async () => {
  const sandbox = createSandbox({ seed: 16, onWarning: () => {} })
  const close = nockScopes(sandbox)
  const { outcome, handle, client } = everyKind(connectionOf(sandbox), 'https://app.test')
  sandbox.destinations.on('https://app.test/*', handle)
  await client.trigger({ url: 'https://app.test/main', body: { n: 1 }, retries: 0 })
  await sandbox.clock.drain()
  expect(outcome).toEqual(expected)
  await close()
  sandbox.dispose()
})
