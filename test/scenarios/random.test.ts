import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { playScenario, scenarios } from '../../packages/explore/src/scenarios.js'
import { readScenario, ScenarioFileError } from '../../packages/server/src/tenant-scenario/scenario-file.js'
import { importDeliveries } from '../../src/scenarios/import/import-scenario.js'
import { ImportError } from '../../src/scenarios/import/imported-records.js'
import { scenarioProblems } from '../../src/scenarios/scenario.js'
import { runs, seedOr } from '../support/effort.js'

// Any file is either read or rejected with a message. Anything else is a bug.

const anyJson = fc.jsonValue({ maxDepth: 4 })
const time = fc.oneof(fc.integer({ min: 0, max: 2e12 }), fc.integer({ min: 1.7e12, max: 1.8e12 }).map(String), anyJson)
const text = fc.oneof(
  fc.string(),
  fc.base64String(),
  fc.json({ maxDepth: 2 }),
  fc.webUrl({ withQueryParameters: true }),
  anyJson,
)
const headers = fc.oneof(
  fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.array(fc.string()))),
  fc.constant({ 'Retry-After': ['5'], Cookie: ['a=b'] }),
  anyJson,
)
const status = fc.oneof(fc.integer({ min: 0, max: 700 }), fc.constant(489), anyJson)

const record = fc.record(
  {
    messageId: fc.oneof(fc.constantFrom('msg_1', 'msg_2'), anyJson),
    sourceMessageId: fc.oneof(fc.constantFrom('msg_1', 'msg_2'), anyJson),
    url: fc.oneof(fc.webUrl({ withQueryParameters: true }), fc.constant('https://shop.test/orders'), text),
    method: fc.oneof(fc.constantFrom('POST', 'GET', 'DELETE'), text),
    header: headers,
    sourceHeader: headers,
    body: text,
    bodyBase64: text,
    sourceBody: text,
    maxRetries: fc.oneof(fc.integer({ min: 0, max: 5 }), anyJson),
    createdAt: time,
    notBefore: time,
    time,
    state: fc.oneof(
      fc.constantFrom('CREATED', 'ACTIVE', 'ERROR', 'RETRY', 'DELIVERED', 'FAILED', 'CANCEL_REQUESTED', 'CANCELED'),
      text,
    ),
    status,
    responseStatus: status,
    responseHeader: headers,
    responseBody: text,
    error: fc.oneof(fc.constantFrom('context deadline exceeded', 'connection refused'), text),
    retried: fc.oneof(fc.integer({ min: 0, max: 5 }), anyJson),
    dlqId: fc.oneof(fc.constant('1725323658000-0'), text),
    timeout: fc.oneof(fc.integer({ min: 0, max: 1e6 }), anyJson),
    retryDelayExpression: fc.oneof(fc.constantFrom('1000 * retried', 'pow(2'), text),
    callback: text,
    failureCallback: text,
    callbackHeader: headers,
    labels: fc.oneof(fc.array(fc.string()), anyJson),
    label: text,
    flowControlKey: text,
    parallelism: fc.oneof(fc.integer({ min: -1, max: 5 }), anyJson),
    rate: fc.oneof(fc.integer({ min: -1, max: 5 }), anyJson),
    period: fc.oneof(fc.integer({ min: -1, max: 5 }), anyJson),
    queueName: text,
    topicName: text,
  },
  { requiredKeys: [] },
)
const records = fc.oneof(
  fc.array(record, { maxLength: 5 }),
  record,
  fc.record({ messages: fc.array(record, { maxLength: 4 }), cursor: text }),
  anyJson,
)

describe('random imports', () => {
  test('return a scenario that can be played, or throw an ImportError', async () => {
    await fc.assert(
      fc.asyncProperty(records, async (value) => {
        let imported: ReturnType<typeof importDeliveries>
        try {
          imported = importDeliveries([{ name: 'records.json', value }])
        } catch (error) {
          expect(error).toBeInstanceOf(ImportError)
          return
        }
        const plain = JSON.parse(JSON.stringify(imported.scenario)) as typeof imported.scenario
        expect(scenarioProblems(plain)).toEqual([])
        expect(readScenario(stringify(plain, { version: '1.2' }), 'a.yaml')).toEqual(plain)
        await playScenario(plain)
      }),
      { seed: seedOr(7), numRuns: runs(300, 300, 3000) },
    )
  })
})

describe('random files', () => {
  const refusedOrRead = (source: string): void => {
    try {
      readScenario(source, 'a.yaml')
    } catch (error) {
      expect(error).toBeInstanceOf(ScenarioFileError)
      expect((error as Error).message).toMatch(/^a\.yaml:\d+:\d+: \S/)
    }
  }

  test('of any text are read or rejected', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), refusedOrRead), {
      seed: seedOr(7),
      numRuns: runs(1000, 1000, 10_000),
    })
    const marks = fc.string({ unit: fc.constantFrom(...'{}[]:,-#&*!|>\'"%@` \n\tab0?<~'), maxLength: 60 })
    fc.assert(fc.property(marks, refusedOrRead), { seed: seedOr(7), numRuns: runs(3000, 3000, 30_000) })
  })

  test('with any JSON at any place of a scenario are read or rejected', () => {
    const known = Object.values(scenarios)
    fc.assert(
      fc.property(
        fc.constantFrom(...known),
        fc.array(fc.nat({ max: 20 }), { maxLength: 6 }),
        anyJson,
        (scenario, path, value) => {
          const copy = JSON.parse(JSON.stringify(scenario)) as Record<string, unknown>
          let at = copy as Record<string, unknown>
          for (const step of path) {
            const keys = Object.keys(at)
            const key = keys[step % Math.max(1, keys.length)]
            if (key === undefined) break
            if (typeof at[key] !== 'object' || at[key] === null) {
              at[key] = value
              break
            }
            at = at[key] as Record<string, unknown>
          }
          refusedOrRead(JSON.stringify(copy))
          refusedOrRead(stringify(copy, { version: '1.2' }))
        },
      ),
      { seed: seedOr(7), numRuns: runs(150, 150, 1500) },
    )
  })

  test('with an unknown field in any object of a scenario are rejected', () => {
    for (const scenario of Object.values(scenarios)) {
      for (const place of [
        'given',
        'destinations.0',
        'faults.0',
        'steps.0',
        'steps.0.publish',
        'expect.0',
        'faults.0.fault',
      ]) {
        const copy = JSON.parse(JSON.stringify(scenario)) as Record<string, unknown>
        let at: Record<string, unknown> | undefined = copy
        for (const key of place.split('.')) at = at?.[key] as Record<string, unknown> | undefined
        if (at === undefined || typeof at !== 'object') continue
        at.zzz = 1
        const lines = stringify(copy, { version: '1.2' }).split('\n')
        const line = lines.findIndex((text) => /\bzzz\b/.test(text)) + 1
        expect(() => readScenario(lines.join('\n'), 'a.yaml')).toThrow(new RegExp(`^a\\.yaml:${line}:\\d+: .*zzz`, 'm'))
      }
    }
  })
})
