import { once } from 'node:events'
import { createServer, request as nodeRequest } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { Account } from '../../../src/kernel/account.js'
import { hostPause } from '../../../src/kernel/host.js'
import { json } from '../../../src/protocol/call.js'
import { type EventStream, eventStream } from '../../../src/protocol/event-stream.js'
import type { Exchange, RawRequest, RawResponse } from '../../../src/protocol/service.js'
import { Crowd } from '../../../src/store/resp/crowd.js'
import { runs } from '../../../test/support/effort.js'
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

/** Sends plain HTTP over a socket. */
async function raw(port: number, text: string): Promise<string> {
  const socket: Socket = connect(port, '127.0.0.1')
  socket.end(text)
  let answer = ''
  for await (const chunk of socket) answer += chunk
  return answer
}

test('listener() ignores the Host header and the host of a whole URL', async () => {
  const urls: string[] = []
  const port = await listening((call) => {
    urls.push(call.url)
    return json(1)
  })
  await raw(port, 'GET /a?b HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')
  await raw(port, 'GET http://store.example:80/a%2Fb?c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  expect(urls).toEqual([`${origin}/a?b`, `${origin}/a%2Fb?c`])
})

test('listener() passes repeated headers, but not those of the connection', async () => {
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

test('listener() sends the length of a body, except for HEAD', async () => {
  const port = await listening((call) => (call.method === 'HEAD' ? { ...json('é'), body: null } : json('é')))
  const get = await raw(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  const head = await raw(port, 'HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  expect(get).toMatch(/^HTTP\/1\.1 200 OK\r\n.*content-length: 4\r\n.*"é"$/s)
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(head).not.toContain('content-length')
})

test('listener() responds to a bug with status 500 and one line, and reports its stack', async () => {
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

test('listener() runs nothing and reports nothing for a client that disconnects while it sends', async () => {
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
  // Later requests are served.
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
  expect([calls.length, reported]).toEqual([1, []])
})

test('listener() responds to a rejected request without waiting for its body, and reports an error there', async () => {
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
  ['an invalid status', { status: 99, headers: [], body: null }],
  ['a status above 999', { status: 1000, headers: [], body: null }],
  ['a header with characters above one byte', { status: 200, headers: [['x', '\u20ac']], body: null }],
  ['a line break in a header', { status: 200, headers: [['x', 'a\r\nset-cookie: b']], body: null }],
  ['a header name with a space', { status: 200, headers: [['x y', 'z']], body: null }],
  ['an invalid status of a stream', { status: 200, headers: [['x', '\0']], body: new ReadableStream() }],
] as const)('listener() responds with one message to %s', async (_, answer) => {
  const port = await listening(() => answer as RawResponse)
  const told = await fetch(`http://127.0.0.1:${port}/`)
  expect([told.status, ((await told.json()) as { error: string }).error]).toEqual([
    500,
    expect.stringMatching(/^The response cannot be sent: [^\n]*\.$/),
  ])
})

test('listener() drops a stream whose reader takes nothing, with its socket, memory and place', async () => {
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
  // More data than a socket takes immediately, so that the server waits.
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
  // The socket was closed, and not only ended behind unread data.
  deaf.resume()
  await once(deaf, 'close')
})

test('listener() reads each part of a stream when its connection has a turn', async () => {
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

/** A request as a client writes it, with what the sandbox must get. */
interface Written {
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  readonly isChunked: boolean
}

function textOf({ target, headers, body, isChunked }: Written, isLast: boolean): string {
  const own = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const close = isLast ? 'Connection: close\r\n' : ''
  const head = `POST ${target} HTTP/1.1\r\nHost: x\r\n`
  if (!isChunked) return `${head}Content-Length: ${body.length}\r\n${own}${close}\r\n${body}`
  const chunk = body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`
  return `${head}${own}Transfer-Encoding: chunked\r\n${close}\r\n${chunk}0\r\n\r\n`
}

test('listener() passes each request of a connection unchanged, also if it resembles the previous one', async () => {
  const calls: Pick<Written, 'target' | 'headers' | 'body'>[] = []
  const port = await listening((call) => {
    // A list of headers must stay the same after later requests, because logs keep it.
    calls.push({ target: call.url.slice(origin.length), headers: call.headers, body: call.body() as string })
    return json(1)
  })
  // Few names and values, so that many requests differ in one place only, or in none.
  const header = fc.tuple(fc.constantFrom('X-A', 'x-a', 'Authorization'), fc.constantFrom('a', 'b', 'Content-Length'))
  const written: fc.Arbitrary<Written> = fc.record({
    target: fc.constantFrom('/', '/a', '/a?b'),
    headers: fc.array(header, { maxLength: 2 }),
    body: fc.constantFrom('', 'x', 'xy', 'z'.repeat(20)),
    isChunked: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(written, { minLength: 1, maxLength: 8 }), async (requests) => {
      calls.length = 0
      await raw(port, requests.map((one, index) => textOf(one, index === requests.length - 1)).join(''))
      // Node.js passes on pipelined requests together. One without a body then runs before the bodies of earlier ones.
      const sorted = (list: typeof calls): string[] => list.map((one) => JSON.stringify(one)).sort()
      const expected = requests.map(({ target, headers, body }) => ({
        target,
        headers: [['Host', 'x'] as const, ...headers],
        body,
      }))
      expect(sorted(calls)).toEqual(sorted(expected))
    }),
    { numRuns: runs(30, 200, 1000) },
  )
})
