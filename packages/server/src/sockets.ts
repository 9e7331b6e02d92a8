import type { ServerOptions as HttpOptions, Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { hostClearTimeout, hostSetTimeout } from '../../../src/kernel/host.js'
import { maxHead, type ResolvedLimits } from './server-limits.js'

/** Host milliseconds in which the head of a request must arrive. */
export const headArrival = 20_000
/** Interval in which late requests are checked, in host milliseconds. */
export const arrivalLook = 10_000
/**
 * Returns the bytes that the other end has received. Only internals of Node.js show the progress of a pending write.
 */
export function takenFrom(stream: object): number {
  const { _handle } = stream as { _handle?: { bytesWritten?: number; writeQueueSize?: number } | null }
  return (_handle?.bytesWritten ?? 0) - (_handle?.writeQueueSize ?? 0)
}

/** HTTP options of a server: long heads, because a path may be a command, and timeouts for clients that send slowly. */
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
 * Limit of open connections, over all servers of one host. It is the configured maximum, but so low that all heads that
 * clients may half send fit into the bytes in transit.
 */
export class Connections {
  readonly #most: number
  #open = 0

  constructor({ maxConnections: connections, buffered }: ResolvedLimits) {
    this.#most = Math.min(connections, Math.max(1, Math.floor(buffered / maxHead)))
  }

  /** Closes connections above the limit. */
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
 * Stops accepting connections. Requests on existing connections get responses for some more milliseconds of host time,
 * each as the last one on its connection. Otherwise a client that did not know about the end could not know whether its
 * request was processed.
 */
export async function lastAnswers(servers: readonly Server[], ms: number): Promise<void> {
  const drained = servers.map(
    (server) =>
      new Promise<void>((resolve) => {
        server.prependListener('request', (_, response) => {
          response.shouldKeepAlive = false
        })
        // The `close` of HTTP servers would close idle connections immediately.
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
 * Ends servers: streams with their sandboxes, idle connections immediately, and running requests with their response or
 * after the grace period.
 */
export async function ended(servers: readonly Server[], tenants: { dispose(): void }, grace: number): Promise<void> {
  tenants.dispose()
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
  // Connections become idle a little later after a stream or a running request.
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
