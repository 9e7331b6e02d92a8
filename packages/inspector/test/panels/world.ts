import { Client as QueueClient } from '@upstash/qstash'
import { Client } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import { fault, type Sandbox } from '../../../../src/index.js'
import { type StuntdoubleServer, startServer } from '../../../server/src/server.js'

// An app for screenshots and tests: 200 messages, three tenants, faults and a workflow.

/** A text that would run if a page took it for markup. */
const hostile = '<img src=x onerror=alert(1)>'
const orders = 'https://shop.test/orders'

export async function shopServer(): Promise<StuntdoubleServer> {
  const server = await startServer({ port: 0, clock: 'manual', onError: () => {} })
  await fill(server.tenant('main'))
  server.tenant('second').store.run('SET', 'only:there', 1)
  server.tenant('third').queue.publish({ to: orders, delay: '1h' })
  return server
}

async function fill(sandbox: Sandbox): Promise<void> {
  const { queue, clock, destinations, store, faults } = sandbox
  destinations.respond('https://*', 200)
  destinations.script('https://shop.test/broken', [fault.status(500), fault.status(503)])
  destinations.respond('https://shop.test/gone', 410)
  fillStore(sandbox)
  faults.add({ on: 'queue.delivery', name: 'lost once', times: 1, match: { url: orders }, fault: fault.lostAck() })
  faults.add({
    on: 'queue.delivery',
    name: 'never met',
    match: { url: 'https://nowhere.test/' },
    fault: fault.lostAck(),
  })
  queue.urlGroups.addEndpoints('warehouses', ['https://north.test/stock', 'https://south.test/stock'])
  for (let n = 0; n < 150; n++) queue.publish({ to: orders, body: { id: n }, delay: `${n % 50}s` })
  for (let n = 0; n < 10; n++) queue.publish({ to: 'warehouses', body: { n } })
  queue.publish({ to: 'https://shop.test/broken', retries: 3, retryDelay: '3600000' })
  for (let n = 0; n < 3; n++) queue.publish({ to: 'https://shop.test/gone', retries: 0, label: hostile })
  faults.add({ on: 'queue.callback', name: hostile, fault: fault.lostAck() })
  queue.upsertQueue('slow', { parallelism: 2 })
  for (let n = 0; n < 5; n++) queue.publish({ to: 'https://shop.test/slow', queue: 'slow' })
  for (let n = 0; n < 5; n++) {
    queue.publish({ to: 'https://shop.test/limited', flowControlKey: 'user-1', flowControlValue: 'rate=1, period=1h' })
  }
  await sandbox.fetch(`${sandbox.urls.queue}/v2/schedules/https://shop.test/nightly`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${sandbox.tokens.queue}`,
      'service-cron': '0 3 * * *',
      'service-schedule-id': 'nightly',
    },
  })
  await workflow(sandbox)
  for (let n = 0; n < 12; n++) {
    store.run('INCR', 'stats:visits')
    await clock.advance('5s')
  }
  queue.pauseQueue('slow')
  queue.publish({ to: 'https://shop.test/slow', queue: 'slow' })
  for (let n = 0; n < 20; n++) queue.publish({ to: orders, delay: '2h' })
  await clock.advance('1s')
}

function fillStore({ store }: Sandbox): void {
  store.run('SET', 'greeting', 'hello', 'EX', 3600)
  store.run('HSET', 'user:1', 'name', 'Ada', 'mail', 'ada@shop.test')
  store.run('HSET', 'user:2', 'name', 'Grace')
  store.run('RPUSH', 'cart:1', 'apple', 'pear')
  store.run('SADD', 'tags', 'red', 'green')
  store.run('ZADD', 'scores', 10, 'ada', 20, 'grace')
  store.run('XADD', 'log', '*', 'event', 'opened')
  store.run('JSON.SET', 'config', '$', '{"dark":true,"sizes":[1,2]}')
  store.run('SET', `hostile:${hostile}`, '<script>alert(1)</script>')
}

async function workflow(sandbox: Sandbox): Promise<void> {
  const connection = { baseUrl: sandbox.urls.queue, token: sandbox.tokens.queue }
  const { POST } = serve<unknown, unknown>(
    async (context) => {
      await context.run('reserve', () => ({ reserved: true }))
      await context.waitForEvent('approval', 'approved', { timeout: '7d' })
    },
    { qstashClient: new QueueClient(connection), receiver: undefined as never },
  )
  sandbox.destinations.on('https://app.test/order', (request) =>
    (POST as unknown as (request: Request) => Promise<Response>)(request),
  )
  await new Client(connection).trigger({ url: 'https://app.test/order', workflowRunId: 'order-1' })
}
