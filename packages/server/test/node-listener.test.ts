import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import { createSandbox, type SandboxOptions } from 'stuntdouble'
import { type NodeListener, nodeListener } from 'stuntdouble/node'
import { expect, test } from 'vitest'

const url = 'https://shop.test/orders'

/** Delivers a message to a listener. */
async function delivered(listener: NodeListener, options: SandboxOptions = {}, message: object = {}) {
  const warnings: string[] = []
  const sandbox = createSandbox({ seed: 1, onWarning: (text) => warnings.push(text), ...options })
  sandbox.destinations.on('https://shop.test/*', nodeListener(listener))
  sandbox.queue.publish({ to: url, retries: 0, body: '{"id":42}', ...message })
  await sandbox.clock.drain()
  sandbox.assertInvariants()
  const [outcome] = sandbox.traffic.ofType('attempt').map((attempt) => attempt.outcome!)
  return { sandbox, outcome: outcome!, warnings }
}

test('a listener sees an https destination as a TLS server does', async () => {
  const seen: unknown[] = []
  const app = express()
  app.post('/orders', express.json(), (request, response) => {
    const { protocol, secure, hostname, originalUrl, body, ip } = request
    seen.push({ protocol, secure, hostname, host: request.get('host'), originalUrl, body, ip })
    response.status(201).json({ taken: true })
  })
  const { outcome } = await delivered(app, {}, { to: `${url}?x=1`, headers: { 'content-type': 'application/json' } })
  expect(outcome).toMatchObject({ status: 201, body: '{"taken":true}' })
  expect(seen).toEqual([
    {
      ...{ protocol: 'https', secure: true, hostname: 'shop.test', host: 'shop.test' },
      ...{ originalUrl: '/orders?x=1', body: { id: 42 }, ip: '127.0.0.1' },
    },
  ])
})

test('a listener gets the headers of the delivery and no others', async () => {
  const seen: IncomingMessage['headers'][] = []
  const { sandbox } = await delivered(({ headers }, response) => {
    seen.push(headers)
    response.end()
  })
  const [attempt] = sandbox.traffic.ofType('attempt')
  const sent = Object.fromEntries(attempt!.headers.map(([name, value]) => [name.toLowerCase(), value]))
  expect(seen).toEqual([{ ...sent, host: 'shop.test', 'content-length': '9' }])
  expect(seen[0]).toHaveProperty('upstash-signature')
})

test('the same seed gives the same trace, without a date of this machine', async () => {
  const traces = await Promise.all(
    [1, 2].map(async () => {
      const { sandbox } = await delivered((_request, response) => void response.end('x'), { startAt: 0 })
      return JSON.stringify(sandbox.traffic)
    }),
  )
  expect(traces[0]).toBe(traces[1])
  expect(traces[0]).not.toContain(String(new Date().getFullYear()))
})

test.each<[string, NodeListener]>([
  [
    'throws',
    () => {
      throw new RangeError('out of range')
    },
  ],
  ['rejects', async () => Promise.reject(new RangeError('out of range'))],
  ['destroys the response with an error', (_request, response) => response.destroy(new RangeError('out of range'))],
])('the attempt fails as for a broken connection, and names the cause, if the listener %s', async (_name, listener) => {
  const { sandbox, outcome } = await delivered(listener)
  expect(outcome).toMatchObject({
    status: 0,
    error: 'read: connection reset by peer',
    note: `The handler of ${url} broke the connection: RangeError: out of range`,
  })
  expect(sandbox.destinations.errors).toMatchObject([{ cause: { message: 'out of range' } }])
})

test('a server of node:http that throws also breaks the connection', async () => {
  const program = `
    const server = require('node:http').createServer(() => { throw new RangeError('out of range') })
    server.listen(0, '127.0.0.1', () => console.log(server.address().port))`
  const child = execFile(process.execPath, ['-e', program])
  const [port] = await once(child.stdout!, 'data')
  const failure = await fetch(`http://127.0.0.1:${String(port).trim()}/`).catch((error) => error)
  expect(['ECONNRESET', 'UND_ERR_SOCKET']).toContain(failure.cause.code)
  expect(await once(child, 'exit')).toEqual([1, null])
})

