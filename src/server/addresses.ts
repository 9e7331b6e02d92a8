import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Both addresses of this machine: `localhost` is one or the other, depending on who asks. */
const loopback = ['127.0.0.1', '::1'] as const
const attempts = 10

export interface Listening {
  readonly servers: readonly Server[]
  readonly port: number
}

/**
 * Listens on a host; on `localhost` on both addresses of the machine, at one port. A machine without the second one
 * does without.
 */
export async function listenOn(
  host: string,
  port: number,
  options: ServerOptions,
  serve: RequestListener,
): Promise<Listening> {
  if (host !== 'localhost') {
    const server = await listening(createServer(options, serve), host, port)
    return { servers: [server], port: portOf(server) }
  }
  for (let left = attempts; ; left--) {
    const first = await listening(createServer(options, serve), loopback[0], port)
    try {
      const second = await listening(createServer(options, serve), loopback[1], portOf(first))
      return { servers: [first, second], port: portOf(first) }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'EADDRINUSE') return { servers: [first], port: portOf(first) }
      first.close()
      // A free port was asked for, and somebody else has this one at the other address.
      if (port !== 0 || left === 0) throw error
    }
  }
}

function listening(server: Server, host: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve(server)
    })
  })
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

/** Whether only this machine can call a server that listens there. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}
