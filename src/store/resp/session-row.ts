import type { Bytes } from '../../kernel/bytes.js'
import { wrongArity } from '../command/errors.js'
import type { Reply } from '../command/reply.js'
import type { TypedReply } from '../command/typed-reply.js'

// Describes the commands about the connection itself, such as HELLO and CLIENT. [search.md, part 2]

/** Reply of a session command; `undefined` if the command has already sent everything. */
export type SessionReply = TypedReply | SentReply | undefined

/** Reply that was sent in parts. */
export class SentReply {
  /** @param plain the reply as the log keeps it */
  constructor(readonly plain: Reply) {}
}

/** Command about the connection itself. Its `run()` function receives the session. */
export interface SessionCommand<Session> {
  /** Upper-case name; a subcommand follows after a space. */
  readonly name: string
  /** Minimum and maximum number of arguments, including the name. */
  readonly words: readonly [least: number, most: number]
  /** Handling between MULTI and EXEC. Default: queued. */
  readonly inTransaction?: 'runs' | 'refused'
  /** Whether users without any permission can send the command. */
  readonly isFree?: true
  /** Arguments, for the reference. */
  readonly usage?: string
  /** `redis`: only redis-server has the command, and the service has no page for it. */
  readonly status?: 'redis'
  /** Whether monitors do not see the command. */
  readonly isAdmin?: true
  run(session: Session, argv: readonly Bytes[]): SessionReply
}

/** Names whose second word is part of the command. */
const containers: ReadonlySet<string> = new Set(['CLIENT'])

export function isContainer(name: string): boolean {
  return containers.has(name)
}

/**
 * Checks the number of arguments.
 * @throws ReplyError when it is wrong
 */
export function checkLength(
  { name, words: [least, most] }: Pick<SessionCommand<never>, 'name' | 'words'>,
  argv: readonly Bytes[],
): void {
  if (argv.length < least || argv.length > most) throw wrongArity(name)
}
