import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type StuntdoubleServer, startServer } from '../../packages/server/src/server.js'
import { connect } from '../../src/client/connect.js'
import { fault } from '../../src/index.js'
import { failure } from './world.js'

let server: StuntdoubleServer
beforeAll(async () => {
  server = await startServer({ port: 0 })
})
afterAll(() => server.close())

const bank = 'https://bank.test'

describe('the URL of an external host on the server', () => {
  test('responds as registered', async () => {
    await using sandbox = await connect(server.origin, { tenant: 'answers' })
    await sandbox.outbound.respond(`${bank}/charges`, { status: 201, body: { id: 'ch_1' } })
    const base = sandbox.outbound.urlFor(bank)
    expect(base).toBe(`${server.origin}/answers/outbound/https://bank.test`)
    const answer = await fetch(`${base}/charges?expand=1`, {
      method: 'POST',
      body: 'amount=5',
      headers: { authorization: 'Bearer sk_live_1' },
    })
    expect([answer.status, await answer.json()]).toEqual([201, { id: 'ch_1' }])
    const { traffic } = await sandbox.snapshot()
    expect(traffic.ofType('outbound')).toMatchObject([
      { method: 'POST', url: `${bank}/charges?expand=1`, body: 'amount=5', handlerRuns: 1, response: { status: 201 } },
    ])
    expect(JSON.stringify(traffic.ofType('outbound'))).not.toContain('sk_live_1')
  })

  test('plays scripts and records requests', async () => {
    await using sandbox = await connect(server.origin, { tenant: 'scripts' })
    const seen = await sandbox.outbound.record(`${bank}/*`)
    await sandbox.outbound.script(`${bank}/charges`, [fault.lostAck(), fault.status(503), fault.status(402)])
    const charge = () => fetch(`${sandbox.outbound.urlFor(bank)}/charges`, { method: 'POST' })
    expect(await failure(charge())).toMatchObject({ message: 'fetch failed' })
    expect((await charge()).status).toBe(503)
    expect(await sandbox.outbound.unused).toMatchObject([{ steps: [{ kind: 'status', status: 402 }] }])
    expect(await seen.count).toBe(2)
    expect(await seen.last()).toMatchObject({ url: `${bank}/charges`, method: 'POST', status: 503, handlerRuns: 0 })
  })

  test('forwards nothing and reports how to register the host', async () => {
    const asked = (path: string) => fetch(`${server.origin}${path}`)
    const unknown = await asked('/nobody/outbound/https://bank.test/charges')
    expect(unknown.status).toBe(502)
    expect(await unknown.json()).toEqual({
      error: expect.stringMatching(
        /Register a response: POST \S+\/_control\/nobody\/outbound\/respond with \{"url":"https:\/\/bank\.test\/charges"/,
      ),
    })
    expect(server.tenants).not.toContain('nobody')
    await using sandbox = await connect(server.origin, { tenant: 'near' })
    await sandbox.outbound.respond(`${bank}/charges`, 201)
    const near = await asked('/near/outbound/https://bank.test/charge')
    expect([near.status, await near.json()]).toEqual([
      502,
      { error: expect.stringContaining('https://bank.test/charges is registered, but its path differs.') },
    ])
    expect(await sandbox.outbound.unhandled).toHaveLength(1)
  })

  test.each(['https:/bank.test/charges', 'https%3A%2F%2Fbank.test/charges'])(
    'accepts the spelling %s',
    async (written) => {
      await using sandbox = await connect(server.origin, { tenant: 'written' })
      await sandbox.outbound.respond(`${bank}/charges`, 204)
      expect((await fetch(`${server.origin}/written/outbound/${written}`)).status).toBe(204)
    },
  )

  test('rejects functions, which cannot be sent', async () => {
    await using sandbox = await connect(server.origin, { tenant: 'functions' })
    expect(() => sandbox.outbound.on(bank, () => new Response())).toThrow(/outbound\.on\(\).*remote sandbox.*function/)
  })
})
