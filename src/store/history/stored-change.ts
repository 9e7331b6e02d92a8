import type { PortableString } from '../../kernel/portable.js'
import type { DumpedKey } from '../dump/snapshot.js'

/**
 * What one command, load or reset left at one key. A key that expires is gone at its `expiresAt` without a change of its
 * own.
 */
export interface StoredChange {
  /** The entry that did it. */
  readonly seq: number
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly at: number
  readonly key: PortableString
  /** What is there now; absent where the key is gone. */
  readonly now?: DumpedKey
}
