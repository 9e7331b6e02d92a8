// What the server costs over node:http answering the same constant text, with 32 connections that stay open.
import { Agent, createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startServer } from 'stuntdouble/server'
import type { Figure, Variant } from '../harness.ts'

const body = '["GET","greeting"]'
const connections = 32

function client(name: string, origin: string, path: string, token: string, each?: () => void): Variant {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': body.length,
  }
  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request(origin + path, { agent, method: 'POST', headers }, (response) => {
        response.on('data', () => {}).on('end', resolve)
      })
      sent.on('error', reject).end(body)
    })
  return {
    name,
    async run(times) {
      let left = times
      const one = async (): Promise<void> => {
        while (left-- > 0) await ask()
      }
      await Promise.all(Array.from({ length: connections }, one))
      each?.()
    },
  }
}

function constantServer(): Promise<Server> {
  const server = createServer((incoming, response) => {
    incoming
      .on('data', () => {})
      .on('end', () => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 18 }).end('{"result":"hello"}')
      })
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

async function storeOverServer(): Promise<Figure> {
  const constant = await constantServer()
  const server = await startServer({ port: 0, clock: 'manual' })
  const sandbox = server.tenant('main')
  sandbox.store.run('SET', 'greeting', 'hello')
  const origin = `http://127.0.0.1:${(constant.address() as AddressInfo).port}`
  const token = sandbox.tokens.store
  return {
    name: 'store GET over the server, over a constant node:http answer, client included',
    baseline: client('constant', origin, '/', token),
    variants: [client('stuntdouble/server', server.origin, '/main/store/', token, () => sandbox.traffic.clear())],
    // 0.85 of the throughput or better.
    atMost: { 'stuntdouble/server': 1 / 0.85 },
    turn: 150,
    dispose: async () => {
      await server.close()
      constant.closeAllConnections()
      constant.close()
    },
  }
}

export const figures = [storeOverServer]
