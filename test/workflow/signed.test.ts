import { serve } from '@upstash/workflow/nextjs'
import { expect, test } from 'vitest'
import { app, type Loose, workflowWorld } from './world.js'

// The SDK verifies each delivery with the signing keys of its environment, like a deployed app. [workflow.md 3.1]

test.each([
  ['whole lists', undefined],
  ['lists that are fetched', 0],
])('the SDK accepts the signature of every kind of delivery: %s', async (_, workflowLazyBodyAbove) => {
  const world = workflowWorld({ policy: { workflowLazyBodyAbove } })
  const { clock, client, destinations, workflow, env } = world
  destinations.on('https://third.test/', () => new Response('größe'))
  let failed: unknown
  const { POST } = serve(
    async (context: Loose) => {
      await context.run('run', () => 'ü')
      await context.sleep('sleep', 1)
      const [, { body }] = await Promise.all([
        context.waitForEvent('wait', 'never', { timeout: 1 }),
        context.call('call', { url: 'https://third.test/' }),
      ])
      await context.run('fail', () => Promise.reject(new Error(body)))
    },
    {
      env,
      url: `${app}/x`,
      failureFunction: ({ failResponse }: Loose) => {
        failed = failResponse
      },
    } as never,
  ) as Loose
  const statuses: number[] = []
  destinations.on(`${app}/x`, async (request) => {
    const response: Response = await POST(request)
    statuses.push(response.status)
    return response
  })
  await client.trigger({ url: `${app}/x`, workflowRunId: 'one', retries: 0, body: 'payload ü' })
  await clock.drain()
  expect(workflow.getRun('wfr_one').state).toBe('RUN_FAILED')
  expect(failed).toBe('größe')
  // Payload, run, sleep, two plans, the call's callback and both results, of which the last one fails, and the
  // failure function.
  expect(statuses.filter((status) => status === 500)).toHaveLength(1)
  expect(statuses.filter((status) => status !== 500 && status !== 200)).toEqual([])
  const forged = await POST(new Request(`${app}/x`, { method: 'POST', body: '{}' }))
  expect(forged.status).toBe(500)
  expect(await forged.text()).toContain('Upstash-Signature')
  await clock.drain()
  expect(workflow.runs).toHaveLength(1)
})

test('a delivery with a wrong signature never reaches the route', async () => {
  const world = workflowWorld({ signingKeys: { current: 'sig_other' } } as never)
  const { clock, client, destinations, workflow, env } = world
  let ran = 0
  const { POST } = serve(async (context: Loose) => await context.run('a', () => ++ran), {
    env: { ...env, QSTASH_CURRENT_SIGNING_KEY: 'sig_mine', QSTASH_NEXT_SIGNING_KEY: 'sig_next' },
    url: `${app}/x`,
  } as never) as Loose
  destinations.on(`${app}/x`, (request) => POST(request))
  await client.trigger({ url: `${app}/x`, workflowRunId: 'one', retries: 0 })
  await clock.drain()
  expect(workflow.getRun('wfr_one').state).toBe('RUN_FAILED')
  expect(ran).toBe(0)
})
