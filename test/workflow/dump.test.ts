import { WorkflowNonRetryableError } from '@upstash/workflow'
import fc from 'fast-check'
import type { Duration, SandboxDump } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { runs } from '../support/effort.js'
import { app, type WorkflowWorld, workflowWorld } from './world.js'

// A fork equals its origin: a dump of any instant, loaded elsewhere, leads to the same effects.

const startAt = '2031-03-03T12:00:00Z'
const copied = (dump: SandboxDump): SandboxDump => JSON.parse(JSON.stringify(dump)) as SandboxDump

/** An app with many features. Its effects are the results of its runs and which of them fail. */
function open({ serve, destinations }: WorkflowWorld): void {
  destinations.on('https://third.test/*', async (request, task) => {
    await task.sleep('3s')
    return Response.json({ path: new URL(request.url).pathname })
  })
  serve('/child', async (context) => {
    await context.sleep('nap', 20)
    return await context.run('double', () => (context.requestPayload as { n: number }).n * 2)
  })
  serve('/parent', async (context) => {
    await context.run('before', () => 0)
    const workflow = { routeFunction: async () => 0, workflowId: 'child', options: {} }
    const { body, isFailed } = await context.invoke('child', { workflow: workflow as never, body: { n: 21 } })
    return { body, isFailed }
  })
  serve('/steps', async (context) => {
    const first = await context.run('first', () => 1)
    await context.sleep('nap', 30)
    const url = 'https://third.test/pay'
    const paid = await context.call('pay', { url, method: 'POST', body: JSON.stringify({ first }), retries: 1 })
    return [first, paid.body]
  })
  serve('/fan', async (context) => {
    const [a, , , d] = await Promise.all([
      context.run('a', () => 'A'),
      context.sleep('b', 25),
      context.call('c', { url: 'https://third.test/c' }),
      context.waitForEvent('d', 'fan', { timeout: 40 }),
    ])
    return await context.run('sum', () => [a, d.timeout])
  })
  serve('/wait', async (context) => {
    const first = await context.waitForEvent('first', 'go', { timeout: '1m' })
    const second = await context.waitForEvent('second', 'late', { timeout: '50s' })
    return [first.timeout, second.timeout, second.eventData]
  })
  serve(
    '/fails',
    async (context) => {
      await context.run('fine', () => 'fine')
      await context.run('bad', () => {
        throw new Error('bad')
      })
    },
    { failureFunction: async ({ failResponse }) => failResponse },
  )
  serve('/stops', async (context) => {
    await context.sleep('nap', 10)
    await context.run('stop', () => {
      throw new WorkflowNonRetryableError('no')
    })
  })
}

async function begin({ client, clock, workflow }: WorkflowWorld): Promise<void> {
  for (const [index, path] of ['/steps', '/fan', '/wait', '/fails', '/stops', '/parent'].entries()) {
    await client.trigger({
      url: app + path,
      workflowRunId: `run${index}`,
      body: { n: index },
      headers: { 'x-user': 'é' },
      retries: path === '/fails' ? 2 : 1,
      retryDelay: '7000',
      label: 'lbl',
      ...(path === '/steps' && { flowControl: { key: 'k', parallelism: 1 } }),
    })
  }
  const headers = { 'Upstash-Workflow-Unknown-Sdk': 'true' }
  await client.trigger({ url: `${app}/steps`, workflowRunId: 'later', delay: '45s', headers })
  workflow.notify('late', { kept: true }, { runId: 'wfr_run2' })
  await clock.advance(0)
}

interface Effects {
  readonly [run: string]: unknown
}

/** A repeated delivery may invoke again. */
function effects({ workflow, queue }: WorkflowWorld): Effects {
  const runs = workflow.runs.map(({ id, url, state, result }) => [/run\d|later/.test(id) ? id : url, { state, result }])
  return { ...Object.fromEntries(runs), letters: queue.deadLetters.map(({ message }) => message.url).sort() }
}

const eventAt = Date.parse(startAt) + 50_000

async function finish(w: WorkflowWorld): Promise<void> {
  if (w.clock.now() < eventAt) {
    await w.clock.advanceTo(eventAt)
    w.workflow.notify('go', 'went')
  }
  await w.clock.drain()
}

async function begun(moment: number, lag: Duration | undefined): Promise<WorkflowWorld> {
  const world = workflowWorld({ startAt })
  if (lag !== undefined) world.lag = lag
  open(world)
  await begin(world)
  if (moment <= 50_000) await world.clock.advance(moment)
  else {
    await world.clock.advanceTo(eventAt)
    world.workflow.notify('go', 'went')
    await world.clock.advance(moment - 50_000)
  }
  return world
}

function loaded(dump: SandboxDump): WorkflowWorld {
  const world = workflowWorld({ startAt: '2020-01-01T00:00:00Z', seed: 77 })
  world.load(dump)
  open(world)
  return world
}

describe('a dump of running workflows', () => {
  test('the app has the expected effects without a dump', async () => {
    const world = await begun(0, undefined)
    await finish(world)
    expect(effects(world)).toEqual({
      wfr_run0: { state: 'RUN_SUCCESS', result: [1, { path: '/pay' }] },
      wfr_run1: { state: 'RUN_SUCCESS', result: ['A', true] },
      wfr_run2: { state: 'RUN_SUCCESS', result: [false, false, { kept: true }] },
      wfr_run3: { state: 'RUN_FAILED' },
      wfr_run4: { state: 'RUN_FAILED' },
      wfr_run5: { state: 'RUN_SUCCESS', result: { body: 42, isFailed: false } },
      wfr_later: { state: 'RUN_SUCCESS', result: [1, { path: '/pay' }] },
      'https://app.test/child': { state: 'RUN_SUCCESS', result: 42 },
      letters: [`${app}/fails`, `${app}/stops`],
    })
  })

  test('at any instant, loaded elsewhere, leads to the same effects', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 100_000 }),
        fc.constantFrom(undefined, '2s' as const),
        async (moment, lag) => {
          const first = await begun(moment, lag)
          const dump = copied(first.dump())
          const log = await first.client.logs({})
          // A delivery in flight is repeated.
          const isBusy = dump.queue.messages.some(({ state }) => state === 'ACTIVE')
          await finish(first)
          const expected = { effects: effects(first), end: first.clock.now() }
          first.dispose()
          const second = loaded(dump)
          if (lag !== undefined) second.lag = lag
          if (!isBusy) {
            expect(copied(second.dump())).toEqual({ ...dump, loads: 1 })
            expect(await second.client.logs({})).toEqual(log)
          }
          await finish(second)
          const came = { effects: effects(second), end: isBusy ? expected.end : second.clock.now() }
          second.dispose()
          expect(came).toEqual(expected)
        },
      ),
      {
        numRuns: runs(15, 15, 150),
        examples: [
          [0, undefined],
          [31_000, '2s'],
          [3000, '2s'],
          [5000, '2s'],
          [26_000, '2s'],
          [100_000, undefined],
        ],
      },
    )
  })
})
