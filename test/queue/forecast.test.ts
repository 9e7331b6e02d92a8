import { createSandbox, fault } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { forecastsOf } from '../../src/queue/explain/forecast.js'
import { createSchedule } from '../../src/scenarios/actions.js'
import { shop, type World, world } from './world.js'

const start = Date.UTC(2030, 0, 1)
const seconds = (at: number) => start + at * 1000

function publish(at: World, options: Record<string, unknown> = {}): string {
  return at.queue.publish({ to: shop, ...options }).id
}

const ids = (at: World, count: number, options?: Record<string, unknown>) =>
  Array.from({ length: count }, () => publish(at, options))

describe('forecasts in the wait list of a rate [queue.md 6.2]', () => {
  test('give each message its own time, and come true', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    const all = ids(at, 30, { flowControlKey: 'k', flowControlValue: 'rate=5, period=10s' })
    await at.clock.advance('1s')
    const waiting = all.slice(5)
    expect(waiting.map((id) => at.queue.forecast(id))).toEqual(
      waiting.map((_, index) => ({ at: seconds(10 + Math.floor(index / 5) * 10) })),
    )
    expect(at.queue.explain(all[29]!)).toBe(
      `Message ${all[29]} to ${shop} waits since 2030-01-01 00:00:00: flow-control key k: 5 of 5 calls made in this period of 10 s, which ends at 2030-01-01 00:00:10; 25th in line: 24 messages are before it. Its next attempt starts at 2030-01-01 00:00:50.`,
    )
    await at.clock.drain()
    expect(at.traffic.ofType('attempt').at(-1)!.at).toBe(seconds(50))
  })

  test('include the cost of a pause after its end', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    const all = ids(at, 3, { flowControlKey: 'k', flowControlValue: 'rate=1, period=10s' })
    await at.clock.advance('5s')
    at.engine.flow.pause('k')
    expect(at.queue.explain(all[1]!)).toContain('it is paused since 2030-01-01 00:00:05')
    expect(at.queue.forecast(all[1]!)).toEqual({
      notBefore: seconds(5),
      blockedBy: { kind: 'pause', flowControlKey: 'k' },
    })
    await at.clock.advance('20s')
    at.engine.flow.resume('k')
    expect(at.queue.forecast(all[2]!)).toEqual({ at: seconds(35) })
    expect(at.queue.explain(all[2]!)).toMatch(/the pause from #\d+ to #\d+ extended the wait by up to 20s/)
  })

  test('include when the key admits a message that is not due yet', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    ids(at, 3, { flowControlKey: 'k', flowControlValue: 'rate=1, period=10s', retries: 0 })
    const late = publish(at, { flowControlKey: 'k', delay: '15s' })
    await at.clock.advance('1s')
    expect(at.queue.forecast(late)).toEqual({ at: seconds(30) })
    expect(at.queue.explain(late)).toContain(
      'waits for its first attempt at 2030-01-01 00:00:15, 15 s after it was published. Its next attempt starts at 2030-01-01 00:00:30.',
    )
  })
})

