import { describe, expect, test } from 'vitest'
import { type FaultAt, fault, type Sandbox } from '../../src/index.js'
import { bank, charging, failure, shop, world } from './world.js'

/** Bank that counts the charges it makes. */
function banking(sandbox: Sandbox): { taken: number } {
  const account = { taken: 0 }
  sandbox.outbound.on(bank, () => {
    account.taken++
    return Response.json({ id: account.taken }, { status: 201 })
  })
  return account
}

const charge = (init: RequestInit = {}) => fetch(bank, { method: 'POST', ...init })

/** Moves time until the promise has settled. */
async function settled<T>(sandbox: Sandbox, asked: Promise<T>): Promise<T> {
  const end = asked.catch(() => undefined)
  await sandbox.clock.drain()
  await end
  return asked
}

// undici rejects with the TypeError 'fetch failed', whose cause is a Node error with this code.
describe('faults that break the connection of an outbound request', () => {
  test.each<[string, FaultAt<'outbound.request'>, code: string, taken: number]>([
    ['reset before the work', fault.reset(), 'ECONNRESET', 0],
    ['lost answer', fault.lostAck(), 'ECONNRESET', 1],
    ['refused', fault.refused(), 'ECONNREFUSED', 0],
    ['unresolved-host', fault.unresolvedHost(), 'ENOTFOUND', 0],
    ['bad-certificate', fault.badCertificate(), 'CERT_HAS_EXPIRED', 0],
    ['outage', fault.outage(), 'ECONNREFUSED', 0],
    ['no response for 10 s', fault.hang('10s'), 'ECONNRESET', 0],
    ['no response at all', fault.hang(), 'ETIMEDOUT', 0],
  ])('fails as on a real network: %s', async (_name, fault, code, taken) => {
    for (const way of ['rule', 'script'] as const) {
      const sandbox = world()
      const account = banking(sandbox)
      if (way === 'rule') sandbox.faults.add({ on: 'outbound.request', match: { url: bank, method: 'POST' }, fault })
      else sandbox.outbound.script(bank, [fault])
      expect(await failure(settled(sandbox, charge()))).toEqual({ name: 'TypeError', message: 'fetch failed', code })
      expect(account.taken).toBe(taken)
      expect(sandbox.traffic.ofType('outbound')).toMatchObject([{ handlerRuns: taken, response: { status: 0 } }])
      sandbox.dispose()
    }
  })

  test('resets the connection in phase "after" although the bank has charged', async () => {
    const sandbox = world()
    const account = banking(sandbox)
    sandbox.faults.add({ on: 'outbound.request', phase: 'after', fault: fault.reset() })
    expect(await failure(charge())).toMatchObject({ code: 'ECONNRESET' })
    expect(account.taken).toBe(1)
  })
})

describe('faults that respond to an outbound request', () => {
  test.each<[string, FaultAt<'outbound.request'>, status: number, taken: number]>([
    ['status', fault.status(503), 503, 0],
    ['rate limit', fault.rateLimited({ limit: 'burst', retryAfter: '2s' }), 429, 0],
    ['rejected token', fault.revokedToken(), 401, 0],
    ['outage with a status', fault.outage({ status: 502 }), 502, 0],
    ['a late response', fault.lateResponse('5s'), 201, 1],
    ['latency', fault.latency('5s'), 201, 1],
    ['twice', fault.duplicate(), 201, 2],
    ['twice at once', fault.duplicate({ concurrent: true }), 201, 2],
  ])('responds with %s', async (_name, fault, expected, taken) => {
    const sandbox = world()
    const account = banking(sandbox)
    sandbox.faults.add({ on: 'outbound.request', fault })
    expect((await settled(sandbox, charge())).status).toBe(expected)
    expect(account.taken).toBe(taken)
    expect(sandbox.traffic.ofType('outbound')).toMatchObject([{ handlerRuns: taken, response: { status: expected } }])
    expect(sandbox.traffic.ofType('fault')).toMatchObject([
      { point: 'outbound.request', cause: sandbox.traffic.ofType('outbound')[0]!.seq },
    ])
  })

  test('sends a 429 with the time of the next try', async () => {
    const sandbox = world()
    banking(sandbox)
    sandbox.outbound.script(bank, [fault.rateLimited({ limit: 'burst', retryAfter: '2s' })])
    expect((await charge()).headers.get('retry-after')).toBe('2')
  })
})

describe('faults of outbound response bodies', () => {
  test('breaks off, slows down, withholds or corrupts the body', async () => {
    const sandbox = world()
    banking(sandbox)
    sandbox.outbound.script(bank, [fault.truncate(3), fault.corruptJson(), fault.halfOpen('5s'), fault.slowBody(1)])
    const cut = await charge()
    expect(await failure(cut.text())).toMatchObject({ name: 'TypeError', message: 'terminated' })
    expect(await (await charge()).text()).toBe('{"id":2<')
    const silent = await charge()
    expect(await failure(settled(sandbox, silent.text()))).toMatchObject({ message: 'terminated' })
    const slow = await charge()
    const before = sandbox.clock.now()
    expect(await settled(sandbox, slow.text())).toBe('{"id":4}')
    expect(sandbox.clock.now() - before).toBe(8000)
  })
})

describe('an outbound request that the app aborts', () => {
  // fetch rejects with the reason of the signal, regardless of the host's actions.
  test("logs the abort by the app's signal, although the bank has charged", async () => {
    const sandbox = world()
    const account = banking(sandbox)
    sandbox.faults.add({ on: 'outbound.request', phase: 'after', fault: fault.hang() })
    const giving = new AbortController()
    const asked = charge({ signal: giving.signal })
    const rejected = expect(asked).rejects.toThrow('too slow')
    await sandbox.clock.advance('5s')
    giving.abort(new Error('too slow'))
    await rejected
    expect(account.taken).toBe(1)
    expect(sandbox.traffic.ofType('outbound')).toMatchObject([
      {
        handlerRuns: 1,
        response: {
          status: 0,
          error: expect.stringContaining('gave up: Error: too slow'),
          note: expect.stringMatching(/handler ran.*201/),
        },
      },
    ])
  })

  test('does nothing when the signal was aborted before the request', async () => {
    const sandbox = world()
    const account = banking(sandbox)
    await expect(charge({ signal: AbortSignal.abort(new Error('never mind')) })).rejects.toThrow('never mind')
    expect(account.taken).toBe(0)
    expect(sandbox.traffic.ofType('outbound')).toEqual([])
  })

  test('charges twice when the delivery times out and the queue retries it', async () => {
    const sandbox = world()
    charging(sandbox)
    const account = banking(sandbox)
    sandbox.faults.add({ on: 'outbound.request', phase: 'after', times: 1, fault: fault.hang() })
    sandbox.queue.publish({ to: shop, timeout: '10s', retries: 1 })
    await sandbox.clock.drain()
    expect(account.taken).toBe(2)
    expect(sandbox.traffic.ofType('attempt').map(({ outcome }) => outcome?.status)).toEqual([0, 200])
  })
})
