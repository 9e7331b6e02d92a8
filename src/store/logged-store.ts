import { type Bytes, latin1 } from '../kernel/bytes.js'
import type { InputJournal } from '../kernel/input-journal.js'
import type { CommandEntry, EntryBase, KeyspaceEntry, TrafficLog } from '../kernel/traffic-log.js'
import { weightOfWords } from '../kernel/weight.js'
import type { User } from './access/user.js'
import { Blocked, type CommandClient, type WaitEnd } from './blocking/blocked.js'
import { type Reply, ReplyError } from './command/reply.js'
import { mayWait } from './commands/index.js'
import type { StoreDump } from './dump/store-dump.js'
import type { ExecutedCommand } from './executed-command.js'
import type { StoreEngine } from './store-engine.js'

/** Estimated bytes of one executed command, in addition to its arguments. */
const ranBytes = 80

/** User and client that send a command. */
export interface Sender {
  readonly user: User
  readonly via: CommandEntry['via']
  readonly client?: CommandClient
  /** `seq` of the traffic entry that caused the commands. */
  readonly cause?: number | undefined
}

/** Store that records commands and their changes in the traffic log. */
export class LoggedStore {
  /** `seq` of the request that is being served. */
  #cause: number | undefined
  /** Reason of the eviction that is running. */
  #reason: string | undefined
  #isRunning = false
  readonly #inputs: InputJournal | undefined
  #ran: ExecutedCommand[] = []
  #lender: LoggedStore | undefined
  /** `seq` of the last command in the log. */
  last = 0

  /** @param inputs the journal of the sandbox, which records when a read outside of commands removes an expired key */
  constructor(
    readonly store: StoreEngine,
    readonly traffic: TrafficLog,
    inputs?: InputJournal,
  ) {
    this.#inputs = inputs
    inputs?.whenFull(() => {
      this.#ran = []
    })
    store.listen({
      keyspace: (eventClass, event, key) => {
        // The event classes `n` (new key) and `m` (miss) are not changes. redis-server does not include these classes
        // in `A` either.
        if (eventClass === 'n' || eventClass === 'm') return
        if (!this.#isRunning && !store.db.isAlarmed) this.#noteLook(key)
        if (!traffic.keeps) return
        const change = new Change(event, key, this.#cause, this.#reason)
        traffic.adopt(change)
        // A replica repeats an eviction as the deletion of a key, because it does not evict keys itself.
        if (eventClass === 'e') this.#remember(change, [latin1('DEL'), key])
      },
    })
  }

  #noteLook(key: Bytes): void {
    const { database } = this.store.options
    if (database === undefined) this.#inputs?.note('looked', key)
    else this.#inputs?.note('lookedIn', { database, key })
  }

  /**
   * Sets another store whose executed commands this store can reuse. Equal arguments and values are then kept in memory
   * only once.
   */
  borrow(from: LoggedStore | undefined): void {
    this.#lender = from
  }

  execute(given: readonly Bytes[], user: User, via: CommandEntry['via'], cause?: number, address?: string): Reply {
    const { waiting } = this.store
    const argv = this.#lender === undefined ? given : this.#borrowed(given, this.#lender)
    // Blocked clients are served after this command was logged. The commands that take elements for these clients
    // therefore follow this command in the log.
    if (waiting.size > 0) return waiting.after(() => this.#execute(argv, user, via, cause, address))
    return this.#execute(argv, user, via, cause, address)
  }

  #borrowed(argv: readonly Bytes[], lender: LoggedStore): readonly Bytes[] {
    const lent = lender.#ran[this.#ran.length]?.argv
    return lent !== undefined && areSame(argv, lent) ? lent : argv
  }

  #execute(
    argv: readonly Bytes[],
    user: User,
    via: CommandEntry['via'],
    cause: number | undefined,
    address: string | undefined,
  ): Reply {
    if (!this.traffic.keeps) return this.store.execute(argv, user, address)
    this.#cause = cause
    this.#isRunning = true
    try {
      const reply = this.store.execute(argv, user, address)
      const entry = this.#entry(argv, user, via, cause)
      entry.reply = reply
      this.#keep(entry)
      return reply
    } catch (error) {
      if (error instanceof ReplyError) {
        const entry = this.#entry(argv, user, via, cause)
        entry.error = error.message
        this.#keep(entry)
      }
      throw error
    } finally {
      this.#isRunning = false
      this.#cause = undefined
    }
  }