describe('forecasts in a FIFO queue [queue.md 6.1]', () => {
  test('name the slot holder, its next retry and the worst case behind a poison message', async () => {
    const at = world()
    at.destinations.respond(shop, 500)
    const [poison, second, third] = ids(at, 3, { queue: 'orders' })
    await at.clock.advance('1s')
    const text = at.queue.explain(third!)
    expect(text).toContain(
      `waits for its turn in queue orders: 1 of 1 slot used by ${poison} (waiting until 2030-01-01 00:00:12 for retry 1 of 3; if all retries fail immediately, the last is at 2030-01-01 00:32:48); 2nd in line: 1 message is before it.`,
    )
    expect(text).toContain(
      `Its next attempt starts not before 2030-01-01 00:00:12, because ${poison!.slice(0, 7)}… must get its response first.`,
    )
    const blockedBy = { kind: 'response', messageIds: [poison], holdsSlot: true }
    expect(at.queue.forecast(second!)).toEqual({ notBefore: seconds(12), blockedBy })
    await at.clock.advance('1h')
    // The poison message is dead by now, and the second one holds the slot.
    expect(at.queue.explain(third!)).toContain('must get its response first')
    expect(at.queue.explain(third!)).not.toContain('time has not moved')
  })

  test('know when a canceled message frees its slot', async () => {
    const at = world()
    const [first, second, third] = ids(at, 3, { queue: 'orders', delay: '1m' })
    at.queue.cancel(first!)
    await at.clock.advance('1s')
    expect(at.queue.forecast(first!)).toBeUndefined()
    expect(at.queue.forecast(second!)).toEqual({ at: seconds(60) })
    expect(at.queue.forecast(third!)).toMatchObject({ notBefore: seconds(60), blockedBy: { messageIds: [second] } })
  })

  test('name a pause at any distance', async () => {
    const at = world()
    at.destinations.respond(shop, 500)
    const [first, second] = ids(at, 2, { queue: 'orders', flowControlKey: 'k', flowControlValue: 'rate=1' })
    await at.clock.advance('1s')
    at.engine.flow.pause('k')
    const blockedBy = { kind: 'pause', flowControlKey: 'k' }
    expect(at.queue.forecast(first!)).toEqual({ notBefore: seconds(12), blockedBy })
    expect(at.queue.forecast(second!)).toMatchObject({ blockedBy })
    expect(at.queue.explain(second!)).toContain('flow-control key k is paused until it is resumed')
  })
})

describe('forecasts for slots of a flow-control key', () => {
  test('name the response that is needed first', async () => {
    const at = world()
    at.destinations.respond(shop, async (_delivery, task) => {
      await task.sleep('30s')
      return 200
    })
    const all = ids(at, 4, { flowControlKey: 'k', flowControlValue: 'parallelism=2, rate=3, period=10s' })
    await at.clock.advance('1s')
    const blockedBy = { kind: 'response', messageIds: all.slice(0, 2), holdsSlot: true }
    expect(at.queue.forecast(all[2]!)).toEqual({ notBefore: seconds(1), blockedBy })
    // Regardless of the responses, the rate does not allow a fourth call.
    expect(at.queue.forecast(all[3]!)).toEqual({ notBefore: seconds(10), blockedBy })
  })

  test('depend on the response of a message whose retry may take the slot', async () => {
    const at = world()
    at.destinations.respond(shop, async (_delivery, task) => {
      await task.sleep('5s')
      return 500
    })
    const first = publish(at, { flowControlKey: 'k', flowControlValue: 'rate=1, period=10s', retries: 1 })
    const late = publish(at, { flowControlKey: 'k', delay: '15s', retries: 0 })
    await at.clock.advance('1s')
    expect(at.queue.forecast(late)).toEqual({
      notBefore: seconds(15),
      blockedBy: { kind: 'response', messageIds: [first], holdsSlot: false },
    })
    expect(at.queue.explain(late)).toContain('it depends on the response to msg_')
  })

  test('do not name responses that cannot matter', async () => {
    const at = world()
    at.destinations.respond(shop, async (_delivery, task) => {
      await task.sleep('5s')
      return 500
    })
    ids(at, 3, { flowControlKey: 'k', flowControlValue: 'rate=20, period=10s, parallelism=20', retries: 1 })
    const late = publish(at, { flowControlKey: 'k', delay: '15s' })
    await at.clock.advance('1s')
    expect(at.queue.forecast(late)).toEqual({ at: seconds(15) })
  })
})

