import { restartedService } from '../../faults/fault.js'
import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { ConnectionBroken } from '../../kernel/http.js'
import type { InputJournal } from '../../kernel/input-journal.js'
import { requestTooLarge } from '../command/errors.js'
import type { RestStore } from '../rest/store-front.js'
import { storeInternals } from '../store-internals.js'
import { type RespVersion, wireOfError } from './reply-writer.js'
import { type Outlet, Session, type SessionOwner } from './session.js'
import { sessionCommands } from './session-commands.js'
import { type CommandExchange, serveFaulty, sessionInjection } from './session-faults.js'

/** Outlet that discards everything. Forks and replays of inputs use this outlet, because they have no client. */
const nowhere: Outlet = { send() {}, tell() {}, end() {}, break() {} }

function ignore(): void {}

/**
 * Recorded input of the connection with this number: it was opened, sent a command, changed its user, or was closed.
 */
type SessionInput = { readonly session: number } & (
  | { readonly opened: SessionOpening & { readonly user: string } }
  | { readonly argv: readonly Bytes[] }
  | { readonly user: string }
  | { readonly closed: true }
)

export interface SessionOpening {
  readonly address: string
  readonly protocol: RespVersion
  /** Set if the client had a session before, or needs no password. In these cases, signing in is not logged. */
  readonly known: KnownClient | undefined
}

/** Data that a client gave in an earlier session. */
export interface KnownClient {
  readonly name?: string
  readonly library?: { readonly name: string; readonly version: string }
}

/** The stores of a sandbox. */
interface StoresOf {
  readonly store: object
  storeIn(database: string): object
}

function storeNamed(sandbox: StoresOf, database: string | undefined): object {
  return database === undefined ? sandbox.store : sandbox.storeIn(database)
}

/** Returns the connections of a store in its current sandbox. */
export function sessionsOf(store: object): RespSessions {
  const world = storeInternals.of(store)
  world.connections ??= new RespSessions(world.front, world.inputs)
  return world.connections as RespSessions
}

/**
 * Connections over the Redis protocol in a sandbox. Their commands and other events are recorded as inputs of the
 * sandbox.
 */
export class RespSessions implements SessionOwner {
  readonly commands: SessionOwner['commands'] = sessionCommands
  readonly front: RestStore
  readonly #inputs: InputJournal | undefined
  /**
   * Returns the error of the server for a command that does not fit into memory. Such a command is neither recorded as
   * an input nor kept.
   */
  refuses: ((argv: readonly Bytes[]) => string | undefined) | undefined
  readonly #open = new Map<number, Session>()
  #last = 0

  constructor(front: RestStore, inputs: InputJournal | undefined) {
    this.front = front
    this.#inputs = inputs
    front.store.access.onChange(() => {
      for (const session of this.sessions) if (!session.isWelcome()) session.kill()
    })
  }

  get sessions(): readonly Session[] {
    return [...this.#open.values()]
  }

  find(id: number): Session | undefined {
    return this.#open.get(id)
  }

  left({ id }: Session): void {
    this.#open.delete(id)
    this.#count()
  }

  /** Whether a fault currently rejects all connections. */
  get isDown(): boolean {
    const { faults, clock, store } = this.front
    return (faults?.downUntil?.[restartedService('store', store.options.database)] ?? 0) > clock.now()
  }

  /**
   * Returns the error for a command that is too long.
   * @param size the bytes of the command
   */
  refusalOf(size: number): string {
    const { options, nativeDocs } = this.front.store
    return requestTooLarge(options.policy.maxRequestSize, size, nativeDocs).message
  }

  /** Opens a session after a sign-in or a reset. */
  open(user: string, { address, protocol, known }: SessionOpening, outlet: Outlet): Session {
    const id = ++this.#last
    this.#keep({ session: id, opened: { user, address, protocol, known } })
    const { access } = this.front.store
    const session = new Session(this, id, access.userNamed(user) ?? access.standardUser, address, outlet)
    session.protocol = protocol
    session.name = known?.name ?? ''
    Object.assign(session.library, known?.library)
    this.#open.set(id, session)
    this.#count()
    if (known === undefined) this.#noteSignIn(session)
    return session
  }

  changeUser(session: Session, user: string): void {
    this.#keep({ session: session.id, user })
    const { access } = this.front.store
    session.user = access.userNamed(user) ?? access.standardUser
    this.#noteSignIn(session)
  }

  /** Runs one command. The command has ended when `done` or `break` was called. */
  run(session: Session, argv: readonly Bytes[], turn: CommandExchange): void {
    const refusal = this.refuses?.(argv)
    if (refusal !== undefined) {
      if (session.transaction.isOpen) session.transaction.refuse()
      turn.send(wireOfError(refusal))
      turn.done()
      return
    }
    this.#keep({ session: session.id, argv })
    this.#run(session, argv, turn)
  }

  #run(session: Session, argv: readonly Bytes[], turn: CommandExchange): void {
    const { faults } = this.front
    const struck =
      faults === undefined || faults.isInactive ? undefined : sessionInjection(faults, session, argv, this.front)
    if (struck !== undefined) {
      serveFaulty(struck, session, argv, turn)
      return
    }
    try {
      session.run(argv, (bytes) => {
        turn.send(bytes)
        turn.done()
      })
    } catch (error) {
      if (!(error instanceof ConnectionBroken)) throw error
      turn.break()
    }
  }

  leave(session: Session): void {
    if (session.hasEnded) return
    this.#keep({ session: session.id, closed: true })
    session.close()
  }

  #keep(kept: SessionInput): void {
    let bytes = 0
    if ('argv' in kept) for (const word of kept.argv) bytes += word.length
    const { database } = this.front.store.options
    this.#inputs?.act((sandbox: StoresOf) => sessionsOf(storeNamed(sandbox, database)).meet(kept), bytes)
  }

  /** Replays a recorded input. */
  meet(kept: SessionInput): void {
    if ('opened' in kept) {
      const { user, ...opened } = kept.opened
      this.open(user, opened, nowhere)
      return
    }
    const session = this.find(kept.session)
    if (session === undefined) return
    if ('user' in kept) this.changeUser(session, kept.user)
    else if ('closed' in kept) this.leave(session)
    else {
      this.run(session, kept.argv, { send: ignore, done: ignore, break: ignore })
    }
  }

  /** Ends all sessions because the sandbox was disposed. */
  retire(): void {
    for (const session of this.sessions) session.retire()
  }

  /** Closes all sessions, because the sandbox got a new state without sessions. */
  close(): void {
    for (const session of this.sessions) this.leave(session)
  }

  #count(): void {
    this.front.store.connections = this.#open.size
  }

  #noteSignIn({ user }: Session): void {
    const argv = ['AUTH', user.name, '***'].map(latin1)
    this.front.journal.note(argv, user, 'resp', undefined, { reply: latin1('OK') })
  }
}
