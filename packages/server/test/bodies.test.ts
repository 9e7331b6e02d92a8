import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect as dial, type Socket } from 'node:net'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { Account } from '../../../src/kernel/account.js'
import { HeldChunks } from '../../../src/protocol/event-stream.js'
import { maxQueueValues } from '../../../src/queue/rest/reading.js'
import { Crowd } from '../../../src/store/resp/crowd.js'
import { maxControlValues } from '../src/control/operation-parts.js'
import { HeldStream, Outgoing } from '../src/outgoing.js'
import { type ServerOptions, type StuntdoubleServer, startServer } from '../src/server.js'

const megabyte = 1_048_576
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function start(options: ServerOptions = {}): Promise<StuntdoubleServer> {
  const server = await startServer({ port: 0, clock: 'manual', tokens: { store: 't', queue: 'q' }, ...options })
  ends.push(() => server.close({ grace: 0 }))
  return server
}

function sent(server: StuntdoubleServer, text: string): Socket {
  const socket = dial(server.port, '127.0.0.1')
  ends.push(() => socket.destroy())
  socket.on('error', () => undefined)
  socket.write(text, 'latin1')
  return socket
}

const half = (head: string, path = '/main/store', token = 't'): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n${head}\r\n\r\n`

/** Returns the data that the server sends until it closes the connection. */
async function untilEnd(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk
  })
  await new Promise((resolve) => socket.once('close', resolve))
  return text
}

const ping = (server: StuntdoubleServer): Promise<number> =>
  fetch(`${server.origin}/main/store`, {
    method: 'POST',
    headers: { authorization: 'Bearer t' },
    body: '["PING"]',
  }).then(({ status }) => status)

const long = `content-length: ${1.5 * megabyte}`

test('a body takes memory only for bytes that have arrived', async () => {
  const server = await start({ limits: { buffered: 4 * megabyte } })
  for (let number = 0; number < 20; number++) sent(server, half(`content-length: ${3 * megabyte}`))
  const whole = `${half(`${long}\r\nconnection: close`, '/main/store/set/k')}${'x'.repeat(1.5 * megabyte)}`
  expect(await untilEnd(sent(server, whole))).toMatch(/^HTTP\/1\.1 200 /)
})

test('a body above the memory limit is rejected before it arrives', async () => {
  const server = await start({ limits: { buffered: megabyte } })
  expect(await untilEnd(sent(server, half(long)))).toMatch(/^HTTP\/1\.1 413 .*1048576 bytes/s)
})

test('a stalled body is dropped first when another one needs memory', async () => {
  const server = await start({ limits: { buffered: 4 * megabyte } })
  const still: Promise<string>[] = []
  for (let number = 0; number < 2; number++) {
    still.push(untilEnd(sent(server, half(`content-length: ${3 * megabyte}`) + ' '.repeat(1.75 * megabyte))))
    await ping(server)
  }
  const whole = `${half(`${long}\r\nconnection: close`, '/main/store/set/k')}${'x'.repeat(1.5 * megabyte)}`
  let refused: string | undefined
  void Promise.race(still).then((response) => {
    refused = response
  })
  // On a busy machine the server reads the stalled bodies later than this one. While it has only a part of them, all
  // fit.
  do expect(await untilEnd(sent(server, whole))).toMatch(/^HTTP\/1\.1 200 /)
  while (refused === undefined)
  expect(refused).toMatch(/^HTTP\/1\.1 503 /)
  expect(refused).toMatch(/^retry-after: 1\r$/im)
  expect(refused).toMatch(/^connection: close\r$/im)
  expect(refused).toContain('--max-buffered')
  expect(await ping(server)).toBe(200)
})

test('a body in chunks is counted as it grows', async () => {
  const server = await start({ limits: { buffered: 4 * megabyte } })
  const chunk = `${megabyte.toString(16)}\r\n${' '.repeat(megabyte)}\r\n`
  const refused = await untilEnd(sent(server, half('transfer-encoding: chunked') + chunk.repeat(5)))
  // A client that is still sending may see the response or the closed connection.
  if (refused !== '') expect(refused).toMatch(/^HTTP\/1\.1 413 /)
  const fits = `${half('transfer-encoding: chunked\r\nconnection: close')}${chunk.repeat(2)}8\r\n["PING"]\r\n0\r\n\r\n`
  expect(await untilEnd(sent(server, fits))).toContain('PONG')
})

test.each([
  ['a wrong token of the store', half(long, '/main/store', 'wrong'), 401],
  ['a wrong token of the store at the root', half(long, '/', 'wrong'), 401],
  ['a wrong token of the queue', half(long, '/main/queue/v2/publish/https://a.test', 'wrong'), 401],
  ['no token', `POST /main/store HTTP/1.1\r\nhost: localhost\r\n${long}\r\n\r\n`, 401],
  [
    'a page of another site that would create a tenant',
    half(`${long}\r\norigin: https://evil.example`, '/w9/store'),
    403,
  ],
  [
    'a page of another site at the queue',
    half(`${long}\r\norigin: https://evil.example`, '/main/queue/v2/batch', 'q'),
    403,
  ],
  ['no control token', half(long, '/_control/main/clock/advance', 'wrong'), 401],
  ['another host', `POST /_control HTTP/1.1\r\nhost: evil.example\r\n${long}\r\n\r\n`, 403],
] as const)('%s is rejected before the body has arrived', async (_, request, status) => {
  const server = await start({ controlToken: 'secret of control' })
  server.tenant('main')
  const early = await untilEnd(sent(server, request))
  expect(early).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(early).toMatch(/^connection: close\r$/im)
  // The response is the same with a complete body.
  const whole = await untilEnd(sent(server, `${request.replace(long, 'content-length: 2\r\nconnection: close')}[]`))
  const body = (text: string): string => text.slice(text.indexOf('\r\n\r\n'))
  expect(body(early)).toBe(body(whole))
})

