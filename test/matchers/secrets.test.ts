import { expect, test } from 'vitest'
import { sandboxMatchers } from '../../matchers/index.js'
import '../../matchers/vitest.js'
import { createSandbox, type Sandbox } from '../../src/index.js'
import { loadTrace } from '../../src/report/index.js'
import { failureOf as failure } from './failure.js'

const orders = 'https://shop.test/orders'
const secrets = ['hunter2', 'qqq111', 'abcdefg77', 'kkk222', 'pass444', 'userpw555']

/** Returns a failure of each matcher that handles secrets. */
async function failures(): Promise<{ texts: string[]; token: string }> {
  using sandbox = createSandbox({ seed: 7 })
  const { urls, clock, destinations, fetch, queue, store, tokens } = sandbox
  destinations.record(orders)
  const headers = { authorization: 'Bearer abcdefg77', 'x-api-key': 'kkk222' }
  const note = `${'x'.repeat(190)}${tokens.queue}`
  queue.publish({ to: `${orders}?token=qqq111`, body: { password: 'hunter2', note }, headers })
  const auth = { authorization: `Bearer ${tokens.store}` }
  await fetch(urls.store, { method: 'POST', headers: auth, body: JSON.stringify(['AUTH', 'pass444']) })
  const ofQueue = { authorization: `Bearer ${tokens.queue}`, 'upstash-cron': '0 3 * * *' }
  const scheduled = { method: 'POST', headers: ofQueue, body: JSON.stringify({ password: 'hunter2' }) }
  await fetch(`${urls.queue}/v2/schedules/https://bob:userpw555@shop.test/report`, scheduled)
  await clock.advance('1m')
  const wrong = { to: orders, body: { password: 'x', note: 'y' }, headers: { authorization: 'z', 'x-api-key': 'k' } }
  const texts = [
    failure(() => expect(queue).toHavePublished(wrong)),
    failure(() => expect(queue).toHavePublished({ ...wrong, body: 'text' })),
    failure(() => expect(queue).toHavePublished({ ...wrong, body: new Uint8Array([1]) })),
    failure(() => expect(queue).toHaveDelivered(wrong)),
    failure(() => expect(queue).not.toHaveDelivered()),
    failure(() => expect(queue).toHaveValidSignature({ to: orders })),
    failure(() => expect(sandbox).toHaveCost({ messages: 0 })),
    failure(() => expect(queue).toHaveSchedule({ to: orders, body: { password: 'y' } })),
    failure(() => expect(sandbox).toFollowSequence([{ type: 'published', to: orders, body: { password: 'x' } }])),
    failure(() => expect(sandbox).toHaveReceivedRequest({ method: 'PUT', body: ['x'] })),
    failure(() => expect([...sandbox.traffic]).toHavePublished({ ...wrong, body: { password: 'x' } })),
    failure(() => expect(store).toHaveExecuted('AUTH', 'nothing')),
    failure(() => expect(loadTrace(JSON.stringify(sandbox.traffic))).toHavePublished(wrong)),
    sandboxMatchers.messageTo.call(undefined, sandbox.traffic.ofType('published')[0], 'https://other.test/').message(),
  ]
  return { texts, token: tokens.queue }
}

test('prints no secret in any failure', async () => {
  const { texts, token } = await failures()
  for (const text of texts) {
    for (const secret of [...secrets, token, token.slice(0, 9)]) expect(text).not.toContain(secret)
  }
  expect(texts[0]).toMatch(/✗ body\.password: .*hidden as secrets?/)
  expect(texts[0]).toMatch(/✗ headers\['x-api-key'\]: .*hidden as secrets?/)
})

test('prints neither side of a secret field in a hash', () => {
  using sandbox = createSandbox({ seed: 7 })
  sandbox.store.load(dumpOf('HSET', 'user', 'password', 'stored333', 'name', 'Ada'))
  const text = failure(() => expect(sandbox.store).toHaveKey('user', { value: { password: 'guess', name: 'Bob' } }))
  expect(text).not.toMatch(/stored333|guess/)
  expect(text).toMatch(/hash, .*not expire: \{ password: '\*\*\*', name: 'Ada' \}/)
  expect(text).toContain("✗ value.name: expected 'Bob', received 'Ada'")
})

function dumpOf(...command: string[]): ReturnType<Sandbox['store']['dump']> {
  using other = createSandbox()
  other.store.run(...(command as [string]))
  return other.store.dump()
}

test('hides fields of Redact-Fields in nearest candidates', async () => {
  using sandbox = createSandbox({ seed: 7 })
  const { urls, clock, destinations, fetch, queue, tokens } = sandbox
  destinations.record(orders)
  destinations.record('https://shop.test/done')
  await fetch(`${urls.queue}/v2/publish/${orders}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokens.queue}`,
      'service-redact-fields': 'body, header[x-customer]',
      'service-forward-x-customer': 'ada-lovelace',
      'service-forward-x-plan': 'gold',
      'service-callback': 'https://shop.test/done',
    },
    body: JSON.stringify({ customer: 'ada-lovelace' }),
  })
  await clock.drain()
  const headers = { 'x-customer': 'bob', 'x-plan': 'silver' }
  const texts = [
    failure(() => expect(queue).toHavePublished({ body: { customer: 'bob' }, headers })),
    failure(() => expect(queue).toHaveDelivered({ body: { customer: 'bob' }, headers })),
    failure(() => expect(queue).toHaveDeliveredCallback({ sourceBody: { customer: 'bob' } })),
    failure(() => expect(sandbox).toFollowSequence([{ type: 'attempt', body: { customer: 'bob' } }])),
  ]
  for (const text of texts) expect(text).not.toContain('ada-lovelace')
  expect(texts[0]).toMatch(/✗ body\.customer: .*publisher hides/)
  expect(texts[1]).toContain("✗ headers['x-plan']: expected 'silver', received 'gold'")
})
