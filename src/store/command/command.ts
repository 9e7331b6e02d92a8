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

export interface CommandContext {
  readonly db: Database
  readonly store: CommandStore
  readonly random: Random
  /** Virtual time in milliseconds. */
  readonly now: number
  readonly user: User
}

type ArgSpecs = readonly Arg<unknown>[]

export interface CommandRow<A extends ArgSpecs> {
  readonly flags: readonly CommandFlag[]
  readonly args: A
  /**
   * Error for surplus arguments. Default: syntax error. `arity`: wrong number of arguments. Commands with a fixed
   * number of arguments always report a wrong number.
   */
  readonly surplus?: 'arity'
  /** Version of redis-server that introduced the command, or `service` for commands of the service itself. */
  readonly since?: string
  /** `redis`: the service has no page for the command, so the policy `commands: 'documented'` rejects the command. */
  readonly status?: CommandStatus
  /** Differences from redis-server, for the reference. */
  readonly deviations?: string
  /**
   * Returns the work that can be predicted from the arguments and the sizes of their keys, in units, see kernel/work.
   * The function reads only sizes.
   *
   * The units are charged to the work budget before the command runs. In a transaction, they are charged before the
   * first command runs. If the arguments already limit the work, the function is absent. Other work is charged while
   * the command runs.
   */
  work?(db: Database, ...values: Values<A>): number
  /** Runs the command. It is synchronous, so that a transaction can run its commands without `await`. */
  run(context: CommandContext, ...values: Values<A>): Reply
}

/** Command as the engine runs it. The command parses its own arguments. */
export interface Command extends CommandDescription {
  /**
   * Places of the keys in `argv`: `one` key after the name, only keys in the `rest`, or places that depend on the
   * arguments. Most commands need no parser to find their keys.
   */
  readonly keyPlaces: 'one' | 'rest' | 'parsed'
  /** Number of elements of `argv` that form the name. */
  readonly nameLength: number
  /** Category of the documentation and of access control, such as `string` or `hash`. The command table sets it. */
  group: string
  /** Returns the predictable units of work; 0 if the arguments cannot be parsed. */
  workOf(argv: readonly Bytes[], db: Database): number
  /** Parses the arguments and runs the command. Does not check the arity. */
  execute(argv: readonly Bytes[], context: CommandContext): Reply
}

/** Store as commands see it, implemented by `StoreEngine`. */
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
  /** Number of connections over the Redis protocol. */
  readonly connections: number
  /** Documentation address for error texts. */
  readonly docs: string
  /** Value of CONFIG SET notify-keyspace-events. */
  eventFlags: EventFlags
  /** Returns whether ACL rules can contain a command with this name. */
  knows(name: string): boolean
}

/**
 * Checks the number of arguments.
 * @throws ReplyError when it is wrong
 */
export function checkArity(command: Command, argv: readonly Bytes[]): void {
  if (!command.hasArity(argv)) throw wrongArity(command.name)
}

/**
 * Declares a command: the single place for its name, arguments, categories and body.
 * @example command('STRLEN', { flags: ['read', 'fast'], args: [key], run: ({ db }, key) => db.string(key)?.length ?? 0 })
 */
export function command<const A extends ArgSpecs>(name: string, row: CommandRow<A>): Command {
  return new DeclaredCommand(name, row as CommandRow<ArgSpecs>)
}

type Price = (db: Database, ...values: readonly unknown[]) => number
type Body = (context: CommandContext, ...values: readonly unknown[]) => Reply

const maxValues = 6

/**
 * Returns a body that charges the predictable work to the work budget and then runs the command. Not used for commands
 * without a `work` function.
 */
function charged(run: Body, work: Price): Body {
  // Names each value, because collecting and spreading an array takes as long as a short command.
  return (context, a, b, c, d, e, f) => {
    context.db.work.charge(work(context.db, a, b, c, d, e, f))
    return run(context, a, b, c, d, e, f)
  }
}

/**
 * All commands are objects of this class, so that the JavaScript engine can inline their common code. Only the bodies
 * of the commands are called as functions.
 */
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
  /** Whether the command can add members to a collection or keys to the store. */
  readonly #adds: boolean
  readonly #specs: ArgSpecs
  /** Number of elements of `argv` that form the name: 2 for a subcommand, otherwise 1. */
  readonly nameLength: number
  #keyPlaces: 'one' | 'rest' | 'parsed' | undefined
  readonly #run: Body
  readonly #work: Price | undefined

  constructor(name: string, row: CommandRow<ArgSpecs>) {
    const words = name.split(' ').length
    const specs = row.args
    if (specs.length > maxValues)
      throw new RangeError(`command(): ${name} must have at most ${maxValues} arguments (got ${specs.length})`)
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
    // As in redis-server, only commands of fixed length have a maximum number of arguments. Other commands check their
    // own arguments.
    this.maxWords = mostWords === minWords || row.surplus === 'arity' ? mostWords : Number.POSITIVE_INFINITY
    this.#specs = specs
    this.nameLength = words
    this.#work = row.work as Price | undefined
    this.#run = row.work === undefined ? (row.run as Body) : charged(row.run as Body, row.work as Price)
  }

  get usage(): string {
    return [this.name, ...this.#specs.map((arg) => arg.usage).filter(Boolean)].join(' ')
  }

  get keyPlaces(): 'one' | 'rest' | 'parsed' {
    if (this.#keyPlaces === undefined) {
      const usage = this.usage.slice(this.name.length + 1)
      const isOne = /^key\b/.test(usage) && !/key/i.test(usage.slice('key'.length))
      this.#keyPlaces = isOne ? 'one' : usage === 'key [key …]' ? 'rest' : 'parsed'
    }
    return this.#keyPlaces
  }

  hasArity({ length }: readonly Bytes[]): boolean {
    return length >= this.minWords && length <= this.maxWords
  }

  execute(argv: readonly Bytes[], context: CommandContext): Reply {
    checkArity(this, argv)
    // Each argument can add at most one member, so the number of arguments limits the growth of a collection.
    context.db.expectMembers(this.#adds ? argv.length : 0)
    return this.#call(this.#run, context, argv)
  }

  workOf(argv: readonly Bytes[], db: Database): number {
    if (this.#work === undefined) return 0
    try {
      return this.#call(this.#work, db, argv)
    } catch {
      // The arguments are invalid. `execute()` will throw the same error with its text.
      return 0
    }
  }

  namesIn(argv: readonly Bytes[]): Names {
    const names: Names = { keys: [], channels: [] }
    const words = new ArgReader(this.name, argv, this.nameLength, names)
    try {
      for (const spec of this.#specs) spec.read(words)
    } catch {
      // `execute()` throws this error with its text.
    }
    return names
  }

  keysOf(argv: readonly Bytes[]): readonly Bytes[] {
    return this.namesIn(argv).keys.map(({ name }) => name)
  }

  /** Calls a body with the parsed arguments. The caller has checked their number. */
  #call<C, R>(body: (context: C, ...values: unknown[]) => R, context: C, argv: readonly Bytes[]): R {
    const words = new ArgReader(this.name, argv, this.nameLength)
    // Passes each value separately, because spreading an array takes as long as a short command.
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
