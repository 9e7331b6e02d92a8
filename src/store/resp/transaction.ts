import type { Bytes } from '../../kernel/bytes.js'
import { replyError } from '../command/errors.js'
import { nilArray, ok, type Reply, ReplyError, Status } from '../command/reply.js'
import { Watch } from '../keyspace/watches.js'
import { sizeOfWords } from '../meter.js'
import type { StoreEngine } from '../store-engine.js'

type Row = readonly Bytes[]

/** Bytes of memory for a queued command, in addition to its arguments. */
const around = 96
const aroundWord = 16

/** Returns the bytes that a queued command takes. */
export function costOfRow(argv: Row): number {
  return around + aroundWord * argv.length + sizeOfWords(argv)
}

const queued = new Status('QUEUED')

/** Commands of a connection since MULTI, and the keys that the connection watches until EXEC. [redis 7.0] */
export class TransactionState {
  readonly #store: StoreEngine
  readonly #watch = new Watch()
  #rows: Row[] | undefined
  /** Bytes of the queued commands. */
  #size = 0
  /** Whether a command was rejected, so that none will run. */
  #isRefused = false

  constructor(store: StoreEngine) {
    this.#store = store
  }

  /** Whether commands are queued for EXEC. */
  get isOpen(): boolean {
    return this.#rows !== undefined
  }

  /** Number of queued commands, -1 outside transactions. */
  get length(): number {
    return this.#rows?.length ?? -1
  }

  /** Bytes of the queued commands and of the watched keys. */
  get kept(): number {
    return this.#size + this.#watch.size
  }

  begin(): Reply {
    if (this.isOpen) throw new ReplyError('ERR MULTI calls can not be nested')
    this.#rows = []
    this.#isRefused = false
    return ok
  }

  /**
   * Runs a check of a sent command. If the check rejects the command, EXEC will not run the transaction. A malformed
   * EXEC ends the transaction.
   * @param check throws `ReplyError`
   */
  demand<T>(argv: Row, check: () => T): T {
    try {
      return check()
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error
      this.#isRefused = true
      if (argv[0]!.toUpperCase() !== 'EXEC') throw error
      this.forget()
      throw new ReplyError(`EXECABORT Transaction discarded because of: ${error.message.replace(/^ERR /, '')}`)
    }
  }

  /** Makes EXEC fail, because a command was rejected before it was queued. */
  refuse(): void {
    this.#isRefused = true
  }

  /**
   * Queues a command for EXEC.
   * @param check throws `ReplyError` if the command is not allowed in transactions
   */
  queue(argv: Row, check: () => void): Reply {
    this.demand(argv, check)
    // As in redis, commands are no longer kept after one was rejected.
    if (!this.#isRefused) {
      this.#rows!.push(argv)
      this.#size += costOfRow(argv)
    }
    return queued
  }

  /**
   * Implements EXEC.
   * @param run runs the queued commands; not called if a watched key has changed
   */
  execute<T>(run: (rows: readonly Row[]) => T): T | Reply {
    const rows = this.#end('EXEC')
    const { keys } = this.#watch
    // A key that expired since WATCH counts as changed. `has()` removes the key, which marks the watch as changed.
    for (const key of keys) this.#store.db.has(key)
    const { isTouched } = this.#watch
    this.unwatch()
    if (this.#isRefused) throw new ReplyError('EXECABORT Transaction discarded because of previous errors.')
    return isTouched ? nilArray : run(rows)
  }

  discard(): Reply {
    this.#end('DISCARD')
    return this.unwatch()
  }

  watch(keys: readonly Bytes[], mayUse: (key: Bytes) => boolean): Reply {
    if (this.isOpen) throw new ReplyError('ERR WATCH inside MULTI is not allowed')
    if (!keys.every(mayUse)) throw replyError('noKeyPermission')
    const { db, watches } = this.#store
    for (const key of keys) {
      // Removes the key if it has already expired. If the key were removed after WATCH, the key would count as changed.
      db.has(key)
      watches.add(this.#watch, key)
    }
    return ok
  }

  unwatch(): Reply {
    this.#store.watches.remove(this.#watch)
    this.#watch.isTouched = false
    return ok
  }

  /** Drops the transaction, because the client will not send EXEC. */
  forget(): void {
    this.#rows = undefined
    this.#size = 0
    this.unwatch()
  }

  #end(by: string): readonly Row[] {
    const rows = this.#rows
    if (rows === undefined) throw new ReplyError(`ERR ${by} without MULTI`)
    this.#rows = undefined
    this.#size = 0
    return rows
  }
}
