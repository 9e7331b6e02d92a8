import type { Bytes } from '../../kernel/bytes.js'
import type { Random } from '../../kernel/random.js'
import type { Work } from '../../kernel/work.js'
import type { AccessControl } from '../access/access-control.js'
import type { User } from '../access/user.js'
import type { BlockedClients } from '../blocking/waiting.js'
import type { CommandTable } from '../commands/command-table.js'
import type { Database } from '../keyspace/database.js'
import type { EventFlags } from '../keyspace/keyspace-events.js'
import type { PubSub } from '../keyspace/pubsub.js'
import type { ScanCursors } from '../keyspace/scan-cursors.js'
import type { CostMeter } from '../meter.js'
import type { Persistence } from '../persistence.js'
import type { Scripts } from '../scripting/scripts.js'
import type { StoreOptions } from '../store-options.js'
import { type Arg, ArgReader, type Names, type Values } from './arguments.js'
import type { CommandDescription, CommandFlag, CommandStatus } from './command-description.js'
import { replyError, wrongArity } from './errors.js'
import { frees } from './memory.js'
import type { Reply } from './reply.js'

/** What a command's body works with. */
export interface CommandContext {
  readonly db: Database
  readonly store: CommandStore
  readonly random: Random
  /** Virtual time, milliseconds. */
  readonly now: number
  readonly user: User
}

type ArgSpecs = readonly Arg<unknown>[]

export interface CommandRow<A extends ArgSpecs> {
  readonly flags: readonly CommandFlag[]
  readonly args: A
  /**
   * What words left over are for a command that takes a varying number of them: a syntax error (default), or the wrong
   * number of arguments. A command of fixed length always has the latter.
   */
  readonly surplus?: 'arity'
  /** Version of redis-server that brought it, or `service` for the service's own. */
  readonly since?: string
  /** `redis`: the service has no page for it, so the policy `commands: 'documented'` refuses it. */
  readonly status?: CommandStatus
  /** Where the service differs from redis-server, for the reference. */
  readonly deviations?: string
  /**
   * Units of work that the words and the sizes of their keys tell beforehand, see kernel/work; looks at sizes only. It
   * is charged before the command runs, and before the first one of a transaction. Nothing when the cost is bounded by
   * the words themselves; what shows only on the way is charged there.
   */
  work?(db: Database, ...values: Values<A>): number
  /** Synchronous, always: a transaction is a loop without `await`. */
  run(context: CommandContext, ...values: Values<A>): Reply
}

/** A command as the engine sees it, its arguments already bound to its body. */
export interface Command extends CommandDescription {
  /** Category of the documentation, and of access control: `string`, `hash` … Set by the table. */
  group: string
  /** Units of work that are known before it runs; 0 when its words cannot be read. */
  workOf(argv: readonly Bytes[], db: Database): number
  /** Parses and runs. Arity was not checked yet. */
  execute(argv: readonly Bytes[], context: CommandContext): Reply
}

/** The store as commands see it. `Store` is the one that there is. */
export interface CommandStore {
  readonly db: Database
  readonly options: StoreOptions
  readonly access: AccessControl
  readonly cursors: ScanCursors
  readonly work: Work
  readonly meter: CostMeter
  readonly pubsub: PubSub
  readonly waiting: BlockedClients
  readonly persistence: Persistence
  readonly scripts: Scripts
  readonly commands: CommandTable<Command>
  readonly blockingCommands: CommandTable<Command>
  /** Connections of the native protocol. */
  readonly connections: number
  /** Where error texts point to. */
  readonly docs: string
  /** CONFIG SET notify-keyspace-events. */
  eventFlags: EventFlags
  /** Whether users may have, or lack, the permission for a command of this name. */
  knows(name: string): boolean
}

/** Throws `ReplyError` for a wrong number of words. */
export function checkArity(command: Command, argv: readonly Bytes[]): void {
  if (!command.hasArity(argv)) throw wrongArity(command.name)
}

/**
 * Declares one command: the one place for its name, arguments, categories and body.
 * @example command('STRLEN', { flags: ['read', 'fast'], args: [key], run: ({ db }, key) => db.string(key)?.length ?? 0 })
 */
export function command<const A extends ArgSpecs>(name: string, row: CommandRow<A>): Command {
  return new DeclaredCommand(name, row as CommandRow<ArgSpecs>)
}

