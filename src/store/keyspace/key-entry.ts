import type { Bytes } from '../../kernel/bytes.js'
import type { Container } from '../values/value.js'

/** A short string is a byte string; one that was written in place, and everything else, is a container. */
export type Value = Bytes | Container

/** What there is to say about a key beside its value. */
export class KeyEntry {
  value: Value
  /** Milliseconds since the Unix epoch; gone when `expiresAt <= now`. */
  expiresAt: number | undefined = undefined
  /** Seconds since the Unix epoch, for `OBJECT IDLETIME`. */
  usedAt: number

  constructor(value: Value, usedAt: number) {
    this.value = value
    this.usedAt = usedAt
  }
}

/**
 * What the table of keys leads to: a value alone, as long as it has no deadline and was last used in the second in
 * which the table was begun. Then looking a key up costs what it costs in a `Map`.
 */
export type Kept = Value | KeyEntry
