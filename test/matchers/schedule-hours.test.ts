import { createSandbox, type Sandbox } from 'stuntdouble'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { delivered } from '../../matchers/message-matchers.js'
import { scheduled } from '../../matchers/schedule-matchers.js'

const shop = 'https://shop.test/report'
const id = 'nightly-report'

let sandbox: Sandbox
beforeEach(() => {
  // The machine may have its own time zone.
  delete process.env.TZ
  sandbox = createSandbox({ startAt: '2030-01-01T12:00:00Z' })
  sandbox.destinations.respond(shop, 200)
})
afterEach(() => {
  sandbox.dispose()
  delete process.env.TZ
})

async function schedule(cron: string, more: Readonly<Record<string, string>> = {}, body = 'report'): Promise<void> {
  const { urls, fetch, tokens } = sandbox
  const headers = { authorization: `Bearer ${tokens.queue}`, 'Service-Cron': cron, 'Service-Schedule-Id': id, ...more }
  const { status } = await fetch(`${urls.queue}/v2/schedules/${shop}`, { method: 'POST', body, headers })
  expect(status).toBe(200)
}

const hintsIn = (text: string): string[] =>
  text.split('\n').filter((line) => line.startsWith('Hint: ') && line.includes('chedule'))
const place = (...names: string[]) => ({ runner: 'vitest' as const, file: 'a.test.ts', names })

/** Returns the hints about a delivery that is expected at this time. */
const told = (deliveredAt: unknown, ...names: string[]): string[] =>
  hintsIn(delivered(sandbox.queue, { to: shop, deliveredAt } as object).explain(false, place(...names)))

describe.each([
  ['after it was delivered', '1d'],
  ['before its time has come', 0],
] as const)('hint about a schedule that fires at another hour, %s', (_, wait) => {
  const at = '2030-01-02T01:30:00Z'
  const utc = `^Hint: Schedule ${id} .*02:30 UTC.*"30 2 \\* \\* \\*" names no time zone.* 01:30Z\\b`
  const berlin = expect.stringMatching(
    new RegExp(`${utc}.*02:30 in Europe/Berlin: .*CRON_TZ=Europe/Berlin 30 2 \\* \\* \\*$`),
  )

  test('names a difference of whole hours, and no unmentioned zone', async () => {
    await schedule('30 2 * * *')
    await sandbox.clock.advance(wait)
    expect(told(at)).toEqual([expect.stringMatching(new RegExp(`${utc}, 1 hour before\\b`))])
    expect(told(new Date(at))).toEqual(told(at))
    expect(told(Date.parse(at))).toEqual(told(at))
    // The names are a zone with another offset and a text that only looks like a zone.
    expect(told(at, 'in America/New_York', 'in Europe/Atlantis', 'Sales/Report')).toEqual(told(at))
    expect(told('2030-01-02T05:30:00Z')[0]).toMatch(/ 05:30Z, 3 hours after\b/)
  })

  test('names the zone that the test mentions', async () => {
    await schedule('30 2 * * *')
    await sandbox.clock.advance(wait)
    expect(told(at, 'reports', 'goes out at 02:30 in Europe/Berlin')).toEqual([berlin])
    expect(told('2030-01-01T21:00:00Z', 'at 02:30 in Asia/Kolkata')[0]).toMatch(
      / 2030-01-01T21:00Z.*\b02:30 in Asia\/Kolkata\b/,
    )
  })

  test('names the zone of the environment', async () => {
    await schedule('30 2 * * *')
    await sandbox.clock.advance(wait)
    process.env.TZ = 'Europe/Berlin'
    expect(told(at)).toEqual([berlin])
  })

  test('names the zone of its body or of another schedule', async () => {
    await schedule('30 2 * * *', {}, '{"zone":"Europe/Berlin"}')
    await sandbox.clock.advance(wait)
    expect(told(at)).toEqual([berlin])
    await schedule('30 2 * * *')
    await schedule('CRON_TZ=Europe/Berlin 0 4 * * *', { 'Service-Schedule-Id': 'other' })
    expect(told(at)).toContainEqual(berlin)
  })

  test('names a schedule with another zone', async () => {
    await schedule('CRON_TZ=Europe/Berlin 30 2 * * *')
    await sandbox.clock.advance(wait)
    const names = `^Hint: Schedule ${id} .* 01:30Z.*"CRON_TZ=Europe/Berlin 30 2 \\* \\* \\*" names Europe/Berlin.*02:30.*`
    expect(told('2030-01-02T02:30:00Z')).toEqual([
      expect.stringMatching(new RegExp(`${names} 02:30Z.* 02:30 UTC: .* 30 2 \\* \\* \\*$`)),
    ])
    expect(told('2030-01-02T00:30:00Z')).toEqual([
      expect.stringMatching(new RegExp(`${names} 00:30Z, 1 hour before\\b`)),
    ])
    expect(told('2030-01-02T07:30:00Z', 'in America/New_York')[0]).toMatch(
      /\b07:30Z.*\b02:30 in America\/New_York: .*CRON_TZ=America\/New_York 30 2 \* \* \*$/,
    )
  })

  test('is missing if the difference is not whole hours', async () => {
    await schedule('30 2 * * *')
    await sandbox.clock.advance(wait)
    expect(told('2030-01-02T02:31:00Z')).toEqual([])
    expect(told('2030-02-02T01:30:00Z')).toEqual([])
    expect(told(expect.any(String))).toEqual([])
  })

  test.each([
    ['another day of the week', '0 9 * * 1', '2030-01-08T09:00:00Z'],
    ['another day of the month', '30 2 1 * *', '2030-02-02T04:30:00Z'],
    ['further ahead of UTC than any zone', '30 20 * * 1', '2030-01-07T05:30:00Z'],
    ['further behind UTC than any zone', '0 6 * * 1', '2030-01-07T19:00:00Z'],
  ])('is missing for %s', async (_, cron, expected) => {
    await schedule(cron)
    await sandbox.clock.advance(wait === 0 ? 0 : '40d')
    expect(told(expected)).toEqual([])
  })

  test.each([
    ['30 20 * * 1', '2030-01-07T06:30:00Z', '14 hours before that fire time'],
    ['0 6 * * 1', '2030-01-07T18:00:00Z', '12 hours after that fire time'],
  ])('covers %s up to the largest offset of time zones', async (cron, expected, apart) => {
    await schedule(cron)
    await sandbox.clock.advance(wait === 0 ? 0 : '10d')
    expect(told(expected)).toEqual([expect.stringContaining(apart)])
  })

  test('is missing for a message of another schedule', async () => {
    await schedule('0 12 * * *')
    sandbox.queue.publish({ to: shop, delay: '13h' })
    await sandbox.clock.advance('13h')
    await sandbox.clock.advance(wait)
    expect(told('2030-01-02T02:00:00Z')).toEqual([])
  })

  test('is missing for a message in another state', async () => {
    sandbox.destinations.respond(shop, 400)
    await schedule('30 2 * * *', { 'Service-Retries': '0' })
    await sandbox.clock.advance('1d')
    await sandbox.clock.advance(wait)
    expect(told(at)).toEqual([])
  })

  test('is missing for a fire time of a replaced cron', async () => {
    await schedule('30 2 * * *')
    await sandbox.clock.advance('1d')
    await schedule('45 20 * * *')
    await sandbox.clock.advance(wait)
    expect(told(at)).toEqual([])
  })

  test('is given for toHaveSchedule()', async () => {
    await schedule('30 2 * * *')
    await sandbox.clock.advance(wait)
    const next = wait === 0 ? at : '2030-01-03T01:30:00Z'
    const text = (pattern: object): string[] =>
      hintsIn(scheduled(sandbox, pattern).explain(false, place('Europe/Berlin')))
    expect(text({ scheduleId: id, next })).toEqual([berlin])
    expect(text({ scheduleId: id, next, cron: '0 0 * * *' })).toEqual([])
    expect(text({ scheduleId: 'other', next })).toEqual([])
  })
})

