import { expect, onTestFinished, test, vi } from 'vitest'
import '../../matchers/vitest.js'
import { evaluators } from '../../matchers/index.js'
import { defaultPolicy } from '../../src/policy/policy.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { failureOf } from '../matchers/failure.js'
import { connectedSandbox } from '../support/sandbox.js'
import { app, type Loose, type WorkflowWorld, workflowWorld } from './world.js'

// Limits of a run, and the cost of many steps in addition to the bytes of their deliveries.

const most = 5

/** Plays a route that exceeds a limit, with a failure function. */
async function played(
  route: (context: Loose, world: WorkflowWorld) => Promise<unknown>,
  policy: object = { workflowMaxSteps: most },
) {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => void vi.restoreAllMocks())
  const world = workflowWorld({ policy })
  let failures = 0
  const failureFunction = async (): Promise<void> => void failures++
  const url = world.serve('/w', (context) => route(context, world), { failureFunction })
  await world.client.trigger({ url, workflowRunId: 'one', retries: 3 })
  await world.clock.drain()
  const run = world.workflow.getRun('wfr_one')
  return { world, run, failures }
}

const many = (count: number) => Array.from({ length: count }, (_, n) => `step ${n}`)

/** Each route has one step more than the limit. */
const tooMuch: Readonly<Record<string, (context: Loose, world: WorkflowWorld) => Promise<unknown>>> = {
  steps: async (context) => {
    for (const name of many(most + 3)) await context.run(name, () => 1)
  },
  sleeps: async (context) => {
    for (const name of many(most + 3)) await context.sleep(name, 60)
  },
  branches: (context) => Promise.all(many(most + 3).map((name) => context.run(name, () => 1))),
  'a call': async (context, { destinations }) => {
    destinations.respond(`${app}/third`, 200)
    for (const name of many(most)) await context.run(name, () => 1)
    await context.call('one more', { url: `${app}/third` })
  },
  'a wait': async (context) => {
    for (const name of many(most)) await context.run(name, () => 1)
    await context.waitForEvent('one more', 'evt', { timeout: '1m' })
  },
}

test.each(Object.keys(tooMuch))('a run with one step too many fails: %s', async (name) => {
  const { run, failures, world } = await played(tooMuch[name]!)
  expect(run.state).toBe('RUN_FAILED')
  expect(failures).toBe(1)
  expect(world.queue.deadLetters).toHaveLength(1)
  // None of its deliveries was retried, and the last one called the failure function.
  expect(world.asked.filter(({ status }) => status !== 200).length).toBeLessThanOrEqual(1)
})

test('the log states the limit and that this package enforces it', async () => {
  const { traffic } = (await played(tooMuch.steps!)).world
  expect(traffic.ofType('dead-letter').map(({ error }) => error)).toEqual([
    expect.stringMatching(/^-1 EXCEEDS_LIMIT.*more than 5 steps.*policy\.workflowMaxSteps.*context\.invoke/),
  ])
  const refused = traffic.ofType('request').filter(({ response: answer }) => answer?.status === 429)
  expect(refused.map(({ response: answer }) => answer?.body)).toEqual(['{"error":"-1 EXCEEDS_LIMIT"}'])
})

test('a failed matcher ends the message about the limit with one stop', async () => {
  const { world } = await played(tooMuch.steps!)
  const text = failureOf(() => expect(world as Sandbox).toHaveWorkflowRun({ state: 'success' }))
  expect(text).toMatch(/^Hint: .*context\.invoke\(\)\.$/m)
})

test('explain() states the limit, and not that the endpoint responded', async () => {
  const { run, world } = await played(tooMuch.steps!)
  const stated =
    /failed at [-\d]+ [:.\d]+: -1 EXCEEDS_LIMIT: the run has more than 5 steps \(policy\.workflowMaxSteps\)/
  expect(run.explain()).toMatch(stated)
  expect(run.explain()).not.toContain('responded 429')
  const loaded = connectedSandbox()
  loaded.load(world.dump())
  expect(loaded.workflow.getRun('wfr_one').explain()).toMatch(stated)
})

test('a run at the limit does not fail, and the limit is at least the documented one', async () => {
  expect(defaultPolicy).toMatchObject({ workflowMaxSteps: 1000, workflowMaxContext: 100 * 1024 * 1024 })
  for (const route of [
    async (context: Loose) => {
      for (const name of many(most)) await context.run(name, () => 1)
    },
    (context: Loose) => Promise.all(many(most).map((name) => context.run(name, () => 1))),
  ])
    expect((await played(route)).run.state).toBe('RUN_SUCCESS')
})

test('results that are too long together fail a run, independent of their number', async () => {
  const route = async (context: Loose): Promise<void> => {
    for (const name of many(4)) await context.run(name, () => 'x'.repeat(1000))
  }
  expect((await played(route, { workflowMaxContext: 3500 })).run.state).toBe('RUN_FAILED')
  expect((await played(route, { workflowMaxContext: 5000 })).run.state).toBe('RUN_SUCCESS')
})

test('unrecognized repeated submissions reach a limit', async () => {
  const world = workflowWorld({ policy: { workflowDeduplicateSteps: false } })
  const { ask, client, clock, queue, serve, workflow } = world
  const url = serve('/w', async (context) => void (await context.sleep('long', '1d')))
  await client.trigger({ url, workflowRunId: 'one' })
  await clock.advance('1m')
  const headers = { 'upstash-workflow-runid': 'wfr_one', 'upstash-workflow-init': 'false', 'upstash-delay': '2d' }
  const body = JSON.stringify({ stepId: 2, stepName: 'a', stepType: 'Run', concurrent: 1 })
  const statuses = new Set<number>()
  for (let n = 0; n < 100; n++)
    statuses.add((await ask('POST', '/v2/batch', { body: [{ destination: url, headers, body }] })).status)
  expect([...statuses]).toEqual([200, 429])
  // The run fails at once, although none of its deliveries is in flight.
  await clock.advance('1s')
  expect(workflow.getRun('wfr_one').state).toBe('RUN_FAILED')
  expect(queue.deadLetters).toHaveLength(1)
})

