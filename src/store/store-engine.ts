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
import { Watches } from './keyspace/watches.js'
import { CostMeter } from './meter.js'
import { Persistence } from './persistence.js'
import { Scripts } from './scripting/scripts.js'
import type { StoreOptions } from './store-options.js'

/** Hears of everything the store does; used by the traffic log, the monitor feed and keyspace notifications. */
export interface StoreListener {
  /** A command ran. Exactly one of `reply` and `error` is given. */
  executed?(argv: readonly Bytes[], user: User, reply: Reply | undefined, error: unknown): void
  keyspace?(eventClass: EventClass, event: string, key: Bytes): void
}

/** The data store: a table of commands over one database. Everything it does is synchronous. */
export class StoreEngine implements CommandStore {
  readonly db: Database
  /** What SCAN shows of where it is. */
  readonly cursors: ScanCursors
  readonly options: StoreOptions
  /** What the request, or the command that stands alone, may still cost. */
  readonly work: Work
  readonly meter: CostMeter
  readonly pubsub: PubSub = new PubSub()
  /** Commands that wait for what others will bring. */
  readonly waiting: BlockedClients = new BlockedClients(this)
  /** What it accepted although the service may refuse it. */
  readonly diagnostics: Diagnostics
  /** When it was saved, as LASTSAVE and INFO tell it: everything is in memory. */
  readonly persistence: Persistence
  /** How many connections of the native protocol there are. */
  connections = 0
  /** Keys that connections watch. */
  readonly watches: Watches = new Watches()
  /** Cached scripts and loaded functions. */
  readonly scripts: Scripts = new Scripts(this)
  /** Those that the policy lets it have. */
  readonly commands: CommandTable<Command>
  /** What only connections can send, for it may wait. */
  readonly blockingCommands: CommandTable<Command> = blockingTable
  readonly #notifications: Notifications
  #commandListeners: NonNullable<StoreListener['executed']>[] = []
  #keyspaceListeners: NonNullable<StoreListener['keyspace']>[] = []
  /** Grows with every write, whether or not it changed anything: the sync token. [store.md 2.2] */
  #writes = 0
  #context: CommandContext
  /** Whether commands share the work of one request. */
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
      if (this.db.search.isWatching) this.db.search.record(key)
      if (this.#notifications.hearsAny) this.#notifications.announce(eventClass, event, key)
      if (this.waiting.size > 0) this.waiting.record(eventClass, event, key)
      if (this.watches.size > 0 && eventClass !== 'm') this.watches.touch(key)
      for (const listener of this.#keyspaceListeners) listener(eventClass, event, key)
    })
    this.db.cleared = () => this.waiting.cleared()
    this.db.clearing = () => {
      if (this.watches.size > 0) this.watches.clear((key) => this.db.has(key))
    }
    this.#notifications = new Notifications(this.db, this.pubsub, options.clock, () => this.waiting.serve())
    this.#context = new StoreContext(this, this.access.standardUser)
    this.access.onChange(() => this.pubsub.review())
  }

  get access(): AccessControl {
    return this.options.access
  }

  /** Which keyspace notifications are published: CONFIG SET notify-keyspace-events. */
  get eventFlags(): EventFlags {
    return this.#notifications.flags
  }

  set eventFlags(flags: EventFlags) {
    this.#notifications.flags = flags
  }

  get writes(): number {
    return this.#writes
  }

  /** Counts a write that was done elsewhere: the store in this process stands for another one. */
  wroteElsewhere(): void {
    this.#writes++
  }

  /** Calls back until the returned function is called. */
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

  /** Runs one command; throws `ReplyError` for everything the service answers with an error. */
  execute(argv: readonly Bytes[], user: User = this.access.standardUser, address: string = restClient): Reply {
    if (!this.#isRequest) this.#beginWork()
    if (this.#commandListeners.length === 0 && this.waiting.size === 0) return this.#run(argv, user, address)
    return this.waiting.after(() => this.#tellOf(argv, user, () => this.#run(argv, user, address)))
  }

  /**
   * Runs one command of a connection, on which commands may wait; throws `ReplyError` as `execute()` does.
   * @returns its reply, or that it waits: then the connection is not served before it has ended
   * @example
   * const begun = store.begin(words, user, client)
   * if (begun instanceof Blocked) begun.onEnd((end) => connection.answer(end))
   * else connection.answer({ reply: begun })
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

  /** Listeners hear of a command when it has ended. */
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

  /** Runs a command for somebody who only looks: same checks, but neither listeners nor monitors hear of it. */
  executeUnseen(argv: readonly Bytes[], user: User): Reply {
    if (!this.#isRequest) this.#beginWork()
    return this.diagnostics.pause(() => this.#run(argv, user, undefined))
  }

  /**
   * Runs a command that was looked up and permitted, as a part of one that runs already: no listener hears of it.
   * @param origin what monitors see, as `lua` for scripts; they see nothing without it
   */
  executePart(command: Command, argv: readonly Bytes[], user: User, origin?: string): Reply {
    this.meter.count(command)
    if (this.pubsub.monitors.size > 0 && origin !== undefined) this.#show(argv, command, origin)
    try {
      const reply = this.#notifications.hearsMisses
        ? this.#runWatched(command, argv, user)
        : command.execute(argv, this.#contextOf(user))
      if (command.writes) this.#writes++
      // What was refused did nothing that the service could refuse as well.
      if (command.status !== 'documented') this.diagnostics.noticeUndocumented(command)
      return reply
    } finally {
      this.db.settle()
      if (this.#notifications.hearsExpiry) this.#notifications.setAlarm()
    }
  }

  /** Runs commands that have the work of one request between them. @param docs the documentation in its words */
  asOneRequest<T>(docs: string, run: () => T): T {
    // What runs within it is a part of it.
    if (this.#isRequest) return this.inWordsOf(docs, run)
    this.#beginWork()
    this.#isRequest = true
    try {
      return this.inWordsOf(docs, run)
    } finally {
      this.#isRequest = false
    }
  }

  /** Runs something whose error texts point to this address of the documentation. */
  inWordsOf<T>(docs: string, run: () => T): T {
    const outer = this.#docs
    this.#docs = docs
    try {
      return run()
    } finally {
      this.#docs = outer
    }
  }

  /** Runs a part that nobody who sends commands pays for, such as serving somebody else. */
  atOwnCost<T>(run: () => T): T {
    const { left } = this.work
    this.work.renew(this.options.policy.maxWork)
    try {
      return run()
    } finally {
      this.work.renew(left)
    }
  }

  /** Where error texts point to: in the words of the request that runs. */
  get docs(): string {
    return this.#docs
  }

  get nativeDocs(): string {
    return this.options.nativeDocs ?? this.options.docs
  }

  /** What a transaction checks before it runs anything: the command may run, and may stand there. */
  checkRow(argv: readonly Bytes[], user: User, command?: Command): Command {
    const checked = this.check(argv, user, command)
    if (checked.flags.includes('nomulti')) throw replyError('notInTransaction')
    return checked
  }

  /** The command exists, has its arity and is allowed. Throws `ReplyError`. */
  check(argv: readonly Bytes[], user: User = this.access.standardUser, command: Command = this.lookup(argv)): Command {
    checkArity(command, argv)
    this.permit(command, argv, user)
    return command
  }

  /** Throws `ReplyError` when the user may not run the command, or not with these keys and channels. */
  permit(command: Command, argv: readonly Bytes[], user: User): void {
    if (user.unrestricted) return
    const denial = user.denial(command, command.namesIn(argv), this.work)
    if (denial !== undefined) throw denied(command.name, denial)
  }

  /** The command that the words name; subcommands are rows of their own. */
  lookup(argv: readonly Bytes[]): Command {
    const name = argv[0]
    if (name === undefined) throw replyError('emptyCommand')
    return this.commands.find(argv) ?? this.#refuse(name, argv)
  }

  /** Somebody waits for keys to go. */
  awaitExpiry(isAwaited: boolean): void {
    this.#notifications.isAwaited = isAwaited
  }

  /**
   * Whether users may have, or lack, the permission for a command of this name.
   * @param commands instead of those of the policy: a dump may come from where there were others
   */
  knows(name: string, commands: CommandTable<Command> = this.commands): boolean {
    const [container = '', subcommand] = name.toUpperCase().split('|')
    if (subcommand === undefined) {
      return commands.has(name) || blockingTable.has(name) || connectionBound.has(container)
    }
    const whole = `${container} ${subcommand}`
    return commands.named(whole) !== undefined || (container === 'CLIENT' && clientSubcommands.has(subcommand))
  }

  /** Empties the store as if it were new. Users and tokens stay. */
  reset(): void {
    this.waiting.after(() => this.db.clear())
    this.scripts.reset()
    this.eventFlags = noEvents
  }

  /** Runs a command given as texts: `run('SET', 'k', 'v')`. For tests that look at or prepare the store. */
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

  /** A method of its own: a closure there would cost every command. */
  #runWatched(command: Command, argv: readonly Bytes[], user: User): Reply {
    return this.#notifications.watchMisses(command, () => command.execute(argv, this.#contextOf(user)))
  }

  /** As in redis, nobody sees commands of wrong length and those that manage the server. */
  #show(argv: readonly Bytes[], command: Command, origin: string): void {
    if (!command.hasArity(argv) || command.flags.includes('admin')) return
    this.pubsub.show(argv, this.options.clock.now(), origin)
  }

  #beginWork(): void {
    const { maxWork } = this.options.policy
    // Most commands charge nothing, and leave nothing to renew.
    if (this.work.left !== maxWork) this.work.renew(maxWork)
    if (this.db.search.isWatching) this.db.search.beginRequest()
    if (this.#notifications.hearsAny) this.pubsub.attend(maxWork)
  }

  /** Nearly all commands in a row come from the same user. */
  #contextOf(user: User): CommandContext {
    if (this.#context.user !== user) this.#context = new StoreContext(this, user)
    return this.#context
  }
}

/** The address that MONITOR shows for clients without one. [store.md 5.1] */
const restClient = '0.0.0.0:0'

/** Containers whose unknown subcommands have a text of their own. [store.md 7.3] */
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
