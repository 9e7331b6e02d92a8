import type { Database } from './database.js'
import {
  bytesOf,
  type PortableString,
  type PortableValue,
  portableString,
  portableValue,
  storedValue,
} from './portable.js'

/** One key with its value; `expiresAt` in milliseconds since the Unix epoch. */
export type DumpedKey = { readonly key: PortableString; readonly expiresAt?: number } & PortableValue

/** Everything in the store as JSON, in order of insertion. Survives `JSON.stringify` and back, whatever the bytes. */
export interface StoreDump {
  readonly format: 'stuntdouble/store'
  readonly version: 1
  readonly keys: readonly DumpedKey[]
}

export interface StoreDifference {
  readonly added: readonly DumpedKey[]
  readonly removed: readonly DumpedKey[]
  readonly changed: readonly { readonly key: PortableString; readonly before: DumpedKey; readonly after: DumpedKey }[]
}

export function dumpOf(db: Database): StoreDump {
  const keys: DumpedKey[] = []
  db.entries.forEach(({ value, expiresAt }, name) => {
    const key = portableString(name)
    keys.push({ key, ...(expiresAt !== undefined && { expiresAt }), ...portableValue(value) })
  })
  return { format: 'stuntdouble/store', version: 1, keys }
}

/** Replaces everything. What is no dump is refused before anything changes. */
export function loadInto(db: Database, dump: StoreDump): void {
  if (dump?.format !== 'stuntdouble/store' || dump.version !== 1 || !Array.isArray(dump.keys)) {
    throw new TypeError(
      "This is not a dump of a store: load() takes what dump() gave, `{ format: 'stuntdouble/store', version: 1, keys: […] }`.",
    )
  }
  const values = dump.keys.map((dumped) => ({ ...dumped, name: bytesOf(dumped.key), value: storedValue(dumped) }))
  db.clear()
  for (const { name, value, expiresAt } of values) {
    db.set(name, value)
    db.setDeadline(name, expiresAt)
  }
}

export function differenceOf(before: StoreDump, after: StoreDump): StoreDifference {
  const old = new Map(before.keys.map((dumped) => [JSON.stringify(dumped.key), dumped]))
  const added: DumpedKey[] = []
  const changed: { key: PortableString; before: DumpedKey; after: DumpedKey }[] = []
  for (const now of after.keys) {
    const name = JSON.stringify(now.key)
    const then = old.get(name)
    old.delete(name)
    if (then === undefined) added.push(now)
    else if (JSON.stringify(then) !== JSON.stringify(now)) changed.push({ key: now.key, before: then, after: now })
  }
  return { added, removed: [...old.values()], changed }
}
