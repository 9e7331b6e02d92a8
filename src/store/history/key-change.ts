import type { PortableString } from '../../kernel/portable.js'
import type { DumpedKey } from '../dump/store-dump.js'

/** The list of a collection, by the name that it has in a dump. */
export type CollectionPart = 'elements' | 'members' | 'fields' | 'entries'

/**
 * What one command, load or reset left at one key. A key that expires is gone at its `expiresAt` without a change of its
 * own.
 */
export interface KeyChange {
  /** The entry that did it. */
  readonly seq: number
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly at: number
  readonly key: PortableString
  /** What is there now, without the list that `splice` changes; absent where the key is gone. */
  readonly now?: DumpedKey
  /** Of a long collection, what is different from what the change before it left. */
  readonly splice?: {
    readonly of: CollectionPart
    readonly at: number
    readonly remove: number
    readonly insert: readonly unknown[]
  }
}

/** What is at the key after a change, by what was there before it; `undefined` where it is gone. */
export function appliedTo(before: DumpedKey | undefined, { now, splice }: KeyChange): DumpedKey | undefined {
  if (now === undefined || splice === undefined) return now
  const { of, at, remove, insert } = splice
  const list = partOf(before, of)
  return { ...now, [of]: [...list.slice(0, at), ...insert, ...list.slice(at + remove)] } as DumpedKey
}

/** The list of a collection; empty for what is none. */
export function partOf(key: DumpedKey | undefined, part: CollectionPart): readonly unknown[] {
  return ((key as Readonly<Record<string, unknown>> | undefined)?.[part] ?? []) as readonly unknown[]
}
