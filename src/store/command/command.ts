import type { Bytes } from '../../kernel/bytes.js'
import type { Random } from '../../kernel/random.js'
import type { User } from '../access/access.js'
import type { Database } from '../keyspace/database.js'
import type { Store } from '../store.js'
import { type Arg, ArgReader, isPlain, noOptions, UnevenArguments, type Values } from './arguments.js'
import { replyError, wrongArity } from './errors.js'
import type { Reply } from './reply.js'

/**
 * `write`, `read`: what the command does to data; `dangerous`: refused to the read-only token; `fast`, `slow`, `admin`,
 * `blocking`, `connection`, `scripting`, `pubsub`, `transaction`: categories as redis-server has them;
 * `noscript`: refused inside scripts.
 */
export type CommandFlag =
  | 'write'
  | 'read'
  | 'dangerous'
  | 'fast'
  | 'slow'
  | 'admin'
  | 'blocking'
  | 'connection'
  | 'scripting'
  | 'pubsub'
  | 'transaction'
  | 'noscript'
  | 'keyspace'

/** What a command's body works with. */
export interface CommandContext {
  readonly db: Database
  readonly store: Store
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
export interface Command {
  /** Upper case; a subcommand follows after a space. */
  readonly name: string
  /** Category of the documentation, and of access control: `string`, `hash` … Set by the table. */
  group: string
  readonly flags: readonly CommandFlag[]
  readonly writes: boolean
  /** Whether scripts may call it. */
  readonly inScripts: boolean
  readonly usage: string
  readonly since: string
  readonly deviations: string
  /** Words including the name, at least and at most. */
  readonly minWords: number
  readonly maxWords: number
  /** Units of work that are known before it runs; 0 when its words cannot be read. */
  workOf(argv: readonly Bytes[], db: Database): number
  /** Parses and runs. Arity was not checked yet. */
  execute(argv: readonly Bytes[], context: CommandContext): Reply
  /** The keys that the words name, parsing them all. */
  keysOf(argv: readonly Bytes[]): readonly Bytes[]
  /** The channels that the words name. */
  channelsOf(argv: readonly Bytes[]): readonly Bytes[]
}

/**
 * Declares one command: the one place for its name, arguments, categories and body.
 * @example command('STRLEN', { flags: ['read', 'fast'], args: [key], run: ({ db }, key) => db.string(key)?.length ?? 0 })
 */
export function command<const A extends ArgSpecs>(name: string, row: CommandRow<A>): Command {
  return new DeclaredCommand(name, row as unknown as CommandRow<ArgSpecs>)
}

type Work = (db: Database, ...values: readonly unknown[]) => number
type Body = (context: CommandContext, ...values: readonly unknown[]) => Reply

const mostValues = 6
type SixValues = [a: unknown, b: unknown, c: unknown, d: unknown, e: unknown, f: unknown]

const noWords: readonly Bytes[] = []

/** A body that pays for what it is going to do. Commands without such a price are called as they are. */
function charged(run: Body, work: Work): Body {
  // Written out like the call of a body: spreading would cost as much as a short command.
  return (context, a, b, c, d, e, f) => {
    context.db.work.charge(work(context.db, a, b, c, d, e, f))
    return run(context, a, b, c, d, e, f)
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
  readonly deviations: string
  readonly minWords: number
  readonly maxWords: number
  readonly #specs: ArgSpecs
  readonly #run: Body
  readonly #work: Work | undefined
  /** Made for the first call, as what follows it: a test runs few of the commands, and an import none. */
  #reader: ValuesReader | undefined
  /** Words of a call that passes on its words as they are, the name included; 0 when no call does. */
  #plainWords = 0
  /** What the argument after these reads when no word is left for it. */
  #leftOut: unknown = undefined
  /** After a key, so many words at a time are passed on as a row; 0 when there is none. */
  #rowOf = 0

  constructor(name: string, row: CommandRow<ArgSpecs>) {
    const words = name.split(' ').length
    const specs = row.args
    if (specs.length > mostValues) throw new RangeError(`${name} takes more values than a body is given`)
    const minWords = specs.reduce((total, arg) => total + arg.min, words)
    const mostWords = specs.reduce((total, arg) => total + arg.max, words)
    this.name = name
    this.flags = row.flags
    this.writes = row.flags.includes('write')
    this.inScripts = !row.flags.includes('noscript')
    this.since = row.since ?? '1.0.0'
    this.deviations = row.deviations ?? ''
    this.minWords = minWords
    // As in redis-server: only a fixed length is checked from above; a longer command looks at its own words.
    this.maxWords = mostWords === minWords || row.surplus === 'arity' ? mostWords : Number.POSITIVE_INFINITY
    this.#specs = specs
    this.#work = row.work as Work | undefined
    this.#run = row.work === undefined ? (row.run as Body) : charged(row.run as Body, row.work as Work)
  }

  get usage(): string {
    return [this.name, ...this.#specs.map((arg) => arg.usage).filter(Boolean)].join(' ')
  }

  execute(argv: readonly Bytes[], context: CommandContext): Reply {
    const run = this.#run
    const count = argv.length
    // Two forms that most calls have, and that need neither a parser nor an array of values.
    if (count === this.#plainWords) {
      if (count === 2) return run(context, argv[1], this.#leftOut)
      if (count === 3) return run(context, argv[1], argv[2], this.#leftOut)
      if (count === 4) return run(context, argv[1], argv[2], argv[3], this.#leftOut)
    }
    if (this.#rowOf > 0 && count > 2 && (count - 2) % this.#rowOf === 0) return run(context, argv[1], argv)
    if (count < this.minWords || count > this.maxWords) throw wrongArity(this.name)
    const reader = this.#reader ?? this.#readerNow()
    // Written out, because spreading costs as much as a short command; nobody takes more than `mostValues`.
    const values = reader.read(argv)
    const a = values[0]
    const b = values[1]
    const c = values[2]
    const d = values[3]
    const e = values[4]
    const f = values[5]
    reader.forget()
    return run(context, a, b, c, d, e, f)
  }

  workOf(argv: readonly Bytes[], db: Database): number {
    if (this.#work === undefined) return 0
    const reader = this.#reader ?? this.#readerNow()
    try {
      return this.#work(db, ...reader.read(argv))
    } catch {
      // The same words fail again, with their text, when they are executed.
      return 0
    } finally {
      reader.forget()
    }
  }

  keysOf(argv: readonly Bytes[]): readonly Bytes[] {
    return (this.#reader ?? this.#readerNow()).collect(argv).keys!
  }

  channelsOf(argv: readonly Bytes[]): readonly Bytes[] {
    return (this.#reader ?? this.#readerNow()).collect(argv).channels!
  }

  #readerNow(): ValuesReader {
    const words = this.name.split(' ').length
    this.#reader = new ValuesReader(this.name, words, this.#specs)
    if (words === 1) this.#findForms()
    return this.#reader
  }

  /** Sees whether the arguments are words as they are, and at most one of another kind at the end. */
  #findForms(): void {
    const plain = this.#specs.findIndex((spec) => !isPlain(spec))
    const end = plain === -1 ? this.#specs.length : plain
    const [last, ...more] = this.#specs.slice(end)
    if (more.length > 0) return
    if (last?.rowOf !== undefined && end === 1) this.#rowOf = last.rowOf
    else if (last === undefined || readsNothing(last)) {
      this.#plainWords = 1 + end
      this.#leftOut = last?.read(new ArgReader())
    }
  }
}

/**
 * Turns words into the values that a body takes, in one array per command that each call fills anew: nothing is
 * allocated. Who reads takes the values out and has them forgotten, or the words of a call would live until the next.
 */
class ValuesReader {
  readonly #command: string
  /** Words of the command's name. */
  readonly #start: number
  readonly #specs: ArgSpecs
  readonly #values: SixValues = [undefined, undefined, undefined, undefined, undefined, undefined]
  readonly #words = new ArgReader()

  constructor(command: string, start: number, specs: ArgSpecs) {
    this.#command = command
    this.#start = start
    this.#specs = specs
  }

  /** The caller has checked the number of words. */
  read(argv: readonly Bytes[]): Readonly<SixValues> {
    this.#words.start(argv, this.#start)
    try {
      for (let index = 0; index < this.#specs.length; index++) {
        this.#values[index] = this.#specs[index]!.read(this.#words)
      }
      if (this.#words.left > 0) throw replyError('syntax')
    } catch (error) {
      this.forget()
      throw error instanceof UnevenArguments ? wrongArity(this.#command) : error
    }
    return this.#values
  }

  forget(): void {
    this.#words.start(noWords, 0)
    for (let index = 0; index < this.#specs.length; index++) this.#values[index] = undefined
  }

  /** The keys and channels among the words, as far as these can be understood. */
  collect(argv: readonly Bytes[]): ArgReader {
    const words = new ArgReader()
    words.keys = []
    words.channels = []
    words.start(argv, this.#start)
    try {
      for (const spec of this.#specs) spec.read(words)
    } catch {
      // The same words fail again, with their text, when they are executed.
    }
    return words
  }
}

/** Whether an argument reads the same each time when no word is left for it. */
function readsNothing(arg: Arg<unknown>): boolean {
  if (arg.min > 0) return false
  try {
    const value = arg.read(new ArgReader())
    return value === undefined || value === noOptions
  } catch {
    return false
  }
}
