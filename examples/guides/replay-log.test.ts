import { Client } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import type { Sandbox } from 'stuntdouble'
import { parseRunHistory, replay } from 'stuntdouble/checks'
import { expect, test } from 'stuntdouble/vitest'

const checkout = 'https://shop.test/api/checkout'

/** Serves the workflow in a sandbox. */
function app({ destinations }: Sandbox) {
  const { POST } = serve<{ id: number }>(async (context) => {
    await context.run('charge', () => `ch_${context.requestPayload.id}`)
  })
  destinations.on(checkout, (request) => POST(request as never))
}

test('replays the log of a run that has ended', async ({ sandbox }) => {
  app(sandbox)
  const { workflowRunId } = await new Client({}).trigger({ url: checkout, body: { id: 42 } })
  await sandbox.clock.drain()
  const url = `${process.env.QSTASH_URL}/v2/workflows/logs?workflowRunId=${workflowRunId}`
  const log = await fetch(url, { headers: { authorization: `Bearer ${process.env.QSTASH_TOKEN}` } })
  const history = parseRunHistory(await log.json(), { headers: { 'x-user': 'u1' } })

  expect(history.headers).toEqual({ 'x-user': 'u1' })
  expect(await replay(history, app)).toEqual({ prefixes: 2, incompatible: [], unchecked: [] })
})
