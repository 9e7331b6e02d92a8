import type { Bytes } from '../../kernel/bytes.js'
import { costOfName } from '../command/connection-memory.js'

/** The keys that one connection watches until its next transaction. */
export class Watch {
  readonly keys: Set<Bytes> = new Set()
  /** Bytes of the names of the watched keys. */
  size = 0
  /** Whether one of the keys has changed. */
  isTouched = false
}

/** Watched keys and their connections: WATCH. */
export class Watches {
  /** Number of watched keys. It is a plain field instead of a getter, because every change reads it. */
  size = 0
  readonly #byKey = new Map<Bytes, Set<Watch>>()

  add(watch: Watch, key: Bytes): void {
    if (!watch.keys.has(key)) watch.size += costOfName(key)
    watch.keys.add(key)
    const watchers = this.#byKey.get(key) ?? new Set()
    this.#byKey.set(key, watchers.add(watch))
    this.size = this.#byKey.size
  }

  remove(watch: Watch): void {
    for (const key of watch.keys) {
      const watchers = this.#byKey.get(key)
      if (watchers?.delete(watch) && watchers.size === 0) this.#byKey.delete(key)
    }
    watch.keys.clear()
    watch.size = 0
    this.size = this.#byKey.size
  }

  /** Marks the watches of a key as changed. */
  touch(key: Bytes): void {
    for (const watch of this.#byKey.get(key) ?? []) watch.isTouched = true
  }

  /**
   * Records that all keys are deleted.
   * @param isThere returns whether a key existed, because the deletion does not change a missing key
   */
  clear(isThere: (key: Bytes) => boolean): void {
    for (const key of this.#byKey.keys()) if (isThere(key)) this.touch(key)
  }
}
