import { Socket as NetSocket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Bytes } from '../../../../src/kernel/bytes.js'
import { hostClearTimeout, hostPause, hostSetTimeout, unref } from '../../../../src/kernel/host.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { Store } from '../../../../src/store/direct-store.js'
import type { Crowd, Shared } from '../../../../src/store/resp/crowd.js'
import { RespConnection, type RespHost, type RespStore } from '../../../../src/store/resp/resp-connection.js'
import { sessionsOf } from '../../../../src/store/resp/sessions.js'
import { storeInternals } from '../../../../src/store/store-internals.js'
import { bulky, inBulk } from '../bulk.js'
import { takenFrom } from '../sockets.js'
import type { Turns } from '../turns.js'

// Connects Node.js streams to the store of a sandbox, with the Redis protocol.

/** Function that returns the error reply for a command that must not run, or `undefined` for a command that may run. */
export type RefusesCommand = (argv: readonly Bytes[]) => string | undefined

/**
 * Returns access to the current store of a sandbox. After a reset, this is the new store.
 * @param database name of an added database; default: the first one
 */
export function homeOf(sandbox: Sandbox, refuses?: RefusesCommand, database?: string): RespStore {
  return {
    get sessions() {
      const sessions = sessionsOf(databaseOf(sandbox, database))
      sessions.refuses = refuses
      return sessions
    },
  }
}

/** Returns the current store of a sandbox, or one of its added databases. */
export function databaseOf(sandbox: Sandbox, database: string | undefined): Store {
  return database === undefined ? sandbox.store : sandbox.storeIn(database)
}

/**
 * Returns the function that signs in users of a sandbox's store. The returned function is called when a client sends
 * AUTH. The user name `us/default` means user `default` of the added database `us`. A password without a user name
 * selects the database whose token it is.
 * @param database added database to which user names without a database belong; default: the first one
 */
export function porterOf(sandbox: Sandbox, refuses?: RefusesCommand, database?: string): RespHost {
  const entered = (place: string | undefined, name: string, password: string): ReturnType<RespHost['enter']> => {
    const user = storeInternals.of(databaseOf(sandbox, place)).engine.access.userWith(name, password)
    return user && { home: homeOf(sandbox, refuses, place), user }
  }
  return {
    enter(name, password) {
      const { databases = [] } = sandbox.options
      const named = databases.find((one) => name?.startsWith(`${one}/`) === true)
      if (named !== undefined) return entered(named, name!.slice(named.length + 1) || 'default', password)
      if (name !== undefined) return entered(database, name, password)
      for (const place of [database, undefined, ...databases]) {
        const found = entered(place, 'default', password)
        if (found !== undefined) return found
      }
      return undefined
    },
  }
}

/**
 * After the last reply, received data is read and ignored up to these limits. If the connection were closed
 * immediately, the last reply could be lost.
 */
export const farewell = { bytes: 65_536, milliseconds: 1_000 }

/** Closes a stream after all data was sent, even if the client does not close its side. */
export function sayFarewell(stream: Duplex): void {
  stream.end(() => {
    if (stream.destroyed) return
    const timer = hostSetTimeout(() => stream.destroy(), farewell.milliseconds)
    unref(timer)
    stream.once('close', () => hostClearTimeout(timer))
    let left = farewell.bytes
    stream.on('data', (chunk: Uint8Array) => {
      left -= chunk.length
      if (left < 0) stream.destroy()
    })
    stream.resume()
  })
}

const latin1Slice = Buffer.prototype.latin1Slice as (this: Uint8Array, from: number, to: number) => string

function textOf(bytes: Uint8Array, from: number, to: number): Bytes {
  return latin1Slice.call(bytes, from, to) as Bytes
}

export interface StreamOptions {
  /** Receives internal errors. Without this function, internal errors are uncaught exceptions. */
  readonly report?: (error: unknown) => void
  /** Account of the memory of all connections, because all connections share one limit. */
  readonly crowd?: Crowd
  /** Called when the client begins a TLS handshake. The stream is then closed. */
  readonly spokeTls?: () => void
  /** Scheduler that shares the event loop among all connections. */
  readonly turns?: Turns
}

/** Serves the Redis protocol on a stream until the stream ends. */
export function serveStream(
  stream: Duplex,
  porter: RespHost,
  address: string,
  { report, crowd, spokeTls, turns }: StreamOptions = {},
): RespConnection {
  const settle = (): void => wire.settle()
  const takeTurn = (group: unknown, run: () => void): void => {
    if (turns === undefined) run()
    else turns.take(group, stream, run)
  }
  const put = (bytes: Bytes | Uint8Array, done: () => void): void => {
    const isBulky = bytes.length >= bulky && stream instanceof NetSocket
    // Cork the stream. Data that is written in the meantime must be sent after this write.
    if (isBulky) stream.cork()
    stream.write(bytes, 'latin1', done)
    if (isBulky) inBulk(bytes.length, () => stream.uncork())
  }
  const socket = {
    write: (bytes: Bytes) => put(bytes, settle),
    share: (shared: Shared, done: () => void) => {
      // Send bytes as an array only over a socket. A stream in this process would pass the same array to all clients,
      // and one client could change the data of the other clients.
      const isSocket = stream instanceof NetSocket
      if (isSocket) shared.array ??= Buffer.from(shared.bytes, 'latin1')
      put((isSocket && shared.array) || shared.bytes, done)
    },
    end: () => sayFarewell(stream),
    destroy: () => void stream.destroy(),
    get backlog() {
      return stream.writableLength
    },
    get taken() {
      return takenFrom(stream)
    },
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    soon: (run: () => void) => void Promise.resolve().then(() => guarded(run)),
    turn: (group: unknown, run: () => void) => takeTurn(group, () => guarded(run)),
    later: (group: unknown, run: () => void) => void hostPause().then(() => takeTurn(group, () => guarded(run))),
    after: (milliseconds: number, run: () => void) => unref(hostSetTimeout(() => guarded(run), milliseconds)),
    ...(spokeTls !== undefined && { spokeTls }),
  }
  const wire = new RespConnection(porter, socket, address, textOf, crowd)
  const guarded = (work: () => void): void => {
    try {
      work()
    } catch (error) {
      if (report === undefined) throw error
      report(error)
    }
  }
  stream.on('data', (chunk: Uint8Array) => guarded(() => wire.receive(chunk)))
  stream.on('drain', () => guarded(() => wire.work()))
  // When the client ends its side, end this side, too. Such a client gets no more replies.
  stream.on('end', () => stream.end())
  stream.on('error', () => wire.close())
  stream.on('close', () => wire.close())
  return wire
}
