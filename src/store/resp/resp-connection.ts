import { Account } from '../../kernel/account.js'
import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { hostTurnNumber } from '../../kernel/host.js'
import { unitsPerRow } from '../../kernel/work.js'
import type { User } from '../access/user.js'
import { wrongArity } from '../command/errors.js'
import { ReplyError } from '../command/reply.js'
import type { SubscribedNames } from '../keyspace/pubsub.js'
import { searchLoading } from '../search/load-search.js'
import {
  CommandReader,
  maxLine,
  maxWord,
  maxWords,
  OversizedCommand,
  ProtocolError,
  type ReaderLimits,
  strangersLimits,
  TlsHandshake,
} from './command-reader.js'
import { Crowd, type MemoryHolder, type Shared } from './crowd.js'
import { type RespVersion, wireOfError } from './reply-writer.js'
import type { Outlet, Session } from './session.js'
import { helloOf } from './session-commands.js'
import type { KnownClient, RespSessions } from './sessions.js'

/** Store that connections can use, in the current sandbox. */
export interface RespStore {
  /** @throws Error when the store was disposed */
  readonly sessions: RespSessions
}

export interface RespHost {
  /**
   * Returns the store for the user and password of an AUTH command. Returns `undefined` if user and password do not
   * match.
   * @throws ReplyError when user and password match, but the user is rejected for another reason
   */
  enter(user: string | undefined, password: string): { readonly home: RespStore; readonly user: User } | undefined
}

export interface Socket {
  write(bytes: Bytes): void
  /**
   * Writes bytes that are also sent to other clients. Calls `done` when the client has read them or has disconnected.
   */
  share(shared: Shared, done: () => void): void
  /** Closes the socket after the written bytes. */
  end(): void
  /** Destroys the socket. */
  destroy(): void
  /** Bytes that were written but not yet read. */
  readonly backlog: number
  /** Bytes that were read so far. */
  readonly taken: number
  /** Stops reading from the socket, or continues. */
  pause(): void
  resume(): void
  /** Runs a function right after the current call. */
  soon(run: () => void): void
  /**
   * Runs a function when this connection gets processing time: immediately, or after the other connections that already
   * wait for processing time.
   * @param group the key of the connections that share processing time with this one
   */
  turn(group: unknown, run: () => void): void
  /**
   * Runs a function after the other connections that wait for processing time.
   * @param group the key of the connections that share processing time with this one
   */
  later(group: unknown, run: () => void): void
  /**
   * Runs a function after a delay, unless the process ends earlier.
   * @param milliseconds the delay in host time
   */
  after(milliseconds: number, run: () => void): void
  spokeTls?(): void
}

/**
 * Maximum bytes of pending output, above which the next command does not run yet. The same number is the maximum of
 * unread commands, above which no further bytes are received. For clients that have not signed in, both limits are
 * `enoughOfStrangers`.
 */
const enough = 1_048_576
const enoughOfStrangers = 16_384

/**
 * Units of work after which a connection lets other connections run: 256 trivial commands, or a single command that
 * costs more. Units are counted, not timed.
 */
export const turn: number = 256 * unitsPerRow

/** A message with more bytes than this is sent separately instead of being copied into other output. */
const worthSharing = 4_096

/**
 * Limits of pending messages. A client with `maxMessages` bytes is disconnected immediately. A client with
 * `manyMessages` bytes is disconnected after `longBehind` milliseconds of host time. These are the limits of
 * redis-server: `client-output-buffer-limit pubsub 32mb 8mb 60`. [redis 7.0]
 */
export const maxMessages = 33_554_432
export const manyMessages = 8_388_608
export const longBehind = 60_000

/**
 * Number of wrong passwords on a connection after which each further sign-in is delayed by `failurePause` milliseconds
 * of host time.
 */
export const freeFailures = 10
export const failurePause = 1_000

const noAuth = wireOfError('NOAUTH Authentication required.')
const abandoned = wireOfError(
  'ERR The sandbox of this connection was disposed of. Close the client before you dispose of the sandbox, or connect the client to another sandbox.',
)
const wrongPassword = 'WRONGPASS invalid username-password pair or user is disabled.'
const helloWithoutAuth =
  'NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time'

