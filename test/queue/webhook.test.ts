import { createSandbox } from 'stuntdouble'
import { expect, test } from 'vitest'

// Example: the queue before an endpoint that a third party requests and that may be down. The third party cannot set
// headers or a body for the queue, so the URL contains everything. [service.md B; queue.md 2.1, 2.3]
test('a third-party webhook passes through the queue and survives an outage of its endpoint', async () => {
  using sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
  const { clock, destinations, urls, tokens } = sandbox

  const settings = new URLSearchParams({
    service_token: tokens.queue,
    'service-header-forward': 'true',
    'service-retries': '3',
    'service-retry-delay': '60000',
    'service-failure-callback': 'https://shop.test/webhook-lost',
  })
  const webhook = `${urls.queue}/v2/publish/https://shop.test/webhooks/payments?tenant=7&${settings}`

  let down = true
  const received: unknown[] = []
  destinations.on('https://shop.test/webhooks/payments', async (request) => {
    if (down) return new Response('maintenance', { status: 503 })
    received.push([new URL(request.url).search, request.headers.get('x-payment-signature'), await request.text()])
    return new Response('thanks')
  })

  // The payment provider sends this request and knows nothing about a queue.
  const answer = await sandbox.fetch(webhook, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-payment-signature': 't=1,v1=abc' },
    body: '{"event":"paid"}',
  })
  expect(answer.status).toBe(200)

  await clock.advance('90s')
  expect(received).toEqual([])
  down = false
  await clock.drain()
  expect(received).toEqual([['?tenant=7', 't=1,v1=abc', '{"event":"paid"}']])
  expect(sandbox.traffic.ofType('attempt').map(({ outcome }) => outcome?.status)).toEqual([503, 503, 200])
})