/**
 * Plays a run with this many branches without an SDK: each is planned, has its result, and ends before the next one.
 */
async function branches(count: number) {
  const { ask, clock, destinations } = workflowWorld()
  const headers = { 'upstash-workflow-runid': 'wfr_one', 'upstash-workflow-url': `${app}/w` }
  const submit = (bodies: readonly object[]) =>
    ask('POST', '/v2/batch', {
      body: bodies.map((body) => ({
        destination: `${app}/w`,
        headers: { ...headers, 'upstash-workflow-init': 'false' },
        body: JSON.stringify({ stepName: 'a', stepType: 'Run', concurrent: count, ...body }),
      })),
    })
  let deliveries = 0
  destinations.respond(`${app}/w`, async ({ body }) => {
    const at = deliveries++
    expect(body).toMatch(/^\[\{.*\}\]$/)
    if (at === 0) await submit(Array.from({ length: count }, (_, n) => ({ stepId: 0, targetStep: n + 1 })))
    else if (at <= count) await submit([{ stepId: at, out: '1' }])
    return { status: 200, headers: { 'upstash-workflow-sdk-version': '1' }, body: '{}' }
  })
  const encoded = vi.spyOn(globalThis, 'btoa')
  const held = vi.spyOn(Map.prototype, 'set')
  onTestFinished(() => void vi.restoreAllMocks())
  await ask('POST', '/v2/batch', {
    body: [{ destination: `${app}/w`, headers: { ...headers, 'upstash-workflow-init': 'true' }, body: '' }],
  })
  await clock.drain()
  expect(deliveries).toBe(2 * count + 1)
  const work = { encoded: encoded.mock.calls.length, set: held.mock.calls.length }
  vi.restoreAllMocks()
  return work
}

test('each step of a run is serialized once, however many deliveries carry it', async () => {
  const few = await branches(50)
  const more = await branches(200)
  expect(few.encoded).toBeGreaterThan(100)
  expect(more.encoded).toBeLessThan(5 * few.encoded)
  expect(more.set).toBeLessThan(5 * few.set)
})

test('only finished steps count, and the payload counts with the results', async () => {
  const { world, run } = await played(
    async (context) => {
      await Promise.all(['a', 'b'].map((name) => context.run(name, () => 'é'.repeat(10))))
      await context.waitForEvent('event', 'evt', { timeout: '1d' })
    },
    { workflowMaxSteps: undefined },
  )
  expect(run.state).toBe('RUN_SUCCESS')
  // Two texts of 20 bytes with their quotes. A wait that timed out has no result.
  expect(run.explain()).toContain('(3 steps, 44 of 104,857,600 bytes of context)')
  const has = (pattern: object) => evaluators.toHaveWorkflowRun(world, pattern as never).pass
  expect(has({ steps: 3, contextBytes: 44 })).toBe(true)
  expect(has({ steps: '<=2' })).toBe(false)
  expect(has({ contextBytes: '<=43' })).toBe(false)
  expect(world.traffic.ofType('step').map(({ contextBytes }) => contextBytes)).toEqual([0, 0, 22, 44, 44])
})

test('results that the service submits itself reach the limit, too', async () => {
  const route = (context: Loose) => Promise.all(many(most + 1).map((name) => context.waitForEvent(name, name)))
  const { run, failures } = await played(route)
  expect(run.state).toBe('RUN_FAILED')
  expect(failures).toBe(1)
})

test('a run makes at most as many submissions as its steps allow', async () => {
  const route = async (context: Loose): Promise<void> => {
    await context.run('a', () => 1)
    await context.call('b', { url: `${app}/third` })
    await context.run('c', () => 1)
  }
  const play = (workflowMaxEntriesPerStep: number | undefined) =>
    played(
      (context, { destinations }) => {
        destinations.respond(`${app}/third`, 200)
        return route(context)
      },
      { workflowMaxEntriesPerStep },
    )
  // A call has two submissions: the call and its result.
  expect((await play(1)).run.state).toBe('RUN_FAILED')
  expect((await play(2)).run.state).toBe('RUN_SUCCESS')
  expect((await play(undefined)).run.state).toBe('RUN_SUCCESS')
  expect((await play(1)).world.traffic.ofType('dead-letter')[0]!.error).toMatch(/policy\.workflowMaxEntriesPerStep/)
})

test('the dead letter of a run that exceeds a limit has the response of the service, and a resumed run fails again', async () => {
  const { world } = await played(tooMuch.steps!)
  const { json } = await world.ask('GET', '/v2/dlq?source=workflow')
  expect(json.messages).toHaveLength(1)
  expect(json.messages[0]).toMatchObject({ responseStatus: 429, responseBody: '{"error":"-1 EXCEEDS_LIMIT"}' })
  const resumed = await world.ask('POST', `/v2/workflows/dlq/resume/${json.messages[0].dlqId}`)
  expect(resumed.status).toBe(200)
  await world.clock.drain()
  expect(world.workflow.runs.map(({ state }) => state)).toEqual(['RUN_FAILED', 'RUN_FAILED'])
  expect(world.workflow.getRun('wfr_one').explain()).toContain(`(${most} of ${most} steps`)
})
