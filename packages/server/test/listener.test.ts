import { once } from 'node:events'
import { createServer, request as nodeRequest } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Account } from '../../../src/kernel/account.js'
import { hostPause } from '../../../src/kernel/host.js'
import { json } from '../../../src/protocol/call.js'
import { type EventStream, eventStream } from '../../../src/protocol/event-stream.js'
import type { Exchange, RawRequest, RawResponse } from '../../../src/protocol/service.js'
import { Crowd } from '../../../src/store/resp/crowd.js'
import { type ListenerOptions, listener } from '../src/listener.js'
import { defaultLimits } from '../src/server-limits.js'

const origin = 'http://double.test:1'
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function listening(
  exchange: Exchange,
  report: (error: unknown) => void = () => {},
  options?: ListenerOptions,
): Promise<number> {
  const server = createServer(listener(() => origin, exchange, report, options))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

/** Speaks plain HTTP over a socket. */
async function raw(port: number, text: string): Promise<string> {
  const socket: Socket = connect(port, '127.0.0.1')
  socket.end(text)
  let answer = ''
  for await (const chunk of socket) answer += chunk
  return answer
}

test('neither the Host header nor a whole url as target changes the address', async () => {
  const urls: string[] = []
  const port = await listening((call) => {
    urls.push(call.url)
    return json(1)
  })
  await raw(port, 'GET /a?b HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')
  await raw(port, 'GET http://store.example:80/a%2Fb?c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  expect(urls).toEqual([`${origin}/a?b`, `${origin}/a%2Fb?c`])
})

test('headers of the connection are not part of the call; repeated ones are', async () => {
  const calls: RawRequest[] = []
  const port = await listening((call) => {
    calls.push(call)
    return json(1)
  })
  await raw(
    port,
    'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\nX-One: a\r\nX-One: b\r\n\r\nz',
  )
  expect(calls[0]?.headers).toEqual([
    ['Host', 'x'],
    ['X-One', 'a'],
    ['X-One', 'b'],
  ])
})

test('an answer with a body says how long it is, one to HEAD does not', async () => {
  const port = await listening((call) => (call.method === 'HEAD' ? { ...json('é'), body: null } : json('é')))
  const get = await raw(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  const head = await raw(port, 'HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  expect(get).toMatch(/^HTTP\/1\.1 200 OK\r\n.*content-length: 4\r\n.*"é"$/s)
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(head).not.toContain('content-length')
})

test('a mistake of ours is an answer 500 of one sentence; its stack is reported', async () => {
  const reported: unknown[] = []
  const port = await listening(
    async () => {
      throw new RangeError('a bug')
    },
    (error) => reported.push(error),
  )
  const answer = await fetch(`http://127.0.0.1:${port}/`)
  expect(answer.status).toBe(500)
  expect(await answer.json()).toEqual({ error: expect.stringMatching(/^stuntdouble failed [^/\n]*$/) })
  expect(reported).toEqual([expect.objectContaining({ message: 'a bug', stack: expect.stringContaining('    at ') })])
})

test('a client that goes away while it sends is no mistake, and nothing runs for it', async () => {
  const reported: unknown[] = []
  const calls: RawRequest[] = []
  const port = await listening(
    (call) => {
      calls.push(call)
      return json(1)
    },
    (error) => reported.push(error),
  )
  const request = nodeRequest({ port, host: '127.0.0.1', method: 'POST', headers: { 'content-length': '10' } })
  const gone = new Promise((resolve) => request.on('error', () => {}).on('close', resolve))
  request.write('abc', () => request.destroy())
  await gone
  // Those that come after it are served.
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
  expect([calls.length, reported]).toEqual([1, []])
})

test('a call that is turned away is not waited for, and one that fails there is told', async () => {
  const reported: unknown[] = []
  const turnsAway = ({ url }: RawRequest): RawResponse => {
    if (url.endsWith('/bug')) throw new RangeError('a bug')
    return json('no', 401)
  }
  const exchange = (): RawResponse => json('served')
  const server = createServer(
    listener(
      () => origin,
      exchange,
      (error) => reported.push(error),
      { turnsAway },
    ),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  for (const [path, status] of [
    ['/', 401],
    ['/bug', 500],
  ] as const) {
    const socket = connect(port, '127.0.0.1')
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf`)
    const first = await new Promise((resolve) => socket.once('data', (chunk) => resolve(String(chunk))))
    expect(first).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    socket.destroy()
  }
  expect(reported).toHaveLength(1)
})

test.each([
  ['a status that is none', { status: 99, headers: [], body: null }],
  ['a status beyond all', { status: 1000, headers: [], body: null }],
  ['a header beyond bytes', { status: 200, headers: [['x', '\u20ac']], body: null }],
  ['a line break in a header', { status: 200, headers: [['x', 'a\r\nset-cookie: b']], body: null }],
  ['a name with a blank', { status: 200, headers: [['x y', 'z']], body: null }],
  ['the same on a stream', { status: 200, headers: [['x', '\0']], body: new ReadableStream() }],
] as const)('%s in an answer is told in one sentence', async (_, answer) => {
  const port = await listening(() => answer as RawResponse)
  const told = await fetch(`http://127.0.0.1:${port}/`)
  expect([told.status, ((await told.json()) as { error: string }).error]).toEqual([
    500,
    expect.stringMatching(/^The answer cannot be sent: [^\n]*\.$/),
  ])
})

test('a stream whose reader takes nothing is dropped with its socket, its bytes and its place', async () => {
  const streams: EventStream[] = []
  const buffered = new Account(100_000_000)
  const exchange: Exchange = ({ signal }) => {
    const stream = eventStream({ onEnd: () => {}, signal, bufferLimit: 1_000 })
    streams.push(stream)
    return { status: 200, headers: [], body: stream.body }
  }
  const limits = { ...defaultLimits, maxStreams: 1 }
  const port = await listening(exchange, undefined, { limits, crowd: new Crowd(buffered) })
  const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  const deaf: Socket = connect(port, '127.0.0.1')
  ends.push(() => deaf.destroy())
  deaf.on('error', () => {}).pause()
  deaf.write(get)
  await expect.poll(() => streams.length).toBe(1)
  // More than a socket takes by itself, so that the server waits.
  const frame = new Uint8Array(20_000_000)
  streams[0]!.sendFrame(frame)
  await expect.poll(() => buffered.held).toBe(frame.length)
  expect(await raw(port, get.replace('x', 'x\r\nConnection: close'))).toContain('503')
  streams[0]!.sendFrame(new Uint8Array(900))
  await hostPause()
  streams[0]!.sendFrame(new Uint8Array(900))
  await expect.poll(() => buffered.held).toBe(0)
  const late: Socket = connect(port, '127.0.0.1')
  ends.push(() => late.destroy())
  late.write(get)
  const [head] = await once(late, 'data')
  expect(String(head)).toContain('200')
  // It was closed, not only ended behind what nobody reads.
  deaf.resume()
  await once(deaf, 'close')
})

test('each part of a stream is read when it is the turn of its connection', async () => {
  let made = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (++made > 3) controller.close()
        else controller.enqueue(new Uint8Array(10))
      },
    },
    { highWaterMark: 0 },
  )
  const due: (() => void)[] = []
  let isRequest = true
  const port = await listening(() => ({ status: 200, headers: [], body }), undefined, {
    takeTurn: (_call, _connection, run) => {
      const isFirst = isRequest
      isRequest = false
      if (isFirst) run()
      else due.push(run)
    },
  })
  const text = fetch(`http://127.0.0.1:${port}/`).then((answer) => answer.arrayBuffer())
  for (let count = 0; count < 4; count++) {
    await expect.poll(() => due.length).toBe(1)
    expect(made).toBe(count)
    due.pop()!()
  }
  expect((await text).byteLength).toBe(30)
})
