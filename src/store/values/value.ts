/** Kinds of value as TYPE names them. */
export type ValueType = 'string' | 'list' | 'set' | 'zset' | 'hash' | 'stream' | 'json' | 'search'

/** What every stored value except a string (which is a plain byte string) has. */
export interface Container {
  readonly type: ValueType
  /** A key whose container is empty vanishes when the command ends; streams never count as empty. */
  readonly isEmpty: boolean
  copy(): Container
  /** When the first part that has a deadline of its own expires, in milliseconds; hash fields can have one. */
  readonly partsExpireAt?: number | undefined
  /** Removes the parts whose deadline has passed and returns how many there were. */
  expireParts?(now: number): number
}
