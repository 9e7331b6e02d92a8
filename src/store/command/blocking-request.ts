import type { Bytes } from '../../kernel/bytes.js'
import type { Reply } from './reply.js'

/** What a command waits for that found nothing. */
export interface BlockingRequest {
  /** The keys in the order in which they are looked at; none where only time has to pass. */
  readonly keys: readonly Bytes[]
  /** What has to be there: a value of another type is passed over. */
  readonly type: 'list' | 'zset' | 'stream' | undefined
  /** Milliseconds of virtual time; 0 for ever. */
  readonly timeout: number
  /** The reply when the time is over. */
  readonly nothing: Reply
  /** The reply where nobody may wait, such as in a transaction. Default: the same. */
  readonly atOnce?: Reply
  /** The command that takes what is at a key: it does not wait, and has the same effect. */
  take(key: Bytes): readonly Bytes[]
  /** What its reply is in the words of the command that waited; `undefined` when there was nothing for it. */
  told(reply: Reply, key: Bytes): Reply | undefined
  /** The consumer group that it reads in: who waits there is told when the group is gone. */
  readonly group?: Bytes
}
