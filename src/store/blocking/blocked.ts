import type { Bytes } from '../../kernel/bytes.js'
import type { Unblocking } from '../../kernel/input-journal.js'
import type { Task } from '../../kernel/time.js'
import type { User } from '../access/user.js'
import type { BlockingRequest } from '../command/blocking-request.js'
import { type Reply, ReplyError } from '../command/reply.js'

export type WaitEnd = { readonly reply: Reply } | { readonly error: unknown }

/** Client that sends commands one after another and waits for each reply: a connection. */
export interface CommandClient {
  /** Address that monitors show. */
  readonly address?: string
  /**
   * Task in this process that awaits the replies. While a command waits, the task counts as asleep, so that virtual
   * time can continue.
   */
  readonly task?: Task
  /**
   * Bytes of memory that the store already keeps for the client. The names of the keys that the client waits for are
   * not included.
   */
  readonly kept?: number
}

/** Callbacks during a wait and at its end. The traffic log uses them to record the result. */
export interface BlockObserver {
  /** Called when the wait is ended from outside, for example by CLIENT UNBLOCK. */
  unblocked(how: Unblocking): void
  /**
   * Called when the blocked client can perhaps be served. Must return the result of `take()`, which runs the
   * non-blocking command for this client.
   */
  during<T>(take: () => T): T
  /**
   * Called when the wait has ended.
   * @param took non-blocking command that removed the element from the key; `undefined` if nothing was taken
   */
  ended(end: WaitEnd, took: readonly Bytes[] | undefined): void
}

/** Collection of all blocked commands of a store. */
interface Room {
  forget(blocked: Blocked): void
  tell(listener: () => void): void
}

/** Command that waits. Its connection runs no further command until this command has ended. */
export class Blocked {
  witness: BlockObserver | undefined
  #end: WaitEnd | undefined
  #listeners: ((end: WaitEnd) => void)[] = []
  readonly #room: Room

  /** Created by `store.begin()`. */
  constructor(
    readonly argv: readonly Bytes[],
    readonly user: User,
    readonly want: BlockingRequest,
    readonly client: CommandClient,
    /** Bytes of the names of the keys that the command waits for. */
    readonly size: number,
    room: Room,
  ) {
    this.#room = room
  }

  /** Result of the wait; `undefined` while the command waits. */
  get end(): WaitEnd | undefined {
    return this.#end
  }

  /**
   * Resolves with the reply. Rejects with `ReplyError` for an error reply, with the error given to `cancel()`, or when the
   * sandbox is disposed.
   */
  get ended(): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.onEnd((end) => ('reply' in end ? resolve(end.reply) : reject(end.error)))
    })
  }

  /**
   * Calls the listener synchronously when the wait ends. Before that, all clients that get an element from the same
   * command, transaction or script are served. If the wait has already ended, calls the listener immediately.
   *
   * The connection must not run its next command inside the listener, but at the earliest after `await undefined`.
   * Otherwise, the next command would become a part of the command that ended this wait.
   */
  onEnd(listener: (end: WaitEnd) => void): void {
    if (this.#end === undefined) this.#listeners.push(listener)
    else listener(this.#end)
  }

  /**
   * Implements CLIENT UNBLOCK: ends the wait with the reply after a timeout, or with the error `UNBLOCKED`.
   * @returns whether the command was still waiting
   */
  unblock(how: 'TIMEOUT' | 'ERROR' = 'TIMEOUT'): boolean {
    const end: WaitEnd =
      how === 'TIMEOUT'
        ? { reply: this.want.nothing }
        : { error: new ReplyError('UNBLOCKED client unblocked via CLIENT UNBLOCK') }
    return this.#unblock(how, end)
  }

  /**
   * Ends the wait because the connection was closed.
   * @returns whether the command was still waiting
   */
  cancel(error: Error = new Error('The connection was closed while a command waited for its reply.')): boolean {
    return this.#unblock('closed', { error })
  }

  #unblock(how: Unblocking, end: WaitEnd): boolean {
    if (this.#end === undefined) this.witness?.unblocked(how)
    return this.finish(end)
  }

  /**
   * Ends the wait and calls the listeners.
   * @returns whether the command was still waiting
   */
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
