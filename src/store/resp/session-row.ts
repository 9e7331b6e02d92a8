import type { Bytes } from '../../kernel/bytes.js'
import { wrongArity } from '../command/errors.js'
import type { Reply } from '../command/reply.js'
import type { TypedReply } from '../command/typed-reply.js'

// Commands that concern the connection itself. [search.md, part 2]

/** What a command answers; `undefined` where it has sent everything itself. */
export type SessionReply = TypedReply | SentReply | undefined

/** A reply that was sent part by part. */
export class SentReply {
  /** @param plain as the log keeps it */
  constructor(readonly plain: Reply) {}
}

/** A command that concerns the connection itself, and what it is given: the connection. */
export interface SessionCommand<Session> {
  /** Upper case; a subcommand follows after a space. */
  readonly name: string
  /** Words including the name, at least and at most. */
  readonly words: readonly [least: number, most: number]
  /** What becomes of it between MULTI and EXEC; it is queued where nothing is said. */
  readonly inTransaction?: 'runs' | 'refused'
  /** Whoever may do nothing may send it. */
  readonly isFree?: true
  /** Its arguments, for the reference. */
  readonly usage?: string
  /** `redis`: redis-server has it, and the service has no page for it. */
  readonly status?: 'redis'
  /** Monitors do not see it. */
  readonly isAdmin?: true
  run(session: Session, argv: readonly Bytes[]): SessionReply
}

/** Names whose second word is part of the command. */
const containers: ReadonlySet<string> = new Set(['CLIENT'])

export function isContainer(name: string): boolean {
  return containers.has(name)
}

/** Throws `ReplyError` for a command of wrong length. */
export function checkLength(
  { name, words: [least, most] }: Pick<SessionCommand<never>, 'name' | 'words'>,
  argv: readonly Bytes[],
): void {
  if (argv.length < least || argv.length > most) throw wrongArity(name)
}
