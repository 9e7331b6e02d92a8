import type { Duplex } from 'node:stream'
import type { Bytes } from '../../kernel/bytes.js'
import type { Sandbox } from '../../sandbox/sandbox.js'
import { inside } from '../../store/inside.js'
import { sessionsOf } from '../../store/native/sessions.js'
import { type Home, type Porter, Wire } from '../../store/native/wire.js'

// Streams of the host as connections of the native protocol.

/** The data store of a sandbox, in whatever world it has. */
export function homeOf(sandbox: Sandbox): Home {
  return {
    get sessions() {
      return sessionsOf(sandbox.store)
    },
  }
}

/** Whoever has the connection has the data store; AUTH makes another user of it. */
export function porterOf(sandbox: Sandbox): Porter {
  const home = homeOf(sandbox)
  return {
    enter(name, password) {
      const user = inside.of(sandbox.store).engine.access.userWith(name ?? 'default', password)
      return user && { home, user }
    },
  }
}

const latin1Slice = Buffer.prototype.latin1Slice as (this: Uint8Array, from: number, to: number) => string

function textOf(bytes: Uint8Array, from: number, to: number): Bytes {
  return latin1Slice.call(bytes, from, to) as Bytes
}

/**
 * Serves a stream until it ends.
 * @param report gets what went wrong inside; without it, it is thrown where nobody catches it
 */
export function serveStream(
  stream: Duplex,
  porter: Porter,
  address: string,
  report?: ((error: unknown) => void) | undefined,
): Wire {
  const socket = {
    write: (bytes: Bytes) => void stream.write(bytes, 'latin1'),
    end: () => void stream.end(),
    destroy: () => void stream.destroy(),
    get backlog() {
      return stream.writableLength
    },
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
  }
  const wire = new Wire(porter, socket, address, textOf)
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
  // Half a connection is of no use: there are replies to come.
  stream.on('end', () => stream.end())
  stream.on('error', () => wire.close())
  stream.on('close', () => wire.close())
  return wire
}
