import type { Bytes } from '../../kernel/bytes.js'
import { costOfName } from '../command/connection-memory.js'

/** The keys that one connection watches until its next transaction. */
export class Watch {
  readonly keys: Set<Bytes> = new Set()
  /** Bytes that they are kept with. */
  size = 0
  /** One of them has changed. */
  isTouched = false
}

/** Who watches which keys: WATCH. */
export class Watches {
  /** How many keys are watched; a field, because every change looks at it. */
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

  /** Something happened at a key. */
  touch(key: Bytes): void {
    for (const watch of this.#byKey.get(key) ?? []) watch.isTouched = true
  }

  /** Everything goes at once. @param isThere whether there was such a key: the others do not change */
  clear(isThere: (key: Bytes) => boolean): void {
    for (const key of this.#byKey.keys()) if (isThere(key)) this.touch(key)
  }
}
