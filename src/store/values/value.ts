/** Types of values as TYPE names them. */
export type ValueType = 'string' | 'list' | 'set' | 'zset' | 'hash' | 'stream' | 'array' | 'json' | 'search' | 'vector'

/** Common interface of all stored values except plain strings, which are byte strings. */
export interface Container {
  readonly type: ValueType
  /**
   * Whether the container is empty. A key with an empty container is deleted when the command ends; streams never count
   * as empty.
   */
  readonly isEmpty: boolean
  copy(): Container
  /** Instant at which the first part expires, such as a hash field, in milliseconds since the Unix epoch. */
  readonly partsExpireAt?: number | undefined
  /** Removes expired parts and returns how many there were. */
  expireParts?(now: number): number
}
