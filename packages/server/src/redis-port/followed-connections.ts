import type { Duplex } from 'node:stream'
import { beforeSandboxChanges, runningSandbox } from '../../../../src/adapters/running-sandbox.js'
import type { Bytes } from '../../../../src/kernel/bytes.js'
import { gateOf } from '../../../../src/kernel/clock.js'
import { createSandbox, type Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { RespConnection, RespHost, RespStore } from '../../../../src/store/resp/resp-connection.js'
import { StoreEngine } from '../../../../src/store/store-engine.js'
import { storeInternals } from '../../../../src/store/store-internals.js'
import { homeOf, serveStream } from './connections.js'
import { streamPair } from './stream-pair.js'

// Connections that outlive tests: each command goes to the sandbox of the running test. A client may exist before the
// first test, and its connection stays open when the sandbox changes. So the client needs no timer to reconnect, which
// could be a fake one.

/** Client address of these connections. */
const ownAddress = '127.0.0.1:0'

const noTest =
  'No test with a sandbox is running, so this client has no store: send commands within a test, or call useSandbox() in a setup file.'
const otherCopy =
  "The sandbox of this test belongs to another copy of stuntdouble. If tests reset modules, call require('stuntdouble/ioredis') or require('stuntdouble/node-redis') in the setup file; otherwise load all of 'stuntdouble' in the same way, with import or with require()."
const noStore =
  'The sandbox of this test has its store in another process. Connect the client to the server of the sandbox instead.'

/**
 * Commands that clients send while they connect, and those for subscriptions. They also get a reply if no sandbox is
 * running: a client may subscribe before the first test, or reconnect after the last one.
 */
const accepted: ReadonlySet<string> = new Set([
  ...['CLIENT', 'HELLO', 'INFO', 'SELECT', 'QUIT', 'SUBSCRIBE', 'PSUBSCRIBE', 'SSUBSCRIBE'],
  ...['UNSUBSCRIBE', 'PUNSUBSCRIBE', 'SUNSUBSCRIBE'],
])

/** Replies to these commands if no sandbox is running. It is created only then. */
let standIn: Sandbox | undefined

/** Returns the sandbox of the running test, or a stand-in that rejects commands with a reason. */
function current(): { readonly sandbox: Sandbox; readonly refusal?: string } {
  const running = runningSandbox()
  const refusal =
    running === undefined ? noTest : 'refusal' in running ? running.refusal : refusalOf(running.sandbox as Sandbox)
  if (refusal === undefined) return { sandbox: (running as { readonly sandbox: Sandbox }).sandbox }
  standIn ??= createSandbox()
  return { sandbox: standIn, refusal }
}

function refusalOf(sandbox: Sandbox): string | undefined {
  const store = storeInternals.find(sandbox.store)
  if (store === undefined || store.elsewhere !== undefined) return noStore
  return store.engine instanceof StoreEngine ? undefined : otherCopy
}

const home: RespStore = {
  get sessions() {
    const { sandbox, refusal } = current()
    const refuses =
      refusal === undefined
        ? undefined
        : (argv: readonly Bytes[]) => (accepted.has(argv[0]!.toUpperCase()) ? undefined : `ERR ${refusal}`)
    return homeOf(sandbox, refuses).sessions
  },
}

/** Returns whether a password that a client has sent is the one that the app has configured. */
export type OwnPassword = (password: string) => boolean

/**
 * Recognizes the password that the app has configured. It is the password of the app's real database, which no sandbox
 * knows.
 */
export function isPassword(own: unknown): OwnPassword {
  const sent = typeof own === 'string' ? Buffer.from(own).toString('latin1') : undefined
  return (password) => password === sent
}

function porterFor(isOwn: OwnPassword): RespHost {
  return {
    enter(name, password) {
      const { access } = storeInternals.of(current().sandbox.store).engine
      const user = access.userWith(name ?? 'default', password) ?? (isOwn(password) ? access.standardUser : undefined)
      return user && { home, user }
    },
  }
}

const open = new Set<RespConnection>()
beforeSandboxChanges(() => {
  const renewals = [...open].map((connection) => {
    const names = connection.subscribedNames
    connection.moveOn()
    return () => connection.subscribeAgain(names)
  })
  return () => {
    for (const renew of renewals) renew()
  }
})

/** Serves connections of followed clients. `isOwn` recognizes the password that the app has configured. */
interface Serving {
  /** Serves the Redis protocol on a stream, with the store of the running test. */
  serve(stream: Duplex, isOwn: OwnPassword): void
  /** Opens a connection in this process to the store of the running test. */
  connect(isOwn: OwnPassword): Duplex
}

const own: Serving = {
  serve(stream, isOwn) {
    // Report the error asynchronously. Otherwise the client's call of `write()` would throw it.
    const report = (error: unknown): void => void Promise.reject(error)
    const connection = serveStream(stream, porterFor(isOwn), ownAddress, { report })
    open.add(connection)
    stream.once('close', () => open.delete(connection))
    connection.welcome(home, 'default')
  },
  connect(isOwn) {
    const [near, far] = streamPair(() => gateOf(current().sandbox.clock))
    own.serve(far, isOwn)
    return near
  },
}

const key: unique symbol = Symbol.for('stuntdouble.followed connections') as never
const shared = globalThis as { [key]?: Serving }
shared[key] ??= own

/**
 * The first copy of this module serves the connections of all copies. After `jest.resetModules()`, a test loads another
 * copy, which cannot use the sandbox of the setup file.
 */
export const followedConnections: Serving = shared[key]
