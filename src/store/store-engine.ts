import { type Bytes, utf8 } from '../kernel/bytes.js'
import type { Random } from '../kernel/random.js'
import { Work } from '../kernel/work.js'
import type { AccessControl } from './access/access-control.js'
import { clientSubcommands, connectionBound } from './access/categories.js'
import type { User } from './access/user.js'
import { Blocked, type CommandClient } from './blocking/blocked.js'
import { BlockedClients } from './blocking/waiting.js'
import { type Command, type CommandContext, type CommandStore, checkArity } from './command/command.js'
import {
  denied,
  notAvailable,
  notInRest,
  replyError,
  requestTooLarge,
  tooMuchWork,
  unknownSubcommand,
  wrongArity,
} from './command/errors.js'
import type { Reply } from './command/reply.js'
import type { CommandTable } from './commands/command-table.js'
import { blockingTable, commandsUnder, mayWait } from './commands/index.js'
import { Diagnostics } from './diagnostics.js'
import { Database, type EventClass } from './keyspace/database.js'
import { type EventFlags, noEvents } from './keyspace/keyspace-events.js'
import { Notifications } from './keyspace/notifications.js'
import { PubSub } from './keyspace/pubsub.js'
import { ScanCursors } from './keyspace/scan-cursors.js'
import { StorageMeter } from './keyspace/storage-meter.js'
import { Watches } from './keyspace/watches.js'
import { CostMeter } from './meter.js'
import { Persistence } from './persistence.js'
import { createScripts } from './scripting/deferred-scripts.js'
import type { Scripts } from './scripting/scripts.js'
import type { StoreOptions } from './store-options.js'

/** Callbacks for everything the store does; used by the traffic log, monitors and keyspace notifications. */
export interface StoreListener {
  /** Called after a command ran, with either `reply` or `error`. */
  executed?(argv: readonly Bytes[], user: User, reply: Reply | undefined, error: unknown): void
  keyspace?(eventClass: EventClass, event: string, key: Bytes): void
}

/** Data store: a table of commands over one database. All methods are synchronous. */
export class StoreEngine implements CommandStore {
  readonly db: Database
  /** Cursors of SCAN. */
  readonly cursors: ScanCursors
  readonly options: StoreOptions
  /** Remaining work of the current request. A command outside requests has its own budget. */
  readonly work: Work
  readonly meter: CostMeter
  readonly pubsub: PubSub = new PubSub()
  /** Blocked commands. */
  readonly waiting: BlockedClients = new BlockedClients(this)
  readonly diagnostics: Diagnostics
  readonly persistence: Persistence
  /** Size of all keys and values; `undefined` if it is not limited. */
  readonly storage: StorageMeter | undefined
  #connections = 0
  readonly watches: Watches = new Watches()
  #scripts: Scripts | undefined
  /** The commands that the policy enables. */
  readonly commands: CommandTable<Command>
  /** Commands that may wait, so that only connections can send them. */
  readonly blockingCommands: CommandTable<Command> = blockingTable
  readonly #notifications: Notifications
  #commandListeners: NonNullable<StoreListener['executed']>[] = []
  #keyspaceListeners: NonNullable<StoreListener['keyspace']>[] = []
  /**
   * Number of write commands so far, including commands that changed nothing. The sync token is derived from this
   * number. [store.md 2.2]
   */
  #writes = 0
  #writesBefore = 0
  #context: CommandContext
  /** Whether the running commands belong to one request and share its work budget. */
  #isRequest = false
  #docs: string

