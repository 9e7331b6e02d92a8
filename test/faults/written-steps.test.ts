import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import type { RemoteSandbox } from 'stuntdouble/client'
import { playScenario } from 'stuntdouble/scenarios'
import { afterEach, describe, expect, test } from 'vitest'
import { ended, kinds, shop } from '../../packages/server/test/both-sandboxes.js'
import { scenarioProblems } from '../../src/scenarios/scenario.js'

// A number as a script step means a response with that status, wherever scripts are accepted.

const bank = 'https://bank.test/charges'
/** A delay step as JSON. */
const wait = (then: unknown) => ({ kind: 'delay', waitMs: 5, then })
const numbers = [503, fault.delay('1s', 429), wait(wait(500)), 200]
const steps = [
  fault.status(503),
  fault.delay('1s', fault.status(429)),
  fault.delay(5, fault.delay(5, fault.status(500))),
  fault.status(200),
]

describe.each(kinds)('status numbers in scripts: %s', (_, make) => {
  let sandbox: Sandbox | RemoteSandbox
  afterEach(() => ended(sandbox))

  test('have the same effect as steps at a destination', async () => {
    const seen: unknown[] = []
    for (const script of [numbers, steps]) {
      sandbox = await make()
      await sandbox.destinations.script(shop, script as never)
      seen.push(await sandbox.destinations.unused)
      await sandbox.queue.publish({ to: shop, retries: 5 })
      await sandbox.clock.drain()
      seen.push((await sandbox.snapshot()).traffic.ofType('attempt').map(({ at, outcome }) => [at, outcome]))
      expect(await sandbox.destinations.unused).toEqual([])
      await ended(sandbox)
    }
    expect(seen[0]).toEqual([{ pattern: shop, steps }])
    expect(seen.slice(0, 2)).toEqual(seen.slice(2))
    expect(seen[1]).toHaveLength(4)
  })

  test('have the same effect as steps at an external host', async () => {
    sandbox = await make()
    await sandbox.outbound.script(bank, [503, fault.pass()])
    expect(await sandbox.outbound.unused).toMatchObject([{ steps: [fault.status(503), fault.pass()] }])
  })

  test.each([
    [[99], 'step 1: a status must be a whole number from 200 to 599 (got 99).'],
    [[200, 600.5], 'from 200 to 599 (got 600.5)'],
    [[fault.delay(1), wait(99)], 'from 200 to 599 (got 99)'],
    [['503'], 'step 1: a status must be a number (got "503"). Write 503.'],
    [[null], 'a step must be a status such as 503 or an object such as'],
    [[fault.reset(), {}], 'step 2: kind is missing'],
  ])('throw at a destination if invalid: %j', async (script, sentence) => {
    sandbox = await make()
    await expect((async () => sandbox.destinations.script(shop, script as never))()).rejects.toThrow(sentence)
  })

  test.each([[[99]], [['503']], [[fault.pass(), 1000]]])('throw at an external host if invalid: %j', async (script) => {
    sandbox = await make()
    await expect((async () => sandbox.outbound.script(bank, script as never))()).rejects.toThrow(
      /status|array of steps such as 503/,
    )
  })
})

describe('status numbers in a scenario', () => {
  test('have the same effect as steps', async () => {
    const scenario = (script: unknown) => ({
      name: 'statuses',
      destinations: [{ url: shop, script }],
      steps: [{ publish: { to: shop, retries: 5 } }, { drain: true }],
    })
    const [short, long] = await Promise.all([numbers, steps].map((script) => playScenario(scenario(script) as never)))
    expect(short!.timeline()).toBe(long!.timeline())
    expect(short!.holds).toBe(true)
  })

  test.each([
    [{ destinations: [{ url: shop, script: [99] }] }, 'from 200 to 599 (got 99)'],
    [{ destinations: [{ url: shop, script: [wait(700)] }] }, 'from 200 to 599 (got 700)'],
    [{ destinations: [{ url: shop, script: ['503'] }] }, 'a status must be a number (got "503")'],
    [{ destinations: [{ url: shop, script: [{ kind: 'stauts', status: 503 }] }] }, 'Did you mean "status"?'],
    [{ outbound: [{ url: bank, script: [99] }] }, 'status'],
    [{ outbound: [{ url: bank, script: [{ kind: 'drop' }] }] }, 'drop is not a fault for outbound requests'],
  ])('are reported if invalid: %j', (part, sentence) => {
    const problems = scenarioProblems({ name: 'mistaken', ...part })
    expect(problems.map(({ sentence }) => sentence).join('\n')).toContain(sentence)
    expect(problems).toHaveLength(1)
  })
})

describe('steps that resemble an earlier one', () => {
  test.each([
    [503, 603],
    [200, 200.5],
    [{ kind: 'reset' }, { kind: 'reset', odd: 1 }],
    [{ kind: 'reset' }, { kind: 'rest' }],
    [{ kind: 'reset' }, 'reset'],
    [{ kind: 'reset' }, ['reset']],
    [{ kind: 'delay', waitMs: 5 }, { kind: 'delay' }],
    [503, '503'],
    [503, { kind: 503 }],
  ])('are validated separately, and an invalid one rejects the whole script: %j and %j', (right, wrong) => {
    const { destinations } = createSandbox()
    expect(() => destinations.script(shop, [right, right, right, wrong] as never)).toThrow(/step 4: /)
    expect(destinations.unused).toEqual([])
  })

  test('are all used, and do not change with the given objects', () => {
    const { destinations } = createSandbox()
    const given = [
      503,
      fault.reset(),
      fault.status(500, { body: 'a' }),
      503,
      fault.reset(),
      fault.status(500, { body: 'b' }),
    ]
    destinations.script(shop, given)
    const told = [fault.status(503), fault.reset(), given[2], fault.status(503), fault.reset(), given[5]].map((step) =>
      structuredClone(step),
    )
    for (const step of given) if (typeof step === 'object') Object.assign(step, { kind: 'timeout' })
    expect(destinations.unused.map(({ steps }) => steps)).toEqual([told])
  })
})
