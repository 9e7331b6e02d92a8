import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { expect } from 'stuntdouble/vitest'
import { afterEach, beforeEach, describe, test } from 'vitest'
import { leftovers, withTrace } from '../../fixtures/fixture-sandbox.js'
import { outboundInternals } from '../../src/calls/outbound.js'
import { failureOf } from './failure.js'

const orders = 'https://shop.test/orders'
const nowhere = 'http://localhost:3000/jobs'
const bank = 'https://bank.invalid/v1/charges'

/** Runs all causes together: two rejected requests, an unhandled delivery, a handler that throws, a fault. */
async function troubled(): Promise<Sandbox> {
  const sandbox = createSandbox({ seed: 7 })
  replaceFetch(sandbox)
  const { outbound, clock, destinations, faults, queue } = sandbox
  faults.add({ on: 'stats.request', fault: fault.status(503) })
  await fetch('https://eu1-real.upstash.io/get/k').catch(() => undefined)
  outboundInternals.of(outbound).leaves('POST', bank)()
  destinations.on(orders, async () => {
    await sandbox.fetch(`${sandbox.urls.store}/incr/charged`, {
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    })
    throw new TypeError('no such user')
  })
  queue.publish({ to: nowhere, retries: 0 })
  queue.publish({ to: orders, retries: 1 })
  await clock.drain()
  return sandbox
}

/** Text of each cause, in the required order. */
const refused = ['eu1-real.upstash.io', `sent POST ${bank}`] as const
const undelivered = `No destination responds at ${nowhere}`
const threw = `The handler of ${orders} threw in 2 attempts: TypeError: no such user`
const unused = 'stats.request'
const doneTwice = 'changed the key charged'

function expectInOrder(text: string, parts: readonly string[]): void {
  const places = parts.map((part) => text.indexOf(part))
  expect(places, text).not.toContain(-1)
  expect(places, text).toEqual(places.toSorted((one, other) => one - other))
}

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await troubled()
})
afterEach(() => sandbox.dispose())

describe('order of proven causes, expectation and hints', () => {
  // A failure names at most two requests without a response.
  const proven = [...refused, threw, unused]

  test('holds in the failure of a matcher', () => {
    for (const subject of [sandbox, sandbox.queue, sandbox.traffic]) {
      const text = failureOf(() => expect(subject).toHaveDelivered({ to: orders }))
      expectInOrder(text, [...proven, 'Expected a delivered message', doneTwice, 'Replay:'])
    }
    const text = failureOf(() => expect(sandbox.store).toHaveKey('charged', { value: 1 }))
    expectInOrder(text, [...proven, "Expected a key 'charged'", doneTwice, 'Replay:'])
  })

  test('holds in a failure without a matcher', () => {
    expectInOrder(withTrace('expected 1 to be 2', sandbox), ['expected 1', ...proven, doneTwice, 'Replay:'])
  })

  test('holds in the failure of a test that would pass', () => {
    const text = leftovers(sandbox, {})!.message
    expectInOrder(text, [...refused, undelivered, threw, unused, 'Replay:'])
    for (const cause of [...refused, threw, unused]) expect(text.split(cause), cause).toHaveLength(2)
  })
})

describe('an unhandled delivery', () => {
  beforeEach(() => {
    sandbox.dispose()
    sandbox = createSandbox({ seed: 7 })
  })

  test('is the first cause of a failure that is about it', async () => {
    sandbox.queue.publish({ to: nowhere, retries: 0 })
    await sandbox.clock.drain()
    const text = failureOf(() => expect(sandbox.queue).toHaveDelivered({ to: nowhere }))
    expect(text.split('\n')[2]).toContain(undelivered)
  })

  const causes = (assertion: () => void): string => failureOf(assertion).split(/^Replay/m)[0]!

  test('is the first cause if something is missing, and no cause of other failures', async () => {
    sandbox.destinations.respond(orders, 500)
    sandbox.queue.publish({ to: nowhere, retries: 0 })
    sandbox.queue.publish({ to: orders, retries: 0 })
    await sandbox.clock.drain()
    expect(causes(() => expect(sandbox.store).toHaveKey('order:1')).split('\n')[2]).toContain(undelivered)
    for (const assertion of [
      () => expect(sandbox.queue).toHaveDelivered({ to: orders }),
      () => expect(sandbox.queue).not.toHaveDeadLetter({ to: orders }),
      () => expect(sandbox.queue).not.toHavePublished({ to: nowhere }),
      () => expect(sandbox.queue).toHavePublished({ to: nowhere }, { times: 0 }),
    ])
      expect(causes(assertion)).not.toContain('No destination responds')
    expect(causes(() => expect(sandbox.queue).not.toHaveDeadLetter({ to: nowhere }))).toContain(undelivered)
  })

  test('is not a cause once a destination is registered', async () => {
    sandbox.queue.publish({ to: nowhere, retries: 1 })
    await sandbox.clock.advance('1s')
    const failures = [
      () => expect(sandbox.store).toHaveKey('order:1'),
      () => expect(sandbox.queue).toHaveDelivered({ to: nowhere, attempts: 1 }),
    ]
    for (const failure of failures) expect(causes(failure)).toContain(undelivered)
    sandbox.destinations.respond(nowhere, 200)
    for (const failure of failures) expect(causes(failure)).not.toContain('No destination responds')
    await sandbox.clock.drain()
    sandbox.destinations.off(nowhere)
    for (const failure of failures) expect(causes(failure)).not.toContain('No destination responds')
  })
})
