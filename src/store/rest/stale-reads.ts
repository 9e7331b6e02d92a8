import type { Bytes } from '../../kernel/bytes.js'
import type { User } from '../access/user.js'
import type { Reply } from '../command/reply.js'
import { type PortableValue, portableValue, storedValue } from '../dump/portable-values.js'
import type { KeyspaceValue } from '../keyspace/database.js'
import type { StoreEngine } from '../store-engine.js'

/** State of a key; `undefined` if it did not exist. */
type Version = { readonly value: PortableValue; readonly expiresAt: number | undefined } | undefined

export const maxVersions = 1000

/**
 * Earlier states of keys, for reads that return stale values. The states are recorded only while a fault rule needs
 * them.
 */
export class StaleReads {
  readonly #store: StoreEngine
  readonly #present = new Map<Bytes, Version>()
  /** Latest state first. */
  readonly #past = new Map<Bytes, Version[]>()
  readonly #changed = new Set<Bytes>()
  #stop: (() => void) | undefined
  #paused = false

  constructor(store: StoreEngine) {
    this.#store = store
  }

  begin(): void {
    if (this.#stop !== undefined) return
    this.#store.db.forEach((value, key, expiresAt) => {
      this.#present.set(key, { value: portableValue(value), expiresAt })
    })
    this.#stop = this.#store.listen({
      keyspace: (eventClass, _event, key) => {
        if (!this.#paused && eventClass !== 'n' && eventClass !== 'm') this.#changed.add(key)
      },
      executed: () => this.#catchUp(),
    })
  }

  end(): void {
    this.#stop?.()
    this.#stop = undefined
    for (const memory of [this.#present, this.#past, this.#changed]) memory.clear()
  }

  /**
   * Runs a read command on earlier states of its keys.
   * @param versions the number of changes to go back
   * @returns `undefined` if none of the keys has changed that often
   */
  read(argv: readonly Bytes[], user: User, versions: number): { readonly reply: Reply } | undefined {
    this.#catchUp()
    const command = this.#store.check(argv, user)
    const old = [...new Set(command.keysOf(argv))].filter((key) => (this.#past.get(key)?.length ?? 0) >= versions)
    if (old.length === 0) return undefined
    this.#paused = true
    const restore = old.map((key) => this.#putBack(key, this.#past.get(key)![versions - 1]))
    try {
      return { reply: this.#store.executePart(command, argv, user) }
    } finally {
      for (const undo of restore) undo()
      this.#paused = false
    }
  }

  /**
   * Sets a key to an earlier state.
   * @returns function that restores the present state
   */
  #putBack(key: Bytes, version: Version): () => void {
    const { db } = this.#store
    const entry = db.find(key)
    const present = entry && { value: entry.value, expiresAt: entry.expiresAt }
    if (version === undefined) db.delete(key)
    else {
      db.set(key, storedValue(version.value))
      // The old value is returned even if its expiration has passed.
      const { expiresAt } = version
      db.setDeadline(
        key,
        expiresAt !== undefined && expiresAt > this.#store.options.clock.now() ? expiresAt : undefined,
      )
    }
    return () => {
      if (present === undefined) {
        db.delete(key)
        return
      }
      db.set(key, present.value as KeyspaceValue)
      db.setDeadline(key, present.expiresAt)
    }
  }

  #catchUp(): void {
    if (this.#changed.size === 0) return
    for (const key of this.#changed) {
      const past = this.#past.get(key) ?? []
      past.unshift(this.#present.get(key))
      if (past.length > maxVersions) past.pop()
      this.#past.set(key, past)
      const entry = this.#store.db.find(key)
      this.#present.set(key, entry && { value: portableValue(entry.value), expiresAt: entry.expiresAt })
    }
    this.#changed.clear()
  }
}
