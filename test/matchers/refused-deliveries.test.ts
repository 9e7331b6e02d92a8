import { Receiver } from '@upstash/qstash'
import { expect, test } from 'vitest'
import { deadLettered, delivered } from '../../matchers/message-matchers.js'
import { createSandbox, fault, type Sandbox } from '../../src/index.js'

// Checks the hints about deliveries that an app rejected with 401.

const shop = 'https://shop.test/orders'

function verifying(sandbox: Sandbox, keys: { readonly current: string; readonly next: string }, reads = shop): void {
  const receiver = new Receiver({ currentSigningKey: keys.current, nextSigningKey: keys.next })
  sandbox.destinations.on(shop, async (request) => {
    const signature = request.headers.get('Upstash-Signature') ?? ''
    const body = await request.text()
    try {
      await receiver.verify({ signature, body, url: reads })
    } catch {
      return new Response('bad signature', { status: 401 })
    }
    return new Response('ok')
  })
}

async function failure(sandbox: Sandbox): Promise<string> {
  sandbox.queue.publish({ to: shop, body: '{"n":1}', retries: 0 })
  await sandbox.clock.drain()
  return delivered(sandbox, { to: shop }).explain(false)
}

test('states that the signature is valid if the app has other keys', async () => {
  using sandbox = createSandbox()
  verifying(sandbox, { current: 'sig_other', next: 'sig_another' })
  const text = await failure(sandbox)
  expect(text).toMatch(/msg_\S+ .*rejected with 401\b.*signature is valid.*\. .*keys.*URL/)
  expect(deadLettered(sandbox, { to: 'https://other.test/' }).explain(false)).toContain('its signature is valid')
})

test('names the flaw of an invalid signature', async () => {
  using sandbox = createSandbox()
  verifying(sandbox, sandbox.queue.signingKeys)
  sandbox.faults.add({ on: 'queue.delivery', fault: fault.badSignature('key') })
  expect(await failure(sandbox)).toMatch(/rejected with 401\b.*signature is invalid: \S+/)
})

test('gives no hint for other responses and for a scripted 401', async () => {
  using right = createSandbox()
  verifying(right, right.queue.signingKeys)
  right.queue.publish({ to: shop })
  await right.clock.drain()
  expect(delivered(right, { to: 'https://other.test/' }).explain(false)).not.toContain('signature')
  const prepared: readonly ((sandbox: Sandbox) => unknown)[] = [
    ({ faults }) => faults.add({ on: 'queue.delivery', fault: fault.status(401) }),
    ({ destinations }) => destinations.script(shop, [fault.status(401)]),
    ({ destinations }) => destinations.script(shop, [401]),
    ({ destinations }) => destinations.respond(shop, 401),
    ({ destinations }) => destinations.respond(shop, fault.status(401)),
    ({ destinations }) => destinations.respond(shop, { status: 401, body: 'no' }),
    ({ destinations }) => destinations.respond(shop, new Response('no', { status: 401 })),
    ({ destinations }) => destinations.record(shop, 401),
  ]
  for (const prepare of prepared) {
    for (const followRedirects of [true, false]) {
      using scripted = createSandbox({ policy: { followRedirects } })
      prepare(scripted)
      const text = await failure(scripted)
      expect(text).toMatch(/401/)
      expect(text, String(prepare)).not.toContain('signature')
    }
  }
})

test('gives no hint for status 403, with which an app may reject a valid signature', async () => {
  using sandbox = createSandbox()
  sandbox.destinations.on(shop, () => new Response('closed on Sundays', { status: 403 }))
  expect(await failure(sandbox)).not.toContain('signature')
})

test('names one or two rotations of the keys', async () => {
  using sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
  const { current } = sandbox.queue.signingKeys
  verifying(sandbox, { current, next: current })
  sandbox.queue.signingKeys.rotate()
  expect(await failure(sandbox)).toMatch(
    /rejected with 401\b.*signature is valid: .*current.*rotated at 09:00:00\.000 \(#1\)\. .*next signing key.*both keys/,
  )
  sandbox.queue.signingKeys.rotate()
  expect(await failure(sandbox)).toContain('The keys were rotated 2 times')
})

test('explains that retries do not include the first attempt', async () => {
  using sandbox = createSandbox()
  sandbox.destinations.respond(shop, 503)
  sandbox.queue.publish({ to: shop, retries: 3 })
  await sandbox.clock.drain()
  const told = (attempts: number): string => deadLettered(sandbox, { to: shop, attempts }).explain(false)
  expect(told(3)).toContain('Hint: 3 retries mean 4 attempts')
  expect(told(2)).not.toContain('retries are')
})