test.each([
  ['an unknown path', '/nosuch', 404],
  ['the health check', '/_health', 200],
  ['the inspector', '/_inspector', 404],
  ['a path with the prefix of the server', '/_nosuch/x', 404],
  ['an unknown node', '/_cluster/x', 404],
  ['a tenant without a service', '/main/nosuch', 404],
  ['an external host', '/main/outbound/https://bank.test/charges', 502],
  ['an unknown operation', '/_control/main/nosuch', 404],
  ['an operation with another method', '/_control/main/traffic', 405],
] as const)('%s gets a response before the body has arrived', async (_, path, status) => {
  const server = await start()
  const { outbound } = server.tenant('main')
  const request = half(long, path)
  const early = await untilEnd(sent(server, request))
  expect(early).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  const chunk = `8000\r\n${' '.repeat(0x8000)}\r\n`
  const inChunks = await untilEnd(sent(server, half('transfer-encoding: chunked', path) + chunk.repeat(3)))
  if (inChunks !== '') expect(inChunks).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  outbound.respond('https://bank.test/charges', 201)
  if (status === 502)
    expect(
      await untilEnd(sent(server, `${half(`connection: close\r\n${long}`, path)}${' '.repeat(1.5 * megabyte)}`)),
    ).toMatch(/^HTTP\/1\.1 201 /)
})

test('a body in chunks of an unauthorized client is read only up to its limit', async () => {
  const server = await start()
  const chunk = `8000\r\n${' '.repeat(0x8000)}\r\n`
  const answer = await untilEnd(
    sent(server, half('transfer-encoding: chunked', '/main/store', 'wrong') + chunk.repeat(3)),
  )
  expect(answer).toMatch(/^HTTP\/1\.1 401 /)
})

test('a body in chunks is complete for any sizes of the chunks', async () => {
  const server = await start()
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 4_000, max: 9_000 })), {
    minLength: 1,
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(sizes, async (lengths) => {
      const parts = lengths.map((length, at) => String.fromCharCode(97 + at).repeat(length))
      const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')
      const head = half('transfer-encoding: chunked\r\nconnection: close', '/main/store/set/k')
      await untilEnd(sent(server, `${head}${chunks}0\r\n\r\n`))
      expect(server.tenant('main').store.run('GET', 'k')).toBe(parts.join(''))
    }),
    { numRuns: 20 },
  )
})

const ask = 'GET /main/store/get/large HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer t\r\n\r\n'

test('responses that are not received are counted: the oldest reader is dropped, and the others receive everything', async () => {
  const server = await start({ limits: { buffered: 40_000_000 } })
  const size = 9_000_000
  server.tenant('main').store.run('SET', 'large', 'x'.repeat(size))
  const readers: Socket[] = []
  for (let number = 0; number < 4; number++) {
    readers.push(sent(server, ask))
    await ping(server)
    expect(await (await fetch(`${server.origin}/main/store/get/large?_token=t`)).text()).toHaveLength(size + 13)
  }
  expect((await untilEnd(readers[0]!)).length).toBeLessThan(size)
})

