import type { ServerOptions as HttpOptions, Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { hostClearTimeout, hostSetTimeout } from '../../../src/kernel/host.js'
import { maxHead, type ResolvedLimits } from './server-limits.js'

/** Time in which the head of a request must arrive, in milliseconds of host time. */
export const headArrival = 20_000
/** Interval between two checks for requests that arrive too slowly, in milliseconds of host time. */
export const arrivalLook = 10_000
/**
 * Returns the number of bytes that the kernel has accepted from a stream. This function uses internals of Node.js,
 * because nothing else shows the progress of a pending write.
 */
export function takenFrom(stream: object): number {
  const { _handle } = stream as { _handle?: { bytesWritten?: number; writeQueueSize?: number } | null }
  return (_handle?.bytesWritten ?? 0) - (_handle?.writeQueueSize ?? 0)
}

/**
 * Returns the HTTP options of a server. The server accepts long heads, because a path may contain a command, and has
 * timeouts for clients that send slowly.
 */
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
 * Limits the open connections of all listening sockets of a server together. The limit is the configured maximum, or
 * less. If each connection has sent an incomplete head of maximum length, all heads together must fit into the limit
 * for bytes in transit.
 */
export class Connections {
  readonly #most: number
  #open = 0

  constructor({ maxConnections: connections, buffered }: ResolvedLimits) {
    this.#most = Math.min(connections, Math.max(1, Math.floor(buffered / maxHead)))
  }

  /** Counts the connections of a listening socket. Connections above the limit are closed. */
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
 * Stops accepting connections. For `ms` more milliseconds of host time, requests on existing connections still get
 * responses. Each response closes its connection. Without a response, a client would not know whether its request was
 * processed.
 */
export async function lastAnswers(servers: readonly Server[], ms: number): Promise<void> {
  const drained = servers.map(
    (server) =>
      new Promise<void>((resolve) => {
        server.prependListener('request', (_, response) => {
          response.shouldKeepAlive = false
        })
        // Call the method of `net.Server`, because `close()` of `http.Server` would close idle connections immediately.
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

/**
 * Closes servers. Event streams end when the tenants are disposed, idle connections are closed immediately, and running
 * requests may finish within the grace period.
 */
export async function ended(servers: readonly Server[], tenants: { dispose(): void }, grace: number): Promise<void> {
  tenants.dispose()
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
  // Close idle connections repeatedly, because a connection becomes idle only some time after its last response has
  // ended.
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
