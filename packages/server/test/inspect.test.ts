import { connect as dial } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { replaceFetch } from '../../../src/adapters/fetch.js'
import { createSandbox, type Sandbox } from '../../../src/index.js'
import { rememberFailure } from '../../../src/report/failure.js'
import { tokenOf } from '../../../test/support/inspector-token.js'
import { type InspectOptions, inspect, startServer } from '../src/server.js'

let sandbox: Sandbox
beforeEach(() => {
  vi.stubEnv('CI', '')
  sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z', seed: 7 })
})
afterEach(() => {
  vi.unstubAllEnvs()
  sandbox.dispose()
})

interface Waiting {
  readonly ended: Promise<void>
  readonly text: string
  readonly origin: string
  readonly token: string
  ask(method: string, path: string, init?: RequestInit): Promise<{ status: number; body: Record<string, unknown> }>
}

/** Starts a test that waits in `inspect()`, with the access that the page has. */
async function waiting(options: InspectOptions = {}): Promise<Waiting> {
  let text = ''
  const ended = inspect(sandbox, { ...options, print: (line) => (text += line) })
  await expect.poll(() => text).toMatch(/#code=/)
  const link = new URL(/http:\S+/.exec(text)![0])
  const token = await tokenOf(link.href)
  const ask: Waiting['ask'] = async (method, path, init = {}) => {
    const headers = { authorization: `Bearer ${token}`, origin: link.origin }
    const answer = await fetch(`${link.origin}/_control${path}`, { method, headers, ...init })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  return { ended, text, origin: link.origin, token, ask }
}

const isListening = (origin: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = dial(Number(new URL(origin).port), '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })

describe('inspect()', () => {
  test('serves the sandbox of the test until the button is pressed, then closes the server', async () => {
    sandbox.store.run('SET', 'greeting', 'hello')
    const { ended, text, origin, ask } = await waiting({ title: 'a test' })
    expect(text).toMatch(/^stuntdouble: a test waits\. Open\n {2}http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{32}\n/)
    expect((await fetch(`${origin}/`, { headers: { accept: 'text/html' } })).status).toBe(200)
    expect((await ask('GET', '/main/inspector')).body).toMatchObject({ name: 'a test', seed: 7, canGoOn: true })
    expect((await ask('POST', '/main/store/run', { body: '{"command":["GET","greeting"]}' })).body).toMatchObject({
      reply: 'hello',
    })
    // Actions in the page change the sandbox of the test.
    await ask('POST', '/main/clock/advance', { body: '{"by":"1h"}' })
    expect(sandbox.clock.now()).toBe(Date.parse('2030-01-01T10:00:00Z'))
    expect(await Promise.race([ended.then(() => 'went on'), Promise.resolve('waits')])).toBe('waits')

    expect(await ask('POST', '/main/continue')).toEqual({ status: 200, body: {} })
    await ended
    expect(await isListening(origin)).toBe(false)
    // The sandbox of the test is unchanged.
    expect(sandbox.store.get('greeting')).toBe('hello')
    await sandbox.clock.advance('1h')
  })

  test('requires the token of this call', async () => {
    const first = await waiting()
    for (const headers of [{}, { authorization: 'Bearer nobody' }, { cookie: `token=${first.token}` }]) {
      const answer = await fetch(`${first.origin}/_control/main/continue`, { method: 'POST', headers })
      expect(answer.status).toBe(401)
    }
    const foreign = { authorization: `Bearer ${first.token}`, origin: 'http://127.0.0.1:3000' }
    const answer = await fetch(`${first.origin}/_control/main/continue`, { method: 'POST', headers: foreign })
    expect(answer.status).toBe(403)
    await first.ask('POST', '/main/continue')
    await first.ended

    const second = await waiting()
    expect(second.token).not.toBe(first.token)
    await second.ask('POST', '/main/continue')
    await second.ended
  })

  test('shows the failed assertion without colors and secrets', async () => {
    const text = `expected 1\x07 of ${sandbox.tokens.queue}\n\nReplay: npx vitest`
    rememberFailure(text, { replay: 'npx vitest' })
    const failure = { message: text.replace('expected', '\x1b[31mexpected\x1b[39m'), nearest: 4 }
    const { ended, ask } = await waiting({ failure })
    expect((await ask('GET', '/main/inspector')).body).toMatchObject({
      failure: { message: 'expected 1\\x07 of ***', nearest: 4 },
    })
    await ask('POST', '/main/continue')
    await ended
  })

  test('does not wait for a page that still reads a stream', async () => {
    const { ended, origin, token, ask } = await waiting()
    const stream = await fetch(`${origin}/_control/main/traffic/stream`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const read = stream.body!.getReader().read()
    await ask('POST', '/main/continue')
    const begun = performance.now()
    await ended
    expect(performance.now() - begun).toBeLessThan(1500)
    await read.catch(() => undefined)
    // A later event has no reader.
    sandbox.store.run('SET', 'later', '1')
  })

  test('stops a clock that the page advances', async () => {
    const { ended, ask } = await waiting()
    sandbox.destinations.on('https://shop.test/slow', () => new Promise(() => {}))
    sandbox.queue.publish({ to: 'https://shop.test/slow' })
    const moved = ask('POST', '/main/clock/advance', { body: '{"by":"1h"}' }).catch(() => 'closed')
    await expect.poll(() => sandbox.clock.running.length).toBeGreaterThan(0)
    await ask('POST', '/main/continue')
    await ended
    expect(await moved).toBe('closed')
  })

  test('continues from a page that shows another tenant, or after the sandbox was dropped', async () => {
    const one = await waiting({ title: 'a test', failure: { message: 'expected' } })
    const { body } = await one.ask('GET', '/a-fork/inspector')
    expect(body).toMatchObject({ name: 'a-fork', canGoOn: true })
    expect(body).not.toHaveProperty('failure')
    await one.ask('POST', '/a-fork/continue')
    await one.ended

    const two = await waiting()
    await two.ask('DELETE', '/main')
    await two.ask('POST', '/main/continue')
    await two.ended
  })

  test('continues after Ctrl-C, which does nothing else while it waits', async () => {
    const before = process.listenerCount('SIGINT')
    const { ended, origin } = await waiting()
    process.kill(process.pid, 'SIGINT')
    await ended
    expect(await isListening(origin)).toBe(false)
    expect(process.listenerCount('SIGINT')).toBe(before)
  })

  test('can show two sandboxes at the same time, each with its own link', async () => {
    const one = await waiting({ title: 'one' })
    const other = sandbox
    sandbox = createSandbox()
    const two = await waiting({ title: 'two' })
    expect(two.origin).not.toBe(one.origin)
    expect((await two.ask('GET', '/main/inspector')).body.name).toBe('two')
    await one.ask('POST', '/main/continue')
    await one.ended
    expect((await two.ask('GET', '/main/inspector')).body.canGoOn).toBe(true)
    await two.ask('POST', '/main/continue')
    await two.ended
    other.dispose()
  })

  test.each(['true', '1', 'yes', 'woodpecker'])('prints one line and does not wait with CI=%s', async (ci) => {
    vi.stubEnv('CI', ci)
    const said: string[] = []
    await inspect(sandbox, { print: (text) => said.push(text) })
    expect(said).toEqual([expect.stringMatching(/^stuntdouble: [^.]* does not wait[^.]*because CI is set\.\n$/)])
  })

  test('waits although fake timers are installed', async () => {
    vi.useFakeTimers()
    try {
      let text = ''
      const ended = inspect(sandbox, { print: (line) => (text += line) })
      while (text === '') await new Promise<void>((resolve) => queueMicrotask(() => setImmediateReal(resolve)))
      const link = new URL(/http:\S+/.exec(text)![0])
      const authorization = `Bearer ${await tokenOf(link.href)}`
      const stream = await fetch(`${link.origin}/_control/main/traffic/stream`, { headers: { authorization } })
      await fetch(`${link.origin}/_control/main/continue`, { method: 'POST', headers: { authorization } })
      await ended
      await stream.body!.cancel().catch(() => undefined)
    } finally {
      vi.useRealTimers()
    }
  })
})

const setImmediateReal = globalThis.setImmediate

test('startServer() listens on this machine although the sandbox replaces a URL of it', async () => {
  using sandbox = createSandbox({ urls: { base: 'http://127.0.0.1:4010/main' } })
  using _ = replaceFetch(sandbox)
  await using server = await startServer({ port: 0, host: '127.0.0.1' })
  expect((await fetch(`${server.origin}/_health`)).status).toBe(200)
})
