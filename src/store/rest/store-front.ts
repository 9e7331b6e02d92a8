import type { FaultSource } from '../../faults/fault.js'
import type { Clock } from '../../kernel/clock.js'
import type { ServiceRequest } from '../../protocol/service.js'
import type { User } from '../access/user.js'
import type { Command } from '../command/command.js'
import { requestTooLarge } from '../command/errors.js'
import { type Reply, ReplyError } from '../command/reply.js'
import type { CommandTable } from '../commands/command-table.js'
import { asksToWait } from '../commands/stream-arguments.js'
import type { LoggedStore, Sender } from '../logged-store.js'
import { sizeOfReply, sizeOfWords } from '../meter.js'
import type { StoreEngine } from '../store-engine.js'
import { commandIn, freeWords, isMetered, refusedCount, refusedStorage, unitsPerWord } from '../store-limits.js'
import { executeFaulty } from './command-faults.js'
import { Eviction } from './eviction.js'
import type { Argv } from './request.js'
import { StaleReads } from './stale-reads.js'

/** Maximum number of characters for one byte in JSON, as in `\u0001`. */
export const maxEscape = 6

/** Number of bytes that a body may have for quotes, commas and white space, in addition to its arguments. */
export const roomForSyntax = 1_048_576

export type RequestForm = 'request' | 'pipeline' | 'transaction'

/** Sender of a command of a request. */
interface RestSender extends Sender {
  readonly via: RequestForm
}

/**
 * Error for arguments that are too large, with status 413, or for a reply that is too large, with status 200 because
 * the command ran. [store.md 10]
 */
export class Oversized extends ReplyError {
  constructor(
    message: string,
    readonly status: 413 | 200,
  ) {
    super(message)
  }
}

/** Store with the limits and faults of its REST API. */
export class RestStore {
  readonly store: StoreEngine
  /** Maximum bytes of the arguments of one command, and of a reply. */
  readonly #longest: number
  readonly #longestKey: number
  readonly #isMetered: boolean
  readonly staleReads: StaleReads | undefined
  readonly #eviction: Eviction | undefined

  constructor(
    readonly journal: LoggedStore,
    readonly clock: Clock,
    readonly faults?: FaultSource | undefined,
  ) {
    this.store = journal.store
    const { policy } = this.store.options
    this.#longest = policy.maxRequestSize
    this.#longestKey = policy.maxKeySize
    this.#isMetered = isMetered(policy)
    const { eviction, maxStorageSize } = policy
    if (eviction !== 'off' && maxStorageSize !== undefined) this.#eviction = new Eviction(journal, maxStorageSize)
    if (faults === undefined) return
    const staleReads = new StaleReads(journal.store)
    this.staleReads = staleReads
    faults.watch('stale-read', (rules) => (rules > 0 ? staleReads.begin() : staleReads.end()))
  }

  /** Rejects a body without parsing it if no allowed command can be that long. */
  checkBody({ body }: ServiceRequest): void {
    if (body.length > maxEscape * this.#longest + roomForSyntax) throw this.#oversized(body.length, 413)
  }

  /**
   * Returns the size of a command in bytes.
   * @throws ReplyError when it is too large
   */
  measured(argv: Argv): number {
    const size = sizeOfWords(argv)
    if (size > this.#longest) throw this.#oversized(size, 413)
    return size
  }

  /** Runs one command of a request within the limits of the plan. */
  execute(argv: Argv, user: User, via: RequestForm, call: ServiceRequest, size?: number): Reply {
    const sender: RestSender = { user, via, cause: call.cause }
    const tables = [this.store.commands]
    const received = this.checkPlan(argv, sender, tables, size)
    const reply = this.isStruck ? this.#executeFaulty(argv, sender, tables, call) : this.#run(argv, sender, tables)
    this.charge(received, reply)
    return reply
  }

  #executeFaulty(
    argv: Argv,
    sender: RestSender,
    tables: readonly CommandTable<Command>[],
    call: ServiceRequest,
  ): Reply {
    const { user, via } = sender
    return executeFaulty(this, { argv, user, via, run: () => this.#run(argv, sender, tables) }, call)
  }

  #run(argv: Argv, sender: RestSender, tables: readonly CommandTable<Command>[]): Reply {
    const { length } = argv[0]!
    // Finds XREAD and XREADGROUP. This check runs for every command, so it first compares the length of the name, which
    // excludes nearly all other commands.
    if ((length === 5 || length === 10) && asksToWait(argv)) this.store.diagnostics.noticeBlock(argv[0]!.toUpperCase())
    return this.#eviction === undefined ? this.#log(argv, sender) : this.#runEvicting(argv, sender, tables)
  }

  #runEvicting(argv: Argv, sender: RestSender, tables: readonly CommandTable<Command>[]): Reply {
    return this.inStorage(argv, sender, tables, () => this.#log(argv, sender))
  }

  #log(argv: Argv, { user, via, cause }: RestSender): Reply {
    return this.journal.execute(argv, user, via, cause)
  }

  /** Runs a command, and evicts keys if the policy requires it. */
  inStorage<R>(argv: Argv, sender: Sender, tables: readonly CommandTable<Command>[], run: () => R): R {
    return this.#eviction === undefined ? run() : this.#eviction.run(argv, commandIn(tables, argv), sender, run)
  }

  /** Whether any fault rule is active for commands. */
  get isStruck(): boolean {
    return (
      this.faults !== undefined && !this.faults.isInactive && this.faults.activeByPoint['store.command'] !== undefined
    )
  }

  /**
   * Checks that the plan allows a command. A rejected command is logged like one that the store rejects.
   * @param tables the command tables in which the sender's command is looked up
   * @returns the size
   * @throws ReplyError when the plan does not allow it
   */
  checkPlan(argv: Argv, sender: Sender, tables: readonly CommandTable<Command>[], size?: number): number {
    try {
      const received = size ?? this.measured(argv)
      this.#check(argv, received, tables)
      return received
    } catch (error) {
      const { user, via, cause } = sender
      if (error instanceof ReplyError) this.journal.note(argv, user, via, cause, { error: error.message })
      throw error
    }
  }

  #check(argv: Argv, received: number, tables: readonly CommandTable<Command>[]): void {
    const { store } = this
    if (this.#isMetered || received > this.#longestKey) {
      const refusal = refusedCount(1, store) ?? refusedStorage(argv, store, tables)
      if (refusal !== undefined) throw refusal
    }
    // If earlier replies have used up the work budget, `charge()` throws here, so that no further command starts.
    if (argv.length > freeWords || store.work.left < 0) store.work.charge(unitsPerWord * argv.length)
  }

  /**
   * Counts a command that ran.
   * @throws ReplyError when the reply is too large
   */
  charge(received: number, reply: Reply): void {
    const sent = sizeOfReply(reply)
    this.store.meter.countBytes(received, sent)
    if (sent > this.#longest) throw this.#oversized(sent, 200)
  }

  /** Counts a command that ran and returns its reply. */
  settled(received: number, reply: Reply): Reply {
    this.charge(received, reply)
    return reply
  }

  #oversized(size: number, status: 413 | 200): Oversized {
    return new Oversized(requestTooLarge(this.#longest, size, this.store.docs).message, status)
  }
}