  /**
   * Runs a command of a connection and logs the command when it has ended. The command may wait. This method also
   * records the command as an input of the sandbox, so callers must not record the command.
   * @returns the reply, or the blocked command
   * @throws ReplyError as `execute()` does
   */
  start(argv: readonly Bytes[], sender: Sender): Reply | Blocked {
    return this.carryOut(argv, sender, this.#note([argv], false, sender))
  }

  /**
   * Runs a command that is already recorded.
   * @param number the number of the recorded input, if the command was recorded as a separate input
   */
  carryOut(argv: readonly Bytes[], sender: Sender, number?: number): Reply | Blocked {
    if (mayWait(argv)) return this.store.waiting.after(() => this.#start(argv, sender, number))
    const run = (): Reply => this.#send(argv, sender)
    return sender.via === 'direct' ? this.store.meter.pause(run) : run()
  }

  /** Runs the commands of a transaction (EXEC), in which no command waits. */
  transact(rows: readonly (readonly Bytes[])[], sender: Sender): readonly WaitEnd[] {
    const number = this.#note(rows, true, sender)
    return this.store.waiting.transaction(() =>
      rows.map((argv): WaitEnd => {
        try {
          return { reply: this.carryOut(argv, sender, number) as Reply }
        } catch (error) {
          if (error instanceof ReplyError) return { error }
          throw error
        }
      }),
    )
  }

  #note(rows: readonly (readonly Bytes[])[], isTransaction: boolean, { user, via, cause }: Sender): number {
    const { database } = this.store.options
    const command = { rows, isTransaction, user: user.name, via, cause, ...(database !== undefined && { database }) }
    return this.#inputs?.command(command) ?? 0
  }

  #send(argv: readonly Bytes[], { user, via, cause, client }: Sender): Reply {
    return this.execute(argv, user, via, cause, client?.address)
  }

  /**
   * Evicts a key.
   * @param reason reason for the log
   */
  evict(key: Bytes, reason: string): void {
    this.#reason = reason
    try {
      this.store.db.evict(key)
    } finally {
      this.#reason = undefined
    }
  }

