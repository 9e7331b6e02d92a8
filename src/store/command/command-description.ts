import type { Bytes } from '../../kernel/bytes.js'
import type { Names } from './arguments.js'

/**
 * `write`, `read`: what the command does to data; `dangerous`: refused to the read-only token; `fast`, `slow`, `admin`,
 * `blocking`, `connection`, `scripting`, `pubsub`, `transaction`: categories as redis-server has them;
 * `noscript`: refused inside scripts; `nomulti`: refused inside transactions.
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

/** Whether the service documents a command, or only redis-server has it. The witness is docs/protocol/commands.json. */
export type CommandStatus = 'documented' | 'redis'

/** What is known of a command without running it. */
export interface CommandDescription {
  /** Upper case; a subcommand follows after a space. */
  readonly name: string
  /** Category of the documentation, and of access control: `string`, `hash` … */
  readonly group: string
  readonly flags: readonly CommandFlag[]
  readonly writes: boolean
  /** Whether scripts may call it. */
  readonly inScripts: boolean
  readonly usage: string
  readonly since: string
  readonly status: CommandStatus
  readonly deviations: string
  /** Words including the name, at least and at most. */
  readonly minWords: number
  readonly maxWords: number
  /** Whether it takes as many words. */
  hasArity(argv: readonly Bytes[]): boolean
  /** What the words name, as far as they can be understood. */
  namesIn(argv: readonly Bytes[]): Names
  /** The keys among it. */
  keysOf(argv: readonly Bytes[]): readonly Bytes[]
}
