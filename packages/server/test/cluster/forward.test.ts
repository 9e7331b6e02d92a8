import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { latin1 } from '../../../../src/kernel/bytes.js'
import { ConnectionBroken } from '../../../../src/kernel/http.js'
import type { RawResponse } from '../../../../src/protocol/service.js'
import { Forwarder, NoResponse, NotTaken, nodeHeader } from '../../src/cluster/forward.js'
import { Signer, Verifier } from '../../src/cluster/node-signature.js'
import { passHeader } from '../../src/cluster/pass-header.js'

const secret = 'a secret of all nodes, 32 bytes'
const servers: Server[] = []
const forwarder = new Forwarder(new Signer(secret, 'one', Date.now))
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

async function node(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Sent {
  readonly address: string
  readonly method?: string
  readonly body?: string
  readonly lost?: AbortSignal
}

const forward = ({ address, method = 'POST', body = '', lost }: Sent): Promise<RawResponse> => {
  const headers = [
    ['Host', 'lb.test'],
    ['X-Two', 'a'],
    ['x-two', 'b'],
  ] as const
  const call = { method, url: 'http://cluster.test/w1/store', headers, body: () => latin1(body) }
  const watched = { signal: lost ?? new AbortController().signal, end: () => undefined }
  return forwarder.forward(call, '/w1/store?x=%20', { id: 'two', address }, watched)
}

test('forward() sends a signed request unchanged, and returns the response unchanged', async () => {
  const everyByte = String.fromCharCode(...Array.from({ length: 256 }, (_, byte) => byte))
  const verifier = new Verifier(secret, 'two', Date.now)
  let verdict: unknown
  const address = await node((request, response) => {
    let body = ''
    request.setEncoding('latin1').on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      const headers: [string, string][] = []
      for (let index = 0; index < request.rawHeaders.length; index += 2) {
        headers.push([request.rawHeaders[index]!, request.rawHeaders[index + 1]!])
      }
      const signature = request.headers[passHeader] as string
      verdict = verifier.verify(signature, { method: request.method!, target: request.url!, headers, body })
      response.writeHead(207, [...['Set-Cookie', 'a=1'], ...['Set-Cookie', 'b=2'], ...['content-length', '256']])
      response.end(body, 'latin1')
    })
  })
  const answer = await forward({ address, body: everyByte })
  expect(verdict).toEqual({
    headers: [
      ['Host', 'lb.test'],
      ['X-Two', 'a'],
      ['x-two', 'b'],
    ],
  })
  expect(answer.status).toBe(207)
  expect(answer.body).toBe(everyByte)
  expect(answer.headers.filter(([name]) => name === 'Set-Cookie')).toEqual([
    ['Set-Cookie', 'a=1'],
    ['Set-Cookie', 'b=2'],
  ])
})

test('forward() returns a response with long headers', async () => {
  const value = 'x'.repeat(40_000)
  const address = await node((_, response) => response.writeHead(200, { 'x-long': value }).end('{}'))
  expect((await forward({ address })).headers).toContainEqual(['x-long', value])
})

test('forward() returns a stream part by part', async () => {
  const address = await node((_, response) => {
    response.write('one')
    setTimeout(() => response.end('two'), 20)
  })
  const { body } = await forward({ address })
  expect(body).toBeInstanceOf(ReadableStream)
  expect(await new Response(body as ReadableStream<Uint8Array>).text()).toBe('onetwo')
})

test('forward() throws NotTaken if the node rejects connections', async () => {
  const address = await node(() => undefined)
  await new Promise((resolve) => servers.pop()!.close(resolve))
  await expect(forward({ address })).rejects.toBeInstanceOf(NotTaken)
})

test.each<[string, RequestListener]>([
  ['no response', (request) => void request.on('end', () => request.socket.destroy()).resume()],
  [
    'half a response',
    (request, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('half')
      setTimeout(() => request.socket.destroy(), 20)
    },
  ],
])('forward() throws NoResponse for %s', async (_, listener) => {
  await expect(forward({ address: await node(listener) })).rejects.toBeInstanceOf(NoResponse)
})

test('forward() does not wait for a node that loses the tenant', async () => {
  const lost = new AbortController()
  const address = await node(() => lost.abort())
  await expect(forward({ address, lost: lost.signal })).rejects.toBeInstanceOf(NoResponse)
})

test.each([
  ['elsewhere', 421, NotTaken],
  ['refused', 401, NotTaken],
  ['broken ECONNRESET', 502, ConnectionBroken],
])('forward() recognizes %s of a node, but not of a tenant', async (word, status, kind) => {
  const address = await node((_, response) => response.writeHead(status, { [nodeHeader]: word }).end('{}'))
  await expect(forward({ address })).rejects.toBeInstanceOf(kind)
})

test('forward() returns no body for HEAD and 204', async () => {
  const address = await node((request, response) => response.writeHead(request.method === 'HEAD' ? 200 : 204).end())
  expect((await forward({ address, method: 'HEAD' })).body).toBeNull()
  expect((await forward({ address, method: 'DELETE' })).body).toBeNull()
})
