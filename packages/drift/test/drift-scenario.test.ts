import { afterAll, beforeAll, expect, test } from 'vitest'
import { utf8 } from '../../../src/kernel/bytes.js'
import { type StuntdoubleServer, startServer } from '../../server/src/server.js'
import { scenarioCase, withPrefix } from '../src/drift-scenario.js'
import { comparedWith } from './both.js'
import { type GoBetween, startBetween } from './go-between.js'

let server: StuntdoubleServer
let between: GoBetween
beforeAll(async () => {
  server = await startServer({ port: 0, clock: 'real', dialect: 'upstash' })
  between = await startBetween(server.tenant('main').urls.store)
})
afterAll(async () => {
  await between.close()
  await server.close()
})

test.each([
  ['SET k k', 'SET @k k'],
  ['MSET a b c d', 'MSET @a b @c d'],
  ['INCRBY 1 1', 'INCRBY @1 1'],
  ['ZUNIONSTORE d 2 a b WEIGHTS 2 3', 'ZUNIONSTORE @d 2 @a @b WEIGHTS 2 3'],
  ['XREAD COUNT 1 STREAMS a b 0 0', 'XREAD COUNT 1 STREAMS @a @b 0 0'],
  ['PUBLISH c hello', 'PUBLISH @c hello'],
  ['BITOP AND d a b', 'BITOP AND @d @a @b'],
  ['KEYS u*', 'KEYS @u*'],
  ['GEOSEARCHSTORE d s FROMMEMBER d BYRADIUS 1 km', 'GEOSEARCHSTORE @d @s FROMMEMBER d BYRADIUS 1 km'],
])('%s becomes %s with a prefix', (given, wanted) => {
  expect(withPrefix(given.split(' ').map(utf8), '@')).toEqual(wanted.split(' '))
})

const scenario = {
  name: 'cart',
  given: { commands: [['SET', 'stock', 3]] },
  faults: [{ on: 'store.command', fault: { kind: 'error' } }],
  steps: [
    { command: ['DECR', 'stock'] },
    { request: { service: 'store', path: '/get/stock' } },
    { request: { service: 'store', path: '/', body: ['RPUSH', 'cart', 'a', 'b'] } },
    {
      request: {
        service: 'store',
        path: '/pipeline',
        body: [
          ['LLEN', 'cart'],
          ['GET', 'stock'],
        ],
      },
    },
    { advance: '10ms' },
    { advance: '1h' },
    { command: ['FLUSHALL'] },
    { command: ['EVAL', 'return 1', 0] },
    { publish: { to: 'https://shop.test/orders' } },
  ],
} as never

test('runs commands and requests of a scenario under names of the run, and lists the other steps', async () => {
  const world = server.tenant('main')
  world.store.run('SET', 'stock', 'of somebody else')
  between.plant = ({ body }) => (body.includes('RPUSH') ? { body: '{"result":"2"}' } : undefined)
  const made = scenarioCase(scenario)
  const outcome = await comparedWith(world, [made.case], { store: between.url })
  expect(outcome.broken).toEqual([])
  expect(outcome.compared).toBe(5)
  expect(outcome.findings).toMatchObject([
    {
      what: expect.stringMatching(/type.*at result: number and string$/),
      seen: [{ case: 'scenario: cart', asked: 'RPUSH @cart a b' }],
    },
  ])
  expect(made.leftOut.map(({ name }) => name)).toEqual([
    'cart, step 7 (advance)',
    'cart, step 8 (command)',
    'cart, step 9 (command)',
    'cart, step 10 (publish)',
    'cart, faults',
  ])
  expect([world.store.run('KEYS', '*'), world.store.run('GET', 'stock')]).toEqual([['stock'], 'of somebody else'])
})
