import type { ServerOptions as HttpOptions, Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { hostClearTimeout, hostSetTimeout } from '../kernel/host.js'
import type { ServerLimits } from './limits.js'
import type { Tenants } from './tenants.js'

/** Commands may come as paths, and some are long. A client that sends slowly shall not hold a socket for ever. */
export function timeouts({ arrival }: ServerLimits): HttpOptions {
  return {
    maxHeaderSize: 1_048_576,
    headersTimeout: Math.min(20_000, arrival),
    requestTimeout: arrival,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: Math.min(10_000, Math.ceil(arrival / 4)),
  }
}

/**
 * Takes no new connections. What still comes on those that are there is answered for so many host milliseconds, and is the
 * last on its connection: who sent it before it heard of the end would otherwise not know whether it has happened.
 */
export async function lastAnswers(servers: readonly Server[], ms: number): Promise<void> {
  const drained = servers.map(
    (server) =>
      new Promise<void>((resolve) => {
        server.prependListener('request', (_, response) => {
          response.shouldKeepAlive = false
        })
        // That of HTTP closes idle connections at once.
        NetServer.prototype.close.call(server, () => resolve())
      }),
  )
  let timer: NodeJS.Timeout
  const late = new Promise<void>((resolve) => {
    timer = hostSetTimeout(resolve, ms)
  })
  await Promise.race([Promise.all(drained), late])
  hostClearTimeout(timer!)
}

/** Open streams end with their sandboxes, idle connections at once, requests that run with their answer or the grace. */
export async function ended(servers: readonly Server[], tenants: Tenants, grace: number): Promise<void> {
  tenants.dispose()
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
  // Connections that served a stream or a request that runs are idle a little later.
  let sweep: NodeJS.Timeout
  const swept = (): void => {
    for (const server of servers) server.closeIdleConnections()
    sweep = hostSetTimeout(swept, 10)
  }
  swept()
  const patience = hostSetTimeout(() => {
    for (const server of servers) server.closeAllConnections()
  }, grace)
  await Promise.all(closed)
  hostClearTimeout(patience)
  hostClearTimeout(sweep!)
}
