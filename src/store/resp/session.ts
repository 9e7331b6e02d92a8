import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { letOutsideContinue } from '../../kernel/clock.js'
import type { CommandEntry } from '../../kernel/traffic-log.js'
import { bytesPerUnit, smallReply } from '../../kernel/work.js'
import { connectionBound } from '../access/categories.js'
import type { User } from '../access/user.js'
import { Blocked, type CommandClient } from '../blocking/blocked.js'
import type { Command } from '../command/command.js'
import { costOfNames, maxConnectionBytes } from '../command/connection-memory.js'
import {
  noCommandPermission,
  replyError,
  replyTooLarge,
  requestTooLarge,
  tooManyRows,
  unknownSubcommand,
  wrongArity,
} from '../command/errors.js'
import { ok, type Reply, ReplyError, Status } from '../command/reply.js'
import { PushReply, plainOf, type TypedReply, typedReply } from '../command/typed-reply.js'
import { redisVersion } from '../commands/info.js'
import type { PubSubMessage, Subscriber } from '../keyspace/pubsub.js'
import { transactionOverhead } from '../meter.js'
import { type CommandOrigin, executeFaulty } from '../rest/command-faults.js'
import { type EventOutlet, faultyEvent } from '../rest/event-faults.js'
import { notLoaded } from '../rest/store-endpoints.js'
import type { RestStore } from '../rest/store-front.js'
import { SearchNotLoaded } from '../search/stems.js'
import { maxRows, refusedCount, refusedWork } from '../store-limits.js'
import { Shared } from './crowd.js'
import { maxBytes, type RespVersion, wireOf } from './reply-writer.js'
import { checkLength, isContainer, SentReply, type SessionCommand, type SessionReply } from './session-row.js'
import { costOfRow, TransactionState } from './transaction.js'

/** Where the bytes for a client go. */
export interface Outlet {
  send(bytes: Bytes): void
  /** The same for what others are sent, too. */
  tell(shared: Shared): void
  /** Closes the connection behind what was sent. */
  end(): void
  /** Breaks it off, whatever was sent. */
  break(): void
}

/** What a session needs of the house. */
export interface SessionOwner {
  /** The commands of connections, by name. */
  readonly commands: ReadonlyMap<string, SessionCommand<Session>>
  readonly front: RestStore
  readonly sessions: Iterable<Session>
  find(id: number): Session | undefined
  left(session: Session): void
}

type Send = (bytes: Bytes) => void

/**
 * One connection of the native protocol, as the world sees it: somebody who has signed in and sends one command after
 * the other. [search.md, part 2]
 */
export class Session implements Subscriber, EventOutlet, CommandClient {
  /** Bytes of it as the client sees them: RESP2 until it says HELLO 3. */
  protocol: RespVersion = 2
  name: string = ''
  readonly library: { name: string; version: string } = { name: '', version: '' }
  hasEnded = false
  readonly transaction: TransactionState
  readonly #house: SessionOwner
  readonly #outlet: Outlet
  readonly #since: number
  #last = { at: 0, name: 'NULL' }
  #blocked: Blocked | undefined
  #isMonitor = false
  /** Whether it wants no replies: for good, to this command, or to the next one. */
  readonly #silence = { on: false, now: false, next: false }
  #gone: AbortController | undefined
  /** What the command that runs now has sent so far, before its reply. */
  #sent: string | undefined
  /** Bytes of it that nobody asked for: what it hears of itself. */
  #heardBytes = 0
  /** What it hears of the command that runs now is more than an answer may have: it is sent away. */
  #isFlooded = false
  /** Bytes that the replies of the transaction that runs may still have. */
  #room: number | undefined

  constructor(
    house: SessionOwner,
    readonly id: number,
    public user: User,
    readonly address: string,
    outlet: Outlet,
  ) {
    this.#house = house
    this.#outlet = outlet
    this.transaction = new TransactionState(house.front.store)
    this.#since = house.front.clock.now()
    this.#last.at = this.#since
  }

  // ---- one command ------------------------------------------------------------------------------------------------