test('pipelined requests cannot request more than the memory limit allows', async () => {
  const server = await start({ limits: { buffered: 40_000_000 } })
  const { store, traffic } = server.tenant('main')
  store.run('SET', 'large', 'x'.repeat(9_000_000))
  const socket = sent(server, ask.repeat(100))
  await ping(server)
  expect((await untilEnd(socket)).length).toBeLessThan(9_000_000)
  expect(traffic.ofType('request').length).toBeLessThan(10)
})

test('a response above the memory limit gets 503 with --max-buffered', async () => {
  const server = await start({ limits: { buffered: 2 * megabyte } })
  server.tenant('main').store.run('SET', 'large', 'x'.repeat(3 * megabyte))
  const answer = await fetch(`${server.origin}/main/store/get/large?_token=t`)
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('--max-buffered')])
  expect(await ping(server)).toBe(200)
})

test('connections are limited so that all their heads fit into memory', async () => {
  const server = await start({ limits: { buffered: 10 * 65_536 } })
  const open = Array.from({ length: 12 }, () => sent(server, 'GET /'))
  let closed = 0
  for (const socket of open) socket.resume().on('close', () => closed++)
  await expect.poll(() => closed).toBe(2)
})

test.each([
  ['a batch of the queue', 'POST', '/main/queue/v2/batch', '[', '{},', '{}]', maxQueueValues],
  ['a control call', 'PUT', '/_control/main/state', '{"a":[', '[],', '[]]}', maxControlValues],
])('%s with too many values is rejected before it is read', async (_, method, path, begin, item, end, most) => {
  const server = await start()
  const body = begin + item.repeat(most) + end
  const answer = await fetch(server.origin + path, { method, body, headers: { authorization: 'Bearer q' } })
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(String(most))])
})

const tooLong = { method: 'POST', body: 'x'.repeat(2_000), headers: { authorization: 'Bearer t' } }
const fromAfar = { headers: { origin: 'https://evil.example' } }
test.each([
  ['/main/store', tooLong, 413],
  ['/main/queue/v2/batch', tooLong, 413],
  ['/main/mgmt/v2/redis/database', tooLong, 413],
  ['/_control/main/faults', tooLong, 413],
  ['/main/queue/v2/events', fromAfar, 403],
  ['/main/mgmt/v2/redis/databases', fromAfar, 403],
  ['/_control/main', fromAfar, 403],
] as const)('errors of the listener at %s with %o are JSON', async (path, init, status) => {
  const server = await start({ limits: { maxBodyBytes: 1_000 } })
  const answer = await fetch(server.origin + path, init)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json'])
  expect(await answer.json()).toEqual({ error: expect.any(String) })
})

test('a reader that is behind many times leaves no event listeners', () => {
  const socket = Object.assign(new EventEmitter(), { setTimeout: () => undefined, destroy: () => undefined })
  const response = Object.assign(new EventEmitter(), { req: { socket } }) as unknown as ServerResponse
  const crowd = new Crowd(new Account(megabyte))
  const outgoing = new Outgoing(crowd, 1_000)
  for (let time = 0; time < 20; time++) {
    outgoing.hold(response, 100_000)
    expect(crowd.buffered.held).toBe(100_000)
    outgoing.taken(response)
    expect(crowd.buffered.held).toBe(0)
  }
  for (const event of ['close', 'finish']) expect(response.listenerCount(event)).toBe(1)
  outgoing.hold(response, 100_000)
  response.emit('close')
  expect(crowd.buffered.held).toBe(0)
})

test('readers of event streams that take nothing are dropped when others need memory', () => {
  const crowd = new Crowd(new Account(megabyte))
  const all = new HeldChunks(crowd.buffered)
  const gone: number[] = []
  const readers = [0, 1, 2].map((at) => {
    const response = { req: { socket: {} }, destroy: () => gone.push(at) } as unknown as ServerResponse
    return new HeldStream(response, crowd, all)
  })
  const frames = [0, 1, 2].map(() => new Uint8Array(400_000))
  for (const at of [0, 1]) expect(readers[at]!.hold(frames[at]!)).toBe(true)
  expect(readers[2]!.hold(frames[1]!)).toBe(true)
  expect(crowd.buffered.held).toBe(800_000)
  expect(readers[2]!.hold(frames[2]!)).toBe(true)
  expect(gone).toEqual([0])
  for (const reader of readers.slice(1)) for (const frame of frames) reader.letGo(frame)
  expect(crowd.buffered.held).toBe(0)
})
