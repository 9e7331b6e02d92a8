import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, Receiver } from '@upstash/qstash'
import { startServer } from 'stuntdouble/server'
import { afterEach, expect, test } from 'vitest'
import { credentials } from '../../queue/world.js'

// A server whose clock is the host's, which delivers to an app on this machine.

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

interface Arrived {
  readonly path: string
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
}

/** Starts an app that responds with these statuses in order. `all` resolves after `count` requests. */
async function application(statuses: number[], count: number) {
  const arrived: Arrived[] = []
  let done = (): void => {}
  const all = new Promise<void>((resolve) => {
    done = resolve
  })
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      arrived.push({ path: request.url!, headers: request.headers, body })
      response.writeHead(statuses.shift() ?? 200).end('seen')
      if (arrived.length === count) done()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  endings.push(() => new Promise((resolve) => server.close(resolve)))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrived, all }
}

/** Returns a port on which no server listens. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('delivers a message, its retry and its callback over loopback, signed for a real receiver', async () => {
  const app = await application([503, 200, 200, 200], 4)
  const server = await startServer({ port: 0, clock: 'real' })
  endings.push(() => server.close())
  const client = new Client({ baseUrl: server.tenant('main').urls.queue, token: credentials.token, retry: false })
  const { messageId } = await client.publishJSON({
    url: `${app.url}/orders`,
    body: { id: 42 },
    retryDelay: '20',
    callback: `${app.url}/reports`,
  })
  await app.all
  const orders = app.arrived.filter(({ path }) => path === '/orders')
  expect(orders.map(({ headers }) => headers['upstash-retried'])).toEqual(['0', '1'])
  expect(new Set(orders.map(({ headers }) => headers['upstash-message-id']))).toEqual(new Set([messageId]))
  const reports = app.arrived.filter(({ path }) => path === '/reports').map(({ body }) => JSON.parse(body))
  expect(reports.map(({ status }) => status).sort()).toEqual([200, 503])
  const receiver = new Receiver({ currentSigningKey: credentials.current, nextSigningKey: credentials.next })
  for (const { path, headers, body } of app.arrived) {
    const signature = headers['upstash-signature'] as string
    await expect(receiver.verify({ signature, body, url: app.url + path })).resolves.toBe(true)
  }
})

test('rejects a delivery to another machine, and reports a refused connection as such', async () => {
  const server = await startServer({ port: 0, clock: 'real' })
  endings.push(() => server.close())
  const sandbox = server.tenant('main')
  const client = new Client({ baseUrl: sandbox.urls.queue, token: credentials.token, retry: false })
  const app = await application([], 2)
  const failed = (url: string) => client.publishJSON({ url, body: 1, retries: 0, failureCallback: `${app.url}/failed` })
  await failed('https://example.com/x')
  await failed(`http://127.0.0.1:${await closedPort()}/x`)
  await app.all
  const reasons = sandbox.traffic.ofType('dead-letter').map(({ error }) => error)
  expect(reasons.sort()).toEqual(['delivery refused', 'dial tcp: connect: connection refused'])
  expect(sandbox.destinations.unhandled[0]).toContain('allows only this machine')
})