  /**
   * Answers one command.
   * @param send gets the bytes of the answer, once; not at all where the connection breaks
   * @returns whether it waits: then `send` is called later, and nothing may be sent before
   */
  run(argv: readonly Bytes[], send: Send): boolean {
    this.#last = { at: this.#house.front.clock.now(), name: argv[0]!.slice(0, 40) }
    const outer = this.#sent
    this.#sent = ''
    this.#heardBytes = 0
    const answer = (reply: SessionReply): void => {
      const bytes = reply === undefined || reply instanceof SentReply || this.#isSilent ? '' : this.#wire(reply)
      this.#silence.now = this.#silence.next
      this.#silence.next = false
      const before = this.#sent ?? ''
      this.#sent = outer
      if (this.#isFlooded || before.length + bytes.length > maxText) {
        this.breakOff()
        return
      }
      send(latin1(before + bytes))
    }
    let reply: SessionReply | Blocked
    try {
      const { store } = this.#house.front
      reply = store.asOneRequest(store.nativeDocs, () => this.#serve(argv))
    } catch (error) {
      const refused = error instanceof SearchNotLoaded ? notLoaded(error) : error
      if (!(refused instanceof ReplyError)) {
        this.#sent = outer
        throw error
      }
      reply = refused
    }
    if (!(reply instanceof Blocked)) {
      answer(reply)
      return false
    }
    // What is heard meanwhile comes at once.
    const heard = this.#sent
    this.#sent = undefined
    if (heard !== '') this.#outlet.send(latin1(heard))
    this.#blocked = reply
    reply.onEnd((end) => {
      this.#blocked = undefined
      if ('error' in end && !(end.error instanceof ReplyError)) {
        // Its world is over, or it is gone.
        this.#outlet.break()
        return
      }
      this.#sent = ''
      answer('reply' in end ? this.#typed(argv, end.reply) : (end.error as ReplyError))
    })
    return true
  }

  #wire(reply: TypedReply): Bytes {
    const bytes = maxBytes(reply)
    const isTooLarge = bytes > maxText
    // Sending it is a part of the work of its request, and of the turn of its connection.
    if (bytes > smallReply && !isTooLarge) this.#house.front.store.work.spend(Math.floor(bytes / bytesPerUnit))
    return wireOf(isTooLarge ? replyTooLarge(this.#mostAnswered, true) : reply, this.protocol)
  }

  #serve(argv: readonly Bytes[]): SessionReply | Blocked {
    const { transaction } = this
    const own = transaction.demand(argv, () => this.#admit(argv))
    if (transaction.isOpen && own?.inTransaction !== 'runs') {
      return transaction.queue(argv, () => this.#checkRow(argv, own))
    }
    return own === undefined ? this.#command(argv, 'resp') : this.#runOwn(own, argv)
  }

  /** Its own command, if it is one. Throws `ReplyError` for what it may not send now. */
  #admit(argv: readonly Bytes[]): SessionCommand<Session> | undefined {
    const name = argv[0]!.toUpperCase()
    const own = this.#own(name, argv)
    if (own !== undefined) this.#check(own, argv)
    const refusal = this.#unfit(name, own, argv)
    if (refusal === undefined) return own
    // What is wrong with it anyway is told first.
    if (own === undefined) this.#checkStored(argv)
    throw refusal
  }

  #unfit(name: string, own: SessionCommand<Session> | undefined, argv: readonly Bytes[]): ReplyError | undefined {
    if (this.isConfined && !whileSubscribed.has(name)) return confined((own ?? this.#found(argv))?.name ?? name)
    if (this.#isMonitor && !whileMonitoring.has(name))
      return new ReplyError("ERR Replica can't interact with the keyspace")
    return undefined
  }

  #runOwn(own: SessionCommand<Session>, argv: readonly Bytes[]): SessionReply {
    const { journal, store } = this.#house.front
    const note = (end: { readonly reply: Reply } | { readonly error: string }): void => {
      // The store has written it down.
      if (own.name !== 'PING' || this.isConfined) journal.note(argv, this.user, 'resp', undefined, end)
    }
    // What a transaction runs comes before its EXEC, everything else before what it brings about.
    const showsAfterwards = own.name === 'EXEC'
    if (!showsAfterwards) this.#show(own, argv)
    try {
      const reply = own.run(this, argv)
      if (own.status === 'redis') store.diagnostics.noticeUndocumented(own)
      note({ reply: reply instanceof SentReply ? reply.plain : reply === undefined ? null : plainOf(reply) })
      return reply
    } catch (error) {
      if (error instanceof ReplyError) note({ error: error.message })
      throw error
    } finally {
      if (showsAfterwards) this.#show(own, argv)
    }
  }

  /** Shows a command to the monitors that the store does not see. */
  #show(own: SessionCommand<Session>, argv: readonly Bytes[]): void {
    const { store, clock } = this.#house.front
    if (store.pubsub.monitors.size === 0 || own.isAdmin === true) return
    if (own.name !== 'PING' || this.isConfined) store.pubsub.show(argv, clock.now(), this.address)
  }

  #own(name: string, argv: readonly Bytes[]): SessionCommand<Session> | undefined {
    const full = isContainer(name) && argv.length > 1 ? `${name} ${argv[1]!.toUpperCase()}` : name
    const own = this.#house.commands.get(full)
    if (own !== undefined && (own.status !== 'redis' || this.#hasAll)) return own
    if (!isContainer(name)) return undefined
    throw argv.length > 1 ? unknownSubcommand(name, argv[1]!) : wrongArity(name)
  }

  /** Whether commands are there for which the service has no page. */
  get #hasAll(): boolean {
    return this.#house.front.store.options.policy.commands === 'all'
  }

  #check(own: SessionCommand<Session>, argv: readonly Bytes[]): void {
    checkLength(own, argv)
    if (own.isFree === true || this.user.unrestricted) return
    const [container] = own.name.split(' ', 1)
    const permissible = connectionBound.get(container!)
    if (permissible === undefined) return
    if (!this.user.mayRun({ ...permissible, name: own.name })) throw noCommandPermission(own.name)
  }

  /** For commands of the store that connections send in another way. */
  command(argv: readonly Bytes[]): SessionReply {
    return this.#command(argv, 'resp') as TypedReply
  }

  #command(argv: readonly Bytes[], via: CommandEntry['via']): TypedReply | Blocked {
    const { front } = this.#house
    const { store, journal } = front
    const run = (): Reply | Blocked => {
      const tables = [store.blockingCommands, store.commands]
      const received = front.checkPlan(argv, { user: this.user, via }, tables)
      const run = (): Reply | Blocked => journal.carryOut(argv, { user: this.user, via, client: this })
      const begun = front.isStruck ? executeFaulty(front, { argv, user: this.user, via, run }, this.origin) : run()
      if (!(begun instanceof Blocked)) front.charge(received, begun)
      return begun
    }
    const reply = run()
    return reply instanceof Blocked ? reply : this.#typed(argv, reply)
  }

  #typed(argv: readonly Bytes[], reply: Reply): TypedReply {
    if (this.protocol === 2) return reply
    const command = this.#found(argv)
    return command === undefined ? reply : typedReply(command.name, argv, reply)
  }