  #start(argv: readonly Bytes[], { user, via, cause, client }: Sender, number: number | undefined): Reply | Blocked {
    const { store } = this
    const end = (how: WaitEnd, took: readonly Bytes[] | undefined, since?: number): void => {
      const entry = this.#entry(argv, user, via, cause)
      if (since !== undefined) entry.waitedMs = store.options.clock.now() - since
      this.#end(entry, how, took)
    }
    const begin = (): Reply | Blocked => store.begin(argv, user, client)
    try {
      const begun = this.during(cause, () => (via === 'direct' ? store.meter.pause(begin) : begin()))
      if (!(begun instanceof Blocked)) {
        end({ reply: begun }, store.waiting.took ?? argv)
        return begun
      }
      const since = store.options.clock.now()
      begun.witness = {
        during: (take) => this.during(cause, take),
        ended: (how, took) => end(how, took, since),
        unblocked: (how) => {
          if (number !== undefined) this.#inputs?.note('unblocked', { command: number, how })
        },
      }
      return begun
    } catch (error) {
      end({ error }, argv)
      throw error
    }
  }

  /** Runs a function. All changes that the function makes are logged with this cause. */
  during<T>(cause: number | undefined, run: () => T): T {
    const outer = [this.#cause, this.#isRunning] as const
    this.#cause = cause
    this.#isRunning = true
    try {
      return run()
    } finally {
      ;[this.#cause, this.#isRunning] = outer
    }
  }

  /**
   * Logs the end of a wait.
   * @param took the non-blocking command that took the element, with the same effect on the store
   */
  #end(entry: Executed, end: WaitEnd, took: readonly Bytes[] | undefined): void {
    if (!this.traffic.keeps || ('error' in end && !(end.error instanceof ReplyError))) return
    if ('error' in end) entry.error = (end.error as ReplyError).message
    else entry.reply = end.reply
    this.traffic.adopt(entry)
    this.last = entry.seq
    if (took !== undefined) this.#remember(entry, took)
  }

  /**
   * Keeps an executed command for the history. Its reply is not kept, because running the command again returns the
   * reply.
   */
  #remember({ seq, at, error }: EntryBase & { readonly error?: string }, argv: readonly Bytes[]): void {
    const inputs = this.#inputs
    // A denied command changed nothing.
    if (inputs === undefined || inputs.fullAt !== undefined || error?.startsWith('NOPERM') === true) return
    this.#ran.push({ seq, at, argv })
    inputs.hold(ranBytes + weightOfWords(argv))
  }

  #entry(argv: readonly Bytes[], user: User, via: CommandEntry['via'], cause: number | undefined): Executed {
    const entry = new Executed(argv, user.name, via, cause)
    if (this.store.diagnostics.hasNew) entry.note = this.store.diagnostics.take()
    return entry
  }

  #keep(entry: Executed): void {
    this.traffic.adopt(entry)
    this.last = entry.seq
    this.#remember(entry, entry.argv)
  }

  /** Records that a dump replaced all content. */
  loaded(dump: StoreDump): void {
    const { seq, at } = this.traffic.append({ type: 'setting', resource: 'store', name: 'store', change: 'loaded' })
    const inputs = this.#inputs
    if (inputs === undefined || inputs.fullAt !== undefined) return
    // The caller may still change the object, so a copy is kept.
    const text = JSON.stringify(dump)
    this.#ran.push({ seq, at, loaded: JSON.parse(text) as StoreDump })
    inputs.hold(ranBytes + text.length)
  }

  /**
   * Commands that ran since the sandbox was created. Empty if the sandbox does not keep its inputs, or had too many
   * inputs.
   */
  get ran(): readonly ExecutedCommand[] {
    return this.#ran
  }

  /**
   * Begins the history of a sandbox that is now complete. Commands that filled the sandbox are not part of the history.
   */
  begin(): void {
    this.#ran = []
  }

  /** Logs a command whose result a fault decided. */
  note(
    argv: readonly Bytes[],
    user: User,
    via: CommandEntry['via'],
    cause: number | undefined,
    end: { readonly reply: Reply } | { readonly error: string },
  ): void {
    if (!this.traffic.keeps) return
    const entry = this.#entry(argv, user, via, cause)
    if ('error' in end) entry.error = end.error
    else entry.reply = end.reply
    this.traffic.adopt(entry)
    this.last = entry.seq
  }
}

function areSame(some: readonly Bytes[], others: readonly Bytes[]): boolean {
  return some.length === others.length && some.every((word, index) => word === others[index])
}

// Entries are instances of classes. A pipeline logs hundreds of entries, and creating an object literal and then adding
// `seq` and `at` takes four times as long.

class Executed implements CommandEntry, EntryBase {
  seq = 0
  at = 0
  declare cause?: number
  readonly type = 'command'
  declare reply?: Reply
  declare error?: string
  declare waitedMs?: number
  declare note?: string

  constructor(
    readonly argv: readonly Bytes[],
    readonly user: string,
    readonly via: CommandEntry['via'],
    cause: number | undefined,
  ) {
    if (cause !== undefined) this.cause = cause
  }
}

class Change implements KeyspaceEntry, EntryBase {
  seq = 0
  at = 0
  declare cause?: number
  readonly type = 'keyspace'
  declare reason?: string

  constructor(
    readonly event: string,
    readonly key: Bytes,
    cause: number | undefined,
    reason: string | undefined,
  ) {
    if (cause !== undefined) this.cause = cause
    if (reason !== undefined) this.reason = reason
  }
}
