import { Client as QueueClient } from '@upstash/qstash'
import { Client } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { SettingsSdk } from '../workflow/settings-sdk.js'

/**
 * Starts five runs, four of them with the real SDK. Order: a step with one retry, a received event, a sleep. Broken: a step that always
 * fails. Parallel: two parallel steps, then a call with one retry. Waiting: an event that is never sent.
 * Refund: a step with settings.
 */
export async function flows(): Promise<Sandbox> {
  const sandbox = createSandbox({ seed: 7, startAt: '2030-01-01T00:00:00Z' })
  const { urls, clock, destinations, tokens, workflow } = sandbox
  const restore = replaceFetch(sandbox)
  const { error, warn } = console
  // The SDK prints every error to the console.
  console.error = console.warn = () => {}
  const connection = { baseUrl: urls.queue, token: tokens.queue }
  const qstashClient = new QueueClient(connection)
  const on = (path: string, route: Parameters<typeof serve<unknown, unknown>>[0]): string => {
    const { POST } = serve<unknown, unknown>(route, { qstashClient, receiver: undefined as never })
    destinations.on(`https://app.test${path}`, POST as unknown as (request: Request) => Promise<Response>)
    return `https://app.test${path}`
  }
  const order = on('/order', async (context) => {
    await context.run('reserve', () => ({ ok: true }))
    await context.run('charge', () => ({ id: 'ch_1' }))
    await context.waitForEvent('approval', 'approved', { timeout: '7d' })
    await context.sleep('nap', '1h')
    return { paid: true }
  })
  const broken = on('/broken', async (context) => void (await context.run('pay', () => 1)))
  const beside = on('/beside', async (context) => {
    await Promise.all([context.run('a', () => 'A'), context.run('b', () => 'B')])
    await context.call('call', { url: 'https://third.test/send', retries: 1 })
    return 'beside'
  })
  const waiting = on(
    '/waiting',
    async (context) => void (await context.waitForEvent('approval', 'never', { timeout: '7d' })),
  )
  const sdk = new SettingsSdk(sandbox)
  const refunds = 'https://app.test/refund'
  const own = { retries: 1, retryDelay: '1000', flowControl: { key: 'cards', parallelism: 2 } }
  destinations.on(
    refunds,
    sdk.serve((context) => context.run('refund', () => 1, own)),
  )
  let calls = 0
  const sent = { status: 200, headers: { 'Content-Type': 'application/json' }, body: '{"sent":1}' }
  destinations.respond('https://third.test/send', () => (++calls === 1 ? 503 : sent))
  workflow.stubStep('charge').throws('card declined', { times: 1 })
  workflow.stubStep('pay').throws('no money')
  workflow.stubEvent('approved', { by: 'Ada' })
  const client = new Client(connection)
  try {
    await client.trigger({ url: order, workflowRunId: 'order' })
    await client.trigger({ url: broken, workflowRunId: 'broken', retries: 1 })
    await client.trigger({ url: beside, workflowRunId: 'beside' })
    await workflow.getRun('wfr_order').advanceToEnd('success')
    await client.trigger({ url: waiting, workflowRunId: 'waiting' })
    await sdk.trigger(refunds, 'wfr_refund')
    await clock.advance('1m')
  } finally {
    restore()
    Object.assign(console, { error, warn })
  }
  return sandbox
}
