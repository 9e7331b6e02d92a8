import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import { type Reply, ReplyError, Status } from '../../../../src/store/command/reply.js'
import { type RespValue, replyIn } from '../redis-client/reply-reader.js'
import { slotOf } from '../redis-cluster/hash-slots.js'
import { markerName } from './marker.js'
import { RealRedisUnreachable } from './real-redis-errors.js'
import { connectTo, nameOf, type RedisAccess } from './redis-access.js'
import { judged, type RedisLocation } from './redis-urls.js'

// Reads the hash slots of each master of a Cluster.

export const slotsOfCluster: readonly Bytes[] = ['CLUSTER', 'SLOTS'].map(latin1)

export interface MasterSlots {
  readonly place: RedisLocation
  readonly ranges: (readonly [from: number, to: number])[]
}

/**
 * Returns the masters of a Cluster with their hash slots; empty for a single server.
 * @throws TypeError for a host that is not allowed
 */
export async function sharesOf(access: RedisAccess): Promise<readonly MasterSlots[]> {
  const connection = await connectTo(access)
  try {
    const info = await connection.send(['INFO', 'cluster'].map(latin1))
    if (info instanceof ReplyError)
      throw new TypeError(`The real Redis at ${nameOf(access.url)} rejects INFO: ${info.message}`)
    if (!/cluster_enabled:1/.test(String(info))) return []
    const shares = sharesIn(await connection.send(slotsOfCluster), access.url)
    if (shares.length === 0)
      throw new RealRedisUnreachable(
        'The Redis Cluster has no hash slots yet. Create the Cluster first, with redis-cli --cluster create.',
      )
    for (const { place } of shares) await judged(place, access.allowed)
    return shares
  } finally {
    connection.close()
  }
}

/**
 * Parses the reply of CLUSTER SLOTS.
 * @param asked server that replied; if a node in the reply has no address, it is this server
 */
export function sharesIn(told: RespValue, asked: RedisLocation): MasterSlots[] {
  const shares = new Map<string, MasterSlots>()
  for (const row of replyIn(told) as readonly (readonly Reply[])[]) {
    const [from, to, master] = row
    const [host, port] = master as readonly Reply[]
    const name = host instanceof Status ? host.text : String(host ?? '')
    const place = { host: name === '' ? asked.host : name, port: Number(port) }
    const key = `${place.host} ${place.port}`
    const share = shares.get(key) ?? { place, ranges: [] }
    share.ranges.push([Number(from), Number(to)])
    shares.set(key, share)
  }
  return [...shares.values()]
}

/** Returns a name for the marker of a master. The master has the hash slot of this name. */
export function markerIn({ ranges }: MasterSlots): Bytes {
  for (let number = 0; ; number++) {
    const key = latin1(`${markerName}:${number}`)
    const slot = slotOf(key)
    if (ranges.some(([from, to]) => from <= slot && slot <= to)) return key
  }
}
