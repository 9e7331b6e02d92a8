import type { Bytes } from '../../kernel/bytes.js'
import type { Unblocking } from '../../kernel/input-journal.js'
import type { Task } from '../../kernel/time.js'
import type { User } from '../access/user.js'
import type { BlockingRequest } from '../command/blocking-request.js'
import { type Reply, ReplyError } from '../command/reply.js'

/** How a wait ended. */
export type WaitEnd = { readonly reply: Reply } | { readonly error: unknown }

/** Somebody who sends commands one after the other, and waits for the reply to each: a connection. */
export interface CommandClient {
  /** The address that monitors see. */
  readonly address?: string
  /** The work of this process that awaits its replies, if any: it counts as asleep while it waits. */
  readonly task?: Task
  /** Bytes that are kept for it beside what it waits for. */
  readonly kept?: number
}

/** Is there when a wait goes on: the log, which writes down what comes of it. */
export interface BlockObserver {
  /** Somebody outside ends it. */
  unblocked(how: Unblocking): void
  /** Around the command that takes what was waited for. */
  during<T>(take: () => T): T
  /** @param took the command that took it; `undefined` where nothing was taken */
  ended(end: WaitEnd, took: readonly Bytes[] | undefined): void
}

/** Where it waits. */
interface Room {
  forget(blocked: Blocked): void
  tell(listener: () => void): void
}

/** A command that waits. Its connection is not served before it has ended. */
export class Blocked {
  witness: BlockObserver | undefined
  #end: WaitEnd | undefined
  #listeners: ((end: WaitEnd) => void)[] = []
  readonly #room: Room

  /** Comes of `store.begin()`. */
  constructor(
    readonly argv: readonly Bytes[],
    readonly user: User,
    readonly want: BlockingRequest,
    readonly client: CommandClient,
    /** Bytes that the keys are kept with for which it waits. */
    readonly size: number,
    room: Room,
  ) {
    this.#room = room
  }

  /** How it ended; `undefined` while it waits. */
  get end(): WaitEnd | undefined {
    return this.#end
  }

  /** Its reply. Rejects with `ReplyError` for an error reply, with what `cancel()` was given, and when its world is over. */
  get ended(): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.onEnd((end) => ('reply' in end ? resolve(end.reply) : reject(end.error)))
    })
  }

  /**
   * Calls back without a turn of the event loop: right after everybody was served whom the same command, transaction or
   * script brought something. At once when it has ended. The next command of the connection is to come later, if only by
   * `await undefined`: it is no part of what ended this one.
   */
  onEnd(listener: (end: WaitEnd) => void): void {
    if (this.#end === undefined) this.#listeners.push(listener)
    else listener(this.#end)
  }

  /**
   * CLIENT UNBLOCK: ends it as if its time were over, or with the error `UNBLOCKED`.
   * @returns whether it was still waiting
   */
  unblock(how: 'TIMEOUT' | 'ERROR' = 'TIMEOUT'): boolean {
    const end: WaitEnd =
      how === 'TIMEOUT'
        ? { reply: this.want.nothing }
        : { error: new ReplyError('UNBLOCKED client unblocked via CLIENT UNBLOCK') }
    return this.#unblock(how, end)
  }

  /** The connection is gone: nobody serves it any more. @returns whether it was still waiting */
  cancel(error: Error = new Error('The connection was closed while it waited.')): boolean {
    return this.#unblock('closed', { error })
  }

  #unblock(how: Unblocking, end: WaitEnd): boolean {
    if (this.#end === undefined) this.witness?.unblocked(how)
    return this.finish(end)
  }

  /** Ends it, and tells whoever listens. */
  finish(end: WaitEnd, took?: readonly Bytes[]): boolean {
    if (this.#end !== undefined) return false
    this.#end = end
    this.#room.forget(this)
    this.witness?.ended(end, took)
    this.#room.tell(() => {
      const listeners = this.#listeners
      this.#listeners = []
      for (const listener of listeners) listener(end)
    })
    return true
  }
}
