import { bindMethods } from '../kernel/bind-methods.js'
import { SandboxDisposed } from '../kernel/running-task.js'
import type { Task } from '../kernel/time.js'
import { Blocked, type CommandClient } from './blocking/blocked.js'
import type { Reply } from './command/reply.js'
import type { LoggedStore, Sender } from './logged-store.js'
import { bytesOfWord, type CommandArgs, type PlainReply, plainReply } from './plain.js'
import { searchLoading } from './search/load-search.js'

/** Options of `store.connect()`. */
export interface ConnectionOptions {
  /**
   * Task of the handler that awaits the replies. While a command waits, the task counts as asleep, so that virtual time
   * can move.
   */
  readonly task?: Task
}

/**
 * Connection that sends one command after another to the store. Each command may wait. Created by
 * `sandbox.store.connect()`.
 */
export class StoreConnection {
  static {
    bindMethods(StoreConnection)
  }

  readonly #journal: LoggedStore
  readonly #sender: Sender
  /** The command that waits. `#queued` has the commands that were sent after it. */
  #blocked: Blocked | undefined
  readonly #queued: (() => void)[] = []
  /**
   * Whether further commands must be queued: a command waits, or its wait has ended but the next queued command has not
   * started.
   */
  #isBusy = false
  #isClosed = false

  /** Called by `sandbox.store.connect()`. @internal */
  constructor(journal: LoggedStore, { task }: ConnectionOptions) {
    this.#journal = journal
    const client: CommandClient = task === undefined ? {} : { task }
    this.#sender = { user: journal.store.access.standardUser, via: 'direct', client }
  }

  /**
   * Runs one command after the earlier ones have ended; an error reply rejects with `ReplyError`.
   *
   * A wait ends when another client adds an element, or with `null` after its timeout in virtual time. If the sandbox
   * is reset, loaded or disposed, the promise stays pending.
   * @example
   * const connection = sandbox.store.connect()
   * const job = connection.run('BLPOP', 'jobs', 5)
   * await sandbox.clock.advance('5s')
   * expect(await job).toBeNull()
   */
  run(...argv: CommandArgs): Promise<PlainReply> {
    const words = argv.map((word, at) => bytesOfWord(word, at))
    return new Promise((resolve, reject) => {
      const answer = (reply: Reply): void => resolve(plainReply(reply))
      const send = (): void => {
        if (this.#isClosed) {
          reject(
            new Error('connection.run(): the connection is closed. Open another one with sandbox.store.connect().'),
          )
          return
        }
        const loading = searchLoading(words, this.#journal.store)
        if (loading !== undefined) {
          this.#isBusy = true
          loading.then(() => this.#queued.unshift(send), reject).then(() => this.#goOn(), reject)
          return
        }
        try {
          const begun = this.#journal.start(words, this.#sender)
          if (!(begun instanceof Blocked)) answer(begun)
          else this.#await(begun, answer, reject)
        } catch (error) {
          reject(error)
        }
      }
      if (this.#isBusy) this.#queued.push(send)
      else send()
    })
  }

  /** Whether a command waits. */
  get isWaiting(): boolean {
    return this.#blocked !== undefined
  }

  /**
   * Closes the connection. The waiting command and all queued commands reject.
   * @example
   * const worker = sandbox.store.connect()
   * const job = worker.run('BLPOP', 'jobs', 0)
   * worker.close()
   * await expect(job).rejects.toThrow()
   */
  close(): void {
    this.#isClosed = true
    this.#blocked?.cancel()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #await(blocked: Blocked, answer: (reply: Reply) => void, reject: (error: unknown) => void): void {
    this.#blocked = blocked
    this.#isBusy = true
    blocked.onEnd((end) => {
      // A test might never await this promise. A rejection after the sandbox was disposed would then be unhandled and
      // fail the test, so the promise stays pending.
      if ('error' in end && end.error instanceof SandboxDisposed) return
      this.#blocked = undefined
      if ('reply' in end) answer(end.reply)
      else reject(end.error)
      void this.#goOn()
    })
  }

  /** Runs the queued commands. The `await` separates the queued commands from the command that ended the wait. */
  async #goOn(): Promise<void> {
    await undefined
    this.#isBusy = false
    while (!this.#isBusy && this.#queued.length > 0) this.#queued.shift()!()
  }
}
