import type { Bytes } from '../../kernel/bytes.js'
import type { Names } from './arguments.js'

/**
 * Flags of a command.
 *
 * `write`, `read`: the command changes or reads data. `dangerous`: rejected for the read-only token. `noscript`:
 * rejected in scripts. `nomulti`: rejected in transactions.
 *
 * The other flags are categories of redis-server: `fast`, `slow`, `admin`, `blocking`, `connection`, `scripting`,
 * `pubsub`, `transaction`.
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
  | 'nomulti'
  | 'keyspace'

/**
 * `documented`: the service documents the command. `redis`: only redis-server has the command. The source is
 * docs/protocol/commands.json.
 */
export type CommandStatus = 'documented' | 'redis'

export interface CommandDescription {
  /** Upper-case name; a subcommand follows after a space. */
  readonly name: string
  /** Category of the documentation and of access control, such as `string` or `hash`. */
  readonly group: string
  readonly flags: readonly CommandFlag[]
  readonly writes: boolean
  readonly inScripts: boolean
  readonly usage: string
  readonly since: string
  readonly status: CommandStatus
  readonly deviations: string
  /** Minimum and maximum number of arguments, including the name. */
  readonly minWords: number
  readonly maxWords: number
  hasArity(argv: readonly Bytes[]): boolean
  /** Returns the keys and channels in the arguments, as far as the arguments can be parsed. */
  namesIn(argv: readonly Bytes[]): Names
  keysOf(argv: readonly Bytes[]): readonly Bytes[]
}
