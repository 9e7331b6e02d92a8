import type { Bytes } from '../../kernel/bytes.js'
import type { Reply } from './reply.js'

/** What a command that found nothing waits for. */
export interface BlockingRequest {
  /** Keys in the order in which they are checked; empty if the command only waits for time. */
  readonly keys: readonly Bytes[]
  /** Type of value that is required: values of other types are skipped. */
  readonly type: 'list' | 'zset' | 'stream' | undefined
  /** Maximum waiting time in milliseconds of virtual time; 0 for unlimited. */
  readonly timeout: number
  /** Reply after the timeout. */
  readonly nothing: Reply
  /** Reply if the command cannot wait, for example in a transaction. Default: `nothing`. */
  readonly atOnce?: Reply
  /** Returns the non-blocking command that takes an element of the key with the same effect. */
  take(key: Bytes): readonly Bytes[]
  /**
   * Converts the reply of the command from `take` to the reply of the blocked command; `undefined` if there was no
   * element.
   */
  told(reply: Reply, key: Bytes): Reply | undefined
  /** Consumer group that the command reads. The client gets an error when the group is deleted. */
  readonly group?: Bytes
}
