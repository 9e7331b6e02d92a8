import type { ServerOptions as HttpOptions, Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { hostClearTimeout, hostSetTimeout } from '../../../src/kernel/host.js'
import { maxHead, type ResolvedLimits } from './server-limits.js'

/** Host milliseconds in which the head of a request has to arrive. */
export const headArrival = 20_000
/** How often it is looked which requests have not arrived in time, in host milliseconds. */
export const arrivalLook = 10_000
/** Bytes that the other end has taken. How far a write is that is under way, only what Node times its sockets by tells. */
export function takenFrom(stream: object): number {
  const { _handle } = stream as { _handle?: { bytesWritten?: number; writeQueueSize?: number } | null }
  return (_handle?.bytesWritten ?? 0) - (_handle?.writeQueueSize ?? 0)
}

/** Commands may come as paths, and some are long. A client that sends slowly shall not hold a socket for ever. */
export function timeouts({ requestTimeout: arrival }: Pick<ResolvedLimits, 'requestTimeout'>): HttpOptions {
  return {
    maxHeaderSize: maxHead,
    headersTimeout: Math.min(headArrival, arrival),
    requestTimeout: arrival,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: Math.min(arrivalLook, Math.ceil(arrival / 4)),
  }
}

/**
 * Connections that may be open at once, all servers of one host together: as many as may be open at all, and so few that
 * the heads they may half send all fit into what may be on its way.
 */
export class Connections {
  readonly #most: number
  #open = 0

  constructor({ maxConnections: connections, buffered }: ResolvedLimits) {
    this.#most = Math.min(connections, Math.max(1, Math.floor(buffered / maxHead)))
  }

  /** Closes what is one too many. */
  count(server: Server): Server {
    return server.prependListener('connection', (socket: Socket) => {
      if (this.#open >= this.#most) {
        socket.destroy()
        return
      }
      this.#open++
      socket.once('close', () => {
        this.#open--
      })
    })
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
export async function ended(servers: readonly Server[], tenants: { dispose(): void }, grace: number): Promise<void> {
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
