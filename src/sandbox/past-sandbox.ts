import { bindMethods } from '../kernel/bind-methods.js'
import { type Bytes, fromArray, utf8 } from '../kernel/bytes.js'
import { checkedDatabase } from '../kernel/database-name.js'
import { type StoreDiff, TrafficLog } from '../kernel/traffic-log.js'
import { Traffic } from '../report/traffic-view.js'
import { type CommandArgs, type PlainReply, plainReply } from '../store/direct-store.js'
import { differenceOf, dumpOf } from '../store/dump/snapshot.js'
import type { DumpedKey, StoreDump } from '../store/dump/store-dump.js'
import type { StoreHistory } from '../store/history/store-history.js'
import type { StoreEngine } from '../store/store-engine.js'
import { entryAsOf, type PastView } from './as-of.js'
import type { ForkOptions } from './past.js'

/**
 * Data from which a view of the past is built.
 * @template Fork type of the forks, a sandbox
 */
interface PastSource<Fork = unknown> {
  readonly asOf: PastView
  /** History of each database, by name. The first database has no name. */
  readonly histories: ReadonlyMap<string | undefined, StoreHistory>
  readonly traffic: Traffic
  fork(options: Omit<ForkOptions, 'at'>): Promise<Fork>
  /**
   * Checks that this past instant can still be read.
   * @throws Error when the sandbox was reset or loaded after this view was created, or when its journal was discarded
   */
  check(): void
}

/** A read-only view of a sandbox at an earlier instant. */
export class PastSandbox<Fork = unknown> {
  static {
    bindMethods(PastSandbox)
  }

  /** Virtual time in milliseconds since the epoch. */
  readonly now: number
  /** The data store at that instant. If databases were added, this is the first one. */
  readonly store: PastStore
  readonly #told: PastSource<Fork>

  /** Use `sandbox.asOf()`. @internal */
  constructor(told: PastSource<Fork>) {
    this.now = told.asOf.at
    this.store = new PastStore(told, told.histories.get(undefined)!)
    this.#told = told
  }

  /**
   * Returns a database at that instant that the option `databases` added.
   * @throws RangeError when there is no such database
   * @example
   * using sandbox = createSandbox({ databases: ['us'] })
   * expect(sandbox.asOf('-0s').storeIn('us').get('greeting')).toBeNull()
   */
  storeIn(database: string): PastStore {
    const { histories } = this.#told
    const names = [...histories.keys()].filter((name) => name !== undefined)
    return new PastStore(this.#told, histories.get(checkedDatabase(database, names))!)
  }

  /**
   * The traffic log at that instant. An entry that had no response or outcome at that instant has none here, even if it
   * got one later.
   */
  get traffic(): Traffic {
    const { asOf, traffic } = this.#told
    const entries = traffic.entries.filter(({ seq }) => seq <= asOf.seq).map((entry) => entryAsOf(entry, asOf))
    // A view of the past is never outdated, because it does not show the present state.
    const { replacement: _, ...context } = traffic.context
    return new Traffic(TrafficLog.recorded(entries), { ...context, now: () => asOf.at })
  }

  /**
   * Creates a sandbox that continues from this instant, as `sandbox.fork({ at })` does.
   * @throws Error when the sandbox was reset or loaded after this view was created
   * @example
   * using earlier = await sandbox.asOf('-5m').fork()
   * await earlier.clock.drain()
   */
  fork(options: Omit<ForkOptions, 'at'> = {}): Promise<Fork> {
    return this.#told.fork(options)
  }
}

/** A read-only view of a data store at an earlier instant. */
export class PastStore {
  static {
    bindMethods(PastStore)
  }

  readonly #told: PastSource
  readonly #history: StoreHistory

  /** @internal */
  constructor(told: PastSource, history: StoreHistory) {
    this.#told = told
    this.#history = history
  }

  /**
   * Returns the value of a string key as text, or `null` if the key did not exist.
   * @example
   * sandbox.store.run('SET', 'stock', 5)
   * await sandbox.clock.advance('5m')
   * sandbox.store.run('SET', 'stock', 4)
   * expect(sandbox.asOf('-1m').store.get('stock')).toBe('5')
   */
  get(key: string | Uint8Array): string | null {
    return this.run('GET', key) as string | null
  }

  /**
   * Runs one read-only command and returns its reply.
   * @throws ReplyError when the reply is an error
   * @throws TypeError when the command can write
   * @example sandbox.asOf('-5m').store.run('LRANGE', 'jobs', 0, -1)
   */
  run(...argv: CommandArgs): PlainReply {
    const words = argv.map((word): Bytes => (word instanceof Uint8Array ? fromArray(word) : utf8(String(word))))
    return this.#look((store) => {
      if (store.lookup(words).writes || isScript.test(words[0] ?? '')) {
        throw new TypeError(
          `asOf().store.run(): the command must be read-only (got ${argv[0]}). Run it in a fork: await sandbox.fork({ at }).`,
        )
      }
      return plainReply(store.executeUnseen(words, store.access.standardUser))
    })
  }

  /**
   * Returns all data that was stored at that instant, as plain JSON.
   * @example const { keys } = sandbox.asOf('-5m').store.dump()
   */
  dump(): StoreDump {
    return this.#look((store) => dumpOf(store.db))
  }

  /**
   * Returns the differences between an earlier dump and the data at this instant.
   * @example
   * const empty = sandbox.asOf('-5m').store.dump()
   * sandbox.asOf('-1m').store.diff(empty).added
   */
  diff(before: StoreDump): StoreDiff<DumpedKey> {
    return differenceOf(before, this.dump())
  }

  #look<T>(read: (store: StoreEngine) => T): T {
    const { asOf, check } = this.#told
    check()
    const { seq, at } = asOf
    return this.#history.look(
      this.#history.countAt((ran) => ran.seq > seq),
      at,
      read,
    )
  }
}

const isScript = /^(?:eval|evalsha|fcall)$/i

/** Creates a PastSandbox. */
export function pastSandbox<Fork>(told: PastSource<Fork>): PastSandbox<Fork> {
  return new PastSandbox(told)
}
