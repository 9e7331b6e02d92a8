import type { PortableString } from '../../kernel/portable.js'
import type { DumpedKey } from '../dump/store-dump.js'

/** Property of a dumped collection that has its items. */
export type CollectionPart = 'elements' | 'members' | 'fields' | 'entries'

/**
 * State of one key after one command, load or reset. When a key expires at its `expiresAt`, no further change is
 * recorded.
 */
export interface KeyChange {
  /** `seq` of the entry that made the change. */
  readonly seq: number
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly at: number
  readonly key: PortableString
  /** New state, without the list that `splice` changes; absent if the key was deleted. */
  readonly now?: DumpedKey
  /** Difference of a long collection from its previous state: `remove` items at `at` are replaced by `insert`. */
  readonly splice?: {
    readonly of: CollectionPart
    readonly at: number
    readonly remove: number
    readonly insert: readonly unknown[]
  }
}

/** Returns the state of a key after a change, given the state before; `undefined` if the key was deleted. */
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
