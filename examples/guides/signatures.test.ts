import { Client, Receiver } from '@upstash/qstash'
import { expect, test } from 'stuntdouble/vitest'

const url = 'https://shop.test/orders'

/** Accepts only requests that the queue has signed. */
async function POST(request: Request): Promise<Response> {
  const receiver = new Receiver({
    currentSigningKey: process.env.QSTASH_CURRENT_SIGNING_KEY!,
    nextSigningKey: process.env.QSTASH_NEXT_SIGNING_KEY!,
  })
  const body = await request.text() // the raw body, not JSON that was parsed and serialized again
  const signature = request.headers.get('upstash-signature') ?? ''
  const isValid = await receiver.verify({ signature, body, url }).catch(() => false)
  return new Response(isValid ? 'thanks' : 'invalid signature', { status: isValid ? 200 : 401 })
}

test('accepts a signed delivery', async ({ sandbox: { clock, destinations, queue } }) => {
  destinations.on(url, POST)
  await new Client().publishJSON({ url, body: { id: 42 } })
  await clock.drain()
  expect(queue).toHaveDelivered({ to: url, status: 200 })
})

test('accepts a valid signature, and rejects one of another key', async ({ sandbox: { queue } }) => {
  const body = '{"id":42}'
  const post = (signature: string) =>
    POST(new Request(url, { method: 'POST', body, headers: { 'upstash-signature': signature } }))
  expect((await post(queue.sign({ url, body }))).status).toBe(200)
  expect((await post(queue.sign({ url, body }, { flaw: 'key' }))).status).toBe(401)
})
