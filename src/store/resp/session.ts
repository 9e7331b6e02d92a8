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
import type { PubSubMessage, SubscribedNames, Subscriber } from '../keyspace/pubsub.js'
import { sizeOfReply, transactionOverhead } from '../meter.js'
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

/** Destination of the bytes for a client. */
export interface Outlet {
  send(bytes: Bytes): void
  /** Sends bytes that are also sent to other clients. */
  tell(shared: Shared): void
  /** Closes the connection after the sent bytes. */
  end(): void
  /** Breaks the connection immediately. */
  break(): void
}

export interface SessionOwner {
  readonly commands: ReadonlyMap<string, SessionCommand<Session>>
  readonly front: RestStore
  readonly sessions: Iterable<Session>
  find(id: number): Session | undefined
  left(session: Session): void
}

type Send = (bytes: Bytes) => void

/**
 * Connection over the Redis protocol inside the sandbox: a signed-in user that sends one command after another.
 * [search.md, part 2]
 */
export class Session implements Subscriber, EventOutlet, CommandClient {
  /** Protocol version: RESP2 until the client sends HELLO 3. */
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
  /** Whether CLIENT REPLY disabled replies: permanently, for the running command, or for the next one. */
  readonly #silence = { on: false, now: false, next: false }
  #gone: AbortController | undefined
  /** Bytes that the running command has sent before its reply. */
  #sent: string | undefined
  /** Bytes of the messages that the running command has sent to its own client. */
  #heardBytes = 0
  /** Whether the messages in `#heardBytes` exceed the maximum response, so that the client must be disconnected. */
  #isFlooded = false
  /** Remaining bytes for the replies of the running transaction. */
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

