import { expect, test } from 'vitest'
import { workflowWorld } from './world.js'

test('steps one after another', async () => {
  const { client, clock, serve, calls, traffic } = workflowWorld()
  const done: unknown[] = []
  const url = serve('/two', async (context) => {
    const first = await context.run('first', () => 'one')
    await context.sleep('nap', '1w')
    const second = await context.run('second', () => ({ two: first }))
    done.push(second, context.requestPayload)
    return second
  })
  const { workflowRunId } = await client.trigger({ url, body: { hello: 'world' } })
  await clock.drain()
  console.log(calls, traffic.timeline())
  expect(done).toEqual([{ two: 'one' }, { hello: 'world' }])
  expect(workflowRunId).toMatch(/^wfr_/)
  expect(traffic.of('workflow').map(({ state }) => state)).toEqual(['RUN_STARTED', 'RUN_SUCCESS'])
})
