import type { Bytes } from '../../kernel/bytes.js'
import type { Container } from '../values/value.js'

/**
 * Value of a key. A short string is a byte string. A string that was changed in place, and a value of any other type,
 * is a container.
 */
export type KeyspaceValue = Bytes | Container

export class KeyEntry {
  /** Expiration in milliseconds since the Unix epoch. The key has expired when `expiresAt <= now`. */
  expiresAt: number | undefined = undefined

  constructor(
    public value: KeyspaceValue,
    /** Time of the last use in seconds since the Unix epoch, for `OBJECT IDLETIME`. */
    public usedAt: number,
  ) {}
}
