import { describe, expect, test } from 'vitest'
import { Rest } from '../support/ask.js'

// Examples of facts that are newer than the first reading of the documentation. Expectations: store.md 3.1, 3.2, 7.2.

type Step = readonly [argv: readonly (string | number)[], reply: unknown]

const failed = (error: string) => ({ error })
const syntax = failed('ERR syntax error')

const examples: Readonly<Record<string, readonly Step[]>> = {
  'MSETEX sets a lifetime': [
    [['MSETEX', 2, 'a', 1, 'b', 2, 'EX', 10], 1],
    [['TTL', 'a'], 10],
    [['MSETEX', 2, 'a', 1, 'c', 2, 'NX'], 0],
    [['EXISTS', 'c'], 0],
    [['MSETEX', 2, 'a', 1, 'c', 2, 'XX'], 0],
    [['MSETEX', 2, 'a', 1, 'b', 2, 'KEEPTTL', 'XX'], 1],
    [['TTL', 'a'], 10],
    [['MSETEX', 1, 'a', 1], 1],
    [['TTL', 'a'], -1],
  ],
  'MSETEX rejects lifetimes and options': [
    [['MSETEX', 1, 'a', 1, 'EX', 0], failed("ERR invalid expire time in 'msetex' command")],
    [['MSETEX', 1, 'a', 1, 'PX', -1], failed("ERR invalid expire time in 'msetex' command")],
    [['MSETEX', 1, 'a', 1, 'NX', 'XX'], syntax],
    [['MSETEX', 1, 'a', 1, 'EX', 5, 'PX', 5], syntax],
    [['EXISTS', 'a'], 0],
  ],
  'MSETEX with a past deadline deletes': [
    [['SET', 'a', 'old'], 'OK'],
    [['MSETEX', 1, 'a', 1, 'EXAT', 1], 1],
    [['EXISTS', 'a'], 0],
  ],
  'SDIFFCARD and SUNIONCARD': [
    [['SADD', 'set1', 'a', 'b', 'c'], 3],
    [['SADD', 'set2', 'c', 'd', 'e'], 3],
    [['SDIFFCARD', 2, 'set1', 'set2'], 2],
    [['SDIFFCARD', 2, 'set1', 'set2', 'LIMIT', 1], 1],
    [['SDIFFCARD', 2, 'set1', 'set2', 'LIMIT', 0], 2],
    [['SDIFFCARD', 2, 'set1', 'set2', 'APPROX'], syntax],
    [['SDIFFCARD', 2, 'missing', 'set2'], 0],
    [['SDIFFCARD', 1, 'set1'], 3],
    [['SUNIONCARD', 2, 'set1', 'set2'], 5],
    [['SUNIONCARD', 2, 'set1', 'set2', 'LIMIT', 3], 3],
    [['SUNIONCARD', 2, 'set1', 'set2', 'LIMIT', 0], 5],
    [['SUNIONCARD', 2, 'set1', 'set2', 'APPROX', 'LIMIT', 3], 3],
    [['SUNIONCARD', 2, 'set1', 'set2', 'LIMIT', 3, 'APPROX'], 3],
  ],
  'XDEL counts a repeated ID once': [
    [['XADD', 's', '0-1', 'f', 'v'], '0-1'],
    [['XDEL', 's', '0-1', '0-1', '0-1'], 1],
  ],
}

describe.each(['documented', 'all'] as const)('with policy.commands %s', (commands) => {
  test.each(Object.entries(examples))('%s', async (_name, steps) => {
    const rest = Rest.open({ policy: { commands } })
    for (const [argv, reply] of steps) {
      const expected = typeof reply === 'object' ? reply : { result: reply }
      expect([argv, (await rest.post('/', argv)).json]).toEqual([argv, expected])
    }
  })
})

describe('plain JSON', () => {
  test.each<[number[], string]>([
    [[0xff, 0xfe, 0x61], '\uFFFD\uFFFDa'],
    [[0xef, 0xbb, 0xbf, ...Buffer.from('{"a":1}')], '\uFEFF{"a":1}'],
    [[0xe2, 0x82], '\uFFFD\uFFFD'],
    [[0xf0, 0x9f, 0x98], '\uFFFD\uFFFD\uFFFD'],
  ])('%j becomes %j', async (bytes, text) => {
    const rest = Rest.open()
    await rest.post('/set/k', Uint8Array.from(bytes))
    const { body } = await rest.get('/get/k')
    expect(JSON.parse(Buffer.from(body!, 'latin1').toString('utf8'))).toEqual({ result: text })
  })
})

test('a nested OK in base64 is encoded, or raw with policy.nestedStatus', async () => {
  const row = ['EVAL', "return {redis.call('SET','q','1')}", 0]
  const ask = async (policy: { nestedStatus?: 'raw' }) =>
    (await Rest.open({ policy }).post('/', row, { headers: { 'service-encoding': 'base64' } })).json
  expect(await ask({})).toEqual({ result: ['T0s='] })
  expect(await ask({ nestedStatus: 'raw' })).toEqual({ result: ['OK'] })
})

test('the timeline shows the retry that a client states', async () => {
  const rest = Rest.open()
  await rest.post('/', ['PING'], { headers: { 'upstash-telemetry-retry': '2' } })
  expect(rest.sandbox.traffic.timeline()).toContain('retry 2 of the client')
  await rest.post('/', ['PING'], { headers: { 'upstash-telemetry-retry': '-7' } })
  expect(rest.sandbox.traffic.timeline().match(/of the client/g)).toHaveLength(1)
})
