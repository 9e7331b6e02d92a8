import { once } from 'node:events'
import { createServer } from 'node:net'
import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { expect, test } from 'stuntdouble/vitest'
import { withTrace } from '../../fixtures/fixture-sandbox.js'
import { failureOf } from './failure.js'

// For a URL without a destination, that is the cause. Moving the clock does not help.

/** An unused port of this machine. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

async function failed(sandbox: Sandbox, url: string): Promise<Sandbox> {
  sandbox.queue.publish({ to: url, retries: 3 })
  await sandbox.clock.advance('20s')
  return sandbox
}

/** Failures with the same cause: of a matcher for the message, of one for its effect, and of another assertion. */
const failures = (sandbox: Sandbox, url: string): string[] => [
  failureOf(() => expect(sandbox.queue).toHaveDelivered({ to: url })),
  failureOf(() => expect(sandbox.store).toHaveKey('done')),
  withTrace('expected 1 to be 2', sandbox),
]

test('names an unused port before the clock', async () => {
  const url = `http://127.0.0.1:${await freePort()}/orders`
  using sandbox = createSandbox({ fetch: globalThis.fetch })
  await failed(sandbox, url)
  for (const text of failures(sandbox, url)) {
    expect(text).toMatch(new RegExp(`^No destination responds at ${url}: .*refused.*Start the app`, 'm'))
    const clock = text.indexOf('clock.advance(')
    expect(clock === -1 || text.indexOf('No destination responds') < clock).toBe(true)
    // The URL is once in the causes and once in the timeline.
    expect(text.split('No destination responds at').length - 1).toBeLessThanOrEqual(3)
  }
})

test('names an unregistered URL without a DNS lookup', async () => {
  for (const [url, error] of [
    ['http://localhost:3000/orders', 'connection refused'],
    ['http://127.0.0.1:3000/orders', 'connection refused'],
    ['http://[::1]:3000/orders', 'connection refused'],
    ['http://203.0.113.7/orders', 'connection refused'],
    ['https://shop.test/orders', 'lookup shop.test: no such host'],
  ] as const) {
    using sandbox = createSandbox()
    await failed(sandbox, url)
    const attempts = sandbox.traffic.ofType('attempt')
    expect(attempts[0]!.outcome!.error).toContain(error)
    if (error === 'connection refused') expect(attempts[0]!.outcome!.error).not.toContain('lookup')
    for (const text of failures(sandbox, url)) expect(text).toContain(`No destination responds at ${url}`)
  }
})

test('names a URL once for many messages, and no other network failures', async () => {
  using sandbox = createSandbox()
  for (let n = 0; n < 5; n++) sandbox.queue.publish({ to: 'https://shop.test/orders', body: n })
  await sandbox.clock.advance('1s')
  const text = withTrace('expected 1 to be 2', sandbox)
  expect(text.slice(0, text.indexOf('Replay: ')).split('No destination responds at')).toHaveLength(2)

  // The app listens, but a fault refuses the connection.
  using faulty = createSandbox()
  faulty.destinations.on('https://shop.test/orders', () => new Response())
  faulty.faults.add({ on: 'queue.delivery', fault: fault.refused() })
  await failed(faulty, 'https://shop.test/orders')
  for (const text of failures(faulty, 'https://shop.test/orders')) expect(text).not.toContain('No destination responds')
})