  /** What faults can know of where its commands come from. */
  get origin(): CommandOrigin {
    return { dialect: { docs: this.#house.front.store.nativeDocs } }
  }

  get #isSilent(): boolean {
    return this.#silence.on || this.#silence.now
  }

  /** Whether it is told of its commands from now on; what it hears of others comes anyway. */
  setReplies(which: 'ON' | 'OFF' | 'SKIP'): SessionReply {
    if (which === 'SKIP') this.#silence.next = !this.#silence.on
    else this.#silence.on = which === 'OFF'
    if (which !== 'ON') return undefined
    this.#silence.now = false
    return ok
  }

  /** Bytes that are kept because of it until it leaves, or says otherwise. */
  get kept(): number {
    const { name, version } = this.library
    const names = this.name.length + name.length + version.length + (this.#blocked?.size ?? 0)
    return names + this.transaction.kept + this.#house.front.store.pubsub.keptFor(this)
  }

  /** Throws `ReplyError` where so many more bytes may not be kept. */
  demandRoom(bytes: number): void {
    if (this.kept + bytes > maxConnectionBytes) throw replyError('outOfMemory')
  }

  // ---- transactions -----------------------------------------------------------------------------------------------

  /** Whether a row may wait for EXEC. Throws `ReplyError`. */
  #checkRow(argv: readonly Bytes[], own: SessionCommand<Session> | undefined): void {
    if (own?.inTransaction === 'refused') throw replyError('notInTransaction')
    this.#house.front.measured(argv)
    const most = maxRows(this.#house.front.store)
    if (this.transaction.length >= most) throw tooManyRows(most)
    this.demandRoom(costOfRow(argv))
    if (own !== undefined) return
    const { store } = this.#house.front
    store.checkRow(argv, this.user, this.#stored(argv))
  }

  /** Whether a command of the store has the right form, and may be sent by this user. Throws `ReplyError`. */
  #checkStored(argv: readonly Bytes[]): void {
    this.#house.front.store.check(argv, this.user, this.#stored(argv))
  }

  #stored(argv: readonly Bytes[]): Command {
    return this.#found(argv) ?? this.#house.front.store.lookup(argv)
  }

  #found(argv: readonly Bytes[]): Command | undefined {
    const { store } = this.#house.front
    return store.blockingCommands.find(argv) ?? store.commands.find(argv)
  }