test('the attempt fails without a known cause if the listener closes the connection', async () => {
  const { outcome } = await delivered(({ socket }) => socket.destroy())
  expect(outcome).toMatchObject({
    error: 'read: connection reset by peer',
    note: `The handler of ${url} broke the connection: Error: it closed the connection`,
  })
})

test('an error after the headers breaks the body', async () => {
  const { sandbox, outcome } = await delivered((_request, response) => {
    response.write('half', () => response.destroy(new Error('disk full')))
  })
  expect(outcome).toMatchObject({
    status: 0,
    error: 'unexpected EOF',
    note: `The handler of ${url} responded, but the body broke off: Error: disk full`,
  })
  expect(sandbox.destinations.errors).toHaveLength(1)
})

test.each<[string, NodeListener]>([
  ['never responds', () => undefined],
  ['never ends its response', (_request, response) => void response.write('half')],
])('the stall timeout ends the attempt if the listener %s, and the listener sees it', async (_name, listener) => {
  const closed: unknown[] = []
  const { sandbox, outcome, warnings } = await delivered(
    (request, response) => {
      response.on('close', () => closed.push([response.writableFinished, response.destroyed, request.destroyed]))
      return listener(request, response)
    },
    { policy: { handlerStallTimeout: 20 } },
  )
  expect(outcome).toMatchObject({ status: 0, error: 'context deadline exceeded' })
  expect(outcome.note).toMatch(/neither ended nor slept/)
  expect(warnings).toHaveLength(1)
  await new Promise((resolve) => setImmediate(resolve))
  expect(closed).toEqual([[false, true, true]])
  expect(sandbox.destinations.errors).toEqual([])
})

test('a listener that sleeps past the timeout of the attempt sees a closed connection', async () => {
  const closedAt: number[] = []
  const sandbox = createSandbox({ startAt: 0 })
  sandbox.destinations.on(url, (request, task) =>
    nodeListener(async (_request: IncomingMessage, response: ServerResponse) => {
      response.on('close', () => closedAt.push(sandbox.clock.now()))
      await task.sleep('1m')
      response.end()
    })(request),
  )
  sandbox.queue.publish({ to: url, retries: 0, timeout: '10s' })
  await sandbox.clock.advance('30s')
  await new Promise((resolve) => setImmediate(resolve))
  expect(closedAt).toEqual([30_000])
  await sandbox.clock.drain()
  expect(sandbox.traffic.ofType('attempt')[0]!.outcome).toMatchObject({ error: 'context deadline exceeded' })
})

test('a fetch handler sees the end of its attempt in request.signal', async () => {
  const sandbox = createSandbox({ startAt: 0 })
  const abortedAt: number[] = []
  sandbox.destinations.on(url, async ({ signal }, task) => {
    signal.addEventListener('abort', () => abortedAt.push(sandbox.clock.now()))
    await task.sleep('1m')
    return new Response()
  })
  sandbox.queue.publish({ to: url, retries: 0, timeout: '10s' })
  await sandbox.clock.drain()
  expect(abortedAt).toEqual([10_000])
})

test('requests run at the same time, each with its own response', async () => {
  const waiting: (() => void)[] = []
  const send = nodeListener((request: IncomingMessage, response: ServerResponse) => {
    waiting.push(() => response.end(request.url))
    if (waiting.length === 50) for (const respond of waiting.splice(0).reverse()) respond()
  })
  const paths = Array.from({ length: 50 }, (_, id) => `/${id}`)
  const bodies = paths.map(async (path) => (await send(new Request(`https://shop.test${path}`))).text())
  expect(await Promise.all(bodies)).toEqual(paths)
})

test('requests that a listener sends have the delivery as their cause', async () => {
  const sandbox = createSandbox()
  sandbox.outbound.respond('https://bank.test/charges', 201)
  const app = express()
  app.post('/orders', express.json({ type: '*/*' }), async (_request, response) => {
    await new Promise((resolve) => setImmediate(resolve))
    const { status } = await sandbox.outbound.fetch('https://bank.test/charges', { method: 'POST' })
    response.sendStatus(status)
  })
  sandbox.destinations.on(url, nodeListener(app))
  sandbox.queue.publish({ to: url, body: '{}' })
  sandbox.queue.publish({ to: url, body: '{}' })
  await sandbox.clock.drain()
  const attempts = sandbox.traffic.ofType('attempt').map(({ seq }) => seq)
  expect(sandbox.traffic.ofType('outbound').map(({ cause }) => cause)).toEqual(attempts)
})

