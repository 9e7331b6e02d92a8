import { createSandbox } from 'stuntdouble'
import { afterEach, describe, expect, test } from 'vitest'
import { ended, kinds } from '../../packages/server/test/both-sandboxes.js'
import type { RemoteSandbox } from '../../src/client/connect.js'
import { deepestExpression, maxExpression } from '../../src/queue/settings/retry-expression.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { defineScenario } from '../../src/scenarios/scenario.js'
import { shop, world } from './world.js'

const deep = (levels: number): unknown => {
  let step: unknown = { kind: 'reset' }
  for (let level = 0; level < levels; level++) {
    // biome-ignore lint/suspicious/noThenProperty: the field of a step
    step = { kind: 'delay', waitMs: 1, then: step }
  }
  return step
}

/** Invalid steps with a part of their error message. */
const badSteps: readonly (readonly [unknown, string])[] = [
  [{ kind: 'timeout' }, `there is no step "timeout". fault.hang() makes { kind: 'hang' }`],
  [{ kind: 'delay' }, 'waitMs is missing.'],
  [{ kind: 'latency' }, 'the step needs waitMs, or minMs and maxMs.'],
  [{ kind: 'latency', minMs: 5, maxMs: 1 }, 'must have minMs not above maxMs (got minMs 5, maxMs 1)'],
  [{ kind: 'delay', waitMs: 1e300 }, 'waitMs must be a number of milliseconds, at most 1e12'],
  [{ kind: 'delay', waitMs: -1 }, 'waitMs must be a number of milliseconds, at least 0'],
  // biome-ignore lint/suspicious/noThenProperty: the field of a step
  [{ kind: 'delay', waitMs: 1, then: { kind: 'status' } }, 'status is missing'],
  [{ kind: 'hang', forMS: 3 }, 'there is no field "forMS". Did you mean "forMs"?'],
  [{ kind: 'status', status: 1000 }, 'status must be an HTTP status from 200 to 599 (got 1000).'],
  [{ kind: 'status', status: 503, headers: { a: 5 } }, 'must be a string or a list of strings'],
  [{ kind: 'drop' }, 'drop cannot be a step of a script.'],
  [{}, 'kind is missing. Use one of latency, status'],
  [deep(101), 'more than 100 nested delays'],
]

/** Invalid responses with a part of their error message. */
const badAnswers: readonly (readonly [unknown, string])[] = [
  ...badSteps.filter(([step]) => 'kind' in (step as object)),
  [99, 'a status must be a whole number from 200 to 599 (got 99).'],
  ['OK', 'got "OK"'],
  [true, 'got true'],
  [[200], 'got Array'],
  [{ statuss: 500 }, 'there is no field "statuss". Did you mean "status"?'],
  [{ status: '500' }, 'status must be an HTTP status from 200 to 599 (got "500").'],
  [{ headers: [['a', 'b']] }, 'Use Object.fromEntries(headers)'],
]

describe.each(kinds)('arguments of destinations are checked when they are registered: %s', (_, create) => {
  let sandbox: Sandbox | RemoteSandbox
  afterEach(() => ended(sandbox))

  test('rejects invalid script steps', async () => {
    sandbox = await create()
    for (const [step, sentence] of badSteps) {
      const given = async () => sandbox.destinations.script(shop, [{ kind: 'reset' }, step] as never)
      await expect(given(), JSON.stringify(step).slice(0, 80)).rejects.toThrow(sentence)
    }
    expect(await sandbox.destinations.unused).toEqual([])
  })

  test('rejects invalid responses', async () => {
    sandbox = await create()
    for (const [answer, sentence] of badAnswers) {
      for (const call of ['respond', 'record'] as const) {
        const given = async () => sandbox.destinations[call](shop, answer as never)
        await expect(given(), JSON.stringify(answer).slice(0, 80)).rejects.toThrow(sentence)
      }
    }
  })
})

test.each(badSteps)('defineScenario() rejects the step %j', (step, sentence) => {
  const destinations = [{ url: shop, script: [step] }]
  const told = sentence.startsWith('more than 100') ? 'nested deeper than 100 levels' : sentence
  expect(() => defineScenario({ name: 's', destinations } as never)).toThrow(told)
})