  /** EXEC. */
  executeTransaction(): SessionReply {
    const { store } = this.#house.front
    return this.transaction.execute((rows) => {
      const stored = rows.filter((argv) => this.#own(argv[0]!.toUpperCase(), argv) === undefined)
      const commands = stored.map((argv) => this.#stored(argv))
      const refusal = refusedCount(rows.length + transactionOverhead, store) ?? refusedWork(commands, stored, store)
      if (refusal !== undefined) throw refusal
      store.meter.countTransaction()
      this.#room = this.#mostAnswered
      try {
        return store.waiting.transaction(() => this.#executeRows(rows))
      } finally {
        this.#room = undefined
      }
    })
  }

  /** Each row is answered when it has run: what is heard of it comes before its reply, in the midst of the others. [redis 7.0] */
  #executeRows(rows: readonly (readonly Bytes[])[]): SentReply {
    this.#say(`*${rows.length}\r\n`)
    return new SentReply(
      rows.map((argv) => {
        const reply = this.#row(argv)
        if (reply === undefined) return null
        this.#room! -= maxBytes(reply)
        const told = this.#room! < 0 ? replyTooLarge(this.#mostAnswered, true) : reply
        this.#say(this.#wire(told))
        return plainOf(told)
      }),
    )
  }

  /** Sends a part of the answer of the command that runs. */
  #say(text: string): void {
    if (!this.#isSilent && !this.#isFlooded) this.#sent += text
  }

  /** Bytes of an answer. */
  get #mostAnswered(): number {
    return Math.min(this.#house.front.store.options.policy.maxResponseSize, maxReplyBytes)
  }

  /** @returns the reply; `undefined` where it has sent everything itself */
  #row(argv: readonly Bytes[]): TypedReply | undefined {
    const own = this.#own(argv[0]!.toUpperCase(), argv)
    try {
      if (own === undefined) return this.#command(argv, 'transaction') as TypedReply
      this.#check(own, argv)
      // EXEC never waits in another one.
      return this.#runOwn(own, argv) as TypedReply | undefined
    } catch (error) {
      if (error instanceof ReplyError) return error
      throw error
    }
  }

  /** WATCH. */
  watchKeys(keys: readonly Bytes[]): SessionReply {
    const { work } = this.#house.front.store
    if (!this.transaction.isOpen) this.demandRoom(costOfNames(keys))
    const watching = connectionBound.get('WATCH')!
    return this.transaction.watch(
      keys,
      (name) => this.user.denial(watching, { keys: [{ name, use: 'R' }] }, work) === undefined,
    )
  }

  // ---- what it hears ----------------------------------------------------------------------------------------------

  subscribe(kind: SubscriptionKind, names: readonly Bytes[]): SessionReply {
    const { pubsub, work } = this.#house.front.store
    if (kind === 'shards' && this.#room !== undefined)
      throw new ReplyError("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client")
    const command = connectionBound.get(kind === 'patterns' ? 'PSUBSCRIBE' : 'SUBSCRIBE')!
    const denial = this.user.denial(
      command,
      { channels: [...names], ...(kind === 'patterns' && { kind: 'pattern' }) },
      work,
    )
    if (denial !== undefined) throw replyError('noChannelPermission')
    this.demandRoom(costOfNames(names))
    if (kind === 'patterns') pubsub.subscribeToPatterns(this, names)
    else pubsub.subscribe(this, names, kind)
    return undefined
  }

  unsubscribe(kind: SubscriptionKind, names: readonly Bytes[]): SessionReply {
    const { pubsub } = this.#house.front.store
    const word = latin1(endings[kind])
    for (const { name, left } of pubsub.unsubscribe(this, kind, names.length === 0 ? undefined : names)) {
      this.#tell([word, name, left])
    }
    return undefined
  }

  monitor(): SessionReply {
    this.#isMonitor = true
    this.#house.front.store.pubsub.monitor(this)
    return undefined
  }

  receive(message: PubSubMessage): void {
    const { front } = this.#house
    if (front.faults?.activeByPoint['stream.event'] !== undefined) faultyEvent(this, message, this.origin, front)
    else this.pass(message)
  }

  pass(message: PubSubMessage, line: Bytes = message.line): void {
    if (this.hasEnded) return
    if (line === message.line && this.#sent === undefined) {
      this.#outlet.tell(this.#sharedOf(message))
      letOutsideContinue(this.#house.front.clock)
      return
    }
    this.#put(this.#wireOf(message, line))
  }

  /** A message is put into its wire form once for each version of the protocol, however many hear it. */
  #sharedOf(message: PubSubMessage): Shared {
    const forms = shared.get(message) ?? []
    shared.set(message, forms)
    // Only monitors are shown lines, and all in one form.
    forms[this.protocol] ??= new Shared(this.#wireOf(message, message.line))
    return forms[this.protocol]!
  }

  #wireOf(message: PubSubMessage, line: Bytes): Bytes {
    const [kind, ...rest] = message.parts
    // Damage is at the end of a line.
    if (line !== message.line) rest.push(`${String(rest.pop() ?? '').slice(0, -1)}${line.at(-1)}` as Bytes)
    if (rest.length === 0) return wireOf(kind === '"OK"' ? ok : new Status(kind), 2)
    return this.#heard([kind, ...rest])
  }

  breakOff(): void {
    this.#end(() => this.#outlet.break())
  }

  /** Who may do nothing any more is sent away. */
  isWelcome(): boolean {
    return this.#house.front.store.access.userNamed(this.user.name) === this.user
  }

  dismiss(): void {
    this.breakOff()
  }

  /** Whether it may send hardly anything because it listens. */
  get isConfined(): boolean {
    return this.protocol === 2 && this.subscriptions > 0
  }

  /** Whether it may not become somebody else now: it listens, or its commands wait for EXEC. */
  get isOccupied(): boolean {
    return this.transaction.isOpen || this.isConfined || this.#isMonitor
  }

  get subscriptions(): number {
    return this.#house.front.store.pubsub.countOf(this)
  }

  #tell(items: readonly TypedReply[]): void {
    this.#put(this.#heard(items))
  }

  #heard(items: readonly TypedReply[]): Bytes {
    return wireOf(this.protocol === 2 ? items : new PushReply(items), this.protocol)
  }

