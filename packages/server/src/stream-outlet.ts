import { randomBytes } from 'node:crypto'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RawResponse } from '../../../src/protocol/service.js'
import { drained } from './listener.js'

/** Serves the bodies of event streams. Each body has a random URL, which works once. */
export interface StreamOutlet {
  serve(answer: RawResponse): string
  close(): Promise<void>
}

export async function openStreamOutlet(): Promise<StreamOutlet> {
  const waiting = new Map<string, RawResponse>()
  const server: Server = createServer((request, response) => {
    const answer = waiting.get(request.url ?? '')
    waiting.delete(request.url ?? '')
    if (answer === undefined) response.writeHead(404).end()
    else void pipe(answer, response)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  return {
    serve: (answer) => {
      const path = `/${randomBytes(16).toString('hex')}`
      waiting.set(path, answer)
      return `http://127.0.0.1:${port}${path}`
    },
    close: async () => {
      for (const { body } of waiting.values()) if (body !== null && typeof body === 'object') await body.cancel()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

/**
 * Sends a stream with headers that allow every origin. The headers cannot name the origin of the page, because browsers
 * do not send this origin after a redirect to another origin.
 */
async function pipe({ status, headers, body }: RawResponse, response: ServerResponse): Promise<void> {
  response.writeHead(status, { ...Object.fromEntries(headers), 'access-control-allow-origin': '*' })
  response.flushHeaders()
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  response.once('close', () => void reader.cancel().catch(() => undefined))
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read())
      if (!response.write(read.value)) await drained(response)
    response.end()
  } catch {
    // Send the data that was written before the failure, then close the connection.
    if (response.socket === null) response.destroy()
    else response.socket.destroySoon()
  }
}
