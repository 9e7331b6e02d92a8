import { expect, test } from 'vitest'
import { type WorkflowWorld, workflowWorld } from './world.js'

// URLs that third parties call without a token. [workflow.md 8]

function hooked(made: WorkflowWorld, hooks = 1): { readonly url: string; hook: string; readonly seen: unknown[] } {
  const state = { url: '', hook: '', seen: [] as unknown[] }
  state.url = made.serve('/hook', async (context) => {
    const webhook = await context.createWebhook('make')
    state.hook = webhook.webhookUrl
    await context.sleep('busy', 60)
    for (let n = 0; n < hooks; n++) {
      const { request, timeout } = await context.waitForWebhook(`wait ${n}`, webhook, '1h')
      await context.run(`read ${n}`, async () => {
        state.seen.push(timeout ? 'timed out' : [request!.url, request!.method, await request!.text()])
      })
    }
  })
  return state
}

test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])(
  'a webhook called by %s is received before and during the wait',
  async (method) => {
    const made = workflowWorld()
    const state = hooked(made, 2)
    await made.client.trigger({ url: state.url })
    await made.clock.advance('10s')
    const call = (query: string): Promise<Response> =>
      made.fetch(`${state.hook}?${query}`, { method, ...(!/GET|HEAD/.test(method) && { body: 'b\u00e4' }) })
    expect((await call('a=1&b=x%20y')).status).toBe(200)
    await made.clock.advance('2m')
    expect((await call('second')).status).toBe(200)
    await made.clock.drain()
    const text = /GET|HEAD/.test(method) ? '' : 'b\u00e4'
    expect(state.seen).toEqual([
      [`${state.hook}?a=1&b=x%20y`, method, text],
      [`${state.hook}?second`, method, text],
    ])
  },
)

test('several webhook calls before the first wait are used oldest first; then the wait times out', async () => {
  const made = workflowWorld()
  const state = hooked(made, 3)
  await made.client.trigger({ url: state.url })
  await made.clock.advance('10s')
  for (const n of [1, 2]) await made.fetch(`${state.hook}?${n}`)
  await made.clock.drain()
  expect(state.seen).toEqual([[`${state.hook}?1`, 'GET', ''], [`${state.hook}?2`, 'GET', ''], 'timed out'])
  expect((await made.fetch(state.hook)).status).toBe(404)
})

test('a webhook under a path prefix has the URL that was called', async () => {
  const made = workflowWorld({ urls: { base: 'https://double.test/tenant/main' } })
  const state = hooked(made)
  await made.client.trigger({ url: state.url })
  await made.clock.advance('10s')
  expect(state.hook).toContain(made.urls.queue)
  expect((await made.fetch(`${state.hook}?x`, { method: 'POST', body: '1' })).status).toBe(200)
  await made.clock.drain()
  expect(state.seen).toEqual([[`${state.hook}?x`, 'POST', '1']])
})

test('an event reaches waits in the order of the policy', async () => {
  for (const workflowNotifyOrder of ['oldest', 'newest'] as const) {
    const made = workflowWorld({ policy: { workflowNotifyOrder } })
    const url = made.serve('/wait', async (context) => void (await context.waitForEvent('w', 'evt')))
    for (const id of ['a', 'b', 'c']) await made.client.trigger({ url, workflowRunId: id })
    await made.clock.advance('1m')
    const told = await made.client.notify({ eventId: 'evt' })
    const ids = told.map((one) => (one as { workflowRunId?: string }).workflowRunId)
    expect(ids).toEqual(workflowNotifyOrder === 'oldest' ? ['wfr_a', 'wfr_b', 'wfr_c'] : ['wfr_c', 'wfr_b', 'wfr_a'])
  }
})

test('messages leave the wait list of a flow-control key in the order of the policy', async () => {
  const order = async (flowControlOrder: 'fifo' | 'shuffled'): Promise<string[]> => {
    const made = workflowWorld({ policy: { flowControlOrder } })
    const ran: string[] = []
    made.destinations.on('https://app.test/slow', async (request, task) => {
      ran.push(await request.text())
      await task.sleep('1s')
      return new Response()
    })
    for (let n = 0; n < 20; n++)
      made.queue.publish({
        to: 'https://app.test/slow',
        body: String(n),
        flowControlKey: 'k',
        flowControlValue: 'parallelism=1',
      })
    await made.clock.drain()
    return ran
  }
  const inOrder = Array.from({ length: 20 }, (_, n) => String(n))
  expect(await order('fifo')).toEqual(inOrder)
  const shuffled = await order('shuffled')
  expect(shuffled).not.toEqual(inOrder)
  expect([...shuffled].sort()).toEqual([...inOrder].sort())
  expect(await order('shuffled')).toEqual(shuffled)
})