/** Connection that reads commands, signs in, and passes further commands to a session. */
export class RespConnection implements MemoryHolder {
  readonly #porter: RespHost
  readonly #socket: Socket
  readonly #address: string
  readonly #reader: CommandReader
  #home: RespStore | undefined
  /** User that needs no password on this connection. RESET restores this user. */
  #welcome: { readonly home: RespStore; readonly user: string } | undefined
  #session: Session | undefined
  /** Protocol version until a session exists. */
  #protocol: RespVersion = 2
  #limits: ReaderLimits = strangersLimits
  /**
   * Number of wrong passwords. A correct password does not reset this number, because it may belong to another user.
   */
  #failures = 0
  #isBusy = false
  #isWorking = false
  #isEnding = false
  /** Reading and writing have stopped; written bytes may still be on their way. */
  #isClosed = false
  /** The socket is closed, and its memory was released. */
  #isGone = false
  #isPaused = false
  /** The client read its messages too slowly. */
  #isTooSlow = false
  /** Number of the latest event loop turn in which the client had read everything. */
  #upToDate = 0
  /** Set as long as the bytes of pending messages stay above `manyMessages`. */
  #farBehind: object | undefined
  /** Whether this connection lets other connections run first. */
  #isResting = false
  /** State of the reply to the command that runs or waits. */
  #reply: 'due' | 'begun' | undefined
  /** Whether the store of this connection was disposed. */
  #isAbandoned = false
  #out = ''
  /** Bytes of shared messages that the client has not read. */
  #shared = 0
  /** Bytes that the client has sent so far. */
  #received = 0
  readonly #crowd: Crowd
  readonly #account: Account
  readonly #outlet: Outlet = {
    send: (bytes) => this.#tell(bytes.length, () => this.#send(bytes)),
    tell: (shared) => this.#tell(shared.bytes.length, () => this.#share(shared)),
    end: () => {
      this.#isEnding = true
      if (!this.#isWorking) this.#flush()
    },
    break: () => this.#breakOff(),
  }

  /** @param textOf converts a part of a chunk to a byte string */
  constructor(
    porter: RespHost,
    socket: Socket,
    address: string,
    textOf: (bytes: Uint8Array, from: number, to: number) => Bytes,
    crowd: Crowd = new Crowd(),
  ) {
    this.#porter = porter
    this.#socket = socket
    this.#address = address
    this.#reader = new CommandReader(textOf)
    this.#crowd = crowd
    this.#account = new Account(Number.POSITIVE_INFINITY, crowd.buffered)
  }

  get held(): number {
    return this.#account.held + this.#shared
  }

  /** Value that changes with progress. While output is pending, only reading the output counts as progress. */
  get progress(): number {
    return this.#socket.backlog > 0 ? this.#socket.taken : this.#received
  }

