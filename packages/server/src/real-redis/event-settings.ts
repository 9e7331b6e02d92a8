import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import type { Reply } from '../../../../src/store/command/reply.js'
import { replyIn } from '../redis-client/reply-reader.js'
import { RealRedisError } from './real-redis-errors.js'
import type { RedisNode } from './redis-node.js'

const setting = latin1('notify-keyspace-events')

/** The only setting of a real Redis that an app may change. It is restored when the sandbox is reset or closed. */
export class EventSettings {
  readonly #before = new Map<RedisNode, Reply>()

  /** Reads the current setting before a command changes it. */
  async mind(argv: readonly Bytes[], nodes: readonly RedisNode[]): Promise<void> {
    if (!/^CONFIG$/i.test(argv[0]!) || !/^SET$/i.test(argv[1] ?? '') || this.#before.size > 0) return
    for (const node of nodes) {
      const pair = replyIn(await node.send([latin1('CONFIG'), latin1('GET'), setting])) as readonly Reply[]
      this.#before.set(node, pair[1] ?? latin1(''))
    }
  }

  async restore(): Promise<void> {
    for (const [node, value] of this.#before) {
      this.#before.delete(node)
      try {
        await node.send([latin1('CONFIG'), latin1('SET'), setting, value as Bytes])
      } catch (error) {
        // Do not restore the setting on a server that is unavailable or belongs to another sandbox.
        if (!(error instanceof RealRedisError)) throw error
      }
    }
  }
}
