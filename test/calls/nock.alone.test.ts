import http from 'node:http'
import https from 'node:https'
import nock from 'nock'
import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { nockScopes } from 'stuntdouble/nock'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { leftovers } from '../../fixtures/fixture-sandbox.js'
import { bank, connected, shop } from './world.js'

const ends: (() => unknown)[] = []
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end()
})

function made(): Sandbox {
  const sandbox = createSandbox({ onWarning: () => {} })
  ends.push(() => sandbox.dispose())
  return sandbox
}

afterAll(() => {
  nock.restore()
})

const refunds = 'https://bank.test/refunds'

describe('outbound requests with nock', () => {
  const send = (url: string, body = ''): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const client = url.startsWith('https:') ? https : http
      const sent = client.request(url, { method: 'POST' }, (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode))
      })
      sent.on('error', reject)
      sent.end(body)
    })

  test('intercepts registered URLs for HTTPS clients and leaves other scopes alone, in any order of registration', async () => {
    const sandbox = made()
    sandbox.outbound.respond(bank, 201)
    nockScopes(sandbox)
    ends.push(() => nock.cleanAll())
    nock('https://bank.test').post('/refunds').reply(298)
    sandbox.outbound.script('https://mail.test/send', [fault.status(503), fault.lostAck()])
    expect(await send(bank, 'amount=5')).toBe(201)
    expect(await send(refunds)).toBe(298)
    expect(await send('https://mail.test/send')).toBe(503)
    await expect(send('https://mail.test/send')).rejects.toThrow('read ECONNRESET')
    expect(
      sandbox.traffic
        .ofType('outbound')
        .map(({ method, url, body, handlerRuns: handled }) => [method, url, body, handled]),
    ).toEqual([
      ['POST', bank, 'amount=5', 1],
      ['POST', 'https://mail.test/send', '', 0],
      ['POST', 'https://mail.test/send', '', 1],
    ])
  })

  test('logs a request below the attempt that sent it', async () => {
    const sandbox = made()
    nockScopes(sandbox)
    ends.push(() => nock.cleanAll())
    sandbox.outbound.respond(bank, 201)
    sandbox.destinations.on(shop, async () => new Response(null, { status: (await send(bank)) === 201 ? 200 : 500 }))
    sandbox.queue.publish({ to: shop })
    await sandbox.clock.drain()
    expect(sandbox.traffic.ofType('outbound')).toMatchObject([{ cause: sandbox.traffic.ofType('attempt')[0]!.seq }])
  })

  test('removes registrations at a reset', async () => {
    const sandbox = made()
    nockScopes(sandbox)
    nock.disableNetConnect()
    ends.push(() => {
      nock.cleanAll()
      nock.enableNetConnect()
    })
    sandbox.outbound.respond(bank, 201)
    sandbox.reset()
    await expect(send(bank)).rejects.toThrow()
    sandbox.outbound.respond(bank, 202)
    expect(await send(bank)).toBe(202)
  })

  test("lets other scopes respond before onUnhandledOutbound: 'error' blocks a request", async () => {
    const sandbox = connected({ onUnhandledOutbound: 'error' })
    nockScopes(sandbox)
    nock('https://sms.invalid').post('/send').reply(299)
    sandbox.outbound.respond('https://sms.invalid/other', 200)
    expect((await fetch('https://sms.invalid/send', { method: 'POST' })).status).toBe(299)
    expect(leftovers(sandbox, {})).toBeUndefined()
    await expect(fetch('https://mail.invalid/send', { method: 'POST' })).rejects.toThrow()
    expect(leftovers(sandbox, {})?.message).toMatch(/POST https:\/\/mail\.invalid\/send.*no handler.*blocked/)
  })
})
