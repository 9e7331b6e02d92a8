import { Account } from '../../kernel/account.js'
import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { hostTurnNumber } from '../../kernel/host.js'
import { unitsPerRow } from '../../kernel/work.js'
import type { User } from '../access/user.js'
import { wrongArity } from '../command/errors.js'
import { ReplyError } from '../command/reply.js'
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

/** A data store that connections may enter, in the world that it has now. */
export interface RespStore {
  /** @throws Error when it is no more */
  readonly sessions: RespSessions
}

/** Who opens. */
export interface RespHost {
  /**
   * The data store of a user, as AUTH names it, with this password; `undefined` where they do not fit.
   * @throws ReplyError where they fit, and there is another reason
   */
  enter(user: string | undefined, password: string): { readonly home: RespStore; readonly user: User } | undefined
}

/** The other end. */
export interface Socket {
  write(bytes: Bytes): void
  /** Writes what others are sent, too. It has been taken, or never will be, when `done` is called. */
  share(shared: Shared, done: () => void): void
  /** Closes it behind what was written. */
  end(): void
  /** Breaks it off. */
  destroy(): void
  /** Bytes that were written and have not been taken yet. */
  readonly backlog: number
  /** Bytes that were taken so far. */
  readonly taken: number
  /** Nothing more is to be read for now, or again. */
  pause(): void
  resume(): void
  /** Runs something as soon as what runs now is over. */
  soon(run: () => void): void
  /**
   * Runs something when it is this connection's turn: at once, unless others have to go first.
   * @param group connections that share their turns with it
   */
  turn(group: unknown, run: () => void): void
  /** The same when the other connections have had their turn. */
  later(group: unknown, run: () => void): void
  /** Runs something after so many host milliseconds, unless the process ends before. */
  after(milliseconds: number, run: () => void): void
  /** The other end speaks TLS. */
  spokeTls?(): void
}

/**
 * Bytes to be sent above which no further command is answered, and of commands that wait above which none is read: of those
 * who have signed in, and of strangers.
 */
const enough = 1_048_576
const enoughOfStrangers = 16_384

/**
 * Units of work for which commands are answered in a row before the other connections have their turn: 256 commands that
 * do nothing, or one that costs more. They are counted, never timed.
 */
export const turn: number = 256 * unitsPerRow

/** Bytes above which a message is sent as it is, not copied into what else is sent. */
const worthSharing = 4_096

/**
 * Bytes of messages that may wait for a reader, and those that may for a minute of the host, as redis-server has it:
 * `client-output-buffer-limit pubsub 32mb 8mb 60`. [redis 7.0]
 */
export const maxMessages = 33_554_432
export const manyMessages = 8_388_608
export const longBehind = 60_000

/** Wrong passwords of one connection, after which each further one has to wait, in host milliseconds. */
export const freeFailures = 10
export const failurePause = 1_000

const noAuth = wireOfError('NOAUTH Authentication required.')
const abandoned = wireOfError(
  'ERR The sandbox of this connection was disposed of. Close the client first, or connect it to another sandbox.',
)
const wrongPassword = 'WRONGPASS invalid username-password pair or user is disabled.'
const helloWithoutAuth =
  'NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time'

/** One connection: reads commands, signs in, and hands what follows to a session. */
export class RespConnection implements MemoryHolder {
  readonly #porter: RespHost
  readonly #socket: Socket
  readonly #address: string
  readonly #reader: CommandReader
  #home: RespStore | undefined
  /** As whom it came in without a password: RESET makes it the same again. */
  #welcome: { readonly home: RespStore; readonly user: string } | undefined
  #session: Session | undefined
  /** As far as nobody has a session. */
  #protocol: RespVersion = 2
  #limits: ReaderLimits = strangersLimits
  /** Passwords that were wrong. One that is right forgets none: it may be another user's. */
  #failures = 0
  #isBusy = false
  #isWorking = false
  #isEnding = false
  /** Nothing more is read and written; what was written may be under way. */
  #isClosed = false
  /** Its socket is closed, and nothing is held for it. */
  #isGone = false
  #isPaused = false
  /** It has not taken what it was told. */
  #isTooSlow = false
  /** In which turn of the event loop it had taken everything. */
  #upToDate = 0
  /** Since when many messages have waited for it without an end. */
  #farBehind: object | undefined
  /** It lets others go first. */
  #isResting = false
  /** The reply to the command that runs or waits. */
  #reply: 'due' | 'begun' | undefined
  /** Its data store was disposed of. */
  #isAbandoned = false
  #out = ''
  /** Bytes of messages that others are sent, too, and that the other end has not taken. */
  #shared = 0
  /** Bytes that the other end has sent so far. */
  #received = 0
  readonly #crowd: Crowd
  /** What is held for it. */
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

