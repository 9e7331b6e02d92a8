import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { toArray } from '../../../../src/kernel/bytes.js'
import { json } from '../../../../src/protocol/call.js'
import type { RawRequest, RawResponse } from '../../../../src/protocol/service.js'
import { defaultHost, listenOn } from '../listen-addresses.js'
import { listener, refuse } from '../listener.js'
import { originRejection } from '../origin-check.js'
import { isSameText } from '../same-text.js'
import { defaultLimits } from '../server-limits.js'
import { maxMessage } from './stdin-lines.js'

const mcpPath = '/mcp'

export interface HttpOptions {
  readonly port: number
  readonly token: string
  readonly handle: (request: Request) => Promise<Response>
  readonly report: (text: string) => void
}

export interface HttpServer {
  readonly url: string
  close(): Promise<void>
}

/** Serves MCP over HTTP on a loopback address. Clients need the token, and requests of web pages are rejected. */
export async function listenForAgents({ port, token, handle, report }: HttpOptions): Promise<HttpServer> {
  let origin = ''
  const serve = listener(
    () => origin,
    (call) => turnedAway(call, origin, token) ?? exchanged(call, origin, handle),
    (error) => report(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    {
      limits: { ...defaultLimits, maxBodyBytes: maxMessage, maxStreams },
      turnsAway: (call) => turnedAway(call, origin, token),
    },
  )
  const guarded = (request: IncomingMessage, response: ServerResponse): void => {
    const refused = originRejection(request, { hosts: [] }, 'control')
    if (refused === undefined) serve(request, response)
    else refuse(request, response, refused)
  }
  const timeouts = { headersTimeout: 20_000, requestTimeout: defaultLimits.requestTimeout }
  const { servers, port: taken } = await listenOn(defaultHost, port, () => createServer(timeouts, guarded))
  origin = `http://127.0.0.1:${taken}`
  return { url: origin + mcpPath, close: () => closed(servers) }
}

export const maxStreams = 100

function turnedAway({ url, headers }: RawRequest, origin: string, token: string): RawResponse | undefined {
  const path = url.slice(origin.length).replace(/[?#].*$/s, '')
  if (path !== mcpPath) return json({ error: `Not found. The MCP server is at ${mcpPath}.` }, 404)
  const given = headers.filter(([name]) => name.toLowerCase() === 'authorization')
  if (given.length === 1 && isSameText(given[0]![1], `Bearer ${token}`)) return undefined
  const error =
    'A valid token is required in the header Authorization, not as a query parameter or cookie. Send Authorization: Bearer TOKEN, with the token that "stuntdouble mcp --http" printed.'
  return json({ error }, 401, [['www-authenticate', 'Bearer']])
}

async function exchanged(call: RawRequest, origin: string, handle: HttpOptions['handle']): Promise<RawResponse> {
  const body = await call.body()
  // Remove the token: the handler does not need it, and must not log it.
  const headers = call.headers.filter(([name]) => name.toLowerCase() !== 'authorization')
  const request = new Request(origin + mcpPath, {
    method: call.method,
    headers: headers as [string, string][],
    ...(body !== '' && { body: toArray(body) as Uint8Array<ArrayBuffer> }),
    ...(call.signal !== undefined && { signal: call.signal }),
  })
  const response = await handle(request)
  return { status: response.status, headers: [...response.headers], body: response.body }
}

/** Closes the HTTP servers and the open event streams. */
async function closed(servers: readonly Server[]): Promise<void> {
  await Promise.all(
    servers.map((server) => {
      const ended = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      return ended
    }),
  )
}