  constructor(options: StoreOptions) {
    this.options = options
    this.cursors = options.cursors ?? new ScanCursors(options.random.fork('cursor'))
    this.commands = commandsUnder(options.policy.commands)
    this.#docs = options.docs
    this.work = new Work(options.policy.maxWork, () => tooMuchWork(options.policy.maxWork))
    const now = (): number => options.clock.now()
    this.meter = new CostMeter(now)
    this.persistence = new Persistence(now())
    this.diagnostics = new Diagnostics(options.warnOnce)
    const refuseText = (length: number) => requestTooLarge(options.policy.maxRequestSize, length, this.docs)
    this.db = new Database(now, this.work, refuseText, (eventClass, event, key) => {
      if (this.storage !== undefined && eventClass !== 'm') this.storage.record(key)
      if (this.db.search.isWatching) this.db.search.record(key)
      if (this.#notifications.hearsAny) this.#notifications.announce(eventClass, event, key)
      if (this.waiting.size > 0) this.waiting.record(eventClass, event, key)
      if (this.watches.size > 0 && eventClass !== 'm') this.watches.touch(key)
      for (const listener of this.#keyspaceListeners) listener(eventClass, event, key)
    })
    const { maxStorageSize } = options.policy
    this.storage = maxStorageSize === undefined ? undefined : new StorageMeter(this.db, options.random.fork('eviction'))
    this.db.listener = {
      removing: () => this.meter.reach(),
      clearing: () => {
        if (this.watches.size > 0) this.watches.clear((key) => this.db.has(key))
      },
      cleared: () => {
        this.storage?.cleared()
        this.waiting.cleared()
      },
    }
    this.#notifications = new Notifications(this.db, this.pubsub, options.clock, () => this.waiting.serve())
    this.#context = new StoreContext(this, this.access.standardUser)
    this.access.onChange(() => this.pubsub.review())
  }

  /** Scripts and functions, which most stores never use. */
  get scripts(): Scripts {
    this.#scripts ??= createScripts(this)
    return this.#scripts
  }

  /** Source code of the function libraries, in the order in which they were loaded. */
  get functions(): readonly Bytes[] {
    return this.#scripts?.libraries.all.map(({ code }) => code) ?? []
  }

  /** Replaces all function libraries. */
  loadFunctions(codes: readonly Bytes[]): void {
    if (codes.length > 0 || this.#scripts !== undefined) this.scripts.libraries.restore(codes, 'flush')
  }

  get access(): AccessControl {
    return this.options.access
  }

  /** Classes of keyspace notifications that are published: CONFIG SET notify-keyspace-events. */
  get eventFlags(): EventFlags {
    return this.#notifications.flags
  }

  set eventFlags(flags: EventFlags) {
    this.#notifications.flags = flags
  }

  /** Number of connections over the Redis protocol. */
  get connections(): number {
    return this.#connections
  }

  set connections(count: number) {
    this.meter.reach()
    this.#connections = count
  }

  get writes(): number {
    return this.#writes
  }

  /** Number of write commands before the running request. */
  get writesBefore(): number {
    return this.#isRequest ? this.#writesBefore : this.#writes
  }

  /** Counts a write that ran in another process, on a store that takes the place of this one. */
  wroteElsewhere(): void {
    this.#writes++
  }

  /** Adds a listener and returns a function that removes it. */
  listen(listener: StoreListener): () => void {
    const executed = listener.executed?.bind(listener)
    const keyspace = listener.keyspace?.bind(listener)
    if (executed) this.#commandListeners = [...this.#commandListeners, executed]
    if (keyspace) this.#keyspaceListeners = [...this.#keyspaceListeners, keyspace]
    return () => {
      this.#commandListeners = this.#commandListeners.filter((other) => other !== executed)
      this.#keyspaceListeners = this.#keyspaceListeners.filter((other) => other !== keyspace)
    }
  }

  /**
   * Runs one command and returns its reply.
   * @throws ReplyError for every error reply
   */
  execute(argv: readonly Bytes[], user: User = this.access.standardUser, address: string = restClient): Reply {
    if (!this.#isRequest) this.#beginWork()
    if (this.#commandListeners.length === 0 && this.waiting.size === 0) return this.#run(argv, user, address)
    return this.waiting.after(() => this.#tellOf(argv, user, () => this.#run(argv, user, address)))
  }

  /**
   * Runs one command of a connection, on which commands may wait.
   * @returns the reply, or the blocked command. The connection must not run another command until the blocked command
   * has ended.
   * @throws ReplyError for every error reply
   * @example
   * const begun = store.begin(words, user, client)
   * if (begun instanceof Blocked) begun.onEnd((end) => connection.reply(end))
   * else connection.reply({ reply: begun })
   */
  begin(argv: readonly Bytes[], user: User = this.access.standardUser, client: CommandClient = {}): Reply | Blocked {
    if (!mayWait(argv)) return this.execute(argv, user, client.address)
    if (!this.#isRequest) this.#beginWork()
    return this.waiting.after(() =>
      this.#tellOf(argv, user, () => {
        const command = blockingTable.find(argv) ?? this.lookup(argv)
        if (!user.unrestricted) this.check(argv, user, command)
        return this.waiting.begin(command, argv, user, client)
      }),
    )
  }

  /** Runs a command, and calls the listeners when it has ended. */
  #tellOf<T extends Reply | Blocked>(argv: readonly Bytes[], user: User, run: () => T): T {
    const tell = (reply: Reply | undefined, error: unknown): void => {
      for (const listener of this.#commandListeners) listener(argv, user, reply, error)
    }
    let reply: T
    try {
      reply = run()
    } catch (error) {
      tell(undefined, error)
      throw error
    }
    if (reply instanceof Blocked)
      reply.onEnd((end) => ('reply' in end ? tell(end.reply, undefined) : tell(undefined, end.error)))
    else tell(reply as Reply, undefined)
    return reply
  }

  /** Runs a command for an observer such as a matcher: with all checks, but without calling listeners or monitors. */
  executeUnseen(argv: readonly Bytes[], user: User): Reply {
    if (!this.#isRequest) this.#beginWork()
    return this.diagnostics.pause(() => this.#run(argv, user, undefined))
  }

  /**
   * Runs a command as a part of a running one. The caller has already looked up the command and checked the
   * permissions. Does not call listeners.
   * @param origin the origin that monitors show, such as `lua` for scripts. Without an origin, monitors do not see the
   * command.
   */
  executePart(command: Command, argv: readonly Bytes[], user: User, origin?: string): Reply {
    const kind = this.meter.count(command)
    if (this.pubsub.monitors.size > 0 && origin !== undefined) this.#show(argv, command, origin)
    try {
      const reply = this.#notifications.hearsMisses
        ? this.#runWatched(command, argv, user)
        : command.execute(argv, this.#contextOf(user))
      if (command.writes) this.#writes++
      if (kind === 'reads') this.#countLookups(command, argv)
      // A rejected command needs no note, because it did nothing.
      if (command.status !== 'documented') this.diagnostics.noticeUndocumented(command)
      return reply
    } finally {
      this.db.settle()
      this.storage?.settle()
      if (this.#notifications.hearsExpiry) this.#notifications.setAlarm()
    }
  }

  /**
   * Runs commands that share the work of one request. @param docs documentation address for error texts, in the
   * request's dialect
   */
  asOneRequest<T>(docs: string, run: () => T): T {
    // A nested call shares the work of the outer request.
    if (this.#isRequest) return this.inWordsOf(docs, run)
    this.#beginWork()
    this.#isRequest = true
    this.#writesBefore = this.#writes
    try {
      return this.inWordsOf(docs, run)
    } finally {
      this.#isRequest = false
    }
  }

  /** Runs a function. Error texts that are created during the call contain the documentation address `docs`. */
  inWordsOf<T>(docs: string, run: () => T): T {
    const outer = this.#docs
    this.#docs = docs
    try {
      return run()
    } finally {
      this.#docs = outer
    }
  }

  /**
   * Runs a function with a full work budget of its own, not with the remaining work of the request. For example, the
   * function serves another client that was blocked.
   */
  atOwnCost<T>(run: () => T): T {
    const { left } = this.work
    this.work.renew(this.options.policy.maxWork)
    try {
      return run()
    } finally {
      this.work.renew(left)
    }
  }

  /** Documentation address for error texts, in the dialect of the running request. */
  get docs(): string {
    return this.#docs
  }

  get nativeDocs(): string {
    return this.options.nativeDocs ?? this.options.docs
  }

  /** Checks a command before a transaction runs: it must be permitted, and allowed inside transactions. */
  checkRow(argv: readonly Bytes[], user: User, command?: Command): Command {
    const checked = this.check(argv, user, command)
    if (checked.flags.includes('nomulti')) throw replyError('notInTransaction')
    return checked
  }

  /**
   * Checks that the command exists, has the right number of arguments and is permitted.
   * @throws ReplyError otherwise
   */
  check(argv: readonly Bytes[], user: User = this.access.standardUser, command: Command = this.lookup(argv)): Command {
    checkArity(command, argv)
    this.permit(command, argv, user)
    return command
  }

  /**
   * Checks that the user may run the command with these keys and channels.
   * @throws ReplyError otherwise
   */
  permit(command: Command, argv: readonly Bytes[], user: User): void {
    if (user.unrestricted) return
    const denial = user.denial(command, command.namesIn(argv), this.work)
    if (denial !== undefined) throw denied(command.name, denial)
  }

  /** Returns the command with this name. Each subcommand is a separate command. */
  lookup(argv: readonly Bytes[]): Command {
    const name = argv[0]
    if (name === undefined) throw replyError('emptyCommand')
    return this.commands.find(argv) ?? this.#refuse(name, argv)
  }

  /** Sets whether a blocked client waits for keys to expire. If so, the store sets a timer for the next expiration. */
  awaitExpiry(isAwaited: boolean): void {
    this.#notifications.isAwaited = isAwaited
  }

  /**
   * Returns whether the ACL rules of a user may contain this command.
   * @param commands the commands that exist. Default: those that the policy enables. A dump may come from a sandbox
   * with other commands.
   */
  knows(name: string, commands: CommandTable<Command> = this.commands): boolean {
    const [container = '', subcommand] = name.toUpperCase().split('|')
    if (subcommand === undefined) {
      return commands.has(name) || blockingTable.has(name) || connectionBound.has(container)
    }
    const whole = `${container} ${subcommand}`
    return commands.named(whole) !== undefined || (container === 'CLIENT' && clientSubcommands.has(subcommand))
  }

  /** Empties the store. Users and tokens stay. */
  reset(): void {
    this.waiting.after(() => this.db.clear())
    this.#scripts?.reset()
    this.eventFlags = noEvents
  }

  /** Runs a command given as texts, such as `run('SET', 'k', 'v')`. For tests that read or prepare the store. */
  run(...words: readonly (string | number)[]): Reply {
    return this.execute(words.map((word) => utf8(String(word))))
  }

  #refuse(name: Bytes, argv: readonly Bytes[]): never {
    const upper = name.toUpperCase()
    if (connectionBound.has(upper)) throw notInRest(upper)
    if (argv.length === 1 && this.commands.needsSubcommand(name)) throw wrongArity(upper)
    const subcommand = argv[1]
    if (subcommand !== undefined && streamContainers.has(upper) && subcommand.toUpperCase() !== 'HELP') {
      throw unknownSubcommand(upper, subcommand)
    }
    throw notAvailable(this.commands.shownName(argv), this.docs)
  }

  #run(argv: readonly Bytes[], user: User, origin: string | undefined): Reply {
    const command = user.unrestricted ? this.lookup(argv) : this.check(argv, user)
    if (this.db.isCrowded) this.db.sweep()
    return this.executePart(command, argv, user, origin)
  }

  /**
   * Runs a command and records misses. It is a separate method, because an inline closure would slow down every
   * command.
   */
  #runWatched(command: Command, argv: readonly Bytes[], user: User): Reply {
    return this.#notifications.watchMisses(command, () => command.execute(argv, this.#contextOf(user)))
  }

  /** Counts each key of a read command as a hit or a miss. A key that occurs twice counts twice, as in redis-server. */
  #countLookups(command: Command, argv: readonly Bytes[]): void {
    const { keyPlaces, nameLength } = command
    const { db, meter } = this
    if (keyPlaces === 'one') {
      if (db.isLive(argv[nameLength]!)) meter.countLookups(1, 0)
      else meter.countLookups(0, 1)
      return
    }
    const keys = keyPlaces === 'rest' ? argv.slice(nameLength) : command.keysOf(argv)
    const hits = keys.reduce((count, key) => (db.isLive(key) ? count + 1 : count), 0)
    if (keys.length > 0) meter.countLookups(hits, keys.length - hits)
  }

  /**
   * Shows a command to monitors. As in redis, monitors do not see commands with a wrong number of arguments or commands
   * that manage the server.
   */
  #show(argv: readonly Bytes[], command: Command, origin: string): void {
    if (!command.hasArity(argv) || command.flags.includes('admin')) return
    this.pubsub.show(argv, this.options.clock.now(), origin)
  }

  #beginWork(): void {
    const { maxWork } = this.options.policy
    // Most commands charge no work. The budget is then still full and need not be renewed.
    if (this.work.left !== maxWork) this.work.renew(maxWork)
    if (this.db.search.isWatching) this.db.search.beginRequest()
    if (this.#notifications.hearsAny) this.pubsub.attend(maxWork)
  }

  /**
   * Returns the context for commands of a user. It is reused, because consecutive commands nearly always come from the
   * same user.
   */
  #contextOf(user: User): CommandContext {
    if (this.#context.user !== user) this.#context = new StoreContext(this, user)
    return this.#context
  }
}

/** Address that MONITOR shows for clients without one. [store.md 5.1] */
const restClient = '0.0.0.0:0'

/** Commands with subcommands that have their own error text for unknown subcommands. [store.md 7.3] */
const streamContainers = new Set(['XGROUP', 'XINFO'])

class StoreContext implements CommandContext {
  readonly db: Database
  readonly random: Random

  constructor(
    readonly store: StoreEngine,
    readonly user: User,
  ) {
    this.db = store.db
    this.random = store.options.random
  }

  get now(): number {
    return this.store.options.clock.now()
  }
}
