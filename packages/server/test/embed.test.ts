import { expect, test } from 'vitest'
import { connect } from '../../../src/client/connect.js'
import { startServer } from '../src/server.js'
import { asClient } from './both-sandboxes.js'

const embed = (texts: readonly string[]): Float32Array[] =>
  texts.map((text) => Float32Array.from([text.length, text.split('cat').length]))

test('startServer({ embed }) embeds the texts of HYBRID fields', async () => {
  await using server = await startServer({ port: 0, clock: 'manual', embed })
  await using sandbox = await connect(server.origin)
  const ask = async (...argv: readonly string[]): Promise<unknown> => (await asClient(sandbox, ...argv)).json()
  await ask('SEARCH.CREATE', 'i', ...'ON HASH PREFIX 1 d: SCHEMA t HYBRID'.split(' '))
  await ask('HSET', 'd:1', 't', 'cat')
  const query = '{"$ann":{"field":"t","query":"cat"}}'
  expect(await ask('SEARCH.QUERY', 'i', query, 'NOCONTENT')).toEqual({ result: [['d:1', '1']] })
})

test('rejects embed with a real Redis', async () => {
  await expect(startServer({ port: 0, realRedis: 'redis://127.0.0.1:1', embed })).rejects.toThrow(
    'a server cannot have embed. The real Redis runs all commands: omit embed.',
  )
})
