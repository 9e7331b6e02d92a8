/** Types of values as TYPE names them. */
export type ValueType = 'string' | 'list' | 'set' | 'zset' | 'hash' | 'stream' | 'json' | 'search'

/** Common interface of all stored values except plain strings, which are byte strings. */
export interface Container {
  readonly type: ValueType
  /**
   * Whether it is empty. A key with an empty container is deleted when the command ends; streams never count as empty.
   */
  readonly isEmpty: boolean
  copy(): Container
  /** Time in milliseconds at which the first part expires, such as a hash field. */
  readonly partsExpireAt?: number | undefined
  /** Removes expired parts and returns how many there were. */
  expireParts?(now: number): number
}
