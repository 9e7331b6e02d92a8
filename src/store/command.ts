import type { Bytes } from '../kernel/bytes.js'
import type { Random } from '../kernel/random.js'
import type { User } from './access.js'
import { type Arg, ArgReader, UnevenArguments, type Values } from './arguments.js'
import type { Database } from './database.js'
import { replyError, wrongArity } from './errors.js'
import type { Reply } from './reply.js'
import type { Store } from './store.js'

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

type ArgSpecs = Record<string, Arg<unknown>>

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
  /** Synchronous, always: a transaction is a loop without `await`. */
  run(values: Values<A>, context: CommandContext): Reply
}

/** A command as the engine sees it, its arguments already bound to its body. */
export interface Command {
  /** Upper case; a subcommand follows after a space. */
  readonly name: string
  /** Category of the documentation, and of access control: `string`, `hash` … Set by the table. */
  group: string
  readonly flags: readonly CommandFlag[]
  readonly writes: boolean
  readonly usage: string
  readonly since: string
  readonly deviations: string
  /** Words including the name, at least and at most. */
  readonly minWords: number
  readonly maxWords: number
  /** Parses and runs. Arity was not checked yet. */
  execute(argv: readonly Bytes[], context: CommandContext): Reply
  /** The keys that the words name, parsing them all. */
  keysOf(argv: readonly Bytes[]): readonly Bytes[]
  /** The channels that the words name. */
  channelsOf(argv: readonly Bytes[]): readonly Bytes[]
}

/**
 * Declares one command: the one place for its name, arguments, categories and body.
 * @example command('STRLEN', { flags: ['read', 'fast'], args: { key }, run: ({ key }, { db }) => db.string(key)?.length ?? 0 })
 */
export function command<const A extends ArgSpecs>(name: string, row: CommandRow<A>): Command {
  const words = name.split(' ').length
  const specs = Object.values(row.args)
  const minWords = specs.reduce((total, arg) => total + arg.min, words)
  const mostWords = specs.reduce((total, arg) => total + arg.max, words)
  // As in redis-server: only a fixed length is checked from above; a longer command looks at its own words.
  const maxWords = mostWords === minWords || row.surplus === 'arity' ? mostWords : Number.POSITIVE_INFINITY
  const read = valuesReader(row.args)
  const reader = new ArgReader()
  return {
    name,
    group: '',
    flags: row.flags,
    writes: row.flags.includes('write'),
    usage: [name, ...specs.map((arg) => arg.usage).filter(Boolean)].join(' '),
    since: row.since ?? '1.0.0',
    deviations: row.deviations ?? '',
    minWords,
    maxWords,
    execute(argv, context) {
      if (argv.length < minWords || argv.length > maxWords) throw wrongArity(name)
      reader.start(argv, words)
      let values: Values<A>
      try {
        values = read(reader)
      } catch (error) {
        throw error instanceof UnevenArguments ? wrongArity(name) : error
      }
      if (reader.left > 0) throw replyError('syntax')
      return row.run(values, context)
    },
    keysOf: (argv) => collect(argv).keys!,
    channelsOf: (argv) => collect(argv).channels!,
  }

  function collect(argv: readonly Bytes[]): ArgReader {
    const collecting = new ArgReader()
    collecting.keys = []
    collecting.channels = []
    collecting.start(argv, words)
    try {
      read(collecting)
    } catch {
      // The same words fail again, with their text, when they are executed.
    }
    return collecting
  }
}

/**
 * One values object per command, filled anew by each call: bodies stay monomorphic and nothing is allocated. That is
 * safe because a body takes its values apart before it does anything else, and cannot wait.
 */
function valuesReader<A extends ArgSpecs>(args: A): (from: ArgReader) => Values<A> {
  const names = Object.keys(args)
  const specs = Object.values(args)
  const values: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, undefined]))
  return (from) => {
    for (let index = 0; index < specs.length; index++) values[names[index]!] = specs[index]!.read(from)
    return values as Values<A>
  }
}
