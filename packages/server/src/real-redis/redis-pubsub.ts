import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import type { Feed } from '../../../../src/store/rest/subscriptions.js'
import type { RedisConnection } from '../redis-client/redis-connection.js'
import type { RespValue } from '../redis-client/reply-reader.js'
import type { RedisNode } from './redis-node.js'

/**
 * Subscribes to messages, or to all commands with MONITOR, on separate connections.
 * @param heard function that receives each message of the servers, beginning with the confirmations
 * @param broken function that is called once, when one of the connections breaks
 * @returns a function that ends the subscription
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
      // In a Cluster, the first node gets all published messages. Only the node of a key sends keyspace notifications
      // about the key, so subscribe to these notifications on all nodes. MONITOR is sent to all nodes.
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
