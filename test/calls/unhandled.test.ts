import http from 'node:http'
import https from 'node:https'
import { http as mswHttp } from 'msw'
import { setupServer } from 'msw/node'
import { mswHandlers } from 'stuntdouble/msw'
import { describe, expect, onTestFinished, test } from 'vitest'
import { leftBehind, sandboxOf } from '../../fixtures/world.js'
import { bank, connected } from './world.js'

// Hosts below `.invalid` have no address: a call that is let through fails without leaving this machine.
const mail = 'https://mail.invalid/send'
const sms = 'https://sms.invalid/send'

const cause = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'an answer',
    (error: Error) => String((error.cause as Error | undefined)?.message ?? error.message),
  )

const refused = `The app called POST ${mail}, where nobody answers: the request was on its way to the network. Register sandbox.calls.on('${mail}', handler), or let it through with unhandledCalls: 'pass'.`

describe("unhandledCalls: 'error'", () => {
  test('refuses what nobody answers, and the test fails although the app hid it', async () => {
    const sandbox = connected({ via: 'fetch', unhandledCalls: 'error' })
    expect(await cause(fetch(mail, { method: 'POST' }))).toBe(refused)
    expect(leftBehind(sandbox, {})?.message).toContain(refused)
    expect(leftBehind(sandbox, { strict: { unhandled: false } })).toBeUndefined()
    sandbox.reset()
    expect(leftBehind(sandbox, {})).toBeUndefined()
    sandbox.calls.answer(mail, 202)
    expect((await fetch(mail, { method: 'POST' })).status).toBe(202)
    expect(leftBehind(sandbox, {})).toBeUndefined()
  })

  test('a client over node:https is told its host', async () => {
    connected({ unhandledCalls: 'error' })
    const error = await new Promise<Error>((resolve) => https.get(mail).on('error', resolve))
    expect(error.message).toContain(
      "The app called mail.invalid, where nobody answers: the request was on its way to the network. Register sandbox.calls.on('https://mail.invalid/*', handler)",
    )
  })

  test('handlers of msw answer before it', async () => {
    const sandbox = connected({ unhandledCalls: 'error' })
    const server = setupServer(
      ...mswHandlers(sandbox),
      mswHttp.post(sms, () => new Response(null, { status: 299 })),
    )
    server.listen({ onUnhandledFrame: 'bypass' })
    onTestFinished(() => server.close())
    sandbox.calls.answer('https://sms.invalid/other', 200)
    expect((await fetch(sms, { method: 'POST' })).status).toBe(299)
    expect(leftBehind(sandbox, {})).toBeUndefined()
    await cause(fetch(mail, { method: 'POST' }))
    expect(leftBehind(sandbox, {})?.message).toContain(refused)
  })

  test('this machine is no other host', async () => {
    const sandbox = connected({ via: 'fetch', unhandledCalls: 'error' })
    const server = http.createServer((_, answer) => void answer.end('here')).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    for (const host of ['localhost', '127.0.0.1'])
      expect(await (await fetch(`http://${host}:${port}/`)).text()).toBe('here')
    expect(leftBehind(sandbox, {})).toBeUndefined()
  })
})

describe('by default', () => {
  test('what nobody registered is let through, and nothing is said', async () => {
    const sandbox = connected({ via: 'fetch' })
    sandbox.calls.answer(bank, 201)
    expect(await cause(fetch(mail, { method: 'POST' }))).toContain('mail.invalid')
    expect(leftBehind(sandbox, {})).toBeUndefined()
  })

  test.each([
    ['GET', sms, 'method'],
    ['POST', `${sms}s`, 'path'],
  ])('%s %s: a near miss of another %s that nobody answered fails the test', async (method, url, wrong) => {
    const sandbox = connected({ via: 'fetch' })
    sandbox.calls.answer(`POST ${sms}`, 201)
    await cause(fetch(url, { method }))
    const told = `Nobody answers ${method} ${url}: registered is POST ${sms}, of another ${wrong}.`
    expect(leftBehind(sandbox, {})?.message).toContain(told)
    expect(leftBehind(sandbox, { strict: { unhandled: false } })).toBeUndefined()
  })
})

test("'warn' lets it through, and warns once for each host", async () => {
  const warned: string[] = []
  const sandbox = connected({ via: 'fetch', unhandledCalls: 'warn', warn: (text) => void warned.push(text) })
  expect(await cause(fetch(mail))).toContain('ENOTFOUND')
  await cause(fetch(mail))
  expect(warned).toEqual([
    expect.stringContaining('The app called mail.invalid, where nobody answers, and was let through.'),
  ])
  expect(leftBehind(sandbox, {})).toBeUndefined()
})

test('another word', () => {
  expect(() => sandboxOf({ unhandledCalls: 'fail' as 'error' })).toThrow(
    `unhandledCalls is 'pass', 'warn' or 'error', got "fail".`,
  )
})
