import { afterEach, describe, expect, test } from 'vitest'
import { connect as connectNow } from '../../../src/client/connect.js'
import { underHostClock } from '../../../test/support/host-clock.js'
import { startServer as startNow } from '../src/server.js'
import { run } from './command-line.js'

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

test('a server with a real clock starts new and reset tenants at the current time', async () => {
  const noon = Date.parse('2031-03-03T12:00:00Z')
  const { host, startServer } = await underHostClock(noon, () => import('../src/server.js'))
  const server = await startServer({ port: 0, clock: 'real' })
  endings.push(() => server.close())
  const early = server.tenant('early')
  host.now += 57 * 60_000
  const late = server.tenant('late')
  early.reset()
  for (const { store, clock } of [early, late]) {
    expect(clock.now()).toBe(host.now)
    store.run('SET', 'k', 'v', 'EXAT', String(host.now / 1000 + 2))
    expect(store.run('TTL', 'k')).toBe(2)
  }
})

describe('a real clock', () => {
  const sentence = "with clock: 'real', which uses system time. Use clock: 'manual' or 'auto'"

  test.each([
    ['advance', { by: '5m' }],
    ['advance-to', { at: '2099-01-01' }],
    ['drain', {}],
  ])('cannot be moved over the control API: %s returns 409', async (path, body) => {
    const server = await startNow({ port: 0, clock: 'real' })
    endings.push(() => server.close())
    const url = `${server.origin}/_control/main/clock/${path}`
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
    expect(answer.status).toBe(409)
    expect(((await answer.json()) as { error: string }).error).toContain(sentence)
    const settled = await fetch(`${server.origin}/_control/main/clock/settle`, { method: 'POST' })
    expect(settled.status).toBe(200)
  })

  test('cannot be moved by a connected sandbox', async () => {
    const server = await startNow({ port: 0, clock: 'real' })
    endings.push(() => server.close())
    const { clock, load, dump } = await connectNow(server.origin).then((sandbox) => ({
      clock: sandbox.clock,
      load: sandbox.load.bind(sandbox),
      dump: sandbox.dump.bind(sandbox),
    }))
    await expect(clock.advance('1h')).rejects.toThrow(sentence)
    await expect(clock.advanceTo('2099-01-01')).rejects.toThrow(sentence)
    await expect(clock.drain()).rejects.toThrow(sentence)
    const state = await dump()
    const ahead = { ...state, now: state.now + 86_400_000 }
    await expect(load(ahead)).rejects.toThrow('the dump is from the future')
    await load(ahead, { rebaseTime: true })
    expect(await clock.now()).toBeLessThan(ahead.now - 80_000_000)
  })

  test('excludes a start time in the options or in a scenario', async () => {
    const startAt = '2030-01-01T00:00:00Z'
    await expect(startNow({ port: 0, clock: 'real', startAt })).rejects.toThrow('or omit startAt')
    const destinations = [{ url: 'https://x.test/' }]
    const scenario = { name: 'outage', startAt, destinations }
    await expect(startNow({ port: 0, clock: 'real', scenario })).rejects.toThrow(
      'scenario "outage": startAt 2030-01-01T00:00:00.000Z needs virtual time',
    )
    const server = await startNow({ port: 0, clock: 'real', scenario: { name: 'outage', destinations } })
    endings.push(() => server.close())
    expect(() => server.setScenario(scenario)).toThrow('or remove startAt')
    expect(server.setScenario({ name: 'calm', destinations })).toBe(0)
  })

  test('excludes --start-at on the command line', async () => {
    const ended = await run('serve', '--port', '0', '--start-at', '2030-01-01')
    expect([ended.code, ended.out]).toEqual([2, ''])
    expect(ended.err).toMatch(/^stuntdouble: --start-at .*Add --clock manual or --clock auto, .*\.\n$/)
    const shift = await run('serve', '--port', '0', '--rebase-time')
    expect([shift.code, shift.err]).toEqual([2, expect.stringContaining('--rebase-time needs a state file')])
  })
})
