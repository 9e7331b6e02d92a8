import { expect, test } from 'vitest'
import { workflowWorld } from './world.js'

// Queries of the SDK's client about runs, and what it does with failed ones. [workflow.md 1, 10, 11]

test('the client reads the log of a successful run', async () => {
  const { client, clock, serve, destinations } = workflowWorld()
  destinations.record('https://third.test/pay', { status: 201, body: 'paid', headers: { 'x-a': '1' } })
  const url = serve('/log', async (context) => {
    await context.run('one', () => ({ n: 1 }))
    await context.sleep('nap', 60)
    await context.call('pay', { url: 'https://third.test/pay', method: 'POST', body: { amount: 5 } as never })
    await context.waitForEvent('approval', 'evt', { timeout: '1h' })
    await Promise.all([context.run('a', () => 1), context.run('b', () => 2)])
    return 'done'
  })
  const { workflowRunId } = await client.trigger({ url, label: 'mine', body: { order: 1 } })
  await clock.advance('30s')
  const midway = (await client.logs({ workflowRunId })).runs[0]!
  expect(midway.workflowState).toBe('RUN_STARTED')
  expect(midway.steps.map(({ type }) => type)).toEqual(['sequential', 'sequential', 'sequential'])
  expect(midway.steps.at(-1)!.steps[0]).toMatchObject({ stepName: 'nap', state: 'STEP_PROGRESS', sleepFor: 60 })
  await clock.drain()
  const { runs, cursor } = await client.logs({ filter: { label: 'mine' } })
  expect(cursor).toBe('')
  const [run] = runs
  expect(run).toMatchObject({
    workflowRunId,
    workflowUrl: url,
    workflowState: 'RUN_SUCCESS',
    workflowRunResponse: '"done"',
    label: 'mine',
  })
  expect(
    run!.steps.map(({ type, steps }) => [type, steps.map((step) => (step as { stepName?: string }).stepName)]),
  ).toEqual([
    ['sequential', ['init']],
    ['sequential', ['one']],
    ['sequential', ['nap']],
    ['sequential', ['pay']],
    ['sequential', ['approval']],
    ['parallel', ['a', 'b']],
  ])
  expect(run!.steps[3]!.steps[0]).toMatchObject({
    stepType: 'Call',
    callUrl: 'https://third.test/pay',
    callMethod: 'POST',
    callBody: '{"amount":5}',
    callResponseStatus: 201,
    callResponseBody: 'paid',
    state: 'STEP_SUCCESS',
  })
  expect(run!.steps[4]!.steps[0]).toMatchObject({
    stepType: 'Wait',
    waitEventId: 'evt',
    waitTimeout: true,
    waitTimeoutDuration: '1h',
  })
})

test('the client reads, resumes and restarts a failed run', async () => {
  const { client, clock, serve } = workflowWorld()
  let broken = true
  const ran: string[] = []
  const url = serve('/repair', async (context) => {
    await context.run('first', () => void ran.push('first'))
    await context.run('second', () => {
      if (broken) throw new Error('broken')
      ran.push('second')
    })
  })
  const { workflowRunId } = await client.trigger({ url, retries: 0, body: 'x' })
  await clock.drain()
  const [run] = (await client.logs({ workflowRunId })).runs
  expect(run!.workflowState).toBe('RUN_FAILED')
  expect(run!.steps.at(-1)).toMatchObject({
    type: 'next',
    steps: [{ state: 'STEP_FAILED', stepName: 'second', retries: 0, errors: [{ status: 500 }] }],
  })
  const { messages } = await client.dlq.list({ filter: { workflowRunId } })
  expect(messages).toHaveLength(1)
  expect(messages[0]).toMatchObject({ workflowRunId, workflowUrl: url, responseStatus: 500, dlqId: run!.dlqId })
  broken = false
  const resumed = await client.dlq.resume(messages[0]!.dlqId)
  await clock.drain()
  expect(ran).toEqual(['first', 'second'])
  expect(resumed).not.toMatchObject({ workflowRunId })
  expect((await client.dlq.list()).messages).toHaveLength(0)
  const states = (await client.logs()).runs.map((one) => one.workflowState)
  expect(states).toEqual(['RUN_SUCCESS', 'RUN_FAILED'])

  broken = true
  await client.trigger({ url, retries: 0 })
  await clock.drain()
  broken = false
  ran.length = 0
  await client.dlq.restart([(await client.dlq.list()).messages[0]!.dlqId])
  await clock.drain()
  expect(ran).toEqual(['first', 'second'])
})

test('the client cancels runs by ID, by prefix of their URL, and all', async () => {
  const { client, clock, serve } = workflowWorld()
  const sleeps = (path: string): string => serve(path, async (context) => void (await context.sleep('long', '1d')))
  const urls = [sleeps('/a/one'), sleeps('/a/two'), sleeps('/b')]
  const ids: string[] = []
  for (const url of urls) ids.push((await client.trigger({ url })).workflowRunId)
  await clock.advance('1m')
  expect(await client.cancel([ids[0]!, 'wfr_nobody'])).toEqual({ cancelled: 1 })
  expect(await client.cancel(ids[0]!)).toEqual({ cancelled: 0 })
  expect(await client.cancel({ filter: { workflowUrlStartingWith: 'https://app.test/a/' } })).toEqual({ cancelled: 1 })
  expect(await client.cancel({ all: true })).toEqual({ cancelled: 1 })
  const before = clock.now()
  await clock.drain()
  expect(clock.now()).toBe(before)
  expect((await client.logs({ state: 'RUN_CANCELED' })).runs).toHaveLength(3)
})

test('the client calls a failed failure function again', async () => {
  const { client, clock, serve } = workflowWorld()
  let broken = true
  let called = 0
  const url = serve(
    '/failing',
    async (context) => {
      await context.run('break', () => {
        throw new Error('no')
      })
    },
    {
      failureFunction: async () => {
        called++
        if (broken) throw new Error('also no')
      },
    },
  )
  await client.trigger({ url, retries: 0 })
  await clock.drain()
  const [letter] = (await client.dlq.list()).messages
  expect(letter).toMatchObject({ failureCallbackInfo: { state: 'CALLBACK_FAIL' } })
  broken = false
  await client.dlq.retryFailureFunction({ dlqId: letter!.dlqId })
  await clock.drain()
  expect(called).toBe(2)
  await expect(client.dlq.retryFailureFunction({ dlqId: letter!.dlqId })).rejects.toThrow(/failure function/)
})

test('the dead letter of a run has the labels of the run', async () => {
  const { client, clock, serve } = workflowWorld()
  const url = serve('/x', (context) => context.run('a', () => Promise.reject(new Error('no'))))
  await client.trigger({ url, workflowRunId: 'one', retries: 0, label: ['l1', 'l2'] as never })
  await clock.drain()
  const labels = { label: 'l1,l2', labels: ['l1', 'l2'] }
  expect((await client.logs({ filter: { workflowRunId: 'wfr_one' } } as never)).runs[0]).toMatchObject(labels)
  expect((await client.dlq.list({ filter: { label: 'l2' } } as never)).messages[0]).toMatchObject(labels)
})
