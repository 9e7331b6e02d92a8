import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import type { Feed } from '../../../../src/store/rest/subscriptions.js'
import type { RedisConnection } from '../redis-client/redis-connection.js'
import type { RespValue } from '../redis-client/reply-reader.js'
import type { RedisNode } from './redis-node.js'

/**
 * Receives messages, or every command, on separate connections.
 * @param heard receives each push of the server, confirmations first
 * @param broken called once when one of the connections breaks
 * @returns a function that ends it
 */
export async function listen(
  nodes: readonly RedisNode[],
  feed: Feed,
  names: readonly Bytes[],
  heard: (told: RespValue) => void,
  broken: () => void,
): Promise<() => void> {
  const open: RedisConnection[] = []
  const leave = (): void => {
    for (const connection of open) {
      connection.ended = undefined
      connection.close()
    }
  }
  try {
    for (const [at, node] of nodes.entries()) {
      // A Cluster sends messages to every node, but keyspace notifications only on the node of the key.
      const here = at === 0 ? names : names.filter((name) => name.startsWith('__key'))
      if (at > 0 && feed !== 'MONITOR' && here.length === 0) continue
      const connection = await node.listener()
      let confirmations = at === 0 ? 0 : feed === 'MONITOR' ? 1 : here.length
      connection.pushed = (told) => {
        if (confirmations > 0) confirmations--
        else heard(told)
      }
      connection.ended = broken
      open.push(connection)
      connection.begin([latin1(feed), ...here])
    }
    return leave
  } catch (error) {
    leave()
    throw error
  }
}
