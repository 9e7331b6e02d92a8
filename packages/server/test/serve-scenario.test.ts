import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { connect } from '../../../src/client/connect.js'
import type { Scenario } from '../../../src/scenarios/written-scenario.js'
import { type ServerOptions, type StuntdoubleServer, startServer } from '../src/server.js'
import { place, run, started } from './command-line.js'

const scenario: Scenario = {
  name: 'a bad day',
  seed: 11,
  startAt: '2031-05-05T05:00:00Z',
  given: { commands: [['SET', 'cart', 'full']], urlGroups: { all: ['https://a.test/', 'https://b.test/'] } },
  destinations: [{ url: 'https://shop.test/*', response: { status: 418 } }],
  faults: [{ on: 'store.request', times: 1, fault: { kind: 'status', status: 503 } }],
}

let server: StuntdoubleServer | undefined
const start = async (options: ServerOptions): Promise<StuntdoubleServer> => {
  server = await startServer({ port: 0, clock: 'manual', ...options })
  return server
}
afterEach(async () => {
  await server?.close()
  server = undefined
})

const ping = async (running: StuntdoubleServer, tenant: string): Promise<number> => {
  const { urls, tokens } = running.tenant(tenant)
  return (await fetch(`${urls.store}/ping`, { headers: { authorization: `Bearer ${tokens.store}` } })).status
}

describe('a server with a scenario', () => {
  test('begins it in every tenant', async () => {
    const running = await start({ scenario })
    for (const name of ['w1', 'w2']) {
      const { store, clock, queue, traffic } = running.tenant(name)
      expect(store.get('cart')).toBe('full')
      expect([clock.now(), traffic.context.seed]).toEqual([Date.parse('2031-05-05T05:00:00Z'), 11])
      expect(queue.urlGroups.list()).toMatchObject([{ name: 'all' }])
      expect([await ping(running, name), await ping(running, name)]).toEqual([503, 200])
      queue.publish({ to: 'https://shop.test/orders', retries: 0 })
      await clock.drain()
      expect(queue.deadLetters).toMatchObject([{ response: { status: 418 } }])
    }
  })

  test('begins it again after every kind of reset', async () => {
    const running = await start({ scenario })
    const sandbox = await connect(running.origin, { tenant: 'w1' })
    for (const reset of [() => sandbox.reset(), async () => running.tenant('w1').reset()]) {
      await sandbox.store.run('SET', 'cart', 'empty')
      await reset()
      expect(await sandbox.store.get('cart')).toBe('full')
      expect([await ping(running, 'w1'), await ping(running, 'w1')]).toEqual([503, 200])
    }
  })

  test('adds its faults, but not its state, to a loaded sandbox', async () => {
    const running = await start({ scenario })
    const sandbox = running.tenant('w1')
    sandbox.store.run('SET', 'cart', 'empty')
    sandbox.load(sandbox.dump())
    expect(sandbox.store.get('cart')).toBe('empty')
    expect([await ping(running, 'w1'), await ping(running, 'w1')]).toEqual([503, 200])
  })

  test('prefers its own options to those of the scenario', async () => {
    const running = await start({ scenario, seed: 5, policy: { queuePlan: 'free' } })
    expect(running.tenant('w1').traffic.context.seed).toBe(5)
    expect(running.tenant('w1').policy.queuePlan).toBe('free')
  })

  test('does not start with an invalid scenario', async () => {
    await expect(startServer({ port: 0, scenario: { name: 'x', faults: [{}] } as never })).rejects.toThrow('faults[0]')
    const wrong: Scenario = { name: 'x', given: { commands: [['INCR']] }, destinations: [{ url: 'https://x.test/' }] }
    await expect(startServer({ port: 0, scenario: wrong })).rejects.toThrow('wrong number of arguments')
  })

  test('replaces it for existing tenants, which keep their state', async () => {
    const running = await start({ scenario })
    const { store, faults } = running.tenant('w1')
    store.run('SET', 'cart', 'mine')
    expect(running.setScenario({ name: 'better', faults: [], destinations: [{ url: 'https://x.test/' }] })).toBe(1)
    expect([store.get('cart'), faults.rules.length, await ping(running, 'w1')]).toEqual(['mine', 0, 200])
    expect(running.tenant('w2').store.get('cart')).toBeNull()
  })
})

describe('serve --scenario', () => {
  const yaml = (status: number): string =>
    `name: outage\nfaults:\n  - on: store.request\n    fault: { kind: status, status: ${status} }\n`
  const file = (): string => join(place, 'outage.yaml')
  const statusOf = async (origin: string, tenant = 'main'): Promise<number> =>
    (await fetch(`${origin}/${tenant}/store/ping?_token=t`)).status

  test('--watch reloads it after a change, and prints that', async () => {
    writeFileSync(file(), yaml(503))
    const args = ['serve', '--port', '0', '--store-token', 't', '--scenario', file(), '--watch']
    const { ready, printed, child, ended } = started(...args)
    const out = await ready
    expect(out).toContain('\nscenario  outage: 1 fault, 0 destinations\n')
    const origin = /(http:\S+)\/main\/store/.exec(out)![1]!
    expect([await statusOf(origin), await statusOf(origin, 'w1')]).toEqual([503, 503])
    // Editors replace the file with another one.
    writeFileSync(`${file()}.new`, yaml(500))
    renameSync(`${file()}.new`, file())
    await printed(/now in 2 tenants/)
    expect([await statusOf(origin), await statusOf(origin, 'w2')]).toEqual([500, 500])
    writeFileSync(file(), 'nam: outage\n')
    await printed(/outage\.yaml:1:1: .*\nThe previous scenario stays active\./)
    expect(await statusOf(origin)).toBe(500)
    child.kill('SIGINT')
    expect((await ended).code).toBe(0)
  })

  test.each([
    [['--watch'], '--watch needs a scenario'],
    [['--scenario', join(place, 'nowhere.yaml')], 'cannot be read'],
  ])('rejects %j', async (args, sentence) => {
    const { code, out, err } = await run('serve', '--port', '0', ...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(sentence)
  })

  test('ends with an error if the scenario cannot begin', async () => {
    writeFileSync(file(), 'name: x\ngiven:\n  commands:\n    - [INCR]\ndestinations:\n  - url: https://x.test/\n')
    const { code, out, err } = await run('serve', '--port', '0', '--scenario', file())
    expect([code, out, err]).toEqual([2, '', expect.stringContaining('wrong number of arguments')])
  })
})
