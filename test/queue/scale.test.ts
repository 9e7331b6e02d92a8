import { describe, expect, test } from 'vitest'
import { shop, world } from './world.js'

describe('large numbers of messages', () => {
  test('a wait list of 20,000 empties in order, without a deep stack', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    for (let n = 0; n < 20_000; n++)
      at.queue.publish({ to: shop, body: String(n), flowControlKey: 'k', flowControlValue: 'parallelism=1' })
    await at.clock.drain()
    const bodies = at.traffic.ofType('attempt').map(({ body }) => Number(body))
    expect(bodies).toHaveLength(20_000)
    expect(bodies.every((body, index) => body === index)).toBe(true)
    expect(at.engine.flow.inFlight).toBe(0)
  })

  test('a FIFO queue of 20,000 empties in order', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    for (let n = 0; n < 20_000; n++) at.queue.publish({ to: shop, body: String(n), queue: 'q' })
    await at.clock.drain()
    const bodies = at.traffic.ofType('attempt').map(({ body }) => Number(body))
    expect(bodies.every((body, index) => body === index)).toBe(true)
    expect((await at.send('GET', '/v2/queues/q')).json.lag).toBe(0)
  })

  test('canceling 20,000 by label in pages of 100 leaves nothing', async () => {
    const at = world()
    for (let n = 0; n < 20_000; n++) at.queue.publish({ to: shop, delay: '1h', label: n % 2 ? 'odd' : 'even' })
    let cancelled = 0
    for (;;) {
      const { json } = await at.send('DELETE', '/v2/messages?label=odd&count=100')
      if (json.cancelled === 0) break
      cancelled += json.cancelled
    }
    expect(cancelled).toBe(10_000)
    expect(at.queue.messages).toHaveLength(10_000)
  })

  test('an every-minute schedule fires 43,200 times in 30 days', async () => {
    const at = world()
    let fired = 0
    at.destinations.respond(shop, () => {
      fired++
      return 200
    })
    await at.send('POST', `/v2/schedules/${shop}`, { headers: { 'Service-Cron': '* * * * *' } })
    await at.clock.advance('30d')
    expect(fired).toBe(43_200)
    // The log keeps entries, and with them messages, for seven days.
    at.engine.log.prune(at.clock.now())
    expect(at.engine.courier.byId.size).toBeLessThanOrEqual(7 * 1440 + 1)
  })
})
