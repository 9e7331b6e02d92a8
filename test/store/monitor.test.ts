import { expect, it } from 'vitest'
import type { Bytes } from '../../src/kernel/bytes.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'
import { storeInternals } from '../../src/store/store-internals.js'
import { EventReader } from '../support/event-reader.js'

const start = Date.parse('2030-01-01T00:00:00.123Z')

const monitored = async (sandbox: Sandbox): Promise<EventReader> =>
  new EventReader(
    await sandbox.fetch(`${sandbox.urls.store}/monitor`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.tokens.store}`, accept: 'text/event-stream' },
    }),
  )

const post = (sandbox: Sandbox, path: string, body: string, token = sandbox.tokens.store) =>
  sandbox.fetch(sandbox.urls.store + path, { method: 'POST', body, headers: { authorization: `Bearer ${token}` } })

it('shows commands of all forms of requests as they were sent', async () => {
  const sandbox = createSandbox({ startAt: start })
  const reader = await monitored(sandbox)
  await post(sandbox, '/', '["set","Key",1.50]')
  await post(sandbox, '/get/Key?a', '')
  await sandbox.clock.advance(877)
  await post(sandbox, '/pipeline', '[["GET","a b"],["INCR","n"]]')
  await post(sandbox, '/multi-exec', '[["PING"],["ECHO",""]]')
  sandbox.store.run('GET', 'direct')
  sandbox.dispose()
  expect(await reader.rest()).toEqual([
    'data: "OK"',
    'data: 1893456000.123000 [0 0.0.0.0:0] "set" "Key" "1.50"',
    'data: 1893456001.000000 [0 0.0.0.0:0] "GET" "a b"',
    'data: 1893456001.000000 [0 0.0.0.0:0] "INCR" "n"',
    'data: 1893456001.000000 [0 0.0.0.0:0] "PING"',
    'data: 1893456001.000000 [0 0.0.0.0:0] "ECHO" ""',
    'data: 1893456001.000000 [0 0.0.0.0:0] "GET" "direct"',
  ])
})

// Escapes that redis-server 7.0 writes.
it.each([
  ['quote " and \\ backslash', '"quote \\" and \\\\ backslash"'],
  ['\n\r\t\x07\b', '"\\n\\r\\t\\a\\b"'],
  ['\x00\x1f\x7f', '"\\x00\\x1f\\x7f"'],
  ['é', '"\\xc3\\xa9"'],
  ["it's", '"it\'s"'],
])('escapes %j', async (word, shown) => {
  const sandbox = createSandbox({ startAt: start })
  const reader = await monitored(sandbox)
  await post(sandbox, '/', JSON.stringify(['ECHO', word]))
  expect(await reader.take(2)).toEqual(['data: "OK"', `data: 1893456000.123000 [0 0.0.0.0:0] "ECHO" ${shown}`])
  sandbox.dispose()
})

it('shows failed commands, but not unknown, denied or managing ones, nor wrong numbers of arguments', async () => {
  const sandbox = createSandbox({ startAt: start })
  const reader = await monitored(sandbox)
  for (const row of [
    '["LPUSH","l","x"]',
    '["INCR","l"]',
    '["NOPE"]',
    '["GET"]',
    '["CONFIG","SET","x","y"]',
    '["ACL","LIST"]',
  ]) {
    await post(sandbox, '/', row)
  }
  await post(sandbox, '/', '["SET","k","v"]', sandbox.tokens.storeReadonly)
  await post(sandbox, '/', '["ACL","WHOAMI"]')
  sandbox.dispose()
  expect((await reader.rest()).map((line) => line.replace(/^.*0:0\] /, ''))).toEqual([
    'data: "OK"',
    '"LPUSH" "l" "x"',
    '"INCR" "l"',
    '"ACL" "WHOAMI"',
  ])
})

it('sends two monitors the same, and nothing to one that has left', async () => {
  const sandbox = createSandbox({ startAt: start })
  const [first, second] = [await monitored(sandbox), await monitored(sandbox)]
  sandbox.store.run('PING')
  await first.take(2)
  await first.cancel()
  sandbox.store.run('ECHO', 'x')
  expect((await second.take(3)).slice(1)).toEqual([
    'data: 1893456000.123000 [0 0.0.0.0:0] "PING"',
    'data: 1893456000.123000 [0 0.0.0.0:0] "ECHO" "x"',
  ])
  sandbox.dispose()
})

it('shows a script and then its commands, but no commands of observers', async () => {
  const sandbox = createSandbox({ startAt: start })
  const reader = await monitored(sandbox)
  sandbox.store.run('EVAL', "return redis.call('SET', KEYS[1], ARGV[1])", 1, 'k', 'v')
  expect(sandbox.store.get('k')).toBe('v')
  expect(storeInternals.of(sandbox.store).peek('GET' as Bytes, 'k' as Bytes)).toBe('v')
  sandbox.dispose()
  expect(await reader.rest()).toEqual([
    'data: "OK"',
    `data: 1893456000.123000 [0 0.0.0.0:0] "EVAL" "return redis.call('SET', KEYS[1], ARGV[1])" "1" "k" "v"`,
    'data: 1893456000.123000 [0 lua] "SET" "k" "v"',
  ])
})
