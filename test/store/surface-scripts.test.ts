import { beforeEach, describe, expect, it } from 'vitest'
import { Rest } from '../support/ask.js'

// Scripts over REST. Expectations: store.md 2.2, 3.2, 4 and 6.2.

let rest: Rest
beforeEach(() => {
  rest = Rest.open()
})

it.each([
  ["return {1, 'OK', {'OK', {ok='OK'}}}", [1, 'T0s=', ['T0s=', 'T0s=']]],
  ["return redis.call('SET', 'k', 'v')", 'OK'],
  ["return {ok='FINE'}", 'RklORQ=='],
  ["return 'OK'", 'T0s='],
])('encodes %s in base64', async (script, result) => {
  const answer = await rest.post('/', ['EVAL', script, 0], { headers: { 'service-encoding': 'base64' } })
  expect(answer.json).toEqual({ result })
})

it('changes the sync token by a script that writes', async () => {
  const token = async (script: string) => (await rest.post('/', ['EVAL', script, 0])).headers['service-sync-token']
  const before = await token('return 1')
  const after = await token("return redis.call('SET', 'k', 'v')")
  expect(after).not.toBe(before)
  expect(await token("return redis.call('SET', 'k', 'v')")).not.toBe(after)
})

it('counts the commands of scripts', async () => {
  await rest.run('EVAL', "redis.call('SET', 'k', 'v') return redis.call('GET', 'k')", 0)
  expect(rest.sandbox.store.cost()).toMatchObject({ commands: 3 })
})

describe('read-only token', () => {
  it.each([
    ['eval', 'EVAL', 'return 1', '0'],
    ['evalsha', 'EVALSHA', 'x', '0'],
    ['eval_ro', 'EVAL_RO', 'return 1', '0'],
    ['evalsha_ro', 'EVALSHA_RO', 'x', '0'],
    ['script|load', 'SCRIPT', 'LOAD', 'return 1'],
    ['function|list', 'FUNCTION', 'LIST'],
  ])('cannot run %s', async (name, ...argv) => {
    expect(await rest.post('/', argv, { token: rest.sandbox.tokens.storeReadonly })).toMatchObject({
      status: 400,
      json: { error: `NOPERM this user has no permissions to run the '${name}' command or its subcommand` },
    })
  })
})