  /** What comes of its own command belongs to the answer. */
  #put(bytes: Bytes): void {
    if (this.#sent !== undefined) {
      // It goes on to the end: others must not see half of a transaction because one reader hears too much.
      this.#heardBytes += bytes.length
      this.#isFlooded ||= this.#heardBytes > this.#mostAnswered
      if (!this.#isFlooded) this.#sent += bytes
    } else {
      this.#outlet.send(bytes)
      letOutsideContinue(this.#house.front.clock)
    }
  }

  // ---- among others -----------------------------------------------------------------------------------------------

  /** All connections; looking at them is charged. Throws `ReplyError`. */
  get others(): Iterable<Session> {
    const { work, connections } = this.#house.front.store
    work.charge(connections)
    return this.#house.sessions
  }

  other(id: number): Session | undefined {
    return this.#house.find(id)
  }

  knowsUser(name: string): boolean {
    return this.#house.front.store.access.userNamed(name) !== undefined
  }

  get serverVersion(): string {
    return redisVersion
  }

  get isWaiting(): boolean {
    return this.#blocked !== undefined
  }

  get kind(): string {
    return this.subscriptions > 0 ? 'pubsub' : 'normal'
  }

  unblock(how: 'TIMEOUT' | 'ERROR'): boolean {
    return this.#blocked?.unblock(how) ?? false
  }

  /** Somebody else ends it. */
  kill(): void {
    this.#end(() => this.#outlet.end())
  }

  /**
   * Ends it for a reason that is in its world. It has ended before the connection hears of it, so that this is not
   * written down as something that came from outside: played again, it follows from the reason.
   */
  #end(tell: () => void): void {
    if (this.hasEnded) return
    this.retire()
    tell()
    this.#leave()
  }

