import { Client as QueueClient } from '@upstash/qstash'
import type { WorkflowContext } from '@upstash/workflow'
import { createWorkflow, serveMany } from '@upstash/workflow/nextjs'
import { expect, test } from 'vitest'
import { connectionOf } from './every-kind.js'
import { app, type Loose, type WorkflowWorld, workflowWorld } from './world.js'

// "The process will fail once it reaches a depth of 100." [workflow.md 9]

const deepest = 100

/** A workflow that invokes itself up to the depth in its payload, and returns the result of the innermost run. */
function nesting(): WorkflowWorld & { readonly url: string } {
  const world = workflowWorld()
  const workflow: Loose = createWorkflow(async (context: WorkflowContext<{ more: number }>) => {
    const { more } = context.requestPayload
    if (more === 0) return await context.run('innermost', () => 'ground')
    const { body, isFailed } = await context.invoke<Loose, Loose>('deeper', { workflow, body: { more: more - 1 } })
    return isFailed ? 'the one below failed' : body
  })
  const { POST } = serveMany(
    { nest: workflow },
    { qstashClient: new QueueClient(connectionOf(world)) as never, receiver: undefined as never },
  )
  world.destinations.on(`${app}/nest`, POST as Loose)
  return Object.assign(world, { url: `${app}/nest` })
}

test('runs invoke each other 99 levels deep, and return the innermost result', async () => {
  const { client, clock, url, workflow } = nesting()
  const { workflowRunId } = await client.trigger({ url, body: { more: deepest - 1 }, retries: 0 })
  await clock.drain()
  expect(workflow.getRun(workflowRunId)).toMatchObject({ state: 'RUN_SUCCESS', result: 'ground' })
  expect(workflow.runs).toHaveLength(deepest)
})

test('one more level is rejected: the run that invokes fails, and its parent receives the failure', async () => {
  const { client, clock, url, workflow, traffic } = nesting()
  await client.trigger({ url, body: { more: deepest }, retries: 0 })
  await clock.drain()
  const states = workflow.runs.map(({ state }) => state)
  expect(states).toHaveLength(deepest)
  expect(states.filter((state) => state === 'RUN_FAILED')).toHaveLength(1)
  expect(states.at(-1)).toBe('RUN_FAILED')
  expect(workflow.runs.at(-2)!.result).toBe('the one below failed')
  expect(traffic.timeline({ limit: 1000 })).toContain('quota maxInvokeCount exceeded')
})
