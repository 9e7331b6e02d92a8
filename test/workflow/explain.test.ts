import { createWorkflow, serveMany } from '@upstash/workflow/nextjs'
import { fault } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { engineOf } from '../../src/queue/queue-internals.js'
import { app, type Loose, type WorkflowWorld, workflowWorld } from './world.js'

type Context = Parameters<Parameters<WorkflowWorld['serve']>[1]>[0]

async function begun(route: (context: Context) => Promise<unknown>, after: number): Promise<WorkflowWorld> {
  const world = workflowWorld({ startAt: '2030-01-01T00:00:00Z' })
  world.serve('/run', route)
  await world.client.trigger({ url: `${app}/run`, workflowRunId: 'one', retries: 0 })
  await world.clock.advance(after)
  return world
}

const explained = ({ workflow }: WorkflowWorld): string => workflow.getRun('wfr_one').explain()

describe('explain() of a run', () => {
  test('states that it sleeps', async () => {
    const world = await begun((context) => context.sleep('nap', '1h'), 1000)
    expect(explained(world)).toMatch(
      /^Workflow run wfr_one of https:\/\/app\.test\/run .*2030-01-01 00:00:00 .*still running\. Message msg_\w+ to https:\/\/app\.test\/run, .*step "nap" .*wfr_one.*first attempt .*2030-01-01 01:00:00, 3600 s .*published\.$/,
    )
  })

  test('states that it waits for an event', async () => {
    const world = await begun((context) => context.waitForEvent('approval', 'approved', { timeout: '2h' }), 0)
    expect(explained(world)).toMatch(/Step "approval" waits .*"approved" .*2030-01-01 02:00:00\./)
  })

  test('states that it calls a third party, and then that the callback is delivered', async () => {
    const world = workflowWorld()
    world.destinations.on('https://third.test/', async (_request, task) => {
      await task.sleep('10s')
      return new Response()
    })
    world.lag = '5s'
    world.serve('/run', (context) => context.call('pay', { url: 'https://third.test/' }) as Promise<never>)
    await world.client.trigger({ url: `${app}/run`, workflowRunId: 'one' })
    await world.clock.advance('12s')
    expect(explained(world)).toMatch(/the request of step "pay" .*wfr_one, is being delivered/)
    await world.clock.advance('10s')
    expect(explained(world)).toMatch(/the response for step "pay" .*wfr_one, is being delivered/)
  })

  test('states that a submission is held, which satisfies the invariants', async () => {
    const world = workflowWorld()
    world.lag = '10s'
    world.serve('/run', (context) => context.run('charge', () => 1))
    await world.client.trigger({ url: `${app}/run`, workflowRunId: 'one' })
    await world.clock.advance('15s')
    const held = [...engineOf(world.queue).whereabouts()].find(([, place]) => place === 'held')!
    expect(world.queue.explain(held[0])).toMatch(/step "charge" .*wfr_one, is held .*endpoint has responded/)
    expect(world.checkInvariants().violations).toEqual([])
  })

  test('states how it ended', async () => {
    const success = await begun((context) => context.run('a', () => 1), 0)
    expect(explained(success)).toContain('and succeeded at 2030-01-01 00:00:00.')
    const failed = await begun(() => Promise.reject(new Error('no')), 0)
    expect(explained(failed)).toMatch(
      /failed .*2030-01-01 00:00:00: https:\/\/app\.test\/\S+ .*500 "no" \(dead letter \d+-0\)\. Message msg_/,
    )
    const cancelled = await begun((context) => context.sleep('nap', '1h'), 0)
    cancelled.workflow.getRun('wfr_one').cancel()
    expect(explained(cancelled)).toContain('and was canceled at 2030-01-01 00:00:00.')
  })

  test('states that no further delivery is planned', async () => {
    const world = workflowWorld()
    world.serve('/run', (context) => context.run('a', () => 1))
    world.faults.add({ on: 'workflow.step', match: { step: 'a' }, fault: fault.drop() })
    await world.client.trigger({ url: `${app}/run`, workflowRunId: 'one' })
    await world.clock.drain()
    expect(explained(world)).toMatch(/fault dropped .*deliveries/)
  })
})