type Price = (db: Database, ...values: readonly unknown[]) => number
type Body = (context: CommandContext, ...values: readonly unknown[]) => Reply

const maxValues = 6

/** A body that pays for what it is going to do. Commands without such a price are called as they are. */
function charged(run: Body, work: Price): Body {
  return (context, ...values) => {
    context.db.work.charge(work(context.db, ...values))
    return run(context, ...values)
  }
}

/** One class for all commands, so that what they have in common is compiled into the store; only bodies are called. */
class DeclaredCommand implements Command {
  readonly name: string
  group = ''
  readonly flags: readonly CommandFlag[]
  readonly writes: boolean
  readonly inScripts: boolean
  readonly since: string
  readonly status: CommandStatus
  readonly deviations: string
  readonly minWords: number
  readonly maxWords: number
  /** It may leave a collection with more members, or the store with more keys. */
  readonly #adds: boolean
  readonly #specs: ArgSpecs
  /** Words of the name. */
  readonly #start: number
  readonly #run: Body
  readonly #work: Price | undefined

  constructor(name: string, row: CommandRow<ArgSpecs>) {
    const words = name.split(' ').length
    const specs = row.args
    if (specs.length > maxValues) throw new RangeError(`${name} takes more values than a body is given`)
    const minWords = specs.reduce((total, arg) => total + arg.min, words)
    const mostWords = specs.reduce((total, arg) => total + arg.max, words)
    this.name = name
    this.flags = row.flags
    this.writes = row.flags.includes('write')
    this.#adds = this.writes && (name === 'SMOVE' || !frees.has(name))
    this.inScripts = !row.flags.includes('noscript')
    this.since = row.since ?? '1.0.0'
    this.status = row.status ?? 'documented'
    this.deviations = row.deviations ?? ''
    this.minWords = minWords
    // As in redis-server: only a fixed length is checked from above; a longer command looks at its own words.
    this.maxWords = mostWords === minWords || row.surplus === 'arity' ? mostWords : Number.POSITIVE_INFINITY
    this.#specs = specs
    this.#start = words
    this.#work = row.work as Price | undefined
    this.#run = row.work === undefined ? (row.run as Body) : charged(row.run as Body, row.work as Price)
  }

  get usage(): string {
    return [this.name, ...this.#specs.map((arg) => arg.usage).filter(Boolean)].join(' ')
  }

  hasArity({ length }: readonly Bytes[]): boolean {
    return length >= this.minWords && length <= this.maxWords
  }

  execute(argv: readonly Bytes[], context: CommandContext): Reply {
    checkArity(this, argv)
    // A word adds one member at most.
    context.db.expectMembers(this.#adds ? argv.length : 0)
    return this.#call(this.#run, context, argv)
  }

  workOf(argv: readonly Bytes[], db: Database): number {
    if (this.#work === undefined) return 0
    try {
      return this.#call(this.#work, db, argv)
    } catch {
      // The same words fail again, with their text, when they are executed.
      return 0
    }
  }

  namesIn(argv: readonly Bytes[]): Names {
    const names: Names = { keys: [], channels: [] }
    const words = new ArgReader(this.name, argv, this.#start, names)
    try {
      for (const spec of this.#specs) spec.read(words)
    } catch {
      // Here, too.
    }
    return names
  }

  keysOf(argv: readonly Bytes[]): readonly Bytes[] {
    return this.namesIn(argv).keys.map(({ name }) => name)
  }

  /** The caller has checked the number of words. */
  #call<C, R>(body: (context: C, ...values: unknown[]) => R, context: C, argv: readonly Bytes[]): R {
    const words = new ArgReader(this.name, argv, this.#start)
    // Written out, because an array of values that is spread costs as much as a short command.
    const specs = this.#specs
    const count = specs.length
    const a = count > 0 ? specs[0]!.read(words) : undefined
    const b = count > 1 ? specs[1]!.read(words) : undefined
    const c = count > 2 ? specs[2]!.read(words) : undefined
    const d = count > 3 ? specs[3]!.read(words) : undefined
    const e = count > 4 ? specs[4]!.read(words) : undefined
    const f = count > 5 ? specs[5]!.read(words) : undefined
    if (words.left > 0) throw replyError('syntax')
    return body(context, a, b, c, d, e, f)
  }
}
