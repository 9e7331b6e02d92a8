import { Client } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import type { Sandbox } from 'stuntdouble'
import { replay } from 'stuntdouble/checks'
import { expect, test } from 'stuntdouble/vitest'

const checkout = 'https://shop.test/api/checkout'

/** Serves the workflow in a sandbox. */
function app({ destinations }: Sandbox) {
  const { POST } = serve<{ id: number }>(async (context) => {
    await context.run('charge', () => `ch_${context.requestPayload.id}`)
  })
  destinations.on(checkout, (request) => POST(request as never))
}

test('continues a run with the current code', async ({ sandbox }) => {
  app(sandbox)
  const { workflowRunId } = await new Client({}).trigger({ url: checkout, body: { id: 42 } })
  await sandbox.clock.drain()
  const history = sandbox.workflow.getRun(workflowRunId).history()

  expect(await replay(history, app)).toEqual({ prefixes: 2, incompatible: [], unchecked: [] })
})
