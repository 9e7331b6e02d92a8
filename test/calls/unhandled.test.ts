import http from 'node:http'
import https from 'node:https'
import { http as mswHttp } from 'msw'
import { setupServer } from 'msw/node'
import { mswHandlers } from 'stuntdouble/msw'
import { expect } from 'stuntdouble/vitest'
import { describe, onTestFinished, test } from 'vitest'
import { leftovers, sandboxOf, withTrace } from '../../fixtures/fixture-sandbox.js'
import type { Sandbox } from '../../src/index.js'
import { failureOf } from '../matchers/failure.js'
import { bank, connected } from './world.js'

// Hosts below `.invalid` have no address, so a request that passes fails without leaving this machine.
const mail = 'https://mail.invalid/send'
const sms = 'https://sms.invalid/send'

const cause = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'an answer',
    (error: Error) => String((error.cause as Error | undefined)?.message ?? error.message),
  )

const refused = `The app sent POST ${mail}, but no handler is registered for it and the request was blocked. Register one: sandbox.outbound.respond('POST ${mail}', …)`

describe("onUnhandledOutbound: 'error'", () => {
  test('blocks unhandled requests and fails the test even if the app catches the error', async () => {
    const sandbox = connected({ intercept: 'fetch', onUnhandledOutbound: 'error' })
    expect(await cause(fetch(mail, { method: 'POST' }))).toBe(refused)
    expect(leftovers(sandbox, {})?.message).toContain(refused)
    expect(leftovers(sandbox, { strict: { unhandled: false } })).toBeUndefined()
    sandbox.reset()
    expect(leftovers(sandbox, {})).toBeUndefined()
    sandbox.outbound.respond(mail, 202)
    expect((await fetch(mail, { method: 'POST' })).status).toBe(202)
    expect(leftovers(sandbox, {})).toBeUndefined()
  })

  test('names the host for a client over node:https', async () => {
    connected({ onUnhandledOutbound: 'error' })
    const error = await new Promise<Error>((resolve) => https.get(mail).on('error', resolve))
    expect(error.message).toMatch(/a request to mail\.invalid.*outbound\.respond\('https:\/\/mail\.invalid\/\*', …\)/)
  })

  test('lets msw handlers respond first', async () => {
    const sandbox = connected({ onUnhandledOutbound: 'error' })
    const server = setupServer(
      ...mswHandlers(sandbox),
      mswHttp.post(sms, () => new Response(null, { status: 299 })),
    )
    server.listen({ onUnhandledFrame: 'bypass' })
    onTestFinished(() => server.close())
    sandbox.outbound.respond('https://sms.invalid/other', 200)
    expect((await fetch(sms, { method: 'POST' })).status).toBe(299)
    expect(leftovers(sandbox, {})).toBeUndefined()
    await cause(fetch(mail, { method: 'POST' }))
    expect(leftovers(sandbox, {})?.message).toContain(refused)
  })

  test('does not block requests to this machine', async () => {
    const sandbox = connected({ intercept: 'fetch', onUnhandledOutbound: 'error' })
    const server = http.createServer((_, answer) => void answer.end('here')).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    for (const host of ['localhost', '127.0.0.1'])
      expect(await (await fetch(`http://${host}:${port}/`)).text()).toBe('here')
    expect(leftovers(sandbox, {})).toBeUndefined()
  })
})