  /** @param textOf a part of a chunk as a byte string */
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

  /** Of who has not taken everything, only what it takes is progress. */
  get progress(): number {
    return this.#socket.backlog > 0 ? this.#socket.taken : this.#received
  }

  /** Its world hears of it when the socket is closed: how slow the host is does not belong in the middle of a command. */
  sendAway(): void {
    if (this.#isGone) return
    this.#isClosed = true
    this.#isGone = true
    this.#forget()
    this.#socket.destroy()
  }

  /** Counts what is held for it now. Whoever holds more than there is room for is sent away. */
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

  /** Goes on with what has been read: the other end has taken what was sent. */
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
        // What is read from here on meets less room.
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

  /** Units of work of its data store so far. */
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

  /** Connections of one data store share their turns, and so do strangers. */
  get #group(): unknown {
    return this.#home?.sessions.front.store
  }

  /** Signs in without a password: whoever has the connection has the data store. */
  welcome(home: RespStore, user: string): void {
    this.#welcome = { home, user }
    this.#enter(home, user, {})
  }

  get isSignedIn(): boolean {
    return this.#session !== undefined
  }

  /** The other end is gone. */
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
   * The data store was disposed of. Only the client closes the connection now: a test that failed has not come to that,
   * and a client whose connection is closed fails the run once more. What runs or waits is not answered before the client
   * sends something else, since nobody may be there to catch its error.
   */
  abandon(): void {
    this.#isAbandoned = true
    this.#isBusy = false
    this.#leave()
    if (this.#isPaused) this.work()
  }

  /** This end is closed, as the server is. */
  shut(): void {
    this.#isEnding = true
    this.#leave()
    if (!this.#isWorking) this.#flush()
  }

  #take(argv: readonly Bytes[]): void {
    const name = argv[0]!.toUpperCase()
    // A page that makes a browser send a request here: its body would be read as commands. No space has to follow a colon.
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
    // What could not be loaded is told by the command.
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
        // What comes next is no part of what ended the wait.
        this.#socket.soon(() => {
          this.#isBusy = false
          this.work()
        })
      },
      break: () => this.#breakOff(),
    })
    // A command that waits has flushed nothing yet.
    if (!isOver) this.#flush()
  }

  // ---- who it is --------------------------------------------------------------------------------------------------

  /** Whoever guesses passwords waits: this connection, and no other one. */
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

  /** @throws ReplyError */
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

  /** @param known what is kept of the session before; nothing is told of somebody who is known */
  #enter(home: RespStore, user: string, known?: KnownClient): Session {
    this.#home = home
    const { sessions } = home
    const { maxRequestSize } = sessions.front.store.options.policy
    this.#limits = { command: maxRequestSize, words: maxWords, word: maxWord, line: maxLine }
    const opening = { address: this.#address, protocol: this.#protocol, known }
    this.#session = sessions.open(user, opening, this.#outlet)
    return this.#session
  }

  /** The session, in the world that there is now: a reset does not part clients from their data store. */
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
    // There is no way to end a reply that has begun.
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
   * What nobody asked for. Whoever had taken everything when this turn of the event loop began is sent what it brings, as
   * long as there is room among all; whoever is behind is sent away before a message is added that is more than may wait.
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
    // How slow the host is does not belong in the middle of the command that tells it.
    this.#socket.soon(() => this.#break())
  }

  /** Sends what others are sent, too: it is held once. */
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
      // Asked before it is added to what the other end has not taken.
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

  /** The data store breaks it, unless it was disposed of. */
  #breakOff(): void {
    if (!this.#isAbandoned) this.#break()
  }

  #break(): void {
    if (this.#isClosed) return
    this.#leave()
    this.sendAway()
  }
}