test('a listener responds to outbound requests, and sees an app that gives up', async () => {
  const sandbox = createSandbox()
  const closed: boolean[] = []
  const bank = nodeListener((request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/slow') return void response.on('close', () => closed.push(response.destroyed))
    if (request.url === '/broken') throw new Error('boom')
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    response.end(`${request.headers.host} ${(request.socket as { encrypted?: boolean }).encrypted}`)
  })
  sandbox.outbound.on('https://bank.test/*', bank)
  const response = await sandbox.outbound.fetch('https://bank.test/charges')
  expect(await response.text()).toBe('bank.test true')
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  await expect(sandbox.outbound.fetch('https://bank.test/broken')).rejects.toMatchObject({
    cause: { code: 'ECONNRESET' },
  })
  expect(sandbox.outbound.errors).toMatchObject([{ cause: { message: 'boom' } }])
  const abort = new AbortController()
  const slow = sandbox.outbound.fetch('https://bank.test/slow', { signal: abort.signal })
  await new Promise((resolve) => setTimeout(resolve, 10))
  abort.abort()
  await expect(slow).rejects.toThrow()
  await new Promise((resolve) => setImmediate(resolve))
  expect(closed).toEqual([true])
})

test('a long response is cut at the limit of the plan, and the listener is stopped', async () => {
  let sent = 0
  const { outcome } = await delivered((_request, response) => {
    const chunk = 'a'.repeat(100_000)
    const send = (): void => {
      if (response.destroyed) return
      sent += chunk.length
      response.write(chunk, () => setImmediate(send))
    }
    send()
  })
  const limit = outcome.body!.length
  expect(outcome.status).toBe(200)
  expect(limit).toBeGreaterThan(100_000)
  expect(sent).toBeLessThan(limit + 1_000_000)
  expect(outcome.state).toBe('DELIVERED')
})

test('an app that also listens on a port stays as it is', async () => {
  const app = express()
  app.post('/orders', express.json(), (request, response) => void response.json(request.body))
  expect((await delivered(app, {}, { headers: { 'content-type': 'application/json' } })).outcome.status).toBe(200)
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = (server.address() as AddressInfo).port
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`http://127.0.0.1:${port}/orders`, { method: 'POST', headers, body: '{"id":1}' })
  expect(await response.json()).toEqual({ id: 1 })
  server.closeAllConnections()
  server.close()
})

test('Fastify responds through its routing function', async () => {
  const app = fastify()
  app.addContentTypeParser('*', { parseAs: 'string' }, async (_request: unknown, body: string) => body)
  app.post('/orders', async (request) => ({ host: request.hostname, protocol: request.protocol, body: request.body }))
  await app.ready()
  const { outcome } = await delivered(app.routing)
  expect(JSON.parse(outcome.body!)).toEqual({ host: 'shop.test', protocol: 'https', body: '{"id":42}' })
  await app.close()
})

test('an upgrade and a body that is expected with 100-continue are plain requests', async () => {
  const headers = { expect: '100-continue', upgrade: 'websocket', connection: 'upgrade' }
  const seen: unknown[] = []
  const { outcome } = await delivered(
    (request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => {
        body += chunk
      })
      request.on('end', () => {
        seen.push(body)
        response.end('x')
      })
    },
    {},
    { headers },
  )
  expect([outcome.status, seen]).toEqual([200, ['{"id":42}']])
})

test('a fork runs the same listener', async () => {
  const { sandbox } = await delivered((request, response) => void response.end(request.url), { journal: true } as never)
  const fork = await sandbox.fork()
  fork.queue.publish({ to: 'https://shop.test/again' })
  await fork.clock.drain()
  expect(fork.traffic.ofType('attempt').at(-1)!.outcome).toMatchObject({ status: 200, body: '/again' })
})

test('throws a TypeError for anything but a function', () => {
  expect(() => nodeListener(fastify() as never)).toThrow(/^nodeListener\(\): the argument must be a function .*routing/)
  expect(() => nodeListener(undefined as never)).toThrow(TypeError)
})
