import { Receiver } from '@upstash/qstash'
import { verifySignatureAppRouter, verifySignatureEdge } from '@upstash/qstash/nextjs'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect, test } from 'vitest'
import { open, shop } from './shop.js'

// Signatures as receivers verify them. Expected texts and claims: queue.md 9.

async function delivered(world: ReturnType<typeof open>, body = '{"id":1}') {
  const seen = world.destinations.record(shop)
  await world.client.publish({ url: shop, body })
  await world.clock.drain()
  return { signature: seen.last().header('upstash-signature')!, body, url: shop }
}

describe('Receiver.verify', () => {
  test('accepts a delivery at any host time, with and without its URL', async () => {
    const world = open()
    const request = await delivered(world)
    expect(await world.receiver.verify(request)).toBe(true)
    expect(await world.receiver.verify({ signature: request.signature, body: request.body })).toBe(true)
  })

  test('reports what is wrong with a signature', async () => {
    const world = open()
    const request = await delivered(world)
    await expect(world.receiver.verify({ ...request, url: `${shop}/` })).rejects.toThrow(
      `invalid subject: ${shop}, want: ${shop}/`,
    )
    await expect(world.receiver.verify({ ...request, body: '{}' })).rejects.toThrow(/^body hash does not match, want: /)
    const stranger = new Receiver({ currentSigningKey: 'sig_a', nextSigningKey: 'sig_b' })
    await expect(stranger.verify(request)).rejects.toThrow('signature verification failed')
    await expect(world.receiver.verify({ ...request, signature: 'x' })).rejects.toThrow('Invalid Compact JWS')
    const [head, claims, mark] = request.signature.split('.') as [string, string, string]
    const forged = Buffer.from(JSON.stringify({ ...decodeJwt(request.signature), sub: 'https://evil.test' })).toString(
      'base64url',
    )
    await expect(world.receiver.verify({ ...request, signature: `${head}.${forged}.${mark}` })).rejects.toThrow(
      'signature verification failed',
    )
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    await expect(world.receiver.verify({ ...request, signature: `${none}.${claims}.` })).rejects.toThrow()
  })

  test('verifies a token with the documented header and claims', async () => {
    const world = open({ signatureWindow: 'real' })
    const { signature, body } = await delivered(world)
    expect(decodeProtectedHeader(signature)).toEqual({ alg: 'HS256', typ: 'JWT' })
    const iat = world.clock.now() / 1000
    const hash = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body))).toString(
      'base64url',
    )
    const claims = decodeJwt(signature)
    expect({ ...claims, body: String(claims.body).replace(/=+$/, '') }).toEqual({
      iss: 'Upstash',
      sub: shop,
      iat,
      exp: iat + 300,
      nbf: 0,
      jti: expect.stringMatching(/^jwt_[1-9A-HJ-NP-Za-km-z]{28}$/),
      body: hash,
    })
  })

  test('rejects an old signature when signatureWindow is real', async () => {
    const world = open({ signatureWindow: 'real', startAt: '2020-01-01T00:00:00Z' })
    const request = await delivered(world)
    await expect(world.receiver.verify(request)).rejects.toThrow('signature verification failed')
    expect(await world.receiver.verify({ ...request, clockTolerance: 1e9 })).toBe(true)
  })

  test('accepts a delivery after one rotation of the keys through the next key, but not after two', async () => {
    const world = open()
    const rotate = async (): Promise<{ current: string; next: string }> =>
      (
        await world.sandbox.fetch(`${world.env.QSTASH_URL}/v2/keys/rotate`, {
          method: 'POST',
          headers: { authorization: `Bearer ${world.env.QSTASH_TOKEN}` },
        })
      ).json() as never
    const rotated = await rotate()
    expect(rotated.current).toBe(world.env.QSTASH_NEXT_SIGNING_KEY)
    expect(rotated.next).toMatch(/^sig_[1-9A-HJ-NP-Za-km-z]{28}$/)
    expect(await world.receiver.verify(await delivered(world))).toBe(true)
    await rotate()
    await expect(world.receiver.verify(await delivered(world))).rejects.toThrow('signature verification failed')
    // The environment contains the current keys.
    expect(world.sandbox.env.QSTASH_CURRENT_SIGNING_KEY).toBe(rotated.next)
  })
})

describe('framework verifiers as destinations', () => {
  test('admit deliveries and reject other signatures; a failed check becomes a 500, which is retried', async () => {
    const world = open()
    const { client, clock, destinations, env } = world
    const keys = { currentSigningKey: env.QSTASH_CURRENT_SIGNING_KEY!, nextSigningKey: env.QSTASH_NEXT_SIGNING_KEY! }
    const bodies: unknown[] = []
    const route = verifySignatureAppRouter(async (request: Request) => {
      bodies.push(await request.json())
      return new Response('ok')
    }, keys)
    destinations.on(shop, (request) => route(request))
    destinations.on('https://shop.test/edge', (request) =>
      verifySignatureEdge((async (inner: Request) => new Response(await inner.text())) as never, keys)(
        Object.assign(request, { nextUrl: { href: request.url } }) as never,
        {} as never,
      ),
    )
    const wrong = verifySignatureAppRouter(() => new Response('never'), {
      currentSigningKey: 'sig_a',
      nextSigningKey: 'sig_b',
    })
    destinations.on('https://shop.test/wrong', (request) => wrong(request))
    await client.publishJSON({ url: shop, body: { n: 1 } })
    await client.publishJSON({ url: 'https://shop.test/edge', body: { n: 2 } })
    await client.publishJSON({ url: 'https://shop.test/wrong', body: { n: 3 }, retries: 1 })
    await clock.drain()
    expect(bodies).toEqual([{ n: 1 }])
    const { logs } = await client.logs({ filter: { state: 'DELIVERED' } })
    expect(logs.map(({ url }) => url).sort()).toEqual(['https://shop.test/edge', shop])
    const { messages } = await client.dlq.listMessages()
    expect(messages).toMatchObject([{ url: 'https://shop.test/wrong', responseStatus: 500 }])
    expect(destinations.errors).toHaveLength(2)
    const stranger = await route(new Request(shop, { method: 'POST', body: '{}' }))
    expect(stranger.status).toBe(403)
  })

  test('read their keys from the environment', async () => {
    const world = open()
    const before = { ...process.env }
    try {
      Object.assign(process.env, world.env)
      const route = verifySignatureAppRouter(() => new Response('ok'))
      world.destinations.on(shop, (request) => route(request))
      await world.client.publishJSON({ url: shop, body: 1 })
      await world.clock.drain()
      expect(world.sandbox.queue.deadLetters).toEqual([])
      expect((await world.client.logs()).logs[0]!.state).toBe('DELIVERED')
    } finally {
      process.env = before
    }
  })
})
