import type { Bytes } from '../../kernel/bytes.js'
import { AccessControl } from '../access/access-control.js'
import type { Command } from '../command/command.js'
import { storageExceeded } from '../command/errors.js'
import { ReplyError } from '../command/reply.js'
import { usedMemory } from '../commands/info.js'
import type { Victim } from '../keyspace/storage-meter.js'
import type { LoggedStore, Sender } from '../logged-store.js'
import { StoreEngine } from '../store-engine.js'
import { freesMemory } from '../store-limits.js'
import { JsonDocument } from '../values/json-value.js'
import { SearchIndex } from '../values/search-index.js'

/** Units of work for evicting a key: it is deleted, logged and announced. */
const unitsPerKey = 160

const none: ReadonlySet<Bytes> = new Set()

/**
 * Evicts keys when the storage is full, in the order of the service: random keys with an expiration first, then any
 * random keys, until the write fits. The keys of the running write are spared. [store.md 10]
 */
export class Eviction {
  readonly #journal: LoggedStore
  readonly #store: StoreEngine
  readonly #most: number
  /** Runs each write on copies of its keys first, which shows how large the keys become. */
  readonly #trial: StoreEngine

  constructor(journal: LoggedStore, most: number) {
    const { store } = journal
    const { clock, random, policy, docs } = store.options
    this.#journal = journal
    this.#store = store
    this.#most = most
    this.#trial = new StoreEngine({
      clock: { now: () => clock.now() },
      random: random.fork('trial'),
      access: new AccessControl({ standard: '', readOnly: '' }, random.fork('trial')),
      policy: { ...policy, maxStorageSize: undefined },
      docs,
    })
  }

  /**
   * Runs a command of a client, and evicts keys before it and after it.
   * @param command the command, if the store knows it
   * @throws ReplyError if the write does not fit, even if all other keys are evicted
   */
  run<R>(argv: readonly Bytes[], command: Command | undefined, sender: Sender, run: () => R): R {
    if (command === undefined || !mayGrow(command) || !this.#isPermitted(argv, command, sender)) return run()
    const keys = new Set(command.keysOf(argv))
    return this.#store.waiting.after(() => {
      this.#makeRoom(argv, command, keys, sender)
      try {
        return run()
      } finally {
        this.#journal.during(sender.cause, () => this.#trim(keys))
      }
    })
  }

  /** Returns whether the user may run the command. If not, the command is rejected and must not evict anything. */
  #isPermitted(argv: readonly Bytes[], command: Command, { user }: Sender): boolean {
    try {
      this.#store.permit(command, argv, user)
      return true
    } catch (error) {
      if (error instanceof ReplyError) return false
      throw error
    }
  }

  #makeRoom(argv: readonly Bytes[], command: Command, keys: ReadonlySet<Bytes>, sender: Sender): void {
    const { user, via, cause } = sender
    const { storage, docs } = this.#store
    try {
      this.#journal.during(cause, () => {
        let others = storage!.bytes()
        const grown = this.#sizeAfter(argv, command, keys)
        if (grown === undefined) return
        if (grown > this.#most) throw storageExceeded(this.#most, grown, docs)
        for (const key of keys) others -= storage!.bytesOf(key)
        this.#evict(this.#most - grown, others, keys)
      })
    } catch (error) {
      if (error instanceof ReplyError) this.#journal.note(argv, user, via, cause, { error: error.message })
      throw error
    }
  }

  /**
   * Evicts keys after a command whose size could not be predicted, such as a script. The keys of the command itself are
   * evicted only if all others are not enough.
   */
  #trim(keys: ReadonlySet<Bytes>): void {
    const left = this.#evict(this.#most, this.#store.storage!.bytes(), keys)
    this.#evict(this.#most, left, none)
  }

  /** Evicts keys until the others have at most `most` bytes. @returns the bytes that the others have then */
  #evict(most: number, others: number, spared: ReadonlySet<Bytes>): number {
    const { storage, work } = this.#store
    if (others <= most) return others
    return storage!.sparing(spared, () => {
      let bytes = others
      while (bytes > most) {
        const victim = storage!.pick()
        if (victim === undefined) break
        work.spend(unitsPerKey)
        bytes -= storage!.bytesOf(victim.key)
        this.#journal.evict(victim.key, reasonOf(victim, this.#most))
        storage!.bytes()
      }
      return bytes
    })
  }

  /**
   * Returns the bytes that the keys of a write and their values have after it. `undefined` if only running the command
   * can show it: scripts can write any key, and an index reads other keys.
   */
  #sizeAfter(argv: readonly Bytes[], command: Command, keys: ReadonlySet<Bytes>): number | undefined {
    if (keys.size === 0 || !command.writes || command.group === 'search') return undefined
    const { db, work } = this.#store
    const trial = this.#trial
    work.charge(2 * db.sizeOfAll([...keys]))
    trial.reset()
    for (const key of keys) {
      const entry = db.find(key)
      if (entry === undefined || entry.value instanceof SearchIndex) continue
      const { value, expiresAt } = entry
      if (value instanceof JsonDocument) value.pay(work)
      trial.db.put(key, typeof value === 'string' ? value : value.copy(), expiresAt)
    }
    const { spent } = trial.work
    const size = trial.asOneRequest(trial.docs, () => {
      trial.work.renew(work.left)
      try {
        trial.execute(argv)
      } catch (error) {
        // The write itself will fail in the same way.
        if (!(error instanceof ReplyError)) throw error
      }
      return usedMemory(trial.db)
    })
    work.spend(trial.work.spent - spent)
    trial.reset()
    return size
  }
}

/** Returns whether a command can make the store larger. */
function mayGrow(command: Command): boolean {
  return command.flags.includes('scripting') || (command.writes && !freesMemory(command))
}

function reasonOf({ expires }: Victim, most: number): string {
  const which = expires
    ? 'keys with an expiration are evicted first'
    : 'no key with an expiration was left, so any key is evicted'
  return `the store is limited to ${most} bytes (policy.maxStorageSize): ${which}`
}