test('a forecast names the fault rules that can change it', async () => {
  const at = world()
  at.sandbox.faults.add({ on: 'queue.delivery', fault: { kind: 'latency', waitMs: 10 } } as never)
  const id = publish(at, { delay: '1m' })
  expect(at.queue.forecast(id)).toEqual({ at: seconds(60), unless: 'a fault rule applies' })
  expect(at.queue.explain(id)).toContain('unless a fault rule applies')
})

test('a forecast starts nothing before a service that is down is up again', async () => {
  const at = world()
  at.destinations.respond(shop, 200)
  const id = publish(at, { delay: '5s' })
  const later = publish(at, { delay: '1m' })
  at.engine.faults!.markDown('queue', seconds(30))
  expect(at.queue.forecast(id)).toEqual({ at: seconds(30) })
  expect(at.queue.forecast(later)).toEqual({ at: seconds(60) })
  await at.clock.drain()
  expect(at.traffic.ofType('attempt').map((entry) => entry.at)).toEqual([seconds(30), seconds(60)])
})

test('a forecast works with a clock that follows the host', () => {
  using sandbox = createSandbox({ clock: 'real' })
  const { queue, clock } = sandbox
  const now = clock.now()
  const message = queue.publish({ to: shop, delay: '1h' })
  expect(queue.forecast(message.id)).toEqual({ at: message.nextAttemptAt })
  expect(message.nextAttemptAt).toBeGreaterThanOrEqual(now + 3_600_000)
})

test('forecast() throws a RangeError for unknown messages and returns undefined for ended ones', async () => {
  const at = world()
  at.destinations.respond(shop, 200)
  const id = publish(at)
  await at.clock.drain()
  expect(at.queue.forecast(id)).toBeUndefined()
  expect(() => at.queue.forecast('msg_x')).toThrow(
    new RangeError('There is no message "msg_x". Use an ID from queue.messages.'),
  )
  expect(at.queue.explain(`${id.slice(0, 9)}…`)).toContain(`Did you mean ${id}?`)
})

