import { createSandbox, type Sandbox } from 'stuntdouble'
import {
  arb,
  assertResilient,
  type DeliveryHandler,
  disputedPolicies,
  type PolicyChoices,
  ResilienceError,
} from 'stuntdouble/fast-check'
import { describe, expect, test } from 'vitest'
import { defaultPolicy } from '../../../src/policy/policy.js'
import { policyWith } from '../../../src/policy/schema.js'

const reports = 'https://shop.test/reports'
type Options = Parameters<typeof assertResilient>[0]

async function brokenBy(options: Options): Promise<ResilienceError> {
  const error = await assertResilient(options).catch((thrown: unknown) => thrown)
  if (error instanceof ResilienceError) return error
  throw new Error(`nothing was found: ${JSON.stringify(error)} ${error}`)
}

/**
 * superset-sh/superset#7289 and dubinc/dub#4307: a daily report is sent with the day as its deduplication ID, and the
 * user requests it again in the afternoon. Whether that is a duplicate depends on the assumed window.
 */
const daily: Options = {
  publish: async ({ queue, clock }) => {
    queue.publish({ to: reports, body: { report: 1 }, deduplicationId: 'report-2030-01-01' })
    await clock.advance('6h')
    queue.publish({ to: reports, body: { report: 2 }, deduplicationId: 'report-2030-01-01' })
  },
  handler: async (request, _, { store }) => {
    const { report } = (await request.json()) as { report: number }
    store.run('SADD', 'sent', report)
    return new Response()
  },
  holds: ({ store }) => store.run('SCARD', 'sent') === 2,
}
/** Each request for a report has its own ID. */
const mended: Options = {
  ...daily,
  publish: async ({ queue, clock }) => {
    queue.publish({ to: reports, body: { report: 1 }, deduplicationId: 'report-2030-01-01-1' })
    await clock.advance('6h')
    queue.publish({ to: reports, body: { report: 2 }, deduplicationId: 'report-2030-01-01-2' })
  },
}
const policies: PolicyChoices = { deduplicationWindow: ['10m', '90d'] }

describe('assertResilient() with a daily deduplication ID', () => {
  test('passes with a window of ten minutes, and fails with the other one', async () => {
    await assertResilient(daily)
    const { message, faults, policy } = await brokenBy({ ...daily, policies })
    expect(faults).toEqual([])
    expect(policy).toEqual({ deduplicationWindow: 7_776_000_000 })
    const [above] = message.split('\n\n')
    expect(above).toMatchInlineSnapshot(`
      "Fails without any fault with deduplicationWindow 90d:
        attempt 1  ok  responded 200
        → fails with deduplicationWindow 90d (40 of 40 runs) only; 0 of 40 runs fail with 10m
        → sent = {"1"}, with deduplicationWindow 10m {"1", "2"}
        → POST https://shop.test/reports "{\\"report\\":2}" was sent 0 times, with deduplicationWindow 10m once"
    `)
    expect(message).toContain('\nIn a sandbox with policy: { deduplicationWindow: 7776000000 }\n')
  })

  test('passes with both windows for the fixed version', async () => {
    expect(await assertResilient({ ...mended, policies })).toMatchObject({ runs: 100 })
  })

  test('finds the failure again with the printed line', async () => {
    const first = await brokenBy({ ...daily, policies, seed: 5 })
    const line =
      /Replay: assertResilient\(\{ …, policies: \{ deduplicationWindow: \['10m', '90d'\] \}, seed: 5, path: '([\d:]+)' \}\)$/
    const [, path] = line.exec(first.message)!
    expect(await brokenBy({ ...daily, policies, seed: 5, path: path! })).toMatchObject({
      message: expect.any(String),
      policy: first.policy,
    })
  })
})

describe('assertResilient() with a static idempotency key', () => {
  /** hookdeck/outpost#670: an order that could not be sent is sent again by hand, with the same key. */
  const again = (second: string): Options => ({
    publish: async ({ queue, clock, store }) => {
      store.run('SET', 'down', 1)
      queue.publish({ to: reports, body: { report: 1 }, deduplicationId: 'order-42', retries: 0 })
      await clock.advance('1d')
      store.run('DEL', 'down')
      queue.publish({ to: reports, body: { report: 1 }, deduplicationId: second, retries: 3 })
    },
    handler: (_, __, { store }) => {
      if (store.get('down') !== null) return new Response(null, { status: 503 })
      store.run('SET', 'sent', 1)
      return new Response()
    },
    holds: ({ store }) => store.get('sent') === '1',
    policies,
    runs: 30,
  })

  test('fails where the key deduplicates the second order', async () => {
    const { message } = await brokenBy(again('order-42'))
    expect(message).toContain('  → fails with deduplicationWindow 90d (')
    expect(message).toContain('only; 0 of')
    expect(message).toMatch(/^ {2}→ sent does not exist.*deduplicationWindow 10m\b.*"1"$/m)
  })

  test('passes if each attempt has its own key', async () => {
    await assertResilient(again('order-42-2'))
  })
})

