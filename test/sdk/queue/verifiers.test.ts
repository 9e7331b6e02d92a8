import { verifySignatureAppRouter } from '@upstash/qstash/nextjs'
import { expect, test } from 'vitest'
import { credentials, shop, world } from '../../queue/world.js'

// The framework verifiers of the SDK as destinations: queue.md 9, "Framework verifiers".

const config = { currentSigningKey: credentials.current, nextSigningKey: credentials.next }

test('verifySignatureAppRouter() admits deliveries of the double', async () => {
  const { queue, clock, destinations, traffic } = world()
  const seen: unknown[] = []
  destinations.on(
    shop,
    verifySignatureAppRouter(async (request: Request) => {
      seen.push(await request.json())
      return new Response('ok')
    }, config),
  )
  queue.publish({ to: shop, body: { id: 1 } })
  await clock.drain()
  expect(seen).toEqual([{ id: 1 }])
  expect(traffic.ofType('attempt')[0]!.outcome!.status).toBe(200)
})

test('verifySignatureAppRouter() fails with a 500, which is retried, after two rotations of the keys', async () => {
  const { queue, clock, destinations, traffic } = world()
  destinations.on(
    shop,
    verifySignatureAppRouter(() => new Response('ok'), config),
  )
  queue.signingKeys.rotate()
  queue.publish({ to: shop })
  await clock.drain()
  expect(traffic.ofType('attempt')[0]!.outcome!.status).toBe(200)
  queue.signingKeys.rotate()
  queue.publish({ to: shop, retries: 1 })
  await clock.drain()
  expect(
    traffic
      .ofType('attempt')
      .slice(1)
      .map(({ outcome }) => [outcome!.status, outcome!.state]),
  ).toEqual([
    [500, 'RETRY'],
    [500, 'FAILED'],
  ])
  expect(String(destinations.errors[0])).toContain('SignatureError')
})

test('verifySignatureAppRouter() rejects a missing header with 403', async () => {
  const handler = verifySignatureAppRouter(() => new Response('ok'), config)
  expect((await handler(new Request(shop, { method: 'POST', body: '{}' }))).status).toBe(403)
})
