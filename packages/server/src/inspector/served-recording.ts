import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { InspectorPage } from '@stuntdouble/inspector/page'
import { json } from '../../../../src/protocol/call.js'
import type { RawRequest, RawResponse } from '../../../../src/protocol/service.js'
import { listenOn } from '../listen-addresses.js'
import { listenFailure } from '../listen-failure.js'
import { listener, refuse } from '../listener.js'
import { originRejection } from '../origin-check.js'
import { defaultLimits } from '../server-limits.js'
import { answerOf } from './page-response.js'

const host = '127.0.0.1'

export interface ServedRecording {
  readonly link: string
  close(): Promise<void>
}

/**
 * Serves the page of a recording to this machine. The page is read-only and needs no token. Requests from pages of
 * other sites are rejected, even after DNS rebinding.
 * @param port port, or 0 for a free one
 * @throws Error when it cannot listen
 */
export async function serveRecording(page: InspectorPage, port: number): Promise<ServedRecording> {
  let origin = ''
  const answer = listener(
    () => origin,
    (call) => answerFor(call, page, origin),
    (error) => console.error(`stuntdouble: ${error instanceof Error ? error.stack : error}`),
    { limits: { ...defaultLimits, maxBodyBytes: 0, maxStreams: 0 } },
  )
  const guarded = (request: IncomingMessage, response: ServerResponse): void => {
    const refused = originRejection(request, { hosts: [] }, 'page')
    if (refused === undefined) answer(request, response)
    else refuse(request, response, refused)
  }
  const { servers, port: taken } = await listenOn(host, port, () => createServer(guarded)).catch((error) => {
    throw listenFailure(error, host, port)
  })
  origin = `http://${host}:${taken}`
  return {
    link: `${origin}/`,
    close: async () => {
      for (const server of servers) {
        const closed = new Promise((resolve) => server.close(resolve))
        server.closeAllConnections()
        await closed
      }
    },
  }
}

function answerFor({ method, url }: RawRequest, page: InspectorPage, origin: string): RawResponse {
  const path = url.slice(origin.length)
  if (/^\/(?:_inspector\/?)?(?:[?#]|$)/.test(path) && (method === 'GET' || method === 'HEAD')) return answerOf(page)
  return json({ error: `Not found: ${path}. A recording has only one page, at ${origin}/.` }, 404)
}
