import { WorkflowNonRetryableError } from '@upstash/workflow'
import { expect, test } from 'vitest'
import { fault } from '../../src/index.js'
import { workflowWorld } from './world.js'

test('sequential steps run with the SDK', async () => {
  const { client, clock, serve, asked: calls, traffic } = workflowWorld()
  const done: unknown[] = []
  const url = serve('/two', async (context) => {
    const first = await context.run('first', () => 'one')
    await context.sleep('nap', '1w' as never)
    const second = await context.run('second', () => ({ two: first }))
    done.push(second, context.requestPayload)
    return second
  })
  const { workflowRunId } = await client.trigger({ url, body: { hello: 'world' } })
  await clock.drain()
  expect(done).toEqual([{ two: 'one' }, { hello: 'world' }])
  expect(calls).toHaveLength(4)
  expect(workflowRunId).toMatch(/^wfr_/)
  expect(traffic.ofType('workflow').map(({ state }) => state)).toEqual(['RUN_STARTED', 'RUN_SUCCESS'])
})

test('parallel branches run with the SDK', async () => {
  const { client, clock, serve, asked: calls, traffic } = workflowWorld()
  let result: unknown
  const url = serve('/fan', async (context) => {
    result = await Promise.all([context.run('a', () => 1), context.sleep('b', 30), context.run('c', () => 3)])
    return await context.run('sum', () => 4)
  })
  await client.trigger({ url })
  await clock.drain()
  expect(result).toEqual([1, undefined, 3])
  expect(traffic.ofType('workflow').map(({ state }) => state)).toEqual(['RUN_STARTED', 'RUN_SUCCESS'])
  // Start, three plans, two results that are not the last, the last one, and the step after it.
  expect(calls).toHaveLength(8)
})

test('the callback of a call to a third party comes after its last attempt', async () => {
  const { client, clock, serve, asked: calls, destinations } = workflowWorld()
  const third = destinations.record('https://third.test/pay', { status: 200, body: '{"paid":true}' })
  destinations.script('https://third.test/pay', [fault.status(500), fault.status(500)])
  let result: unknown
  const url = serve('/call', async (context) => {
    result = await context.call('pay', {
      url: 'https://third.test/pay',
      method: 'POST',
      body: { amount: 5 } as never,
      retries: 2,
      headers: { 'x-key': 'k' },
    })
  })
  await client.trigger({ url, headers: { 'x-user': 'u' } })
  await clock.drain()
  expect(third.count).toBe(3)
  expect(third.last().header('x-key')).toBe('k')
  expect(third.last().header('x-user')).toBeUndefined()
  expect(third.last().header('upstash-workflow-runid')).toBeUndefined()
  expect(result).toMatchObject({ status: 200, body: '{"paid":true}' })
  expect(calls.map(({ status }) => status)).toEqual([200, 200, 200])
})

test('a wait ends with its event or its timeout', async () => {
  const { client, clock, serve } = workflowWorld()
  const results: unknown[] = []
  const url = serve('/wait', async (context) => {
    results.push(await context.waitForEvent('approval', 'order/1 x', { timeout: '2d' }))
  })
  await client.trigger({ url })
  await clock.advance('1h')
  const waiters = await client.getWaiters({ eventId: 'order/1 x' })
  expect(waiters).toHaveLength(1)
  const told = await client.notify({ eventId: 'order/1 x', eventData: { ok: true } })
  expect(told).toHaveLength(1)
  await clock.drain()
  await client.trigger({ url })
  await clock.drain()
  expect(results).toEqual([
    { eventData: { ok: true }, timeout: false },
    { eventData: undefined, timeout: true },
  ])
})

test('an event before the wait is kept for the run', async () => {
  const { client, clock, serve } = workflowWorld()
  let result: unknown
  const url = serve('/early', async (context) => {
    await context.sleep('first', '1h')
    result = await context.waitForEvent('approval', 'evt')
  })
  const { workflowRunId } = await client.trigger({ url })
  await clock.advance('1m')
  await client.notify({ eventId: 'evt', eventData: 'early', workflowRunId } as never)
  await clock.drain()
  expect(result).toEqual({ eventData: 'early', timeout: false })
})

test('a webhook ends its wait', async () => {
  const { client, clock, serve, fetch } = workflowWorld()
  let hook = ''
  let seen: unknown
  const url = serve('/hook', async (context) => {
    const webhook = await context.createWebhook('make')
    hook = webhook.webhookUrl
    const { request } = await context.waitForWebhook('wait', webhook, '1d')
    seen = await context.run('read', async () => [request?.url, request?.method, await request?.text()])
  })
  await client.trigger({ url })
  await clock.advance('1m')
  const answer = await fetch(`${hook}?a=1`, { method: 'PUT', body: 'hello' })
  expect(answer.status).toBe(200)
  await clock.drain()
  expect(seen).toEqual([`${hook}?a=1`, 'PUT', 'hello'])
})

