import type { Bytes } from '../../kernel/bytes.js'
import type { Reply } from './reply.js'

/** Request of a command that found no element: the keys to wait for, the timeout and the replies. */
export interface BlockingRequest {
  /** Keys in the order in which they are checked; empty if the command only waits for time. */
  readonly keys: readonly Bytes[]
  /** Required type of a key. A key with a value of another type is skipped. */
  readonly type: 'list' | 'zset' | 'stream' | undefined
  /** Maximum waiting time in milliseconds of virtual time; 0 for unlimited. */
  readonly timeout: number
  /** Reply after the timeout. */
  readonly nothing: Reply
  /** Reply if the command cannot wait, for example in a transaction. Default: `nothing`. */
  readonly atOnce?: Reply
  /** Returns the non-blocking command with the same effect on this key, such as `LPOP` for `BLPOP`. */
  take(key: Bytes): readonly Bytes[]
  /**
   * Converts the reply of the command that `take()` returned to the reply of the blocked command. Returns `undefined`
   * if the key had no element.
   */
  told(reply: Reply, key: Bytes): Reply | undefined
  /** Consumer group that the command reads. The client gets an error when the group is deleted. */
  readonly group?: Bytes
}