describe('a blocked request together with a failed assertion', () => {
  const shop = 'https://shop.test/orders'
  const pay = 'https://pay.invalid/v1/charges'

  /** An order is charged, and its message is delivered until its retries are used up. */
  async function ordered(sandbox: Sandbox, charge: () => Promise<unknown>, retries = 3): Promise<void> {
    sandbox.destinations.on(shop, async () => {
      await charge()
      return new Response()
    })
    sandbox.queue.publish({ to: shop, retries })
    await sandbox.clock.drain()
  }
  const charge = (): Promise<unknown> => fetch(`${pay}?key=1`, { method: 'POST' })
  const missing = (sandbox: Sandbox): string => failureOf(() => expect(sandbox.queue).toHaveDelivered({ to: shop }))

  test('is the first cause in the failure, with its attempts and advice', async () => {
    const sandbox = connected({ onUnhandledOutbound: 'error' })
    // Nothing else is registered, and nothing else is wrong.
    await ordered(sandbox, charge)
    const [first] = sandbox.traffic.ofType('attempt')
    const sent = `The app sent POST ${pay}?key=1 in 4 attempts (first: #${first!.seq}), `
    const advice = `sandbox.outbound.respond('POST ${pay}', …)`
    for (const text of [missing(sandbox), withTrace('expected 1 to be 2', sandbox)]) {
      expect(text.split('\n')[2]).toContain(sent)
      expect(text.split('\n')[2]).toContain(advice)
      expect(text.indexOf('threw in 4 attempts')).toBeGreaterThan(text.indexOf(sent))
      expect(text.split(sent)).toHaveLength(2)
    }
    expect(leftovers(sandbox, {})?.message.startsWith(sent)).toBe(true)
  })

  test('is counted per host', async () => {
    const sandbox = connected({ onUnhandledOutbound: 'error' })
    await ordered(
      sandbox,
      async () => {
        await fetch(mail).catch(() => undefined)
        await charge()
      },
      1,
    )
    await cause(fetch(mail))
    const told = sandbox.outbound.unanswered
    expect(told).toHaveLength(2)
    expect(told[0]).toContain(`GET ${mail} in 2 attempts (first: #`)
    expect(told[1]).toContain(`POST ${pay}?key=1 in 2 attempts (first: #`)
    const text = missing(sandbox)
    for (const sentence of told) expect(text).toContain(sentence)
  })

  test('has no attempt when the test itself sends it', async () => {
    const sandbox = connected({ onUnhandledOutbound: 'error' })
    await Promise.all([cause(charge()), cause(charge()), cause(fetch(mail))])
    expect(sandbox.outbound.unanswered).toEqual([
      expect.stringContaining(`POST ${pay}?key=1 2 times, `),
      expect.stringContaining(`GET ${mail}, `),
    ])
  })

  test('is counted without queries if there are several, and shown with its only query', async () => {
    const sandbox = connected({ onUnhandledOutbound: 'error' })
    for (const page of [0, 1, 2]) await cause(fetch(`${mail}?page=${page}`))
    for (let times = 0; times < 2; times++) await cause(charge())
    expect(sandbox.outbound.unanswered).toEqual([
      expect.stringContaining(`GET ${mail} 3 times, `),
      expect.stringContaining(`POST ${pay}?key=1 2 times, `),
    ])
  })

  test('is counted where other causes come first', async () => {
    const sandbox = connected({ onUnhandledOutbound: 'error' })
    const hosts = ['a', 'b', 'c', 'd'].map((name) => `https://${name}.invalid/x`)
    for (const host of hosts.slice(0, 2)) await cause(fetch(host))
    expect(missing(sandbox)).not.toMatch(/and \d+ more/)
    for (const host of hosts.slice(2)) await cause(fetch(host))
    for (const text of [missing(sandbox), withTrace('expected 1 to be 2', sandbox)]) {
      expect(hosts.map((host) => text.includes(`The app sent GET ${host}`))).toEqual([true, true, false, false])
      expect(text.split('and 2 more rejected or unhandled requests')).toHaveLength(2)
    }
    // The check at the end lists all of them.
    expect(leftovers(sandbox, {})?.message).not.toMatch(/and \d+ more/)
  })

  test('has its attempt but only the host for a client over node:https', async () => {
    const sandbox = connected({ onUnhandledOutbound: 'error' })
    const get = (): Promise<unknown> =>
      new Promise((resolve, reject) => https.get(pay).on('error', reject).on('response', resolve))
    await ordered(sandbox, get, 1)
    expect(missing(sandbox).split('\n')[2]).toMatch(/pay\.invalid in 2 attempts.*#\d+/)
  })

  test('is still known after a reset of the sandbox, without requests from before it', async () => {
    const sandbox = connected({ onUnhandledOutbound: 'error' })
    await cause(fetch(mail))
    sandbox.reset()
    expect(missing(sandbox)).not.toContain(mail)
    await ordered(sandbox, charge, 1)
    expect(missing(sandbox).split('\n')[2]).toContain('in 2 attempts')
  })

  test.each(['bypass', 'warn', undefined] as const)(
    'does not exist with onUnhandledOutbound: %j, which lets the request pass',
    async (onUnhandledOutbound) => {
      const sandbox = connected({ ...(onUnhandledOutbound && { onUnhandledOutbound }), onWarning: () => {} })
      await ordered(sandbox, charge, 0)
      const text = missing(sandbox)
      expect(text).not.toContain('refused')
      expect(text).toContain('threw: TypeError: fetch failed')
      expect(sandbox.outbound.unanswered).toEqual([])
    },
  )

  test.each(['bypass', 'warn', 'error'] as const)(
    'is the first cause with %j when its path differs from the registration',
    async (onUnhandledOutbound) => {
      const sandbox = connected({ ...(onUnhandledOutbound && { onUnhandledOutbound }), onWarning: () => {} })
      sandbox.outbound.respond(`POST ${pay}s`, 201)
      await ordered(sandbox, charge, 0)
      expect(missing(sandbox).split('\n')[2]).toMatch(new RegExp(`POST ${pay}s .*path differs`))
    },
  )
})

describe('the default of onUnhandledOutbound', () => {
  test('lets requests to unregistered hosts pass without a report', async () => {
    const sandbox = connected({ intercept: 'fetch' })
    sandbox.outbound.respond(bank, 201)
    expect(await cause(fetch(mail, { method: 'POST' }))).toContain('mail.invalid')
    expect(leftovers(sandbox, {})).toBeUndefined()
  })

  test.each([
    ['GET', sms, 'method'],
    ['POST', `${sms}s`, 'path'],
  ])('fails the test for %s %s: a near miss of another %s without a response', async (method, url, wrong) => {
    const sandbox = connected({ intercept: 'fetch' })
    sandbox.outbound.respond(`POST ${sms}`, 201)
    await cause(fetch(url, { method }))
    const told = `${method} ${url} is unhandled: POST ${sms} is registered, but its ${wrong} differs.`
    expect(leftovers(sandbox, {})?.message).toContain(told)
    expect(leftovers(sandbox, { strict: { unhandled: false } })).toBeUndefined()
  })
})

test("onUnhandledOutbound: 'warn' lets requests pass and warns once per host", async () => {
  const warned: string[] = []
  const sandbox = connected({
    intercept: 'fetch',
    onUnhandledOutbound: 'warn',
    onWarning: (text) => void warned.push(text),
  })
  expect(await cause(fetch(mail))).toContain('ENOTFOUND')
  await cause(fetch(mail))
  expect(warned).toEqual([expect.stringMatching(/mail\.invalid.*no handler/)])
  expect(leftovers(sandbox, {})).toBeUndefined()
})

test('onUnhandledOutbound rejects other values', () => {
  expect(() => sandboxOf({ onUnhandledOutbound: 'fail' as 'error' })).toThrow(
    /onUnhandledOutbound.*'bypass', 'warn' or 'error'.*"fail"/,
  )
})
