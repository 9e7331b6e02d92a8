import type { NextApiHandler, PageConfig } from 'next'
import { apiResolver } from 'next/dist/server/api-utils/node/api-resolver.js'
import { type NodeListener, nodeListener } from 'stuntdouble/node'

interface ApiRoute {
  readonly default: NextApiHandler
  readonly config?: PageConfig
}

/** Runs a route of `pages/api` with the body parser and the helpers of Next.js. */
export function apiRoute(route: ApiRoute): (request: Request) => Promise<Response> {
  const context = { dev: false, previewModeId: '', previewModeEncryptionKey: '', previewModeSigningKey: '' }
  const listener: NodeListener = (request, response) => {
    // The server of Next.js sets this header, and the workflow SDK reads it.
    request.headers['x-forwarded-proto'] ??= request.socket.encrypted ? 'https' : 'http'
    const query = Object.fromEntries(new URL(request.url, 'http://localhost').searchParams)
    return apiResolver(request, response, query, route, context, true)
  }
  return nodeListener(listener)
}