test('destinations.respond() rejects read responses and values that JSON cannot represent', async () => {
  const { destinations } = createSandbox()
  const read = new Response('x')
  await read.text()
  const circle: { self?: unknown } = {}
  circle.self = circle
  expect(() => destinations.respond(shop, read)).toThrow('body was already read')
  expect(() => destinations.respond(shop, { body: circle })).toThrow(/body.*serialized as JSON/)
  expect(() => destinations.respond(shop, { body: new Blob(['x']) })).toThrow('Return new Response(body)')
  const loop: { kind: string; waitMs: number; then?: unknown } = { kind: 'delay', waitMs: 1 }
  // biome-ignore lint/suspicious/noThenProperty: the field of a step
  loop.then = loop
  expect(() => destinations.script(shop, [loop as never])).toThrow('more than 100 nested delays')
})

test('script() plays a hundred nested delays and ignores later changes to the given object', async () => {
  const { clock, destinations, queue, traffic } = createSandbox()
  const step = deep(100) as { kind: string }
  destinations.script(shop, [step as never])
  step.kind = 'nonsense'
  queue.publish({ to: shop, retries: 0 })
  await clock.drain()
  expect(traffic.ofType('attempt')[0]!.outcome).toMatchObject({ error: 'read: connection reset by peer' })
})

describe('a retry-delay expression beyond the limits', () => {
  const long = Array(12_000).fill('1').join('+')
  const nested = `${'('.repeat(deepestExpression + 1)}1${')'.repeat(deepestExpression + 1)}`
  const tooLong = `it has ${long.length} characters, but at most ${maxExpression} are allowed`

  test.each([
    ['publish', `/v2/publish/${shop}`, 'Service-Retry-Delay'],
    ['enqueue', `/v2/enqueue/q/${shop}`, 'Service-Retry-Delay'],
    ['a callback', `/v2/publish/${shop}`, 'Service-Callback-Retry-Delay'],
    ['a failure callback', `/v2/publish/${shop}`, 'Service-Failure-Callback-Retry-Delay'],
    ['a schedule', `/v2/schedules/${shop}`, 'Service-Retry-Delay'],
  ])('is rejected with 400 for %s', async (_, path, header) => {
    const at = world()
    const callbacks = { 'Service-Callback': shop, 'Service-Failure-Callback': shop, 'Service-Cron': '* * * * *' }
    for (const [text, reason] of [
      [long, tooLong],
      [nested, `it is nested deeper than ${deepestExpression} levels`],
    ] as const) {
      const { status, json } = await at.send('POST', path, { headers: { ...callbacks, [header]: text } })
      expect([status, json.error]).toEqual([400, `invalid ${header}: ${reason}`])
    }
  })

  test('is rejected in a batch', async () => {
    const at = world()
    const body = [{ destination: shop, headers: { 'Service-Retry-Delay': long } }]
    const answer = await at.send('POST', '/v2/batch', { body })
    expect(answer.text).toContain(tooLong)
  })

  test('is evaluated just within the limits', async () => {
    const at = world()
    at.destinations.respond(shop, 503)
    const within = `${'('.repeat(deepestExpression - 1)}1${')'.repeat(deepestExpression - 1)}${'+1'.repeat((maxExpression - 2 * deepestExpression) / 2)}`
    const { status } = await at.send('POST', `/v2/publish/${shop}`, {
      headers: { 'Service-Retry-Delay': within, 'Service-Retries': '1' },
    })
    expect(status).toBe(200)
    await at.clock.drain()
    expect(at.traffic.ofType('attempt')[0]!.outcome!.next!.delayMs).toBe(401)
  })

  test.each([
    ['1 / 0', 'gave Infinity'],
    ['sqrt(0 - 1)', 'gave NaN'],
    ['exp(99999)', 'gave Infinity'],
  ])('results in the default backoff for %s, and the log contains the reason', async (expression, reason) => {
    const at = world()
    at.destinations.respond(shop, 503)
    at.queue.publish({ to: shop, retries: 1, retryDelay: expression })
    await at.clock.drain()
    at.sandbox.assertInvariants()
    const { next } = at.traffic.ofType('attempt')[0]!.outcome!
    expect(next).toMatchObject({
      delayMs: 12_000,
      reason: expect.stringContaining(`the retry delay ${expression} ${reason}`),
    })
    expect(next!.reason).toMatch(/\b12 s .*default back-off.*503/)
  })
})
