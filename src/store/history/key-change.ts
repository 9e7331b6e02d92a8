import type { PortableString } from '../../kernel/portable.js'
import type { DumpedKey } from '../dump/store-dump.js'

/** Property that contains the items of a dumped collection. */
export type CollectionPart = 'elements' | 'members' | 'fields' | 'entries' | 'slots' | 'vectors'

/**
 * State of one key after one command, load or reset. The expiration of a key at its `expiresAt` is not recorded as a
 * change.
 */
export interface KeyChange {
  /** `seq` of the entry that made the change. */
  readonly seq: number
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly at: number
  readonly key: PortableString
  /** Name of the added database that contains the key; absent for the first database. */
  readonly database?: string
  /** New state of the key. If `splice` is set, the changed list is omitted. Absent if the key was deleted. */
  readonly now?: DumpedKey
  /** Change of a long collection: from the index `at` on, `remove` items are replaced by the items of `insert`. */
  readonly splice?: {
    readonly of: CollectionPart
    readonly at: number
    readonly remove: number
    readonly insert: readonly unknown[]
  }
}

/**
 * Applies a change to the previous state of a key and returns the new state. Returns `undefined` if the key was
 * deleted.
 */
export function appliedTo(before: DumpedKey | undefined, { now, splice }: KeyChange): DumpedKey | undefined {
  if (now === undefined || splice === undefined) return now
  const { of, at, remove, insert } = splice
  const list = partOf(before, of)
  return { ...now, [of]: [...list.slice(0, at), ...insert, ...list.slice(at + remove)] } as DumpedKey
}

/** Returns the list of a collection; empty for other values. */
export function partOf(key: DumpedKey | undefined, part: CollectionPart): readonly unknown[] {
  return ((key as Readonly<Record<string, unknown>> | undefined)?.[part] ?? []) as readonly unknown[]
}
