import type { Bytes } from '../../kernel/bytes.js'
import type { Container } from '../values/value.js'

/** Short strings are byte strings. Strings that were changed in place, and all other values, are containers. */
export type KeyspaceValue = Bytes | Container

/** Value of a key and its metadata. */
export class KeyEntry {
  /** Expiration in milliseconds since the Unix epoch. The key has expired when `expiresAt <= now`. */
  expiresAt: number | undefined = undefined

  constructor(
    public value: KeyspaceValue,
    /** Time of the last use in seconds since the Unix epoch, for `OBJECT IDLETIME`. */
    public usedAt: number,
  ) {}
}