  leaveAfterAnswer(): void {
    this.#outlet.end()
  }

  /** Aborted when the connection is gone. */
  get gone(): AbortSignal {
    this.#gone ??= new AbortController()
    return this.#gone.signal
  }

  /** Its world is over: whoever holds the connection may go on in the next one. */
  retire(): void {
    this.hasEnded = true
    this.#gone?.abort()
  }

  /** The connection is gone. */
  close(): void {
    if (this.hasEnded) return
    this.retire()
    this.#leave()
  }

  #leave(): void {
    const { store } = this.#house.front
    this.transaction.forget()
    store.pubsub.leave(this)
    this.#blocked?.cancel()
    this.#house.left(this)
  }

  /** A line of each connection, as CLIENT LIST has it. Throws `ReplyError` for more than a reply may have, before any is made. */
  describe(sessions: Iterable<Session>): Bytes {
    const { store } = this.#house.front
    const { maxRequestSize } = store.options.policy
    const described = [...sessions]
    let size = 0
    for (const session of described) size += session.#mostDescribed
    if (size > maxRequestSize) throw requestTooLarge(maxRequestSize, size, store.nativeDocs)
    if (this.#room !== undefined && size > this.#room) throw replyTooLarge(this.#mostAnswered, false)
    store.work.charge(unitsPerLine * described.length + Math.floor(size / bytesPerUnit))
    return latin1(described.map((session) => `${session.#line}\n`).join(''))
  }

  /** Bytes of its line, at most. */
  get #mostDescribed(): number {
    const { name, version } = this.library
    return (
      aroundLine +
      this.name.length +
      name.length +
      version.length +
      this.user.name.length +
      this.address.length +
      this.#last.name.length
    )
  }

  get #line(): string {
    const now = this.#house.front.clock.now()
    const seconds = (since: number): number => Math.max(0, Math.floor((now - since) / 1000))
    const flags = `${this.#isMonitor ? 'O' : ''}${this.subscriptions > 0 ? 'P' : ''}${this.transaction.isOpen ? 'x' : ''}${this.#blocked ? 'b' : ''}`
    const fields = {
      id: this.id,
      addr: this.address,
      name: this.name,
      age: seconds(this.#since),
      idle: seconds(this.#last.at),
      flags: flags || 'N',
      db: 0,
      sub: this.subscriptions,
      multi: this.transaction.length,
      cmd: this.#last.name.toLowerCase(),
      user: this.user.name,
      resp: this.protocol,
      'lib-name': this.library.name,
      'lib-ver': this.library.version,
    }
    return Object.entries(fields)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')
  }
}

const shared = new WeakMap<PubSubMessage, (Shared | undefined)[]>()

/** However much a policy allows. */
export const maxReplyBytes = 268_435_456

/** An answer, a refusal for each row that had no room in it included. Strings of the engine have 512 MiB at most. */
export const maxText = 500_000_000

/** One of CLIENT LIST. */
const unitsPerLine = 80
/** Its words and numbers. */
const aroundLine = 200

type SubscriptionKind = 'channels' | 'patterns' | 'shards'
const endings: Readonly<Record<SubscriptionKind, string>> = {
  channels: 'unsubscribe',
  patterns: 'punsubscribe',
  shards: 'sunsubscribe',
}

const whileMonitoring: ReadonlySet<string> = new Set(['QUIT', 'RESET', 'PING'])
const whileSubscribed: ReadonlySet<string> = new Set([
  'SUBSCRIBE',
  'PSUBSCRIBE',
  'UNSUBSCRIBE',
  'PUNSUBSCRIBE',
  'SSUBSCRIBE',
  'SUNSUBSCRIBE',
  'PING',
  'QUIT',
  'RESET',
])

function confined(name: string): ReplyError {
  return new ReplyError(
    `ERR Can't execute '${name.toLowerCase().replace(' ', '|')}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context`,
  )
}