  /**
   * Runs one command.
   * @param send receives the bytes of the response once, or never if the connection breaks
   * @returns whether the command waits. If so, `send` is called later, and nothing else may be sent before that.
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
    // While the command waits, messages are sent immediately instead of with the response.
    const heard = this.#sent
    this.#sent = undefined
    if (heard !== '') this.#outlet.send(latin1(heard))
    this.#blocked = reply
    reply.onEnd((end) => {
      this.#blocked = undefined
      if ('error' in end && !(end.error instanceof ReplyError)) {
        // The sandbox was disposed, or the client has disconnected.
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
    // Sending a long reply counts as work of the request, and as processing time of the connection.
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

  /**
   * Returns the session command that was sent; `undefined` for a command of the store.
   * @throws ReplyError when the client may not send it now
   */
  #admit(argv: readonly Bytes[]): SessionCommand<Session> | undefined {
    const name = argv[0]!.toUpperCase()
    const own = this.#own(name, argv)
    if (own !== undefined) this.#check(own, argv)
    const refusal = this.#unfit(name, own, argv)
    if (refusal === undefined) return own
    // If the command is unknown, has a wrong number of arguments or is not permitted, that error takes precedence over
    // `refusal`.
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
      // The store logs PING itself, except for clients with subscriptions.
      if (own.name !== 'PING' || this.isConfined) journal.note(argv, this.user, 'resp', undefined, end)
    }
    // Monitors see the commands of a transaction before its EXEC, and all other commands before their effects.
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

  /** Shows monitors a command that does not reach the store. */
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

  /** Whether commands are enabled that the service's documentation does not have. */
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

  /** Runs a command of the store on behalf of a session command. */
  command(argv: readonly Bytes[]): SessionReply {
    return this.#command(argv, 'resp') as TypedReply
  }

  #command(argv: readonly Bytes[], via: CommandEntry['via']): TypedReply | Blocked {
    const { front } = this.#house
    const { store, journal } = front
    const run = (): Reply | Blocked => {
      const tables = [store.blockingCommands, store.commands]
      const sender = { user: this.user, via, client: this }
      const received = front.checkPlan(argv, sender, tables)
      const run = (): Reply | Blocked => front.inStorage(argv, sender, tables, () => journal.carryOut(argv, sender))
      const begun = front.isStruck ? executeFaulty(front, { argv, user: this.user, via, run }, this.origin) : run()
      if (begun instanceof Blocked)
        begun.onEnd((end) => 'reply' in end && store.meter.countBytes(received, sizeOfReply(end.reply)))
      else front.charge(received, begun)
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

  /** Origin of the commands of this session, for fault rules. */
  get origin(): CommandOrigin {
    return { dialect: { docs: this.#house.front.store.nativeDocs } }
  }

  get #isSilent(): boolean {
    return this.#silence.on || this.#silence.now
  }

  /** Sets whether the client gets replies from now on. Messages of subscriptions are sent in any case. */
  setReplies(which: 'ON' | 'OFF' | 'SKIP'): SessionReply {
    if (which === 'SKIP') this.#silence.next = !this.#silence.on
    else this.#silence.on = which === 'OFF'
    if (which !== 'ON') return undefined
    this.#silence.now = false
    return ok
  }

  /** Bytes that are kept for the client until it disconnects or changes its settings. */
  get kept(): number {
    const { name, version } = this.library
    const names = this.name.length + name.length + version.length + (this.#blocked?.size ?? 0)
    return names + this.transaction.kept + this.#house.front.store.pubsub.keptFor(this)
  }

  /**
   * Checks that this many additional bytes can be kept for the client.
   * @throws ReplyError otherwise
   */
  demandRoom(bytes: number): void {
    if (this.kept + bytes > maxConnectionBytes) throw replyError('outOfMemory')
  }

  // ---- transactions -----------------------------------------------------------------------------------------------

  /**
   * Checks that a command can be queued for EXEC.
   * @throws ReplyError otherwise
   */
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

  /**
   * Checks that a command of the store is well-formed and permitted.
   * @throws ReplyError otherwise
   */
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

  /** Implements EXEC. */
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

  /**
   * Runs the commands of a transaction. Messages that a command sends to its own client come before the reply of the
   * command. [redis 7.0]
   */
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

  /** Sends a part of the response of the running command. */
  #say(text: string): void {
    if (!this.#isSilent && !this.#isFlooded) this.#sent += text
  }

  /** Maximum bytes of a response. */
  get #mostAnswered(): number {
    return Math.min(this.#house.front.store.options.policy.maxResponseSize, maxReplyBytes)
  }

  /**
   * Runs a command of a transaction.
   * @returns the reply; `undefined` if the command has already sent everything
   */
  #row(argv: readonly Bytes[]): TypedReply | undefined {
    const own = this.#own(argv[0]!.toUpperCase(), argv)
    try {
      if (own === undefined) return this.#command(argv, 'transaction') as TypedReply
      this.#check(own, argv)
      // Commands in a transaction never wait.
      return this.#runOwn(own, argv) as TypedReply | undefined
    } catch (error) {
      if (error instanceof ReplyError) return error
      throw error
    }
  }

  /** Implements WATCH. */
  watchKeys(keys: readonly Bytes[]): SessionReply {
    const { work } = this.#house.front.store
    if (!this.transaction.isOpen) this.demandRoom(costOfNames(keys))
    const watching = connectionBound.get('WATCH')!
    return this.transaction.watch(
      keys,
      (name) => this.user.denial(watching, { keys: [{ name, use: 'R' }] }, work) === undefined,
    )
  }

  // ---- messages ---------------------------------------------------------------------------------------------------

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
    if (kind === 'patterns') pubsub.subscribeToPatterns(this, names, work)
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

  /** Returns a message in wire form, encoded once per protocol version for all readers. */
  #sharedOf(message: PubSubMessage): Shared {
    const forms = shared.get(message) ?? []
    shared.set(message, forms)
    // Only monitors receive plain lines, which have one form.
    forms[this.protocol] ??= new Shared(this.#wireOf(message, message.line))
    return forms[this.protocol]!
  }

  #wireOf(message: PubSubMessage, line: Bytes): Bytes {
    const [kind, ...rest] = message.parts
    // If a fault has damaged the end of the line, the last part of the message gets the same damage.
    if (line !== message.line) rest.push(`${String(rest.pop() ?? '').slice(0, -1)}${line.at(-1)}` as Bytes)
    if (rest.length === 0) return wireOf(kind === '"OK"' ? ok : new Status(kind), 2)
    return this.#heard([kind, ...rest])
  }

  breakOff(): void {
    this.#end(() => this.#outlet.break())
  }

  /** Returns whether the user still exists; otherwise the client is disconnected. */
  isWelcome(): boolean {
    return this.#house.front.store.access.userNamed(this.user.name) === this.user
  }

  dismiss(): void {
    this.breakOff()
  }

  /** Whether the client may send only a few commands, because it has subscriptions in RESP2. */
  get isConfined(): boolean {
    return this.protocol === 2 && this.subscriptions > 0
  }

  /** Whether the client cannot change its user now, because it has subscriptions or commands that wait for EXEC. */
  get isOccupied(): boolean {
    return this.transaction.isOpen || this.isConfined || this.#isMonitor
  }

  get subscriptions(): number {
    return this.#house.front.store.pubsub.countOf(this)
  }

  get subscribedNames(): SubscribedNames {
    return this.#house.front.store.pubsub.namesOf(this)
  }

  #tell(items: readonly TypedReply[]): void {
    this.#put(this.#heard(items))
  }

  #heard(items: readonly TypedReply[]): Bytes {
    return wireOf(this.protocol === 2 ? items : new PushReply(items), this.protocol)
  }

  /**
   * Sends the bytes of a message. If the running command of this client caused the message, the bytes become part of
   * the response to that command.
   */
  #put(bytes: Bytes): void {
    if (this.#sent !== undefined) {
      // The transaction still runs to its end, because other clients must not see only a part of it.
      this.#heardBytes += bytes.length
      this.#isFlooded ||= this.#heardBytes > this.#mostAnswered
      if (!this.#isFlooded) this.#sent += bytes
    } else {
      this.#outlet.send(bytes)
      letOutsideContinue(this.#house.front.clock)
    }
  }

  /**
   * All connections. Reading them is charged to the work budget.
   * @throws ReplyError when there is not enough work left
   */
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

  /** Disconnects the client on behalf of another client. */
  kill(): void {
    this.#end(() => this.#outlet.end())
  }

  /**
   * Ends the session for a reason inside the sandbox. The session ends before the connection is notified, so that the
   * journal does not record an external input. In a replay, the same reason ends the session again.
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

  /** Signal that is aborted when the client has disconnected. */
  get gone(): AbortSignal {
    this.#gone ??= new AbortController()
    return this.#gone.signal
  }

  /** Ends the session because the sandbox was disposed. The connection can continue in the next sandbox. */
  retire(): void {
    this.hasEnded = true
    this.#gone?.abort()
  }

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

  /**
   * Returns a line for each connection, as CLIENT LIST does.
   * @throws ReplyError when the lines would exceed the maximum reply. In this case, no line is created.
   */
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

  /** Maximum bytes of the line of this connection in CLIENT LIST. */
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

/** Upper limit in bytes for replies, even if a policy allows more. */
export const maxReplyBytes = 268_435_456

/**
 * Maximum bytes of a response, including errors for commands whose replies did not fit. JavaScript strings have at most
 * 512 MiB.
 */
export const maxText = 500_000_000

/** Units of work for a line of CLIENT LIST. */
const unitsPerLine = 80
/** Bytes of the fixed parts of a line. */
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
