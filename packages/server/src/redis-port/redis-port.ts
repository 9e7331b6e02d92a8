import { createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { hostClearTimeout, hostSetTimeout, unref } from '../../../../src/kernel/host.js'
import { Crowd } from '../../../../src/store/resp/crowd.js'
import type { RespConnection, RespHost } from '../../../../src/store/resp/resp-connection.js'
import { listenOn } from '../listen-addresses.js'
import type { Turns } from '../turns.js'
import { sayFarewell, serveStream } from './connections.js'

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
  /** All clients, which share one limit of bytes on their way. */
  readonly crowd?: Crowd
  /** With whom its connections share the event loop. */
  readonly turns: Turns
  /** Gets what went wrong inside. */
  readonly report: (error: unknown) => void
  /** Gets a sentence for the log. */
  readonly tell: (text: string) => void
}

/** The native protocol at a port of this machine. */
export interface RedisPort {
  readonly port: number
  /** @param grace host milliseconds for what was sent to be taken */
  close(grace: number): Promise<void>
}

const tlsSentence =
  'a client spoke TLS to the native port, which has no certificate. Connect with redis:// and without TLS, or start the server with --redis-cert and --redis-key.'

const tooMany = '-ERR max concurrent connections exceeded\r\n'

/** @throws Error where it cannot listen */
export async function openRedisPort(
  { address, port, tls, most, patience, crowd = new Crowd(), turns, report, tell }: RedisPortOptions,
  porter: RespHost,
): Promise<RedisPort> {
  const open = new Map<Socket, RespConnection>()
  /** All that were accepted, also those that are not served. */
  const accepted = new Set<Socket>()
  const accept = (socket: Socket): void => {
    accepted.add(socket)
    socket.on('close', () => accepted.delete(socket))
  }
  let isTold = false
  // Once: clients try again and again, and so does whoever wants to fill the log.
  const spokeTls = (): void => {
    if (!isTold && tls === undefined) tell(`stuntdouble: ${tlsSentence}`)
    isTold = true
  }
  const serve = (socket: Socket): void => {
    if (open.size >= most) {
      socket.on('error', () => undefined)
      socket.write(tooMany)
      sayFarewell(socket)
      return
    }
    socket.setNoDelay(true)
    const peer = `${socket.remoteAddress}:${socket.remotePort}`
    const wire = serveStream(socket, porter, peer, { report, crowd, spokeTls, turns })
    open.set(socket, wire)
    // However busy it is: one byte at a time is no reason to stay.
    const timer = hostSetTimeout(() => {
      if (!wire.isSignedIn) socket.destroy()
    }, patience)
    unref(timer)
    socket.on('close', () => {
      hostClearTimeout(timer)
      open.delete(socket)
    })
  }
  const create = (): Server =>
    (tls === undefined ? createServer(serve) : tlsServer(optionsOf(tls), patience, serve)).on('connection', accept)
  const { servers, port: taken } = await listenOn(address, port, create)
  return {
    port: taken,
    async close(grace) {
      const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
      for (const [socket, wire] of open) {
        wire.shut()
        socket.destroySoon()
      }
      const timer = hostSetTimeout(() => {
        for (const socket of accepted) socket.destroy()
      }, grace)
      await Promise.all(closed)
      hostClearTimeout(timer)
    },
  }
}

function tlsServer(options: TlsOptions, patience: number, serve: (socket: Socket) => void): Server {
  const server = createTlsServer({ ...options, handshakeTimeout: patience }, serve)
  // Nobody else closes those that never shook hands.
  return server.on('tlsClientError', (_error, socket) => socket.destroy())
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
