import { Client } from '@upstash/workflow'
import { fault } from 'stuntdouble'
import { expect, test } from 'vitest'
import { sandbox } from './sandbox.ts'

// Import the route after the sandbox, because it reads the environment on import.

import { apiRoute } from './api-route.ts'
import * as order from './pages/api/order.ts'

const url = 'https://shop.test/api/order'

test('ships an order a day after it was packed', async () => {
  const { clock, destinations, workflow } = sandbox
  destinations.on(url, apiRoute(order))
  const { workflowRunId } = await new Client({}).trigger({ url, body: { id: 42 } })
  await clock.advance('23h')
  expect(sandbox).toHaveWorkflowStep('pack', { result: 'packed 42' })
  expect(sandbox).not.toHaveWorkflowStep('ship')

  await clock.drain()
  expect(workflow.getRun(workflowRunId)).toMatchObject({ state: 'RUN_SUCCESS', result: 'shipped 42' })
})

test('repeats a step whose delivery failed', async () => {
  const { clock, destinations, workflow } = sandbox
  destinations.on(url, apiRoute(order))
  destinations.script(url, [fault.pass(), fault.reset()])
  const { workflowRunId } = await new Client({}).trigger({ url, body: { id: 42 } })
  await clock.drain()
  expect(workflow.getRun(workflowRunId)?.state).toBe('RUN_SUCCESS')
})
