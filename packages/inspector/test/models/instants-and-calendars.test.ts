import { createSandbox, fault } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { orders } from '../../../../test/report/worlds.js'
import { type FaultKindInfo, faultOf } from '../../src/models/fault-fields.js'
import { instantOf } from '../../src/models/instant-text.js'
import { monthAfter, monthName, monthOf, weeksOf } from '../../src/models/month-calendar.js'
import { targetsOf } from '../../src/models/targets.js'

const now = Date.UTC(2030, 0, 15, 12)

describe('instantOf()', () => {
  test.each([
    ['-5m', now - 300_000],
    ['− 1d12h', now - 129_600_000],
    ['2030-01-01', Date.UTC(2030, 0, 1)],
    ['2030-01-01 09:00', Date.UTC(2030, 0, 1, 9)],
    ['2030-01-01T09:00:01.5Z', Date.UTC(2030, 0, 1, 9, 0, 1, 500)],
    ['2030-01-01 09:00:00+02:00', Date.UTC(2030, 0, 1, 7)],
    ['09:00:10', Date.UTC(2030, 0, 15, 9, 0, 10)],
    [' 1893456000000 ', 1893456000000],
  ])('parses %s', (typed, at) => {
    expect(instantOf(typed, now)).toBe(at)
  })

  test.each(['', 'yesterday', '-soon', '2030-13-01', '25:00', '5m', 'Z'])('returns undefined for %s', (typed) => {
    expect(instantOf(typed, now)).toBeUndefined()
  })
})

describe('weeksOf()', () => {
  test('contains every day of every month once, on its weekday', () => {
    for (let month = Date.UTC(2027, 11, 1), count = 0; count < 60; count++, month = monthAfter(month, 1)) {
      const date = new Date(month)
      expect(monthName(month)).toBe(date.toISOString().slice(0, 7))
      const days = weeksOf(month).flatMap((week) => {
        expect(week).toHaveLength(7)
        return week.flatMap((day, at) => (day === undefined ? [] : [{ ...day, at, day }]))
      })
      const length = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
      expect(days.map(({ number }) => number)).toEqual(Array.from({ length }, (_, n) => n + 1))
      for (const { at, day } of days) expect(at).toBe((new Date(day.at).getUTCDay() + 6) % 7)
    }
  })

  test('works with months before and after', () => {
    expect(monthAfter(monthOf(now), -1)).toBe(Date.UTC(2029, 11, 1))
    expect(monthAfter(monthOf(now), -13)).toBe(Date.UTC(2028, 11, 1))
    expect(monthAfter(monthOf(now), 12)).toBe(Date.UTC(2031, 0, 1))
  })
})

const rulesOf = (entry: Parameters<typeof targetsOf>[0]) => targetsOf(entry).map(({ on, match }) => ({ on, match }))

describe('targetsOf()', () => {
  test('selects the event of an entry when it happens again, and nothing else', async () => {
    const sandbox = createSandbox({ startAt: '2030-01-01T00:00:00Z' })
    const { queue, clock, traffic, destinations, faults } = sandbox
    destinations.respond('https://*', 200)
    destinations.script(orders, [fault.status(500)])
    const failing = queue.publish({ to: orders, retryDelay: '1000' })
    const other = queue.publish({ to: 'https://shop.test/other', delay: '1s' })
    await clock.advance(0)
    const entry = traffic.toTrace().entries.find(({ type }) => type === 'attempt')
    const [nextAttempt] = rulesOf(entry)
    faults.add({ ...nextAttempt, on: 'queue.delivery', times: 1, fault: fault.lostAck() })
    await clock.advance('2s')
    const injected = traffic.ofType('fault')
    expect(injected).toHaveLength(1)
    expect(traffic.get(injected[0]!.cause!)).toMatchObject({ messageId: failing.id })
    expect(traffic.forMessage(other.id)).toContainEqual(
      expect.objectContaining({ outcome: expect.objectContaining({ status: 200 }) }),
    )
  })

  test('selects a command with the same key, with any characters in the key, and requests', async () => {
    const sandbox = createSandbox()
    const { store, faults, traffic, urls, tokens } = sandbox
    const ask = (command: string[]) =>
      sandbox.fetch(urls.store, {
        method: 'POST',
        headers: { authorization: `Bearer ${tokens.store}` },
        body: JSON.stringify(command),
      })
    store.run('SET', 'a[*]', 1)
    const [ofKey, ofCommand] = rulesOf(traffic.toTrace().entries.at(-1))
    expect([ofKey?.on, ofCommand?.match]).toEqual(['store.command', { command: 'SET' }])
    faults.add({ ...ofKey, on: 'store.command', times: 1, fault: fault.errorReply('LOADING it') })
    expect((await ask(['SET', 'ab', '2'])).status).toBe(200)
    expect((await ask(['SET', 'a[*]', '2'])).status).toBe(400)
    const request = traffic.toTrace().entries.findLast(({ type }) => type === 'request')
    const [like] = rulesOf(request)
    faults.add({ ...like, on: 'store.request', times: 1, fault: { kind: 'status', status: 503 } as never })
    expect((await ask(['GET', 'ab'])).status).toBe(503)
  })

  test('returns no target for an entry of a kind that does not happen again', () => {
    expect(targetsOf({ type: 'clock', seq: 1, at: 0 })).toEqual([])
    expect(targetsOf(undefined)).toEqual([])
  })
})

describe('faultOf()', () => {
  const kind: FaultKindInfo = {
    kind: 'some',
    summary: '',
    points: [],
    fields: [
      { name: 'status', type: 'number' },
      { name: 'text', type: 'string', optional: true },
      { name: 'keep', type: 'boolean', optional: true },
      { name: 'wrong', type: 'enum', values: ['url', 'body', 7], optional: true },
      { name: 'next', type: 'object', optional: true },
    ],
  }

  test('converts typed fields to their types', () => {
    const typed = { status: '503', text: '12', keep: 'false', wrong: '7', next: '{"kind":"reset"}' }
    expect(faultOf(kind, typed)).toEqual({
      kind: 'some',
      status: 503,
      text: '12',
      keep: false,
      wrong: 7,
      next: { kind: 'reset' },
    })
    expect(faultOf(kind, { status: '0' })).toEqual({ kind: 'some', status: 0 })
  })

  test.each([
    [{}, 'status must not be empty.'],
    [{ status: 'x' }, 'status must be a number (got "x").'],
    [{ status: '1', keep: 'maybe' }, 'keep must be true or false.'],
    [{ status: '1', next: '{kind' }, 'next must be valid JSON.'],
  ])('throws an error for invalid fields: %j', (typed, sentence) => {
    expect(() => faultOf(kind, typed as Record<string, string>)).toThrow(sentence)
  })
})