describe('assertResilient() with a failure that needs a policy and a fault', () => {
  /** Remembers messages for an hour, and assumes that no retry comes later. */
  const handle: DeliveryHandler = async (request, _, { store, clock }) => {
    const seen = store.get('seen')
    if (seen !== null && clock.now() - Number(seen) < 3_600_000) return new Response()
    store.run('SET', 'seen', clock.now())
    store.run('INCR', 'sent')
    return new Response(await request.text())
  }
  const forgetful: Options = {
    publish: ({ queue }) => queue.publish({ to: reports, body: { id: 1 }, retries: 5 }),
    handler: handle,
    holds: ({ store }) => store.get('sent') === '1',
    // After a fourth fault the hour is over with every backoff factor.
    faults: arb.deliveryFaults({ kinds: ['lost-ack', 'status'], maxRules: 3 }),
  }

  test('shrinks to the policy and the fault', async () => {
    await assertResilient({ ...forgetful, policies: { backoffFactor: [2.5, 2] } })
    const { message, faults, policy } = await brokenBy({
      ...forgetful,
      policies: { backoffFactor: [2.5, 12], callbackTimestampType: ['string', 'number'] },
    })
    expect(faults).toEqual([{ on: 'queue.delivery', times: 1, fault: { kind: 'lost-ack' } }])
    expect(policy).toEqual({ backoffFactor: 12, callbackTimestampType: 'string' })
    expect(message).toMatch(/^Fails after \d+ of 100 .*backoffFactor 12, callbackTimestampType string\b.*seed 1\b/)
    expect(message).toMatch(/ {2}→ .*backoffFactor 12 .*\d+ of \d+ runs.*only.*\b0 of \d+ runs.*\b2\.5\n/)
    expect(message).toMatch(/ {2}→ .*every value of callbackTimestampType.*string \((\d+ of \d+) .*number \(\1 .*\n/)
    expect(message).toMatch(
      /sandbox\.faults\.add\(\).*policy: \{ backoffFactor: 12, callbackTimestampType: 'string' \}:/,
    )
  })

  test('prints a counterexample that can be pasted', async () => {
    const { faults, policy } = await brokenBy({ ...forgetful, policies: { backoffFactor: [2.5, 12] } })
    const sandbox = createSandbox({ policy })
    sandbox.destinations.on(reports, (request, task) => handle(request, task, sandbox))
    sandbox.faults.add(faults)
    forgetful.publish(sandbox)
    await sandbox.clock.drain()
    expect(sandbox.store.get('sent')).toBe('2')
  })
})

describe('assertResilient() combines policies', () => {
  const seen = async (given: PolicyChoices, runs = 100) => {
    const worlds = new Set<string>()
    const deliver = (sandbox: Sandbox) => {
      const { deduplicationWindow, retries, flowControlOrder, maxRatePeriod } = sandbox.policy
      worlds.add([deduplicationWindow, retries, flowControlOrder, maxRatePeriod].join(' '))
      sandbox.queue.publish({ to: reports })
    }
    await assertResilient({ publish: deliver, handler: () => new Response(), holds: () => true, policies: given, runs })
    return worlds
  }

  test('tries all combinations of a few, with any random plans', async () => {
    const given = { deduplicationWindow: ['10m', 1], retries: [0, 1, 2], maxRatePeriod: ['1h'] } as const
    expect([...(await seen(given, 6))].sort()).toEqual(
      [1, 600_000].flatMap((window) => [0, 1, 2].map((retries) => `${window} ${retries} fifo 3600000`)).sort(),
    )
  })

  test('passes with all disputed policies for an app that depends on none', async () => {
    expect((await seen(disputedPolicies)).size).toBeGreaterThanOrEqual(4)
  })

  test('disputedPolicies contains policies whose first values are the defaults', () => {
    for (const [name, values] of Object.entries(disputedPolicies)) {
      expect(values.length).toBeGreaterThan(1)
      if (name !== 'deduplicationWindow') expect(values[0]).toBe(defaultPolicy[name as keyof typeof defaultPolicy])
      else expect(values[0]).toBe('10m')
      if (name !== 'deduplicationWindow') for (const value of values) policyWith({ [name]: value })
    }
  })
})

test('assertResilient() throws a TypeError for invalid policies', async () => {
  for (const [given, sentence] of [
    [{ deduplicationWindw: ['10m'] }, /policy "deduplicationWindw"\. .*mean deduplicationWindow\b/],
    [{ xyz: [1] }, /policy "xyz"\. The policies.* maxTrafficEntries\b/],
    [
      { deduplicationWindow: '10m' },
      /policies\.deduplicationWindow .*list of values.*assertResilient\(\{ …, policies:/,
    ],
    [{ deduplicationWindow: [] }, /policies\.deduplicationWindow .*list of values/],
    [{ deduplicationWindow: ['10 minutes'] }, '"10 minutes" is not a duration'],
    [{ retries: ['3'] }, 'policies.retries: policy.retries must be'],
    [{ flowControlOrder: ['lifo'] }, 'policies.flowControlOrder: policy.flowControlOrder must be'],
    [{ retries: [1, -1] }, 'policies.retries: policy.retries must be'],
    [['10m'], 'policies must be an object with a list of values'],
    [null, 'policies must be an object with a list of values'],
  ] as const)
    await expect(assertResilient({ ...mended, policies: given as never })).rejects.toThrow(sentence)
  const sandbox = { policy: { deduplicationWindow: 5 } }
  await expect(assertResilient({ ...mended, sandbox, policies })).rejects.toThrow(
    /deduplicationWindow.*policies.*sandbox\.policy/,
  )
})
