import { createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, createServer as createTlsServer, type TlsOptions } from 'node:tls'
import type { Porter, Wire } from '../../store/native/wire.js'
import { listenOn } from '../addresses.js'
import { serveStream } from './connections.js'

/** A certificate and its key, both PEM. */
export interface Certificate {
  readonly cert: string | Uint8Array
  readonly key: string | Uint8Array
}

export interface RedisPortOptions {
  readonly address: string
  readonly port: number
  readonly tls?: Certificate | undefined
  /** Connections at most. */
  readonly most: number
  /** Host milliseconds that somebody may take to sign in. */
  readonly patience: number
  /** Gets what went wrong inside. */
  readonly report: (error: unknown) => void
}

/** The native protocol at a port of this machine. */
export interface RedisPort {
  readonly port: number
  close(): Promise<void>
}

const tooMany = '-ERR max concurrent connections exceeded\r\n'

/** @throws Error where it cannot listen */
export async function openRedisPort(
  { address, port, tls, most, patience, report }: RedisPortOptions,
  porter: Porter,
): Promise<RedisPort> {
  const open = new Map<Socket, Wire>()
  const serve = (socket: Socket): void => {
    if (open.size >= most) {
      socket.on('error', () => undefined)
      socket.end(tooMany)
      return
    }
    socket.setNoDelay(true)
    const wire = serveStream(socket, porter, `${socket.remoteAddress}:${socket.remotePort}`, report)
    open.set(socket, wire)
    socket.on('close', () => open.delete(socket))
    socket.setTimeout(patience, () => {
      socket.setTimeout(0)
      if (!wire.isSignedIn) socket.destroy()
    })
  }
  const create = (): Server => (tls === undefined ? createServer(serve) : createTlsServer(optionsOf(tls), serve))
  const { servers, port: taken } = await listenOn(address, port, create)
  return {
    port: taken,
    async close() {
      const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
      for (const [socket, wire] of open) {
        wire.shut()
        socket.destroySoon()
      }
      await Promise.all(closed)
    },
  }
}

/** @throws TypeError for what is no certificate with its key */
function optionsOf({ cert, key }: Certificate): TlsOptions {
  const options = { cert: Buffer.from(cert), key: Buffer.from(key) }
  try {
    createSecureContext(options)
  } catch (cause) {
    throw new TypeError(
      `The native port cannot speak TLS with this certificate and key (${(cause as Error).message}): give both as PEM, the key without a passphrase.`,
      { cause },
    )
  }
  return options
}