describe('explain() of resources', () => {
  test('describes a FIFO queue', async () => {
    const at = world()
    at.destinations.script(shop, [fault.status(500)])
    const [first, second, third] = ids(at, 3, { queue: 'orders' })
    await at.clock.advance('1s')
    const text = at.queue.explain({ queue: 'orders' })
    expect(text).toContain(
      `Queue orders: 1 of 1 slot used by ${first} (waiting until 2030-01-01 00:00:12 for retry 1 of 3`,
    )
    expect(text).toContain(
      `2 messages wait in line. The first is ${second}. Its next attempt starts not before 2030-01-01 00:00:12`,
    )
    expect(text).toContain(`The last is ${third}.`)
    at.queue.pauseQueue('orders')
    expect(at.queue.explain({ queue: 'orders' })).toContain('Queue orders is paused since 2030-01-01 00:00:01;')
    expect(at.queue.explain({ queue: 'ordres' })).toBe('There is no queue "ordres". Did you mean "orders"?')
  })

  test('describes a flow-control key', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    const all = ids(at, 4, { flowControlKey: 'user-1', flowControlValue: 'rate=1, period=10s' })
    await at.clock.advance('1s')
    expect(at.queue.explain({ flowControlKey: 'user-1' })).toBe(
      `Flow-control key user-1: it allows 1 call in 10 s; 1 of 1 calls made in this period of 10 s, which ends at 2030-01-01 00:00:10; 3 messages wait in line. The first is ${all[1]}. Its next attempt starts at 2030-01-01 00:00:10. The last is ${all[3]}. Its next attempt starts at 2030-01-01 00:00:30.`,
    )
    expect(at.queue.explain({ flowControlKey: 'user1' })).toContain('Did you mean "user-1"?')
  })

  test('describes a schedule, with fire times skipped by a pause or the change to summer time', async () => {
    const at = world({ startAt: '2030-03-30T12:00:00Z' })
    createSchedule({ id: 'nightly', cron: 'CRON_TZ=Europe/Berlin 30 2 * * *', to: shop }, at.sandbox)
    const text = at.queue.explain({ scheduleId: 'nightly' })
    expect(text).toContain(
      `Schedule nightly (CRON_TZ=Europe/Berlin 30 2 * * *) publishes to ${shop}. Its next fire times are 2030-04-01 00:30:00,`,
    )
    expect(text).toContain(
      'The fire time 2030-03-31 01:00:00 is skipped, because the clocks of Europe/Berlin are set forward from 02:00 to 03:00.',
    )
    await at.clock.advance('1h')
    at.engine.schedules.setPaused(at.engine.schedules.get('nightly')!, true)
    expect(at.queue.explain({ scheduleId: 'nightly' })).toContain(
      'It is paused since 2030-03-30 13:00:00: its next fire times, 2030-04-01 00:30:00, 2030-04-02 00:30:00, 2030-04-03 00:30:00, pass without a message until it is resumed.',
    )
    expect(at.queue.explain({ scheduleId: 'nightli' })).toContain('Did you mean "nightly"?')
  })

  test('describes a deduplication ID', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    const id = publish(at, { deduplicationId: 'order-1' })
    await at.clock.advance('1m')
    const text = at.queue.explain({ deduplicationId: 'order-1' })
    expect(text).toContain(
      `is held until 2030-01-01 00:10:00 by message ${id}, which is DELIVERED since 2030-01-01 00:00:00.`,
    )
    const { status: code, json } = await at.send('POST', `/v2/publish/${shop}`, {
      headers: { 'Service-Deduplication-Id': 'order-1' },
    })
    // A publish gets the response that the text describes.
    expect([code, json]).toEqual([202, { messageId: id, url: shop, deduplicated: true }])
    expect(text).toContain("gets 202 and that message's ID")
    await at.clock.advance('9m')
    expect(at.queue.explain({ deduplicationId: 'order-1' })).toBe(
      'No message holds deduplication ID "order-1", so the next publish with it is enqueued.',
    )
  })

  test('rejects other arguments and names the valid ones', () => {
    const at = world()
    for (const wrong of [{}, { queue: 'a', scheduleId: 'b' }, { queue: 1 }, undefined, 7])
      expect(() => at.queue.explain(wrong as never)).toThrow(/queue\.explain\(\): .*one of queue,/)
    for (const wrong of [{ topic: 'x' }, { toString: 'x' }])
      expect(() => at.queue.explain(wrong as never)).toThrow(/no option .* The options are queue, flowControlKey,/)
  })
})

test('10,000 waiting messages are forecast together, with linear work', async () => {
  const at = world()
  at.destinations.respond(shop, 200)
  const all = ids(at, 10_000, { flowControlKey: 'k', flowControlValue: 'rate=10, period=1s' })
  await at.clock.advance('0s')
  const forecasts = forecastsOf(at.engine, at.queue.messages)
  expect(forecasts.size).toBe(9990)
  expect(at.queue.forecast(all.at(-1)!)).toEqual({ at: seconds(999) })
})

test('explain() and forecast() handle unusual and endless names', () => {
  using sandbox = createSandbox()
  const { queue } = sandbox
  queue.publish({ to: 'https://shop.test/orders', flowControlKey: 'k', flowControlValue: 'rate=1' })
  expect(queue.explain('')).toMatch(/^There is no message "": it was never published in this sandbox/)
  expect(queue.explain({ flowControlKey: '' })).not.toContain('Did you mean')
  const long = 'x'.repeat(100_000)
  const texts = [long, { queue: long }, { flowControlKey: long }, { scheduleId: long }, { deduplicationId: long }]
  for (const what of texts) expect(queue.explain(what).length).toBeLessThan(400)
  for (const wrong of [{ queue: 'orders' }, undefined, () => 1, Symbol('id')])
    expect(() => queue.forecast(wrong as never)).toThrow(/queue\.forecast\(\): .*Use explain\(/)
})
