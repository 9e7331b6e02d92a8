// biome-ignore-all lint/suspicious/noThenProperty: handlers that give thenables are the point
import type { Task } from '../../src/kernel/time.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'

// Handlers of destinations with typical and extreme defects, by name of the defect.

/** `any`, because types forbid these handlers. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type BadHandler = (sandbox: Sandbox, task: Task) => any

const stream = (start: (controller: ReadableStreamDefaultController) => void): Response =>
  new Response(new ReadableStream({ start }))

function endlessStream(chunk: unknown): Response {
  return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }))
}

/** Handlers whose attempt fails. */
export const failing: Readonly<Record<string, BadHandler>> = {
  'a Response that was read': async () => {
    const response = new Response('x')
    await response.text()
    return response
  },
  'a locked body': () => {
    const response = new Response('x')
    response.body!.getReader()
    return response
  },
  'a stream that errors': () => stream((controller) => controller.error(new Error('boom'))),
  'a stream that errors with null': () => stream((controller) => controller.error(null)),
  'a stream that errors after a chunk': () =>
    stream((controller) => {
      controller.enqueue(new Uint8Array(3))
      controller.error(new Error('later'))
    }),
  'a stream of texts': () => stream((controller) => controller.enqueue('text')),
  'a stream of numbers': () => stream((controller) => controller.enqueue(5)),
  'throws an error': () => {
    throw new RangeError('out of range')
  },
  'throws null': () => {
    throw null
  },
  'throws undefined': () => {
    throw undefined
  },
  'throws a frozen error': () => {
    throw Object.freeze(new Error('frozen'))
  },
  'throws a symbol': () => {
    throw Symbol('s')
  },
  'throws what is no text': () => {
    throw Object.create(null)
  },
  'throws a Proxy that throws': () => {
    throw thrower()
  },
  'rejects with a Proxy that throws': () => Promise.reject(thrower()),
  'throws an error whose message throws': () => {
    throw Object.defineProperty(new Error(), 'message', {
      get: () => {
        throw new Error('of the message')
      },
    })
  },
  'throws a very long error': () => {
    throw new Error('x'.repeat(1_000_000))
  },
  'returns undefined': () => undefined,
  'returns null': () => null,
  'returns a text': () => 'OK',
  'returns a symbol': () => Symbol('s'),
  'returns a function': () => () => 200,
  'returns an Error': () => new Error('returned'),
  'returns a Map': () => new Map([['status', 200]]),
  'returns a list': () => [200],
  'returns a Proxy that throws': () => thrower(),
  'resolves with a Proxy that throws': async () => ({ body: thrower() }),
  'a thenable that rejects': () => ({ then: (_: unknown, reject: (error: Error) => void) => reject(new Error('no')) }),
  'a thenable that throws': () => ({
    then: () => {
      throw new Error('in then')
    },
  }),
  'a thenable that rejects and then settles again': () => ({
    then: (resolve: (value: number) => void, reject: (error: Error) => void) => {
      reject(new Error('no'))
      resolve(200)
    },
  }),
  'a promise whose own then is no function of it': () =>
    Object.assign(Promise.reject(new Error('no')), {
      then: (_: unknown, reject: (error: Error) => void) => reject(new Error('no')),
    }),
  'status 0': () => ({ status: 0 }),
  'status 99': () => 99,
  'status 1000': () => ({ status: 1000 }),
  'status NaN': () => Number.NaN,
  'a status as a text': () => ({ status: '200' }),
  'a misspelt field': () => ({ statuss: 200 }),
  'headers of numbers': () => ({ status: 500, headers: { 'retry-after': 5 } }),
  'headers as a list': () => ({ headers: [['a', 'b']] }),
  'a header with a line end': () => ({ headers: { a: 'b\r\nc: d' } }),
  'a body in a circle': () => {
    const body: { self?: unknown } = {}
    body.self = body
    return { body }
  },
  'a body of a bigint': async () => ({ body: { amount: 1n } }),
  'a body that is a function': () => ({ body: () => 'x' }),
  'a body that is a Blob': () => ({ body: new Blob(['x']) }),
  'a step that is none': () => ({ kind: 'timeout' }),
  'a step without its field': async () => ({ kind: 'delay' }),
  'a step of NaN': () => ({ kind: 'latency', waitMs: Number.NaN }),
  'Response.error()': () => Response.error(),
  'a redirect': () => Response.redirect('https://elsewhere.test/'),
  'a likeness of a Response that throws': () => ({
    status: 200,
    headers: [],
    body: {},
    arrayBuffer: () => {
      throw new Error('no bytes')
    },
  }),
  'a likeness of a Response whose headers are none': () => ({
    status: 200,
    headers: 5,
    body: null,
    arrayBuffer: () => 5,
  }),
  'a likeness of a Response whose status is none': () => ({
    status: 'ok',
    headers: [],
    body: null,
    arrayBuffer: () => 5,
  }),
  'a likeness of a Response without bytes': () => ({
    status: 200,
    headers: [],
    body: {},
    arrayBuffer: async () => 1e12,
  }),
  'a sleep of NaN': async (_, task) => {
    await task.sleep(Number.NaN)
    return 200
  },
  'a sleep beyond the calendar': async (_, task) => {
    await task.sleep(Number.MAX_SAFE_INTEGER)
    return 200
  },
  'moves the clock': async ({ clock }) => {
    await clock.advance('1s')
    return 200
  },
  'drains the clock': async ({ clock }) => {
    await clock.drain()
    return 200
  },
  'Retry-After of 1e308': () => ({ status: 503, headers: { 'retry-after': '1e308' } }),
  'a negative Retry-After': () => ({ status: 503, headers: { 'retry-after': '-5' } }),
  'Retry-After of 400 digits': () => ({ status: 503, headers: { 'retry-after': '9'.repeat(400) } }),
  'Retry-After of a million parts': () => ({ status: 503, headers: { 'retry-after': '1s'.repeat(1_000_000) } }),
  'Retry-After of a date beyond': () => ({ status: 503, headers: { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' } }),
}

/** Unusual handlers whose attempt succeeds. */
export const harmless: Readonly<Record<string, BadHandler>> = {
  'a body without an end': () => endlessStream(new Uint8Array(65_536)),
  'a thenable': () => ({ then: (resolve: (answer: Response) => void) => resolve(new Response('x')) }),
  'a thenable that resolves twice': () => ({
    then: (resolve: (answer: number) => void) => {
      resolve(204)
      resolve(500)
    },
  }),
  'a likeness of a Response': () => ({
    status: 201,
    headers: new Map([['a', 'b']]),
    body: {},
    arrayBuffer: async () => new ArrayBuffer(3),
  }),
  'a stream whose cancel throws': () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(1_000_000)),
        cancel: () => {
          throw new Error('not to be canceled')
        },
      }),
    ),
  'unregisters itself': ({ destinations }) => {
    destinations.off()
    return 200
  },
  'a sleep nobody awaits': (_, task) => {
    void task.sleep('1s')
    return 200
  },
}

/** Handlers that never end. */
export const stuck: Readonly<Record<string, BadHandler>> = {
  'never settles': () => new Promise(() => undefined),
  'a thenable that never settles': () => ({ then: () => undefined }),
  'a stream that never ends': () => stream(() => undefined),
  'a stream that gives one chunk and no more': () => stream((controller) => controller.enqueue(new Uint8Array(3))),
  'never settles after a sleep': async (_, task) => {
    await task.sleep('1s')
    await new Promise(() => undefined)
  },
}

function thrower(): object {
  const no = (): never => {
    throw new Error('by the Proxy')
  }
  return new Proxy({}, { get: no, has: no, getPrototypeOf: no, ownKeys: no, getOwnPropertyDescriptor: no })
}