// The SDK treats a 400 as a canceled run and reports nothing, so the run hangs. [workflow.md 0, 5]
test.each([
  ['sleeps', (context: Loose) => context.sleep('nap', 'soon'), /invalid .*"?soon/],
  ['waits', (context: Loose) => context.waitForEvent('w', 'e', { timeout: 'soon' }), /invalid timeout: "soon"/],
  ['calls', (context: Loose) => context.call('c', { url: 'https://x.test', retryDelay: 'soon(' }), /retry-delay/i],
  [
    'sleeps, in a branch',
    (context: Loose) => Promise.all([context.sleep('nap', 'soon'), context.run('a', () => 1)]),
    /soon/,
  ],
])('a step that %s with invalid values is rejected, and explain() states why', async (_, route, why) => {
  const world = await begun((context) => context.run('first', () => 1).then(() => route(context)), 0)
  await world.clock.drain()
  expect(explained(world)).toMatch(/queue rejected .*submitted/)
  expect(explained(world)).toMatch(why)
  const run = world.workflow.getRun('wfr_one')
  await expect(run.advanceToEnd()).rejects.toThrow(why)
})

test('invoking a run ID that exists begins nothing, and explain() states why', async () => {
  const child = createWorkflow(async (context: Loose) => await context.run('a', () => 1))
  const world = workflowWorld({ policy: { workflowSingletonRuns: 'never-again' } })
  const { POST } = serveMany(
    {
      child,
      main: createWorkflow(async (context: Loose) => {
        for (const step of ['first', 'second']) await context.invoke(step, { workflow: child, workflowRunId: 'kid' })
      }),
    } as never,
    { env: world.env } as never,
  ) as Loose
  world.destinations.on(`${app}/*`, (request) => POST(request))
  await world.client.trigger({ url: `${app}/main`, workflowRunId: 'one' })
  await world.clock.drain()
  expect(explained(world)).toMatch(/wfr_kid already exists/)
})

test('the statistics count runs by their end state, and a dump keeps the counts', async () => {
  const world = await begun((context) => context.run('a', () => 1), 0)
  world.serve('/bad', () => Promise.reject(new Error('no')))
  world.serve('/long', (context) => context.sleep('nap', '1h'))
  for (const path of ['/bad', '/long', '/long']) await world.client.trigger({ url: app + path, retries: 0 })
  await world.clock.advance('1s')
  world.workflow.runs.at(-1)!.cancel()
  const counted = world.dump().counted
  const [ran, bad, , gone] = world.workflow.runs.map(({ state }) => state)
  expect([ran, bad, gone]).toEqual(['RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED'])
  const sums = Object.fromEntries(
    counted.tallies.map((name, index) => [name, counted.rings[0]![1].reduce((sum, [, row]) => sum + row[index]!, 0)]),
  )
  expect(sums).toMatchObject({ runsStarted: 4, runsSucceeded: 1, runsFailed: 1, runsCanceled: 1 })
  const dump = world.dump()
  world.load(dump)
  expect(world.dump().counted).toEqual(dump.counted)
})

describe.each([
  ['what a run failed of', 0, 'failed at 2030-01-01 00:00:00: '],
  ['what a run met that tries again', 3, 'waits for retry 1 of 3 at '],
] as const)('explain(): %s', (_, retries, begin) => {
  /** Returns the explanation of a run whose endpoint responds in this way to the first attempt. */
  async function answered(reply: () => Response, headers: Record<string, string> = {}): Promise<string> {
    const world = workflowWorld({ startAt: '2030-01-01T00:00:00Z' })
    world.destinations.on(`${app}/run`, reply)
    await world.client.trigger({ url: `${app}/run`, workflowRunId: 'one', retries, ...headers })
    await world.clock.advance('1s')
    const text = explained(world)
    expect(text).toContain(begin)
    return text
  }

  test('contains the URL that failed and the body of its response, cut and escaped', async () => {
    expect(await answered(() => new Response('<h1>Bad\ngateway</h1>', { status: 502 }))).toContain(
      `${app}/run responded 502 "<h1>Bad\\ngateway</h1>"`,
    )
    expect(await answered(() => new Response(null, { status: 503 }))).toMatch(/\/run responded 503( \(dead letter|\.$)/)
    const long = await answered(() => new Response(`\u001b[31m\u202e${'x'.repeat(5000)}`, { status: 500 }))
    expect(long).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
    expect(long.length).toBeLessThan(1200)
  })

  test('contains no secret of the response', async () => {
    const text = await answered(() => new Response('token: sk_live_abcdefghijklmnopqrstuv', { status: 500 }))
    expect(text).toContain('responded 500 "token')
    expect(text).not.toContain('sk_live_abc')
    const hidden = await answered(() => new Response('the secret of Ada', { status: 500 }), {
      redact: { body: true },
    } as never)
    expect(hidden).toContain('responded 500')
    expect(hidden).not.toContain('Ada')
  })

  test('contains the URL of a later step without an app, and no DNS lookup of an IP address', async () => {
    const world = workflowWorld()
    world.serve('/run', async (context) => void (await context.run('a', () => 1)), { baseUrl: 'http://127.0.0.1:4999' })
    await world.client.trigger({ url: `${app}/run`, workflowRunId: 'one', retries })
    await world.clock.advance('1s')
    expect(explained(world)).toMatch(
      /http:\/\/127\.0\.0\.1:4999\/run did not respond: .*connection refused( \(dead|\.$)/,
    )
    expect(explained(world)).not.toMatch(/responded 0|lookup/)
  })
})
