/** Kinds of value as TYPE names them. */
export type ValueType = 'string' | 'list' | 'set' | 'zset' | 'hash' | 'stream' | 'json'

/** What every stored value except a string (which is a plain byte string) has. */
export interface Container {
  readonly type: ValueType
  /** A key whose container is empty vanishes when the command ends; streams never count as empty. */
  readonly isEmpty: boolean
  copy(): Container
}
