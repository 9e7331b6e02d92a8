import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import type { Feed } from '../../../../src/store/rest/subscriptions.js'
import type { RedisConnection } from '../redis-client/redis-connection.js'
import type { RespValue } from '../redis-client/reply-reader.js'
import type { RedisNode } from './redis-node.js'

/**
 * Hears messages, or every command, on connections of its own.
 * @param heard takes each push of the engine, confirmations first
 * @param broken is told once that one of them broke
 * @returns what ends it
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
      // A Cluster carries messages to every node, but what happens to keys is told where they are.
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
