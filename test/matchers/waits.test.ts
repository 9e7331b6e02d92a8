import { loadTrace } from 'stuntdouble/report'
import { expect, test } from 'vitest'
import { createSandbox, type Sandbox, status } from '../../src/index.js'
import '../../matchers/vitest.js'
import { failureOf } from './failure.js'

const url = 'https://shop.test/orders'

const world = (): Sandbox => createSandbox({ seed: 7, startAt: '2030-01-01T09:00:00Z' })

const hints = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('Hint: '))

test('behind a message that is retried for hours, nobody says that time has not moved', async () => {
  using sandbox = world()
  const { clock, destinations, queue } = sandbox
  destinations.on(
    url,
    async (request) => new Response(null, { status: (await request.text()) === 'poison' ? 500 : 200 }),
  )
  queue.publish({ to: url, body: 'poison', queue: 'orders', retries: 5 })
  queue.publish({ to: url, body: 'next', queue: 'orders' })
  await clock.advance('1h')

  const [blocked] = hints(failureOf(() => expect(queue).toHaveDelivered({ to: url, body: 'next' })))
  expect(blocked).toMatch(/^Hint: msg_\w{3}… waits for its turn in queue orders: 1 of 1 slot used by msg_\w{3}… /)
  expect(blocked).toMatch(
    /Its next attempt starts not before 2030-01-01 15:39:54, because msg_\w{3}… must answer first\.$/,
  )
  expect(blocked).not.toContain('time has not moved')
})

test('a held message says when it goes, not when the period ends', async () => {
  using sandbox = world()
  const { clock, destinations, queue } = sandbox
  destinations.answer(url, 200)
  for (let n = 1; n <= 30; n++)
    queue.publish({ to: url, body: { n }, flowControlKey: 'k', flowControlValue: 'rate=5, period=10s' })
  await clock.advance('1s')

  const told = (received: object): string | undefined =>
    hints(failureOf(() => expect(received).toHaveDelivered({ to: url, body: { n: 30 } })))[0]
  expect(told(queue)).toContain('24 messages are before it. Its next attempt starts at 2030-01-01 09:00:50.')
  expect(told(sandbox)).toBe(told(queue))
  // A log alone has no queue to ask.
  expect(told(loadTrace(JSON.stringify(sandbox.traffic)))).toContain('flow-control key k holds it')
})

test('a wait with a time of its own names the call that gets there', async () => {
  using sandbox = world()
  const { clock, destinations, queue } = sandbox
  destinations.script(url, [status(503)])
  queue.publish({ to: url })
  await clock.advance('1s')
  expect(hints(failureOf(() => expect(queue).toHaveDelivered({ to: url })))[0]).toContain("clock.advance('11s')")
})
