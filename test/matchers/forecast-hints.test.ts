import { createSandbox, fault } from 'stuntdouble'
import { expect, test } from 'vitest'
import { isIdle } from '../../matchers/idle.js'
import { delivered } from '../../matchers/message-matchers.js'
import { engineOf } from '../../src/queue/queue-internals.js'

// Checks the forecasts in failures: a message is delivered exactly at the time that the hint names.

const shop = 'https://shop.test/orders'

function hints(sandbox: unknown, messageId: string): string[] {
  return delivered(sandbox, { messageId })
    .explain(false)
    .split('\n')
    .filter((line) => line.startsWith('Hint: '))
}

test('names the own time of each message in a wait list', async () => {
  const sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
  const { queue, clock, destinations } = sandbox
  destinations.respond(shop, 200)
  const ids = Array.from(
    { length: 30 },
    () => queue.publish({ to: shop, flowControlKey: 'k', flowControlValue: 'rate=5, period=10s' }).id,
  )
  await clock.advance('1s')
  for (const [index, waits, until, place] of [
    [5, '9s', '09:00:10', 'it is the next in line'],
    [17, '29s', '09:00:30', '13th in line: 12 messages are before it'],
    [29, '49s', '09:00:50', '25th in line: 24 messages are before it'],
  ] as const) {
    expect(hints(sandbox, ids[index]!)[0]).toMatch(
      new RegExp(
        `^Hint: msg_\\S+… waits ${waits}, until ${until}\\.000, .*flow-control key k: 5 of 5 calls .* 10 s; ${place}\\. .*await sandbox\\.clock\\.advance\\('${waits}'\\)`,
      ),
    )
  }
  await clock.advance('49s')
  expect(delivered(sandbox, { messageId: ids[29]! }).pass).toBe(true)
})

test('names the delay by a pause, for the message in question only', async () => {
  const sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
  const { queue, clock, destinations } = sandbox
  destinations.respond(shop, 200)
  const flow = { flowControlKey: 'k', flowControlValue: 'rate=5, period=10s' }
  const ids = Array.from({ length: 30 }, () => queue.publish({ to: shop, ...flow }).id)
  await clock.advance('5s')
  engineOf(queue).flow.pause('k')
  await clock.advance('20s')
  engineOf(queue).flow.resume('k')
  await clock.advance('1s')
  const told = hints(sandbox, ids[16]!)
  expect(told).toHaveLength(1)
  expect(told[0]).toContain('waits 19s, until 09:00:45.000')
  const [paused, resumed] = sandbox.traffic.ofType('setting').slice(-2)
  expect(told[0]).toContain(
    `7th in line: 6 messages are before it; the pause from #${paused!.seq} to #${resumed!.seq} extended the wait by up to 20s.`,
  )
})

test('explains messages behind a failing message and in a paused queue', async () => {
  const sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
  const { queue, clock, destinations } = sandbox
  destinations.script(
    shop,
    Array.from({ length: 4 }, () => fault.status(500)),
  )
  queue.publish({ to: shop, queue: 'orders' })
  const { id } = queue.publish({ to: shop, queue: 'orders' })
  await clock.advance('20m')
  // The forecast is also correct an hour later.
  expect(hints(sandbox, id)[0]).toMatch(
    /^Hint: msg_\S+… waits in queue orders: msg_\S+… must finish first, and 3 of 4 attempts failed\. .* 09:32:48\.000\. Await/,
  )
  engineOf(queue).pauseQueue('orders')
  expect(hints(sandbox, id)[0]).toMatch(
    /waits in queue orders: queue orders is paused, so it starts no delivery\. Resume it first\./,
  )
})

test('toBeIdle() names messages that wait for others, in addition to timers', async () => {
  const sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
  const { queue, clock, destinations } = sandbox
  destinations.script(shop, [fault.status(500)])
  for (let n = 0; n < 6; n++) queue.publish({ to: shop, queue: 'orders' })
  await clock.advance('1s')
  const told = isIdle(sandbox).explain(false)
  expect(told).toContain('  waits 11s, until 09:00:12.000: delivery to https://shop.test/orders\n')
  expect(told).toMatch(
    / {2}msg_\S+… waits in queue orders: msg_\S+… must finish first, and 1 of 4 attempts failed\. .* 09:00:12\.000\./,
  )
  expect(told).toContain('… and 2 more messages that wait for other messages')
})

test('reads waits from a log without a queue', async () => {
  const sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
  const { queue, traffic, clock, destinations } = sandbox
  destinations.respond(shop, 500)
  const { id } = queue.publish({ to: shop })
  await clock.advance('1s')
  expect(hints(traffic, id)[0]).toMatch(/waits 11s, until 09:00:12\.000/)
  sandbox.reset()
  expect(hints([...traffic.entries], id)[0]).toMatch(/waits|is due/)
})

test('names the next fire time of a schedule', async () => {
  const sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
  const { queue, clock, destinations, fetch, urls, tokens } = sandbox
  destinations.respond('*', 200)
  const schedule = (url: string, id: string) =>
    fetch(`${urls.queue}/v2/schedules/${url}`, {
      method: 'POST',
      body: 'report',
      headers: { authorization: `Bearer ${tokens.queue}`, 'Service-Cron': '0 3 * * *', 'Service-Schedule-Id': id },
    })
  await schedule(shop, 'nightly')
  await schedule('https://shop.test/other', 'other')
  await clock.drain()
  const told = (pattern: object, of: unknown = sandbox): string[] =>
    delivered(of, pattern, { times: 2 })
      .explain(false)
      .split('\n')
      .filter((line) => line.startsWith('Hint: '))
  const nightly =
    "Hint: Schedule nightly fires in 18h, at 2030-01-02 03:00:00.000. Await sandbox.clock.advance('18h') first: clock.drain() does not wait for schedules, which never end."
  expect(told({ to: shop })).toEqual([nightly])
  expect(told({ to: shop }, queue)).toEqual([nightly])
  expect(told({ scheduleId: 'nightly', body: 'report' })).toEqual([nightly])
  expect(told({}).map((line) => line.slice(0, 28))).toEqual([
    'Hint: Schedule nightly fires',
    'Hint: Schedule other fires i',
  ])
  // No schedule would publish these messages.
  for (const pattern of [{ to: '*/stock' }, { to: shop, body: 'another' }, { to: shop, messageId: 'msg_1' }])
    expect(told(pattern)).toEqual([])
  expect(told({ to: shop }, sandbox.traffic)).toEqual([])

  await clock.advance('18h')
  expect(delivered(sandbox, { to: shop }).pass).toBe(true)
  expect(told({ to: shop })[0]).toMatch(/fires in 1d, at 2030-01-03 03:00:00\.000\./)
  for (const { id } of queue.schedules.list())
    await fetch(`${urls.queue}/v2/schedules/${id}/pause`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.queue}` },
    })
  expect(told({ to: shop })).toEqual(['Hint: Schedule nightly is paused, so it publishes nothing. Resume it first.'])
})
