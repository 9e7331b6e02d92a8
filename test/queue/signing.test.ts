import { createHash } from 'node:crypto'
import { Receiver } from '@upstash/qstash'
import { jwtVerify } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { text } from '../../src/kernel/bytes.js'
import { type SignatureFlaw, signatureFlaws } from '../../src/queue/signing/signature-lab.js'
import { credentials, shop, world } from './world.js'

const keyBytes = (key: string) => new TextEncoder().encode(key)

async function delivered(body = '{"a":1}', options: Parameters<typeof world>[0] = {}) {
  const at = world(options)
  const seen = at.destinations.record(shop)
  await at.send('POST', `/v2/publish/${shop}?x=1`, { body })
  await at.clock.drain()
  const prefix = at.dialect.headerPrefix.toLowerCase()
  return { at, delivery: seen.last(), signature: seen.last().header(`${prefix}signature`)! }
}

describe('delivery signatures [queue.md 9]', () => {
  test('have header, claims and key that jose accepts', async () => {
    const { delivery, signature } = await delivered('body ✓')
    const { payload, protectedHeader } = await jwtVerify(signature, keyBytes(credentials.current), {
      issuer: 'Service',
    })
    expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' })
    expect(payload).toEqual({
      iss: 'Service',
      sub: `${shop}?x=1`,
      // This is before the date of any host, for all virtual dates.
      iat: Date.UTC(2020, 0, 1) / 1000,
      nbf: 0,
      exp: expect.any(Number),
      jti: expect.stringMatching(/^jwt_[1-9A-HJ-NP-Za-km-z]{28}$/),
      body: createHash('sha256').update(text(delivery.body)).digest('base64url').concat('='),
    })
    await expect(jwtVerify(signature, keyBytes(credentials.next))).rejects.toThrow()
  })

  test('verify at any host date in the wide window, and expire after 300 s in the real one', async () => {
    for (const date of ['1999-01-01', '2030-06-01', '2999-12-31']) {
      const { signature } = await delivered()
      await jwtVerify(signature, keyBytes(credentials.current), { currentDate: new Date(date) })
    }
    const { signature } = await delivered('x', { window: 'real' })
    const verifyAt = (date: string) =>
      jwtVerify(signature, keyBytes(credentials.current), { currentDate: new Date(date) })
    expect((await verifyAt('2030-01-01T00:04:59Z')).payload.exp).toBe(Date.UTC(2030, 0, 1) / 1000 + 300)
    await expect(verifyAt('2030-01-01T00:05:01Z')).rejects.toThrow('"exp" claim timestamp check failed')
  })

  test('cover the whole body, also when it is not text', async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    await at.send('POST', `/v2/publish/${shop}`, { body: '\xff\xfe\x00', raw: true })
    await at.clock.drain()
    const { payload } = await jwtVerify(seen.last().header('service-signature')!, keyBytes(credentials.current))
    expect(payload.body).toBe(
      `${createHash('sha256')
        .update(Buffer.from([255, 254, 0]))
        .digest('base64url')}=`,
    )
  })

  test('use the key that is current at each attempt', async () => {
    const at = world()
    const seen = at.destinations.record(shop, 500)
    await at.send('POST', `/v2/publish/${shop}`, { headers: { 'Service-Retries': '1' } })
    await at.clock.advance('1s')
    const rotated = (await at.send('POST', '/v2/keys/rotate')).json
    await at.clock.drain()
    const [first, second] = seen.requests.map((delivery) => delivery.header('service-signature')!)
    await jwtVerify(first!, keyBytes(credentials.current))
    await jwtVerify(second!, keyBytes(rotated.current))
    expect(rotated.current).toBe(credentials.next)
  })

  test('do not depend on when, or whether, they are read', async () => {
    const run = async (look: boolean) => {
      const at = world()
      const seen = at.destinations.record(shop)
      for (let n = 0; n < 3; n++) {
        at.queue.publish({ to: shop })
        await at.clock.drain()
        if (look) void seen.last().headers
      }
      return seen.last().headers
    }
    expect(await run(true)).toEqual(await run(false))
  })
})

describe('signing keys [queue.md 1.11, 9]', () => {
  test('rotate: next becomes current, and a new key becomes next', async () => {
    const at = world()
    const { current, next } = credentials
    expect((await at.send('GET', '/v2/keys')).json).toEqual({ current, next })
    const once = (await at.send('POST', '/v2/keys/rotate')).json
    expect(once).toEqual({ current: next, next: expect.stringMatching(/^sig_[1-9A-HJ-NP-Za-km-z]{28}$/) })
    expect((await at.send('GET', '/v2/keys')).json).toEqual(once)
    const twice = (await at.send('POST', '/v2/keys/rotate')).json
    expect(twice.current).toBe(once.next)
    expect(new Set([current, next, once.next, twice.next]).size).toBe(4)
  })
})

