import fc from 'fast-check'
import { createSandbox } from 'stuntdouble'
import { arb, sendStoreRequests } from 'stuntdouble/fast-check'
import { describe, expect, test } from 'vitest'
import { catalog, faultKinds, stepKinds } from '../../../src/faults/catalog.js'
import type { FaultRule } from '../../../src/faults/fault.js'
import { injectionPoints } from '../../../src/faults/points.js'
import { ruleProblems } from '../../../src/rules/rule-schema.js'
import { examineAll } from '../../../test/model/store-linearizable.js'
import { runs } from '../../../test/support/effort.js'
import { simpler } from '../src/delivery/fault-arbitraries.js'

const seed = 20_300_101
const sample = <T>(arbitrary: fc.Arbitrary<T>, count = 500): T[] => fc.sample(arbitrary, { numRuns: count, seed })

describe('arb.faultRules()', () => {
  test('generates valid rules of every kind and at every injection point', () => {
    const rules = sample(arb.faultRules(), 2000).flat()
    for (const rule of rules) expect([rule, ruleProblems(rule)]).toEqual([rule, []])
    expect(new Set(rules.map(({ fault }) => fault.kind))).toEqual(new Set(faultKinds))
    expect(new Set(rules.map(({ on }) => on))).toEqual(new Set(injectionPoints))
  })

  test('generates only the chosen points and kinds', () => {
    const rules = sample(
      arb.faultRules({ on: ['store.command'], kinds: ['error-reply', 'stale-read', 'lost-ack'] }),
    ).flat()
    expect(new Set(rules.map(({ on }) => on))).toEqual(new Set(['store.command']))
    expect(new Set(rules.map(({ fault }) => fault.kind))).toEqual(new Set(['error-reply', 'stale-read', 'lost-ack']))
    expect(() => arb.faultRules({ on: ['stream.open'], kinds: ['error-reply'] })).toThrow(
      'error-reply has no effect at',
    )
  })

  test('shrinks to valid rules, and shrinking ends', () => {
    for (const start of sample(arb.faultRules(), 20)) {
      let rules: readonly FaultRule[] | undefined = start
      let steps = 0
      // Always takes the last candidate, which is the longest way down.
      for (; rules !== undefined; rules = [...simpler(rules, faultKinds)].at(-1)) {
        for (const candidate of simpler(rules, faultKinds))
          for (const rule of candidate) expect([rule, ruleProblems(rule)]).toEqual([rule, []])
        expect(++steps).toBeLessThan(500)
      }
    }
  })

  test('shrinks by removing rules, then by shortening them, then by simpler kinds', () => {
    const rules: FaultRule[] = [
      { on: 'queue.delivery', skip: 3, times: 1, fault: { kind: 'status', status: 429 } },
      { on: 'queue.delivery', times: 1, fault: { kind: 'duplicate', copies: 3 } },
    ]
    const told = [...simpler(rules, ['lost-ack', 'duplicate', 'status'])].map((list) =>
      list.map(({ skip = 0, fault }) => `${skip} ${Object.values(fault).join(' ')}`).join(' + '),
    )
    expect(told).toEqual([
      '',
      '0 duplicate 3',
      '3 status 429',
      '0 status 429 + 0 duplicate 3',
      '1 status 429 + 0 duplicate 3',
      '2 status 429 + 0 duplicate 3',
      '3 status 503 + 0 duplicate 3',
      '3 status 429 + 0 duplicate 1',
      '3 lost-ack + 0 duplicate 3',
      '3 duplicate 1 + 0 duplicate 3',
      '3 status 429 + 0 lost-ack',
    ])
  })
})

test('arb.deliveryScript() generates scripts that are played step by step', async () => {
  const seen = new Set<string>()
  for (const script of sample(arb.deliveryScript({ maxRules: 6 }), 100)) {
    const sandbox = createSandbox()
    sandbox.destinations.script('https://shop.test/*', script)
    for (let nth = 0; nth < script.length; nth++) sandbox.queue.publish({ to: 'https://shop.test/a', retries: 9 })
    await sandbox.clock.drain()
    expect(sandbox.destinations.unused).toEqual([])
    for (const { kind } of script) seen.add(kind)
  }
  expect(seen).toEqual(new Set(stepKinds))
  expect(() => arb.deliveryScript({ kinds: ['drop'] })).toThrow(/\bdrop\b.*not a step.*one of/)
  expect(catalog.drop.points).toContain('queue.delivery')
})

describe('arb.storeRequests()', () => {
  const groups = /^(?:string|hash|list|set|sorted-set)$/
  const blocking = /^(?:B[LRZ].*)$/
  const chance = /^(?:SPOP|SRANDMEMBER|HRANDFIELD|ZRANDMEMBER|.SCAN)$/
  /** Reads JSON integers as JavaScript numbers. */
  const asJson = (reply: unknown): unknown =>
    typeof reply === 'bigint' ? Number(reply) : Array.isArray(reply) ? reply.map(asJson) : reply
  const only = (name: string, group: string) => groups.test(group) && !blocking.test(name) && !chance.test(name)

  test('gives the same data in sequence as direct commands', async () => {
    await fc.assert(
      fc.asyncProperty(arb.storeRequests({ clients: 3, only }), async (turns) => {
        const [served, direct] = [createSandbox(), createSandbox()]
        const answers = await sendStoreRequests(served, turns)
        for (const [index, { form, commands }] of turns.entries()) {
          const replies = commands.map((words) => {
            try {
              return { result: asJson(direct.store.run(...words)) }
            } catch {
              return { error: expect.any(String) }
            }
          })
          expect(JSON.parse(JSON.stringify(answers[index]))).toEqual(form === 'command' ? replies[0] : replies)
        }
        expect(served.store.dump()).toEqual(direct.store.dump())
      }),
      { numRuns: runs(200, 200, 2000), seed },
    )
  })

  test('gives replies that fit an order of the commands when sent concurrently', async () => {
    await fc.assert(
      fc.asyncProperty(arb.storeRequests({ clients: 4, maxRequests: 20, only }), async (turns) => {
        const sandbox = createSandbox()
        const answers = await sendStoreRequests(sandbox, turns, 'concurrent')
        expect(answers).toHaveLength(turns.length)
        expect(examineAll(sandbox).violations).toEqual([])
      }),
      { numRuns: runs(100, 100, 1000), seed },
    )
  })

  test('shrinks to one command of one client', () => {
    const found = fc.check(
      fc.property(arb.storeRequests({ clients: 3, only }), (turns) =>
        turns.every(({ commands }) => commands.length < 2),
      ),
      { seed },
    )
    const [turns] = found.counterexample!
    expect(turns.map(({ client, commands }) => [client, commands.length])).toEqual([['client 1', 2]])
  })
})
