import type { Bytes } from '../kernel/bytes.js'
import type { Journal as Inputs } from '../kernel/journal.js'
import type { CommandEntry, EntryStamp, KeyspaceEntry, Traffic } from '../kernel/traffic.js'
import type { User } from './access/access.js'
import { type Reply, ReplyError } from './command/reply.js'
import type { StoreDump } from './dump/snapshot.js'
import type { Ran } from './ran.js'
import type { Store } from './store.js'

/** Runs commands and writes them and what they change into the traffic log. */
export class Journal {
  /** `seq` of the request that is being served. */
  #cause: number | undefined
  #isRunning = false
  readonly #inputs: Inputs | undefined
  #ran: Ran[] = []
  /** `seq` of the last command in the log. */
  last = 0

  /** @param inputs hears of keys that were found expired by a mere look, which is no command */
  constructor(
    readonly store: Store,
    readonly traffic: Traffic,
    inputs?: Inputs,
  ) {
    this.#inputs = inputs
    store.listen({
      keyspace: (eventClass, event, key) => {
        if (!this.#isRunning) inputs?.note('looked', key)
        // New keys and misses are told apart from changes by redis-server, too: `A` does not include them.
        if (traffic.keeps && eventClass !== 'n' && eventClass !== 'm')
          traffic.adopt(new Change(event, key, this.#cause))
      },
    })
  }

  execute(argv: readonly Bytes[], user: User, via: CommandEntry['via'], cause?: number): Reply {
    if (!this.traffic.keeps) return this.store.execute(argv, user)
    this.#cause = cause
    this.#isRunning = true
    try {
      const reply = this.store.execute(argv, user)
      const entry = new Executed(argv, user.name, via, cause)
      entry.reply = reply
      this.#keep(entry)
      return reply
    } catch (error) {
      if (error instanceof ReplyError) {
        const entry = new Executed(argv, user.name, via, cause)
        entry.error = error.message
        this.#keep(entry)
      }
      throw error
    } finally {
      this.#isRunning = false
      this.#cause = undefined
    }
  }

  #keep(entry: Executed): void {
    this.traffic.adopt(entry)
    this.last = entry.seq
    if (this.#inputs !== undefined) this.#ran.push(entry)
  }

  /** Everything was replaced by a dump. */
  loaded(dump: StoreDump): void {
    const { seq, at } = this.traffic.append({ type: 'setting', of: 'store', name: 'store', change: 'loaded' })
    if (this.#inputs !== undefined) this.#ran.push({ seq, at, loaded: dump })
  }

  /** What ran since the world began; nothing where its inputs are not kept, or were too many. */
  get ran(): readonly Ran[] {
    if (this.#inputs?.fullAt !== undefined) this.#ran = []
    return this.#ran
  }

  /** The world is whole: what ran to fill it is no part of its history. */
  begin(): void {
    this.#ran = []
  }

  /** Writes down a command that was not run as it stands: a fault decided its end. */
  note(
    argv: readonly Bytes[],
    user: User,
    via: CommandEntry['via'],
    cause: number,
    end: { readonly reply: Reply } | { readonly error: string },
  ): void {
    const entry = new Executed(argv, user.name, via, cause)
    if ('error' in end) entry.error = end.error
    else entry.reply = end.reply
    this.traffic.adopt(entry)
    this.last = entry.seq
  }
}

// Classes, because a pipeline brings hundreds of entries: putting a literal and its stamp together costs four times as much.

class Executed implements CommandEntry, EntryStamp {
  seq = 0
  at = 0
  declare cause?: number
  readonly type = 'command'
  declare reply?: Reply
  declare error?: string

  constructor(
    readonly argv: readonly Bytes[],
    readonly user: string,
    readonly via: CommandEntry['via'],
    cause: number | undefined,
  ) {
    if (cause !== undefined) this.cause = cause
  }
}

class Change implements KeyspaceEntry, EntryStamp {
  seq = 0
  at = 0
  declare cause?: number
  readonly type = 'keyspace'

  constructor(
    readonly event: string,
    readonly key: Bytes,
    cause: number | undefined,
  ) {
    if (cause !== undefined) this.cause = cause
  }
}