describe('daylight saving time of a zone', () => {
  test.each([
    ['2030-01-02T00:30:00Z', '2030-01-01T23:30:00Z'],
    ['2030-07-02T00:30:00Z', '2030-07-01T22:30:00Z'],
  ])('applies on the day of the fire time: %s', async (fires, expected) => {
    await sandbox.clock.advanceTo(`${fires.slice(0, 8)}01T12:00:00Z`)
    await schedule('30 0 * * *')
    await sandbox.clock.advance('1d')
    expect(told(expected, 'in Europe/Berlin')[0]).toMatch(
      new RegExp(
        ` ${fires.slice(0, 16)} UTC: .*"30 0 \\* \\* \\*" names no time zone.* ${expected.slice(0, 16)}Z.*\\b00:30 in Europe/Berlin\\b`,
      ),
    )
  })
})

describe('advice to advance the clock', () => {
  test('names the expected fire time, not the next one', async () => {
    await schedule('0 * * * *')
    await sandbox.clock.advance('1h')
    expect(told('2030-01-01T16:00:00Z')).toEqual([expect.stringContaining("advance('3h')")])
    // This instant is before the schedule was created.
    expect(told('2030-01-01T11:00:00Z')).toEqual([])
  })

  test('includes the delay of the schedule', async () => {
    await schedule('30 2 * * *', { 'Service-Delay': '5m' })
    expect(told('2030-01-02T02:35:00Z')).toEqual([expect.stringContaining("advance('14h35m')")])
    expect(told('2030-01-02T01:35:00Z')).toEqual([])
  })

  test('is given for an asymmetric matcher of a time', async () => {
    await schedule('30 2 * * *')
    const later = { asymmetricMatch: (at: unknown) => Number(at) > Date.parse('2030-01-02T00:00:00Z') }
    expect(told(later)).toEqual([expect.stringContaining("advance('14h30m')")])
    expect(told({ asymmetricMatch: () => false })).toEqual([])
  })

  test('is missing if the message of the last fire time differs', async () => {
    await schedule('30 2 * * *')
    const of = (pattern: object): string[] => hintsIn(delivered(sandbox, { to: shop, ...pattern }).explain(false))
    expect(of({ status: 201 })).toEqual([expect.stringContaining("advance('14h30m')")])
    await sandbox.clock.advance('1d')
    expect(of({ status: 201 })).toEqual([])
  })
})
