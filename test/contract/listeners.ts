import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGzip } from 'node:zlib'
import express from 'express'

// What request listeners of Node.js do. Each case runs in a server of node:http, which decides what is right, and
// through nodeListener(). `handler` does the same with `Request` and `Response`, where that is possible.

export interface ListenerCase {
  readonly title: string
  readonly path?: string
  readonly init?: RequestInit
  /** `see` adds a fact that both runs must have in common. */
  readonly listener: (see: See) => (request: IncomingMessage, response: ServerResponse) => unknown
  readonly handler?: (see: See) => (request: Request) => Response | Promise<Response>
  /** Aborts the request when the listener has seen this. */
  readonly abortAfter?: string
  /** Reads the response only until its body contains this text, and then cancels it. */
  readonly readUntil?: string
}

type See = (fact: unknown) => void

/** Headers that `fetch` adds to a request, or that belong to the connection. */
const added = [...['accept', 'accept-encoding', 'accept-language', 'connection', 'sec-fetch-mode', 'user-agent']]

const every = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'text/plain', ...headers },
})

/** Returns an Express app. Express adds a prototype to each request and response. */
function app(add: (app: express.Express) => void): express.Express {
  const created = express()
  add(created)
  // Without it, Express prints the errors of handlers.
  created.set('env', 'test')
  return created
}

const bytesOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export const listenerCases: readonly ListenerCase[] = [
  {
    title: 'gets method, path, query, host and headers',
    path: '/a%20b/ü?x=1&x=2&y=%2F',
    init: post('body', { 'X-One': 'a', 'x-two': 'b, c', 'upstash-signature': 'e30.e30.x' }),
    listener: (see) => (request, response) => {
      const { method, url, httpVersion, headers, headersDistinct, complete } = request
      const without = (given: object) =>
        Object.fromEntries(Object.entries(given).filter(([name]) => !added.includes(name)))
      see([method, url, httpVersion, without(headers), without(headersDistinct), complete])
      response.end()
    },
  },
  {
    title: 'gets a socket of this machine',
    listener:
      (see) =>
      ({ socket }, response) => {
        see([
          socket.remoteAddress,
          socket.localAddress,
          'encrypted' in socket && socket.encrypted,
          typeof socket.address(),
        ])
        socket.setKeepAlive(true)
        socket.setNoDelay(true)
        response.end()
      },
  },
  {
    title: 'gets every byte of a body',
    init: post(every),
    listener: (see) => async (request, response) => {
      see([...(await bytesOf(request))])
      response.end()
    },
    handler: (see) => async (request) => {
      see([...new Uint8Array(await request.arrayBuffer())])
      return new Response()
    },
  },
  {
    title: 'gets a large body in chunks, and sends it back',
    init: post(new Uint8Array(300_000).fill(7)),
    listener: (see) => (request, response) => {
      let length = 0
      request.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (!response.write(chunk)) {
          request.pause()
          response.once('drain', () => request.resume())
        }
      })
      request.on('end', () => {
        see([length, request.complete])
        response.end()
      })
    },
    handler: (see) => async (request) => {
      const body = await request.arrayBuffer()
      see([body.byteLength, true])
      return new Response(body)
    },
  },
  {
    title: 'pipes the request into the response',
    init: post('piped'),
    listener: () => (request, response) => void request.pipe(response),
    handler: () => (request) => new Response(request.body),
  },
  {
    title: 'responds without reading the body',
    init: post(new Uint8Array(200_000)),
    listener: () => (_request, response) => void response.writeHead(413).end('too large'),
    handler: () => () => new Response('too large', { status: 413 }),
  },
  {
    title: 'sends status, message, headers and repeated headers',
    listener: () => (_request, response) => {
      response.appendHeader('Set-Cookie', 'a=1; Path=/')
      response.appendHeader('Set-Cookie', 'b=2')
      response.appendHeader('X-List', 'one')
      response.appendHeader('X-List', 'two')
      response.writeHead(201, 'Made', { 'X-Latin': 'caf\u00e9' }).end('made')
    },
    handler: () => () =>
      new Response('made', {
        status: 201,
        headers: [
          ...[['set-cookie', 'a=1; Path=/'] as [string, string], ['set-cookie', 'b=2'] as [string, string]],
          ...[['x-list', 'one'] as [string, string], ['x-list', 'two'] as [string, string]],
          ['x-latin', 'caf\u00e9'],
        ],
      }),
  },
  {
    title: 'sends a date of its own',
    listener: () => (_request, response) => {
      response.setHeader('Date', 'Tue, 01 Jan 2030 09:00:00 GMT')
      response.end('x')
    },
  },
  {
    title: 'sends every byte',
    listener: () => (_request, response) => void response.end(every),
    handler: () => () => new Response(every),
  },
  {
    title: 'sends pieces of a body over several turns',
    listener: () => (_request, response) => {
      response.write('a')
      setImmediate(() => {
        response.write('b')
        setImmediate(() => response.end('c'))
      })
    },
    handler: () => () =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            for (const text of ['a', 'b', 'c']) controller.enqueue(new TextEncoder().encode(text))
            controller.close()
          },
        }),
      ),
  },
  {
    title: 'sends no body to HEAD',
    init: { method: 'HEAD' },
    listener: () => (_request, response) => void response.setHeader('x-length', '5').end('hello'),
  },
  ...[204, 205, 304].map(
    (status): ListenerCase => ({
      title: `sends ${status} without a body`,
      listener: () => (_request, response) => void response.writeHead(status, { 'x-a': 'b' }).end(),
      handler: () => () => new Response(null, { status, headers: { 'x-a': 'b' } }),
    }),
  ),
  {
    title: 'sends 599',
    listener: () => (_request, response) => void response.writeHead(599).end('no'),
    handler: () => () => new Response('no', { status: 599 }),
  },
  {
    title: 'sends a status that Response does not take',
    listener: () => (_request, response) => void response.writeHead(799).end('odd'),
  },
  {
    title: 'sends a redirect that is not followed',
    init: { redirect: 'manual' },
    listener: () => (_request, response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
    handler: () => () => new Response(null, { status: 307, headers: { location: '/elsewhere' } }),
  },
  {
    title: 'sends 103 before the response',
    listener: () => (_request, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' })
      response.end('late')
    },
  },
  {
    title: 'sends trailers, which no client gets',
    listener: () => (_request, response) => {
      response.writeHead(200, { Trailer: 'x-sum' })
      response.write('body')
      response.addTrailers({ 'x-sum': '4' })
      response.end()
    },
  },
  {
    title: 'ends its response in order: finish, then close',
    init: post('x'),
    listener: (see) => (request, response) => {
      request.resume()
      for (const event of ['finish', 'close']) response.on(event, () => see(`response ${event}`))
      for (const event of ['end', 'close', 'aborted']) request.on(event, () => see(`request ${event}`))
      request.on('end', () => response.end('x'))
    },
  },
  {
    title: 'writes after the end, which is an event and no crash',
    listener: (see) => (_request, response) => {
      response.on('error', ({ code }: NodeJS.ErrnoException) => see(code))
      response.end('x')
      response.write('y')
    },
  },
  {
    title: 'sets a header after the headers, which throws',
    listener: (see) => (_request, response) => {
      response.write('x')
      try {
        response.setHeader('a', 'b')
      } catch (error) {
        see((error as NodeJS.ErrnoException).code)
      }
      response.end()
    },
  },
  {
    title: 'destroys the response before the headers',
    listener: () => (_request, response) => void response.destroy(),
    handler: () => () => Response.error(),
  },
  {
    title: 'destroys the socket before the headers',
    listener:
      () =>
      ({ socket }) =>
        void socket.destroy(),
    handler: () => () => Response.error(),
  },
  {
    title: 'destroys the response with an error after the headers',
    listener: (see) => (_request, response) => {
      response.on('close', () => see(['closed', response.writableFinished, response.destroyed]))
      response.writeHead(200, { 'content-length': '10' })
      response.write('half', () => response.destroy(new Error('disk full')))
    },
    handler: (see) => () => {
      let isFirst = true
      return new Response(
        new ReadableStream({
          pull: (controller) => {
            if (!isFirst) {
              see(['closed', false, true])
              return controller.error(new Error('disk full'))
            }
            isFirst = false
            controller.enqueue(new TextEncoder().encode('half'))
          },
        }),
        { headers: { 'content-length': '10' } },
      )
    },
  },
  {
    title: 'destroys the socket in a chunked body',
    listener: () => (_request, response) => {
      response.write('half', () => response.socket!.destroy())
    },
  },
  {
    title: 'does not end: the client gives up before the headers',
    init: post('x'),
    abortAfter: 'waiting',
    listener: (see) => (request, response) => {
      request.resume()
      response.on('close', () => see(['closed', response.writableFinished, response.destroyed]))
      request.on('end', () => see('waiting'))
    },
    handler: (see) => (request) =>
      new Promise((_, reject) => {
        request.signal.addEventListener('abort', () => {
          see(['closed', false, true])
          reject(request.signal.reason)
        })
        see('waiting')
      }),
  },
  {
    title: 'does not end: the client gives up within the body',
    abortAfter: 'waiting',
    listener: (see) => (_request, response) => {
      response.on('close', () => see(['closed', response.writableFinished]))
      response.write('half', () => see('waiting'))
    },
  },
  {
    title: 'sends without end: the client stops reading',
    readUntil: 'aaa',
    listener: (see) => (_request, response) => {
      response.on('close', () => see(['closed', response.writableFinished]))
      const send = (): void => {
        if (!response.destroyed) response.write('a'.repeat(1000), () => setImmediate(send))
      }
      send()
    },
  },
  {
    title: 'Express parses JSON, and knows protocol, host and address',
    path: '/orders?x=1',
    init: post('{"id":42}', { 'content-type': 'application/json' }),
    listener: (see) =>
      app((app) =>
        app.post('/orders', express.json(), (request, response) => {
          see([request.body, request.query, request.protocol, request.secure, request.ip, request.originalUrl])
          response.cookie('a', 'b').status(202).json({ taken: request.body.id })
        }),
      ),
    handler: (see) => async (request) => {
      const body = (await request.json()) as { id: number }
      see([body, { x: '1' }, 'http', false, '127.0.0.1', '/orders?x=1'])
      return new Response(JSON.stringify({ taken: body.id }), {
        status: 202,
        headers: {
          ...{ 'x-powered-by': 'Express', 'set-cookie': 'a=b; Path=/', etag: 'W/"c-qKXeJTDgPFZHuS5m0RIbu0LD3sM"' },
          ...{ 'content-type': 'application/json; charset=utf-8', 'content-length': '12' },
        },
      })
    },
  },
  {
    title: 'Express gives raw bytes',
    init: post(every, { 'content-type': 'application/octet-stream' }),
    listener: (see) =>
      app((app) =>
        app.use(express.raw({ type: '*/*' }), (request, response) => {
          see([...request.body])
          response.send(request.body)
        }),
      ),
  },
  {
    title: 'Express responds 400 for JSON that cannot be parsed, and 404 without a route',
    init: post('{', { 'content-type': 'application/json' }),
    listener: () => app((app) => app.use(express.json(), (_request, response) => void response.send('parsed'))),
  },
  {
    title: 'Express responds 500 for a handler that throws',
    listener: () =>
      app((app) => {
        app.get('/', async () => {
          throw new Error('boom')
        })
      }),
  },
  {
    title: 'Express streams a file',
    listener: () =>
      app((app) =>
        app.get('/', (_request, response) =>
          response.sendFile(new URL(import.meta.url).pathname, { lastModified: false }),
        ),
      ),
  },
  {
    title: 'replaces write and end of the response, as compression does',
    listener: () => (_request, response) => {
      const zip = createGzip()
      const [write, end] = [response.write.bind(response), response.end.bind(response)]
      response.write = ((chunk: Buffer) => zip.write(chunk)) as typeof response.write
      response.end = (() => void zip.end()) as unknown as typeof response.end
      response.setHeader('x-zipped', 'yes')
      zip.on('data', (chunk) => void write(chunk))
      zip.on('end', () => void end())
      response.write('zipped')
      response.end()
    },
  },
]
