import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeListener } from 'stuntdouble/node'
import { expect, test } from 'vitest'
import { type ListenerCase, listenerCases } from './listeners.js'

/** Headers of the connection, and the date, which nodeListener() does not send. */
const dropped = ['connection', 'keep-alive', 'transfer-encoding', 'date', 'trailer']

interface Observed {
  readonly status?: number
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string
  readonly broken?: 'before the headers' | 'in the body'
  readonly seen: readonly unknown[]
}

type Send = (request: Request) => Response | Promise<Response>

/** Sends the request of a case, and returns what the client and the listener observed. */
async function observed(
  { path = '/', init, abortAfter, readUntil }: ListenerCase,
  origin: string,
  sender: (see: (fact: unknown) => void) => Send,
): Promise<Observed> {
  const seen: unknown[] = []
  const abort = new AbortController()
  const see = (fact: unknown): void => {
    seen.push(fact)
    if (fact === abortAfter) abort.abort()
  }
  const request = new Request(origin + path, { ...init, signal: abort.signal })
  const isText = ([name, value]: readonly [string, string]) =>
    !dropped.includes(name) || (name === 'date' && value.includes('2030'))
  const result = async (): Promise<Omit<Observed, 'seen'>> => {
    const response = await sender(see)(request)
    if (response.status === 0) return { broken: 'before the headers' }
    const known = { status: response.status, headers: [...response.headers].filter(isText).sort() }
    let body = ''
    try {
      for await (const chunk of response.body ?? []) {
        body += Buffer.from(chunk).toString('latin1')
        if (readUntil !== undefined && body.includes(readUntil)) return known
      }
    } catch {
      return { ...known, broken: 'in the body' }
    }
    return { ...known, body }
  }
  const end = await result().catch((): Omit<Observed, 'seen'> => ({ broken: 'before the headers' }))
  // Events of the listener follow the response.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1))
  return { ...end, seen }
}

async function throughServer(one: ListenerCase): Promise<Observed & { readonly origin: string }> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const real = await observed(one, origin, (see) => {
      server.on('request', one.listener(see))
      return fetch
    })
    return { ...real, origin }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** An aborted fetch rejects, also within the body. A listener of nodeListener() only sees the abort. */
const comparable = (one: ListenerCase, { status, headers, body, broken, seen }: Observed): object =>
  one.abortAfter === undefined ? { status, headers, body, broken, seen } : { seen }

test.each(listenerCases)('nodeListener() behaves like a server of node:http: $title', async (one) => {
  const { origin, ...real } = await throughServer(one)
  const given = await observed(one, origin, (see) => nodeListener(one.listener(see)))
  expect(comparable(one, given)).toEqual(comparable(one, real))
})

test.each(listenerCases.filter(({ handler }) => handler !== undefined))(
  'a fetch handler can do the same as a server of node:http: $title',
  async (one) => {
    const { origin, ...real } = await throughServer(one)
    const given = await observed(one, origin, one.handler!)
    const without = ({ headers, ...rest }: Observed): Observed =>
      ({
        ...rest,
        // The handler need not count the bytes, or name the type of its text.
        headers: headers?.filter(([name]) => !['content-length', 'content-type', 'etag'].includes(name)),
      }) as Observed
    expect(comparable(one, without(given))).toEqual(comparable(one, without(real)))
  },
)
