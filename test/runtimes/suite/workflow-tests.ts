import { Client as WorkflowClient } from '@upstash/workflow'
import { serve } from '@upstash/workflow/cloudflare'
import type { Kit, SuiteTest } from './suite-test.ts'

const url = 'https://shop.test/api/order'

type Route = Parameters<typeof serve>[0]

/** Registers a workflow, and returns a client that can start it. */
function workflowOf({ sandbox }: Kit, route: Route): WorkflowClient {
  const { fetch } = serve(route, { env: sandbox.env })
  sandbox.destinations.on(url, (request) => fetch(request, sandbox.env))
  return new WorkflowClient({
    baseUrl: sandbox.urls.queue,
    token: sandbox.tokens.queue,
    enableTelemetry: false,
  })
}

/** Workflows of the SDK. */
export const workflowTests: readonly SuiteTest[] = [
  {
    name: 'workflow: steps run once, and a sleep takes virtual time',
    async run(kit) {
      const { expect, sandbox } = kit
      const ran: string[] = []
      const client = workflowOf(kit, async (context) => {
        await context.run('charge', () => void ran.push('charge'))
        await context.sleep('cooling off', '1d')
        return await context.run('ship', () => {
          ran.push('ship')
          return 'shipped'
        })
      })
      const { workflowRunId } = await client.trigger({ url })
      await sandbox.clock.drain()
      expect(ran).toEqual(['charge', 'ship'])
      const { state, result } = sandbox.workflow.getRun(workflowRunId)
      expect([state, result, sandbox.clock.now()]).toEqual(['RUN_SUCCESS', 'shipped', Date.UTC(2030, 0, 2, 9)])
    },
  },
  {
    name: 'workflow: an event ends a wait',
    async run(kit) {
      const { expect, sandbox } = kit
      const client = workflowOf(kit, async (context) => {
        const { timeout, eventData } = await context.waitForEvent<{ by: string }>('approval', 'refund-7', {
          timeout: '3d',
        })
        return timeout ? 'expired' : `approved by ${eventData.by}`
      })
      const { workflowRunId } = await client.trigger({ url })
      await sandbox.clock.advance('1d')
      await client.notify({ eventId: 'refund-7', eventData: { by: 'Ada' } })
      await sandbox.clock.drain()
      expect(sandbox.workflow.getRun(workflowRunId).result).toBe('approved by Ada')
      expect(sandbox).toHaveWorkflowRun({ workflow: url, state: 'success', result: 'approved by Ada' })
    },
  },
]
