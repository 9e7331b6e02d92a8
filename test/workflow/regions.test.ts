import { Client } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import { afterEach, expect, test, vi } from 'vitest'
import { workflowWorld } from './world.js'

// Runs stay in their region, which the SDK reads from a header of the delivery. [workflow.md 2.4, multi-region]

afterEach(() => {
  vi.unstubAllEnvs()
})

test('a run stays in the region in which it was triggered, independent of the region of the app', {
  timeout: 60_000,
}, async () => {
  const sandbox = workflowWorld()
  for (const [name, value] of Object.entries(sandbox.env)) vi.stubEnv(name, value)
  vi.stubEnv('QSTASH_REGION', 'EU_CENTRAL_1')
  const url = 'https://app.test/api/order'
  const { POST } = serve<unknown, unknown>(
    async (context) => {
      const paid = await context.run('pay', () => 'paid')
      await context.sleep('cool down', 60)
      const { eventData } = await context.waitForEvent('approval', 'approved')
      return { paid, by: eventData }
    },
    { url },
  )
  sandbox.destinations.on(url, (request) => POST(request as never) as Promise<Response>)
  const us = new Client({ baseUrl: sandbox.env.US_EAST_1_QSTASH_URL!, token: sandbox.env.US_EAST_1_QSTASH_TOKEN! })
  const eu = new Client({
    baseUrl: sandbox.env.EU_CENTRAL_1_QSTASH_URL!,
    token: sandbox.env.EU_CENTRAL_1_QSTASH_TOKEN!,
  })
  const { workflowRunId } = await us.trigger({ url })
  await sandbox.clock.advance('2m')
  expect(sandbox.workflow.runs).toEqual([])
  const there = sandbox.workflowIn('us-east-1')
  expect(there.runs.map(({ id, state }) => [id, state])).toEqual([[workflowRunId, 'RUN_STARTED']])
  expect((await eu.logs({ workflowRunId })).runs).toEqual([])
  // An event in the other region reaches no run.
  expect(await eu.notify({ eventId: 'approved', eventData: 'Eve' })).toEqual([])
  await sandbox.clock.advance('1m')
  expect(there.getRun(workflowRunId).state).toBe('RUN_STARTED')
  await us.notify({ eventId: 'approved', eventData: 'Ada' })
  await sandbox.clock.drain()
  expect(there.getRun(workflowRunId).result).toEqual({ paid: 'paid', by: 'Ada' })
  const regions = sandbox.traffic.entries.filter(({ type }) => /published|attempt|step|workflow|wait/.test(type))
  expect(new Set(regions.map(({ region }) => region))).toEqual(new Set(['us-east-1']))
  expect(sandbox.checkInvariants().violations).toEqual([])
  expect(sandbox.traffic.ofType('attempt').every(({ outcome }) => outcome?.status === 200)).toBe(true)
})
