import { expect, test } from 'vitest'
import { playScenario } from '../../src/scenarios/play-scenario.js'
import { defineScenario, scenarioProblems } from '../../src/scenarios/scenario.js'
import type { Scenario } from '../../src/scenarios/written-scenario.js'

const scenario: Scenario = {
  name: 'two databases',
  databases: ['eu', 'us'],
  given: {
    commands: [['SET', 'stock', 1]],
    databases: { us: { commands: [['SET', 'stock', 2]] } },
  },
  faults: [{ on: 'store.request', match: { database: 'eu' }, fault: { kind: 'status', status: 503 } }],
  steps: [
    { command: { database: 'eu', argv: ['SET', 'stock', 3] } },
    { request: { service: 'store', database: 'us', path: '/incr/stock', status: 200, response: { result: 3 } } },
    { request: { service: 'store', database: 'eu', path: '/incr/stock', status: 503 } },
    { request: { service: 'store', path: '/get/stock', status: 200, response: { result: '1' } } },
    { resetPassword: { database: 'us' } },
  ],
  expect: [
    { key: { name: 'stock', value: '1' } },
    { key: { name: 'stock', value: '3', database: 'us' } },
    { executed: { argv: ['INCR', 'stock'], database: 'us', times: 1 } },
    { executed: { argv: ['INCR', 'stock'], database: 'eu', times: 0 } },
    { receivedRequest: { database: 'eu', status: 503, times: 1 } },
    {
      sequence: [
        { type: 'command', argv: ['INCR'], database: 'us' },
        { type: 'fault', database: 'eu' },
      ],
    },
  ],
}

test('a scenario has databases, and its steps, faults and expectations name them', async () => {
  const run = await playScenario(defineScenario(scenario))
  expect(run.holds, run.verdict()).toBe(true)
  expect(run.sandbox.traffic.filter({ type: 'command', database: 'us' }).map(({ argv }) => argv[0])).toEqual([
    'SET',
    'incr',
  ])
})

test('an expectation that fails names the database', async () => {
  const wrong = { ...scenario, expect: [{ key: { name: 'stok', database: 'us' } }] }
  const run = await playScenario(defineScenario(wrong))
  expect(run.holds).toBe(false)
  expect(run.verdict()).toContain('key stok in database us')
})

test.each<[string, Partial<Scenario>, string]>([
  ['given', { given: { databases: { uss: {} } } }, 'given.databases.uss'],
  ['a step', { steps: [{ command: { database: 'uss', argv: ['GET', 'a'] } }] }, 'steps.0.command.database'],
  ['a fault', { faults: [{ on: 'store.request', match: { database: 'uss' }, fault: { kind: 'reset' } }] }, 'faults.0'],
  ['an expectation', { expect: [{ key: { name: 'a', database: 'uss' } }] }, 'expect.0.key.database'],
])('an unknown database in %s is a problem with the nearest name', (_, part, place) => {
  const problems = scenarioProblems({ name: 'a', databases: ['eu', 'us'], steps: [{ advance: 1 }], ...part })
  expect(problems.map(({ place, sentence }) => `${place.join('.')}: ${sentence}`)).toEqual([
    expect.stringMatching(
      new RegExp(`^${place.replaceAll('.', '\\.')}.*there is no database "uss". Did you mean "us"\\?$`),
    ),
  ])
})

test('an invalid list of databases is a problem', () => {
  const problemsOf = (databases: unknown) => scenarioProblems({ name: 'a', steps: [{ advance: 1 }], databases })
  expect(problemsOf(['us', 'us'])[0]!.sentence).toMatch(/must have different names/)
  expect(problemsOf([''])[0]!.sentence).toMatch(/a name must have 1 to 100/)
  expect(problemsOf('us')).toHaveLength(1)
})
