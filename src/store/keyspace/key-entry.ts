import type { Bytes } from '../../kernel/bytes.js'
import type { Container } from '../values/value.js'

/** A short string is a byte string; one that was written in place, and everything else, is a container. */
export type KeyspaceValue = Bytes | Container

/** A value and what else there is to say about its key. */
export class KeyEntry {
  /** Milliseconds since the Unix epoch; gone when `expiresAt <= now`. */
  expiresAt: number | undefined = undefined

  constructor(
    public value: KeyspaceValue,
    /** Seconds since the Unix epoch, for `OBJECT IDLETIME`. */
    public usedAt: number,
  ) {}
}