test('a workflow invokes another one', async () => {
  const { client, clock, serve, traffic } = workflowWorld()
  let result: unknown
  const { createWorkflow, serveMany } = await import('@upstash/workflow/nextjs')
  const child = createWorkflow(
    async (context: { requestPayload: unknown; run: (name: string, f: () => unknown) => Promise<unknown> }) => {
      return await context.run('child', () => ({ got: context.requestPayload }))
    },
  )
  void serveMany
  const childUrl = serve('/child', (child as unknown as { routeFunction: never }).routeFunction)
  ;(child as unknown as { workflowId: string }).workflowId = 'child'
  const url = serve('/parent', async (context) => {
    result = await context.invoke('ask', { workflow: child as never, body: { n: 1 } })
  })
  void childUrl
  await client.trigger({ url })
  await clock.drain()
  expect(result).toEqual({ body: { got: { n: 1 } }, isFailed: false, isCanceled: false })
  expect(traffic.ofType('workflow').map(({ state }) => state)).toEqual([
    'RUN_STARTED',
    'RUN_STARTED',
    'RUN_SUCCESS',
    'RUN_SUCCESS',
  ])
})

test('a failed run calls its failure function', async () => {
  const { client, clock, serve, traffic, asked: calls } = workflowWorld()
  let failure: unknown
  const url = serve(
    '/fail',
    async (context) => {
      await context.run('break', () => {
        throw new Error('broken')
      })
    },
    {
      failureFunction: async ({ context, failStatus, failResponse }) => {
        failure = [context.requestPayload, failStatus, failResponse]
      },
    },
  )
  await client.trigger({ url, body: { order: 1 }, retries: 1 })
  await clock.drain()
  expect(failure).toEqual([{ order: 1 }, 500, 'broken'])
  expect(calls.map(({ status }) => status)).toEqual([500, 500, 200])
  expect(traffic.ofType('workflow').map(({ state }) => state)).toEqual(['RUN_STARTED', 'RUN_FAILED'])
})

test('a non-retryable error fails the run immediately', async () => {
  const { client, clock, serve, traffic, asked: calls } = workflowWorld()
  const url = serve('/never', async (context) => {
    await context.run('break', () => {
      throw new WorkflowNonRetryableError('no')
    })
  })
  await client.trigger({ url })
  await clock.drain()
  expect(calls.map(({ status }) => status)).toEqual([489, 200])
  expect(traffic.ofType('workflow').map(({ state }) => state)).toEqual(['RUN_STARTED', 'RUN_FAILED'])
})

test('a direct request to the endpoint begins a run', async () => {
  const { clock, serve, destinations, traffic, queue } = workflowWorld()
  let payload: unknown
  const url = serve('/direct', async (context) => {
    payload = context.requestPayload
    await context.run('one', () => 1)
  })
  queue.publish({ to: url, body: { direct: true } })
  void destinations
  await clock.drain()
  expect(payload).toEqual({ direct: true })
  expect(traffic.ofType('workflow').map(({ state }) => state)).toEqual(['RUN_STARTED', 'RUN_SUCCESS'])
})

test('the REST trigger has two phases, and one if the URL is known', async () => {
  const { clock, serve, asked: calls, fetch, urls, tokens, traffic } = workflowWorld()
  const url = serve('/rest', async (context) => {
    await context.run('one', () => context.requestPayload)
  })
  const trigger = async (): Promise<unknown> => {
    const response = await fetch(`${urls.queue}/v2/trigger/${url}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.queue}` },
      body: '{"x":1}',
    })
    return response.json()
  }
  expect(await trigger()).toMatchObject({ workflowRunId: expect.stringMatching(/^wfr_/) })
  await clock.drain()
  expect(calls).toHaveLength(3)
  await trigger()
  await clock.drain()
  expect(calls).toHaveLength(5)
  expect(traffic.ofType('workflow').map(({ state }) => state)).toEqual([
    'RUN_STARTED',
    'RUN_SUCCESS',
    'RUN_STARTED',
    'RUN_SUCCESS',
  ])
})

test('a destination that is not a workflow fails the run', async () => {
  const { client, clock, destinations, traffic } = workflowWorld()
  const plain = destinations.record('https://app.test/plain')
  await client.trigger({ url: 'https://app.test/plain' })
  await clock.advance('1m')
  expect(plain.count).toBeGreaterThan(0)
  expect(traffic.ofType('workflow').map(({ state }) => state)).toEqual(['RUN_STARTED', 'RUN_FAILED'])
})