  /**
   * Disconnects the client. The sandbox is notified only when the socket closes, because host speed must not affect a
   * running command.
   */
  sendAway(): void {
    if (this.#isGone) return
    this.#isClosed = true
    this.#isGone = true
    this.#forget()
    this.#socket.destroy()
  }

  /** Updates the account of used memory. Disconnects the client if the memory exceeds the limit. */
  settle(): void {
    if (this.#isGone) return
    const { backlog } = this.#socket
    if (backlog <= manyMessages) this.#farBehind = undefined
    const session = this.#session
    this.#hold(this.#reader.held + this.#out.length + Math.max(0, backlog - this.#shared) + (session?.kept ?? 0))
  }

  #hold(bytes: number): void {
    const more = bytes - this.#account.held
    if (more <= 0) this.#account.release(-more)
    else if (!this.#account.take(more)) {
      if (this.#crowd.makesRoom(more, this)) this.#account.take(more)
      else if (!Crowd.spares(bytes)) this.sendAway()
    }
    if (!this.#isGone) this.#crowd.note(this)
  }

  receive(chunk: Uint8Array): void {
    if (this.#isClosed || this.#isEnding) return
    this.#reader.push(chunk)
    this.#received += chunk.length
    if (!this.#isResting) {
      this.#isResting = true
      this.#socket.turn(this.#group, () => this.#goOn())
    }
    this.settle()
    if (this.#isPaused || this.#reader.pending < this.#enough || !this.#isOccupied) return
    this.#isPaused = true
    this.#socket.pause()
  }

  get #isOccupied(): boolean {
    return this.#isBusy || this.#isResting || this.#socket.backlog > this.#enough
  }

  get #enough(): number {
    return this.#session === undefined ? enoughOfStrangers : enough
  }

  /** Continues with commands that were read, after the client has read the output. */
  work(): void {
    if (this.#isWorking) return
    this.#isWorking = true
    let left = turn
    try {
      while (!this.#isOccupied && !this.#isClosed && !this.#isEnding) {
        if (left <= 0) {
          this.#rest()
          break
        }
        const before = this.#spent
        const argv = this.#reader.next(this.#limits)
        if (argv === undefined) break
        if (argv instanceof OversizedCommand) this.#refuse(argv)
        else if (argv.length > 0) this.#take(argv)
        left -= Math.max(unitsPerRow, this.#spent - before)
        // The output is flushed before more commands are read, because pending output reduces the memory for commands.
        if (this.#out.length > 65_536) this.#flush()
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) {
        this.#break()
        if (!(error instanceof TlsHandshake)) throw error
        this.#socket.spokeTls?.()
        return
      }
      this.#out += wireOfError(error.message)
      this.#isEnding = true
    } finally {
      this.#isWorking = false
      this.#reader.compact()
      this.#flush()
    }
    if (!this.#isPaused || this.#reader.pending >= this.#enough) return
    this.#isPaused = false
    this.#socket.resume()
  }

  /** Units of work that the store of this connection has spent so far. */
  get #spent(): number {
    return this.#home?.sessions.front.store.work.spent ?? 0
  }

  #rest(): void {
    this.#isResting = true
    this.#socket.later(this.#group, () => this.#goOn())
  }

  #goOn(): void {
    this.#isResting = false
    this.work()
    this.settle()
  }

  /**
   * Key of the connections that share processing time: all connections of one store, or all connections without a
   * store.
   */
  get #group(): unknown {
    return this.#home?.sessions.front.store
  }

  /** Signs in without a password: the connection alone gives access to the store. */
  welcome(home: RespStore, user: string): void {
    this.#welcome = { home, user }
    this.#enter(home, user, {})
  }

  get isSignedIn(): boolean {
    return this.#session !== undefined
  }

  /** Ends the session and releases the memory, because the client has closed the connection. */
  close(): void {
    this.#isClosed = true
    this.#isGone = true
    this.#leave()
    this.#forget()
  }

  #forget(): void {
    this.#out = ''
    this.#reader.forget()
    this.#crowd.leave(this)
    this.#account.release()
  }

  /**
   * Ends the session, because the store was disposed. From then on, only the client closes the connection. A failed
   * test may have left the connection open, and closing the connection from the server would cause another error in the
   * client.
   *
   * A command that runs or waits gets no reply until the client sends another command, because nothing may handle an
   * error reply.
   */
  abandon(): void {
    this.#isAbandoned = true
    this.#isBusy = false
    this.#leave()
    if (this.#isPaused) this.work()
  }

  /** Names to which the client is subscribed. */
  get subscribedNames(): SubscribedNames {
    const session = this.#session
    return session?.hasEnded === false ? session.subscribedNames : { channels: [], patterns: [], shards: [] }
  }

  /**
   * Ends the session, before the home of this connection changes to another store. The next command begins a session in
   * the new store, as after a reset. Transactions and watched keys end, and so do subscriptions, until
   * `subscribeAgain()` is called. A command that waits gets the reply of an expired timeout, because an error reply may
   * have no handler.
   */
  moveOn(): void {
    const session = this.#session
    if (session === undefined || session.hasEnded || this.#isClosed) return
    // A reply that has begun cannot be completed, and another user may not exist in the new store.
    if (this.#reply === 'begun' || session.user.name !== this.#welcome?.user) {
      this.#break()
      return
    }
    session.unblock('TIMEOUT')
    this.#home?.sessions.leave(session)
    if (this.#reply === undefined || this.#isClosed) return
    // A fault delays the reply.
    this.#reply = undefined
    this.#isBusy = false
    this.#send(latin1(session.protocol === 3 ? '_\r\n' : '*-1\r\n'))
    this.#socket.soon(() => this.work())
  }

  /**
   * Subscribes to names in the new store after `moveOn()`. The client gets no confirmation, because it does not know
   * that its subscriptions had ended.
   */
  subscribeAgain({ channels, patterns, shards }: SubscribedNames): void {
    if (this.#isClosed || this.#isWorking) return
    const commands: readonly (readonly [string, readonly Bytes[]])[] = [
      ['SUBSCRIBE', channels],
      ['PSUBSCRIBE', patterns],
      ['SSUBSCRIBE', shards],
    ]
    const out = this.#out
    // Keeps the confirmations from being sent.
    this.#isWorking = true
    for (const [name, names] of commands) if (names.length > 0) this.#take([latin1(name), ...names])
    this.#isWorking = false
    this.#out = out
  }

  /** Closes the connection because the server closes. */
  shut(): void {
    this.#isEnding = true
    this.#leave()
    if (!this.#isWorking) this.#flush()
  }

  #take(argv: readonly Bytes[]): void {
    const name = argv[0]!.toUpperCase()
    // A web page can make a browser send an HTTP request to this port. The body of the request would be read as
    // commands, so the connection is closed. The header line may have no space after `Host:`.
    if (name === 'POST' || name.startsWith('HOST:')) this.#break()
    else if (this.#isAbandoned) this.#sayAbandoned(name)
    else if ((name === 'AUTH' || name === 'HELLO') && this.#renewed()?.isOccupied === true) this.#run([latin1(name)])
    else if (name === 'AUTH') this.#slowed(() => this.#authenticate(argv))
    else if (name === 'HELLO') this.#slowed(() => this.#hello(argv))
    else if (name === 'RESET' && argv.length === 1) this.#reset()
    else if (this.#renewed() !== undefined) this.#run(argv)
    else if (name === 'QUIT') {
      this.#out += '+OK\r\n'
      this.#isEnding = true
    } else this.#out += noAuth
  }

  #run(argv: readonly Bytes[]): void {
    const loading = searchLoading(argv, this.#home!.sessions.front.store)
    if (loading === undefined) {
      this.#serve(argv)
      return
    }
    this.#isBusy = true
    this.#reply = 'due'
    const goOn = (): void => {
      this.#isBusy = false
      if (this.#renewed() !== undefined) this.#serve(argv)
      this.work()
    }
    // If loading fails, the command continues and its reply is the error.
    void loading.then(goOn, goOn)
  }

  #serve(argv: readonly Bytes[]): void {
    const session = this.#session!
    const { sessions } = this.#home!
    if (sessions.isDown) {
      this.#break()
      return
    }
    this.#isBusy = true
    this.#reply = 'due'
    let isOver = false
    sessions.run(session, argv, {
      send: (bytes) => {
        this.#reply = 'begun'
        this.#send(bytes)
      },
      done: () => {
        isOver = true
        this.#reply = undefined
        if (this.#isWorking && this.#isBusy && session === this.#session) {
          this.#isBusy = false
          return
        }
        // The wait ended inside a command of another client. The next command of this connection runs later, so that it
        // does not become a part of that command.
        this.#socket.soon(() => {
          this.#isBusy = false
          this.work()
        })
      },
      break: () => this.#breakOff(),
    })
    // The command waits, and the output of earlier commands was not flushed yet.
    if (!isOver) this.#flush()
  }

  /** Delays a client that guesses passwords, without delaying other connections. */
  #slowed(run: () => void): void {
    if (this.#failures < freeFailures) {
      run()
      return
    }
    this.#isBusy = true
    this.#reply = 'due'
    this.#socket.after(failurePause, () => {
      if (this.#isClosed || this.#isAbandoned) return
      this.#isBusy = false
      this.#reply = undefined
      run()
      this.work()
    })
  }

  #authenticate(argv: readonly Bytes[]): void {
    try {
      if (argv.length === 1) throw wrongArity('AUTH')
      if (argv.length > 3) throw new ReplyError('ERR syntax error')
      this.#signIn(argv.length === 3 ? argv[1] : undefined, argv.at(-1)!)
      this.#out += '+OK\r\n'
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error
      this.#out += wireOfError(error.message)
    }
  }

  #hello(argv: readonly Bytes[]): void {
    try {
      const { protocol, user, password, name } = helloOf(argv)
      if (password !== undefined) this.#signIn(user, password)
      if (this.#renewed() === undefined) throw new ReplyError(helloWithoutAuth)
      const words = ['HELLO', ...(protocol === undefined ? [] : [String(protocol)])]
      if (name !== undefined) words.push('SETNAME', name)
      if (protocol !== undefined) this.#protocol = protocol
      this.#run(words.map(latin1))
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error
      this.#out += wireOfError(error.message)
    }
  }

  /** @throws ReplyError when the password is wrong */
  #signIn(name: Bytes | undefined, password: Bytes): void {
    const entered = this.#porter.enter(name, password)
    if (entered === undefined) {
      this.#failures++
      throw new ReplyError(wrongPassword)
    }
    const { home, user } = entered
    const session = this.#session
    if (session !== undefined && !session.hasEnded && this.#home?.sessions === home.sessions) {
      home.sessions.changeUser(session, user.name)
    } else {
      this.#leave()
      this.#enter(home, user.name)
    }
  }

  /**
   * Begins a session.
   * @param known the data of the previous session. If there is such data, signing in is not logged.
   */
  #enter(home: RespStore, user: string, known?: KnownClient): Session {
    this.#home = home
    const { sessions } = home
    const { maxRequestSize } = sessions.front.store.options.policy
    this.#limits = { command: maxRequestSize, words: maxWords, word: maxWord, line: maxLine }
    const opening = { address: this.#address, protocol: this.#protocol, known }
    this.#session = sessions.open(user, opening, this.#outlet)
    return this.#session
  }

  /**
   * Returns the session in the current sandbox. After a reset of the sandbox, begins a new session, because a reset
   * does not disconnect clients from their store.
   */
  #renewed(): Session | undefined {
    const [session, home] = [this.#session, this.#home]
    if (session === undefined || home === undefined || !session.hasEnded) return session
    const { name, library } = session
    const { access } = home.sessions.front.store
    if (access.userNamed(session.user.name) === undefined) return undefined
    this.#protocol = session.protocol
    return this.#enter(home, session.user.name, { name, library })
  }

  #reset(): void {
    this.#leave()
    this.#protocol = 2
    this.#limits = strangersLimits
    this.#out += '+RESET\r\n'
    if (this.#welcome === undefined) return
    const { home, user } = this.#welcome
    if (home.sessions.front.store.access.userNamed(user) !== undefined) this.#enter(home, user, {})
  }

  #leave(): void {
    const session = this.#session
    this.#session = undefined
    if (session !== undefined) this.#home?.sessions.leave(session)
    this.#home = undefined
  }

  #sayAbandoned(name?: string): void {
    // A reply that has begun cannot be completed with an error.
    if (this.#reply === 'begun') {
      this.#break()
      return
    }
    if (this.#reply === 'due') this.#out += abandoned
    this.#reply = undefined
    this.#isEnding = name === 'QUIT'
    this.#out += this.#isEnding ? '+OK\r\n' : abandoned
  }

  // ---- bytes ------------------------------------------------------------------------------------------------------

  #refuse({ size }: OversizedCommand): void {
    const session = this.#renewed()
    if (this.#isAbandoned) this.#sayAbandoned()
    else if (session === undefined) this.#out += noAuth
    else this.#out += wireOfError(this.#home!.sessions.refusalOf(size))
  }

  /**
   * Sends a message that is not a reply. A client that had read everything at the beginning of this event loop turn
   * gets all messages of the turn, as long as the shared memory limit allows. Any other client is disconnected if the
   * message would exceed the client's limit.
   */
  #tell(size: number, send: () => void): void {
    if (this.#isTooSlow || this.#isClosed) return
    const behind = this.#socket.backlog + this.#out.length
    if (behind === 0) this.#upToDate = hostTurnNumber()
    const most = Math.max(maxMessages, this.#home?.sessions.front.store.options.policy.maxStreamBuffer ?? 0)
    if (behind + size > most && (size > most || this.#upToDate !== hostTurnNumber())) {
      this.#tooSlow()
      return
    }
    if (behind + size > manyMessages && this.#farBehind === undefined) {
      const since = {}
      this.#farBehind = since
      this.#socket.after(longBehind, () => {
        if (this.#farBehind === since) this.#tooSlow()
      })
    }
    send()
  }

  #tooSlow(): void {
    this.#isTooSlow = true
    // Host speed must not affect the command that sends the message, so the disconnect happens later.
    this.#socket.soon(() => this.#break())
  }

  /** Sends bytes that are also sent to other clients and kept in memory once. */
  #share(shared: Shared): void {
    const { bytes } = shared
    if (bytes.length < worthSharing) {
      this.#send(bytes)
      return
    }
    this.#flush()
    if (this.#isClosed) return
    if (!shared.hold(this.#crowd.buffered)) {
      if (!this.#crowd.makesRoom(bytes.length, this) || !shared.hold(this.#crowd.buffered)) {
        this.#tooSlow()
        return
      }
    }
    this.#shared += bytes.length
    this.#crowd.note(this)
    this.#socket.share(shared, () => {
      this.#shared -= bytes.length
      shared.letGo()
      this.settle()
    })
  }

  #send(bytes: Bytes): void {
    if (this.#isClosed) return
    this.#out += bytes
    if (!this.#isWorking) this.#flush()
  }

  #flush(): void {
    if (this.#isClosed) return
    if (this.#out !== '') {
      const out = this.#out
      // The memory is checked before the output counts as unread bytes of the socket.
      this.settle()
      if (this.#isClosed) return
      this.#out = ''
      this.#socket.write(latin1(out))
      this.settle()
    }
    if (!this.#isEnding) return
    this.#isClosed = true
    this.#reader.forget()
    this.#leave()
    this.#socket.end()
  }

  /** Disconnects at the request of the store, unless the store was disposed. */
  #breakOff(): void {
    if (!this.#isAbandoned) this.#break()
  }

  #break(): void {
    if (this.#isClosed) return
    this.#leave()
    this.sendAway()
  }
}
