import { expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/sandbox.js'
import { sum } from './world.js'

const to = 'https://shop.test/orders'

test('the endpoint reports what the SDK publishes and the queue delivers', async () => {
  using sandbox = createSandbox({ startAt: '2030-01-15T12:00:00Z', dialect: 'upstash' })
  sandbox.destinations.on(to, () => new Response('no', { status: 503 }))
  sandbox.destinations.record('https://shop.test/failed')
  await sandbox.fetch(`${sandbox.urls.queue}/v2/publish/${to}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${sandbox.tokens.queue}`,
      'upstash-retries': '1',
      'upstash-failure-callback': 'https://shop.test/failed',
    },
    body: 'hello',
  })
  await sandbox.clock.drain()
  const answer = await sandbox.fetch(`${sandbox.urls.mgmt}/v2/qstash/stats/${sandbox.stats.user.uuid}`, {
    headers: { authorization: `Basic ${btoa(`${sandbox.tokens.mgmtUser}:${sandbox.tokens.mgmtKey}`)}` },
  })
  expect(answer.status).toBe(200)
  // biome-ignore lint/suspicious/noExplicitAny: compared field by field
  const report = (await answer.json()) as any
  const series = report.daily_qstash_messages.map((one: { id: string; data_points: { y: number }[] }) => [
    one.id,
    sum(one.data_points),
  ])
  // Two attempts of the message and one attempt of the failure callback.
  expect(Object.fromEntries(series)).toEqual({
    created: 2,
    active: 3,
    delivered: 1,
    retried: 1,
    error: 2,
    failed: 1,
    canceled: 0,
  })
  expect(report.daily_requests[14].y).toBe(3)
  expect(report.dlq_message_count).toBe(1)
  const sent = sandbox.traffic
    .ofType('attempt')
    .reduce((bytes, { body, outcome }) => bytes + body.length + outcome!.body.length, 0)
  expect(report.daily_bandwidths[14].y).toBe(sent)
  expect(report.total_monthly_billing).toBe(0.00003)
})

test.each([
  ['payg', 0.00001],
  ['free', 0],
  ['fixed-1m', 0],
] as const)('a message on the plan %s costs %d dollars', async (queuePlan, dollars) => {
  using sandbox = createSandbox({ policy: { queuePlan } })
  sandbox.destinations.record(to)
  sandbox.queue.publish({ to })
  await sandbox.clock.drain()
  expect(sandbox.stats.queue.report().total_monthly_billing).toBe(dollars)
})
