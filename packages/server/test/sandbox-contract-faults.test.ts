import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import 'stuntdouble/vitest/extend'
import type { RemoteSandbox } from '../../../src/client/connect.js'
import * as fault from '../../../src/faults/constructors.js'
import type { FaultRule } from '../../../src/faults/fault.js'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import { defineScenario } from '../../../src/scenarios/scenario.js'
import { asClient, ended, kinds, shop } from './both-sandboxes.js'

const outage: FaultRule = { name: 'outage', on: 'store.request', times: 1, fault: { kind: 'status', status: 503 } }

describe.each(kinds)('a sandbox %s', (_, open) => {
  let sandbox: Sandbox | RemoteSandbox

  beforeEach(async () => {
    sandbox = await open()
  })
  afterEach(() => ended(sandbox))

  const statusOf = async (...command: string[]) => (await asClient(sandbox, ...command)).status

  describe('faults', () => {
    test('are injected and counted', async () => {
      await sandbox.faults.add(outage)
      expect(await statusOf('PING')).toBe(503)
      expect(await statusOf('PING')).toBe(200)
      expect(await sandbox.faults.rules).toMatchObject([{ rule: outage, matched: 2, injected: 1 }])
      expect(await sandbox.faults.unused).toEqual([])
    })

    test('are evaluated in order', async () => {
      await sandbox.faults.add([
        { ...outage, name: 'first' },
        { ...outage, fault: fault.status(500), name: 'second' },
      ])
      expect([await statusOf('PING'), await statusOf('PING'), await statusOf('PING')]).toEqual([503, 500, 200])
    })

    test('are removed by handle, by name, or all together', async () => {
      const { faults } = sandbox
      const handle = await faults.add([outage, outage])
      await faults.add({ ...outage, name: 'other' })
      await faults.add({ ...outage, name: 'third' })
      await handle.remove()
      await handle.remove()
      expect((await faults.rules).map(({ rule }) => rule.name)).toEqual(['other', 'third'])
      await faults.remove('other')
      await faults.remove('nobody')
      expect((await faults.rules).map(({ rule }) => rule.name)).toEqual(['third'])
      await faults.clear()
      expect(await faults.rules).toEqual([])
      expect(await statusOf('PING')).toBe(200)
    })

    test('report the place of their declaration when they were never injected', async () => {
      await sandbox.faults.add(outage)
      const [unused, ...others] = await sandbox.faults.unused
      expect(others).toEqual([])
      expect(unused).toMatchObject({
        rule: outage,
        location: expect.stringMatching(/sandbox-contract-faults\.test\.ts:\d+:\d+$/),
      })
      expect(unused!.message).toContain('never injected')
    })

    test('are rejected with their position if they are invalid', async () => {
      const wrong = { ...outage, fault: { kind: 'statsu', status: 503 } } as unknown as FaultRule
      await expect((async () => sandbox.faults.add([outage, wrong]))()).rejects.toThrow(/rule 2: .*statsu/)
      expect(await sandbox.faults.rules).toEqual([])
    })

    test('match the tenant', async () => {
      await sandbox.faults.add([
        { ...outage, match: { tenant: 'w2' }, fault: fault.status(500) },
        { ...outage, match: { tenant: 'w1' } },
      ])
      expect(await statusOf('PING')).toBe(503)
    })

    test('are removed by a reset', async () => {
      await sandbox.faults.add(outage)
      await sandbox.reset()
      expect(await sandbox.faults.rules).toEqual([])
      expect(await statusOf('PING')).toBe(200)
    })
  })

  describe('scenarios', () => {
    test('add their faults until the handle removes them', async () => {
      const handle = await sandbox.faults.add(
        defineScenario('two outages', [outage, { ...outage, fault: fault.status(500) }]).faults,
      )
      expect(await statusOf('PING')).toBe(503)
      await handle.remove()
      expect(await statusOf('PING')).toBe(200)
    })

    test('without faults are rejected', async () => {
      await expect((async () => sandbox.faults.add(undefined))()).rejects.toThrow(
        /^faults\.add\(\).* without faults|^faults\.add\(\): .*no faults/,
      )
    })
  })

  describe('invariants', () => {
    test('hold', async () => {
      await sandbox.destinations.respond(shop, 200)
      await sandbox.queue.publish({ to: shop })
      await sandbox.clock.drain()
      const check = await sandbox.assertInvariants({ only: ['no-lost-message', 'attempts-within-retries'] })
      expect(check).toMatchObject({ checked: ['no-lost-message', 'attempts-within-retries'], violations: [] })
      expect((await sandbox.checkInvariants({ except: 'signatures-verify' })).checked).not.toContain(
        'signatures-verify',
      )
    })

    test('reject an unknown name with the nearest one', async () => {
      await expect((async () => sandbox.assertInvariants({ only: 'no-lost-mesage' }))()).rejects.toThrow(
        'Did you mean "no-lost-message"?',
      )
    })
  })

  describe('the whole state', () => {
    test('is dumped, and loaded into a sandbox that has changed', async () => {
      await sandbox.store.run('SET', 'k', 'v', 'EX', 7200)
      await sandbox.queue.publish({ to: shop, body: 'later', delay: '2h' })
      const before = await sandbox.dump()
      await sandbox.clock.advance('1h')
      await sandbox.store.run('SET', 'k', 'changed')
      await sandbox.store.resetPassword()
      await sandbox.load(before)
      expect(await sandbox.clock.now()).toBe(before.now)
      expect([await sandbox.store.get('k'), await sandbox.store.run('TTL', 'k')]).toEqual(['v', 7200])
      expect(await sandbox.queue.messages).toMatchObject([{ body: 'later', nextAttemptAt: before.now + 7_200_000 }])
      expect(await statusOf('PING')).toBe(200)
    })

    test('is not changed by an invalid dump', async () => {
      await sandbox.store.run('SET', 'k', 'v')
      await expect((async () => sandbox.load({} as never))()).rejects.toThrow('not a dump of a sandbox')
      expect(await sandbox.store.get('k')).toBe('v')
    })
  })

  describe('the traffic', () => {
    test('is available as entries, also after a mark', async () => {
      const { traffic, store } = sandbox
      await store.run('SET', 'k', new Uint8Array([0xff]))
      const mark = await traffic.mark()
      await store.run('GET', 'k')
      const commands = await traffic.ofType('command')
      expect(commands.map(({ argv }) => argv)).toEqual([
        ['SET', 'k', '\xff'],
        ['GET', 'k'],
      ])
      const later = await traffic.since(mark).entries
      expect(later).toMatchObject([{ seq: mark + 1, argv: ['GET', 'k'], reply: '\xff' }])
      await traffic.clear()
      expect(await traffic.size).toBe(0)
    })

    test('is available as text and as a trace', async () => {
      await sandbox.store.run('SET', 'k', 'v')
      expect(await sandbox.traffic.timeline()).toContain('SET k v')
      expect(await sandbox.traffic.timeline({ bodies: 0, limit: 1 })).toContain('SET k v')
      expect(await sandbox.traffic.diagram()).toContain('SET k v')
      expect(await sandbox.traffic.diagram({ format: 'mermaid' })).toMatch(/^sequenceDiagram/)
      expect(await sandbox.traffic.toTrace()).toMatchObject({
        format: 'stuntdouble/trace',
        seed: 7,
        entries: expect.arrayContaining([
          expect.objectContaining({ type: 'command', argv: ['SET', 'k', 'v'], reply: { status: 'OK' } }),
        ]),
      })
      expect((await sandbox.traffic.toHar()).log.version).toBe('1.2')
    })

    test('contains no tokens in a trace', async () => {
      const { tokens } = sandbox
      await asClient(sandbox, 'SET', 'k', tokens.queue)
      expect(JSON.stringify(await sandbox.traffic.toTrace())).not.toContain(tokens.queue)
    })
  })

  describe('matchers', () => {
    test('read the queue', async () => {
      const { queue, clock, destinations, faults } = sandbox
      await destinations.respond(shop, 200)
      await faults.add({ on: 'queue.delivery', times: 1, fault: fault.lostAck() })
      await queue.publish({ to: shop, body: { id: 42 } })
      await clock.drain()
      const view = await queue.snapshot()
      expect(view).toHavePublished({ to: shop, body: { id: 42 } })
      expect(view).toHaveDelivered({ to: shop, status: 200 })
      expect(view).toHaveValidSignature({ to: shop, key: 'current' }, { times: 2 })
      expect(view).not.toHaveDeadLetter()
      expect(() => expect(view).toHaveDelivered({ to: shop, status: 204 })).toThrow(/status: expected 204/)
    })

    test('read the store', async () => {
      await sandbox.store.run('SET', 'cart', '{"n":1}', 'EX', 3600)
      await asClient(sandbox, 'GET', 'cart')
      const view = await sandbox.store.snapshot()
      expect(view).toHaveKey('cart', { value: { n: 1 }, ttl: '1h' })
      expect(view).not.toHaveKey('basket')
      expect(view).toHaveExecuted('GET', 'cart')
      expect(view).toHaveCost({ commands: 1 })
    })

    test('read the sandbox', async () => {
      await asClient(sandbox, 'PING')
      await sandbox.queue.publish({ to: shop, delay: '1h' })
      const before = await sandbox.snapshot()
      expect(before).toHaveReceivedRequest({ service: 'store', status: 200 })
      expect(before).not.toBeIdle()
      expect(() => expect(before).toBeIdle()).toThrow(/waits 1h/)
      await sandbox.destinations.respond(shop, 200)
      await sandbox.clock.drain()
      expect(await sandbox.snapshot()).toBeIdle()
      expect(await sandbox.traffic.snapshot()).toFollowSequence([{ type: 'request' }, { type: 'published', to: shop }])
    })

    test('read schedules', async () => {
      const send = 'fetch' in sandbox ? sandbox.fetch : fetch
      await send(`${sandbox.urls.queue}/v2/schedules/${shop}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sandbox.tokens.queue}`, 'service-cron': '0 12 * * *' },
        body: 'nightly',
      })
      expect(await sandbox.queue.snapshot()).toHaveSchedule({
        to: shop,
        cron: '0 12 * * *',
        body: 'nightly',
        next: '2030-01-01T12:00:00Z',
      })
    })
  })
})
