import { createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { hostClearTimeout, hostSetTimeout, unref } from '../../../../src/kernel/host.js'
import type { User } from '../../../../src/store/access/user.js'
import { ReplyError } from '../../../../src/store/command/reply.js'
import { Crowd } from '../../../../src/store/resp/crowd.js'
import { wireOfError } from '../../../../src/store/resp/reply-writer.js'
import type { RespConnection, RespHost, RespStore } from '../../../../src/store/resp/resp-connection.js'
import { listenOn } from '../listen-addresses.js'
import type { Turns } from '../turns.js'
import { sayFarewell, serveStream } from './connections.js'

/** A certificate and its private key. */
export interface Certificate {
  /** Certificate in PEM, as text or bytes. */
  readonly cert: string | Uint8Array
  /** Private key of the certificate in PEM, without a passphrase. */
  readonly key: string | Uint8Array
}

export interface RedisPortOptions {
  readonly address: string
  readonly port: number
  readonly tls?: Certificate | undefined
  /**
   * Returns the store and user of a client that needs no password. Default: every client needs one.
   * @throws ReplyError when no client can be served now
   */
  readonly guest?: (() => { readonly home: RespStore; readonly user: User }) | undefined
  /** Maximum number of connections. */
  readonly most: number
  /** Time in which a client must sign in, in milliseconds of host time. */
  readonly patience: number
  /** Account of the memory of all clients, because all clients share one limit of bytes in transit. */
  readonly crowd?: Crowd
  /** Scheduler that shares the event loop among all connections. */
  readonly turns: Turns
  /** Receives internal errors. */
  readonly report: (error: unknown) => void
  /** Receives warnings for the user who runs the server. */
  readonly tell: (text: string) => void
}

export interface RedisPort {
  readonly port: number
  /**
   * Closes the port.
   * @param grace time in which clients can still receive pending data, in milliseconds of host time
   */
  close(grace: number): Promise<void>
}

const tlsSentence =
  'a client used TLS on the Redis port, which has no certificate. Connect with redis:// and without TLS, or start the server with --redis-cert and --redis-key.'

const tooMany = '-ERR max concurrent connections exceeded\r\n'

/** Opens the port. @throws Error when it cannot listen */
export async function openRedisPort(
  { address, port, tls, guest, most, patience, crowd = new Crowd(), turns, report, tell }: RedisPortOptions,
  porter: RespHost,
): Promise<RedisPort> {
  const open = new Map<Socket, RespConnection>()
  /** All open connections, including those that have not completed the TLS handshake. */
  const accepted = new Set<Socket>()
  const accept = (socket: Socket): void => {
    accepted.add(socket)
    socket.on('close', () => accepted.delete(socket))
  }
  let isTold = false
  // Warn only once. Clients that retry would fill the log with warnings.
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
    if (guest !== undefined) admit(socket, wire, guest, report)
    // Use a timer instead of an idle timeout. With an idle timeout, a client that sends one byte at a time would have
    // unlimited time to sign in.
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

/** Signs in a client without a password. If that is not possible, the client gets the error and is disconnected. */
function admit(
  socket: Socket,
  wire: RespConnection,
  guest: NonNullable<RedisPortOptions['guest']>,
  report: RedisPortOptions['report'],
): void {
  try {
    const { home, user } = guest()
    wire.welcome(home, user.name)
  } catch (error) {
    if (error instanceof ReplyError) socket.write(wireOfError(error.message))
    else report(error)
    wire.shut()
  }
}

function tlsServer(options: TlsOptions, patience: number, serve: (socket: Socket) => void): Server {
  const server = createTlsServer({ ...options, handshakeTimeout: patience }, serve)
  // Close connections that have not completed the TLS handshake here, because the server does not close them.
  return server.on('tlsClientError', (_error, socket) => socket.destroy())
}

/** Checks the certificate. @throws TypeError for an invalid certificate or key */
function optionsOf({ cert, key }: Certificate): TlsOptions {
  const options = { cert: Buffer.from(cert), key: Buffer.from(key) }
  try {
    createSecureContext(options)
  } catch (cause) {
    throw new TypeError(
      `redisTls (--redis-cert, --redis-key): the certificate or key is invalid (${(cause as Error).message}). Use PEM for both, and a key without a passphrase.`,
      { cause },
    )
  }
  return options
}
