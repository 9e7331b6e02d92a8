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
  /** Of the handler that awaits the replies: it counts as asleep while a command waits, so that time moves on. */
  readonly task?: Task
}

/** Sends the data store one command after the other, of which each may wait. Comes of `sandbox.store.connect()`. */
export class StoreConnection {
  static {
    bindMethods(StoreConnection)
  }

  readonly #journal: LoggedStore
  readonly #sender: Sender
  /** The command that waits, and what was sent behind it. */
  #blocked: Blocked | undefined
  readonly #queued: (() => void)[] = []
  /** A command waits, or its reply has just come. */
  #isBusy = false
  #isClosed = false

  /** Use `sandbox.store.connect()`. @internal */
  constructor(journal: LoggedStore, { task }: ConnectionOptions) {
    this.#journal = journal
    const client: CommandClient = task === undefined ? {} : { task }
    this.#sender = { user: journal.store.access.standardUser, via: 'direct', client }
  }

  /**
   * Runs one command when those before it have ended; an error reply rejects with `ReplyError`. A wait ends by what
   * others bring, or with `null` when its virtual time is over; in a world that was reset, loaded or dropped it never ends.
   * @example
   * const connection = sandbox.store.connect()
   * const job = connection.run('BLPOP', 'jobs', 5)
   * await sandbox.clock.advance('5s')
   * expect(await job).toBeNull()
   */
  run(...words: CommandArgs): Promise<PlainReply> {
    const argv = words.map((word, at) => bytesOfWord(word, at))
    return new Promise((resolve, reject) => {
      const answer = (reply: Reply): void => resolve(plainReply(reply))
      const send = (): void => {
        if (this.#isClosed) {
          reject(new Error('This connection is closed: make another one with sandbox.store.connect().'))
          return
        }
        const loading = searchLoading(argv, this.#journal.store)
        if (loading !== undefined) {
          this.#isBusy = true
          loading.then(() => this.#queued.unshift(send), reject).then(() => this.#goOn(), reject)
          return
        }
        try {
          const begun = this.#journal.start(argv, this.#sender)
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
   * Ends what waits; it rejects, and what was sent behind it, too.
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
      // As whatever sleeps in a world that is over: a worker that nobody awaits must not fail the test behind its back.
      if ('error' in end && end.error instanceof SandboxDisposed) return
      this.#blocked = undefined
      if ('reply' in end) answer(end.reply)
      else reject(end.error)
      void this.#goOn()
    })
  }

  /** What comes next is no part of what ended the wait. */
  async #goOn(): Promise<void> {
    await undefined
    this.#isBusy = false
    while (!this.#isBusy && this.#queued.length > 0) this.#queued.shift()!()
  }
}