describe('queue.sign()', () => {
  const request = { url: shop, body: '{"id":42}' }
  const receiver = new Receiver({ currentSigningKey: credentials.current, nextSigningKey: credentials.next })
  const verify = (signature: string) => receiver.verify({ signature, body: request.body, url: request.url })

  test("returns a signature that the SDK's receiver accepts, with the current key and the next one", async () => {
    const { queue } = world({ dialect: 'upstash' })
    await expect(verify(queue.sign(request))).resolves.toBe(true)
    await expect(verify(queue.sign(request, { key: 'next' }))).resolves.toBe(true)
  })

  test('is not needed for real deliveries, which the receiver accepts', async () => {
    const { delivery, signature } = await delivered('{"a":1}', { dialect: 'upstash' })
    await expect(receiver.verify({ signature, body: delivery.text(), url: delivery.url })).resolves.toBe(true)
  })

  // Error texts of the receiver. [queue.md 9]
  const refusals: Record<SignatureFlaw, string | RegExp> = {
    url: `invalid subject: ${shop}?other, want: ${shop}`,
    body: /^body hash does not match, want: \S+, got: \S+$/,
    reserialized: /^body hash does not match/,
    expired: 'signature verification failed',
    'not-yet-valid': 'signature verification failed',
    issuer: 'signature verification failed',
    'rotated-once': 'signature verification failed',
    'rotated-twice': 'signature verification failed',
    key: 'signature verification failed',
    tampered: 'signature verification failed',
  }

  test.each(Object.keys(signatureFlaws) as SignatureFlaw[])(
    'returns a signature that the receiver rejects, for flaw %s',
    async (wrong) => {
      const at = world({ dialect: 'upstash' })
      let reader = receiver
      if (wrong.startsWith('rotated')) {
        at.queue.signingKeys.rotate()
        at.queue.signingKeys.rotate()
        // A receiver with the rotated keys rejects the old keys.
        const { current, next } = at.queue.signingKeys
        reader = new Receiver({ currentSigningKey: current, nextSigningKey: next })
        if (wrong === 'rotated-twice') {
          // A receiver without the rotated keys accepts exactly the key that was rotated away.
          await expect(verify(at.queue.sign(request, { flaw: wrong }))).resolves.toBe(true)
        }
      }
      const signature = at.queue.sign(request, { flaw: wrong })
      const refused = await reader.verify({ signature, body: request.body, url: request.url }).catch((error) => error)
      expect(refused.name).toBe('SignatureError')
      expect(refused.message).toMatch(refusals[wrong])
    },
  )

  test('changes exactly one thing for each flaw', async () => {
    const { queue } = world({ dialect: 'upstash' })
    const claims = (signature: string) =>
      JSON.parse(atob(signature.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')))
    const valid = claims(queue.sign(request))
    const changed = (wrong: SignatureFlaw) => {
      const flawed = claims(queue.sign(request, { flaw: wrong }))
      return Object.keys(valid).filter((name) => flawed[name] !== valid[name])
    }
    expect(changed('url')).toEqual(['sub'])
    expect(changed('body')).toEqual(['body'])
    expect(changed('reserialized')).toEqual(['body'])
    expect(changed('not-yet-valid')).toEqual(['nbf'])
    expect(changed('issuer')).toEqual(['iss'])
    expect(changed('key')).toEqual([])
  })

  test('sets or omits single claims, and clockTolerance works as in production', async () => {
    const { queue } = world({ dialect: 'upstash' })
    await expect(
      verify(queue.sign(request, { claims: { nbf: undefined, exp: undefined, jti: undefined } })),
    ).resolves.toBe(true)
    vi.useFakeTimers({ now: Date.UTC(2030, 0, 1), toFake: ['Date'] })
    try {
      const late = queue.sign(request, { claims: { exp: Date.UTC(2030, 0, 1) / 1000 - 10 } })
      await expect(verify(late)).rejects.toThrow()
      await expect(receiver.verify({ signature: late, body: request.body, clockTolerance: 20 })).resolves.toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })

  test('throws an error with advice for invalid arguments', () => {
    const { queue } = world()
    expect(() => queue.sign(request, { flaw: 'rotated-twice' })).toThrow('Call queue.signingKeys.rotate() twice first')
    expect(() => queue.sign(request, { flaw: 'expird' as never })).toThrow('Did you mean "expired"?')
    expect(() => queue.sign(request, { flaw: 'toString' as never })).toThrow('there is no flaw "toString"')
    expect(() => queue.sign({ url: shop, body: 'x' }, { flaw: 'reserialized' })).toThrow('Pass a JSON text')
  })
})
