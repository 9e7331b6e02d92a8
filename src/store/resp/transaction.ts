import type { Bytes } from '../../kernel/bytes.js'
import { replyError } from '../command/errors.js'
import { nilArray, ok, type Reply, ReplyError, Status } from '../command/reply.js'
import { Watch } from '../keyspace/watches.js'
import { sizeOfWords } from '../meter.js'
import type { StoreEngine } from '../store-engine.js'

type Row = readonly Bytes[]

/** Bytes that a row is kept with, beside those of its words. */
const around = 96
const aroundWord = 16

/** Bytes that a row takes while it waits. */
export function costOfRow(argv: Row): number {
  return around + aroundWord * argv.length + sizeOfWords(argv)
}

const queued = new Status('QUEUED')

/** What a connection has said since MULTI, and the keys that it watches until EXEC. [redis 7.0] */
export class TransactionState {
  readonly #store: StoreEngine
  readonly #watch = new Watch()
  #rows: Row[] | undefined
  /** Bytes of the rows that wait. */
  #size = 0
  /** One of the rows was refused: none will run. */
  #isRefused = false

  constructor(store: StoreEngine) {
    this.#store = store
  }

  /** Whether what is sent waits for EXEC. */
  get isOpen(): boolean {
    return this.#rows !== undefined
  }

  /** Rows that wait, -1 outside of transactions. */
  get length(): number {
    return this.#rows?.length ?? -1
  }

  /** Bytes of what waits and of the keys that are watched. */
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
   * Runs a check of what was sent: who is refused has lost the transaction, and an EXEC of wrong form ends it.
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

  /** One of its rows was refused before it came here. */
  refuse(): void {
    this.#isRefused = true
  }

  /** @param check throws `ReplyError` for a row that may not stand in it */
  queue(argv: Row, check: () => void): Reply {
    this.demand(argv, check)
    // As in redis, none is kept any more where none will run.
    if (!this.#isRefused) {
      this.#rows!.push(argv)
      this.#size += costOfRow(argv)
    }
    return queued
  }

  /** @param run runs the rows; nothing is run where a watched key has changed */
  execute<T>(run: (rows: readonly Row[]) => T): T | Reply {
    const rows = this.#end('EXEC')
    const { keys } = this.#watch
    // What has expired unseen has changed, too.
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
      // It may have expired before: that is no change any more.
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

  /** Nobody will say EXEC any more. */
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
