import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A response on its way through the proxy. */
export interface Passing {
  status: number
  headers: Record<string, string>
  body: string
}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Changes a response to plant a difference; without a result the response stays unchanged. */
type Plant = (asked: Asked, answer: Passing) => Partial<Passing> | undefined | void

/** What a planted difference makes of a request. */
type Rewrite = (
  asked: Asked,
) => { readonly headers?: Readonly<Record<string, string>>; readonly body?: string } | undefined

export interface GoBetween {
  readonly url: string
  readonly asked: Asked[]
  plant: Plant | undefined
  rewrite: Rewrite | undefined
  close(): Promise<void>
}

const ofConnection = /^(?:connection|keep-alive|transfer-encoding|content-length|host)$/

/** Starts a proxy that changes responses of another server. Streams pass unchanged. */
export async function startBetween(target: string): Promise<GoBetween> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const one = {
      method: request.method!,
      path: request.url!,
      headers: request.headers,
      body: body.toString('utf8'),
    }
    asked.push(one)
    const rewritten = proxy.rewrite?.(one)
    const sent = rewritten?.body === undefined ? body : Buffer.from(rewritten.body)
    const headers = Object.entries({ ...request.headers, ...rewritten?.headers }).flatMap(
      ([name, value]): [string, string][] =>
        ofConnection.test(name) || value === undefined ? [] : [[name, String(value)]],
    )
    const abort = new AbortController()
    response.on('close', () => abort.abort())
    const answer = await fetch(target + request.url, {
      method: request.method!,
      headers,
      signal: abort.signal,
      redirect: 'manual',
      ...(sent.length > 0 && { body: sent }),
    }).catch(() => undefined)
    if (answer === undefined) return response.destroy()
    const given = Object.fromEntries([...answer.headers].filter(([name]) => !ofConnection.test(name)))
    if (given['content-type'] === 'text/event-stream') {
      response.writeHead(answer.status, given)
      try {
        for await (const chunk of answer.body!) response.write(chunk)
      } catch {
        // The client has left.
      }
      return response.end()
    }
    const passing = {
      status: answer.status,
      headers: given,
      body: Buffer.from(await answer.arrayBuffer()).toString('latin1'),
    }
    const changed = { ...passing, ...proxy.plant?.(one, passing) }
    response.writeHead(changed.status, changed.headers)
    return response.end(Buffer.from(changed.body, 'latin1'))
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: GoBetween = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    plant: undefined,
    rewrite: undefined,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return proxy
}
