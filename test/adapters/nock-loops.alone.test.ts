import { expect, test } from 'vitest'
import { nockScopes } from '../../src/adapters/nock.js'
import { createSandbox } from '../../src/index.js'

// Runs in a process of its own, because nock replaces the network.

test('a loop of requests over nock lets a due timer fire within 200 rounds', async () => {
  using sandbox = createSandbox({ onWarning() {} })
  nockScopes(sandbox)
  const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
  const once = async (): Promise<string> => (await fetch(`${sandbox.urls.store}/get/a`, { headers })).text()
  for (let warm = 0; warm < 3; warm++) expect(await once()).toBe('{"result":null}')
  let hasFired = false
  setTimeout(() => {
    hasFired = true
  }, 0)
  let rounds = 0
  while (!hasFired && rounds < 1_000) {
    await once()
    rounds++
  }
  expect(rounds).toBeLessThanOrEqual(200)
})
