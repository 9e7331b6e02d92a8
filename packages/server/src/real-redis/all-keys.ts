import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import type { Reply } from '../../../../src/store/command/reply.js'
import { type RespValue, replyIn } from '../redis-client/reply-reader.js'
import { transacted } from './marker.js'
import type { RedisNode } from './redis-node.js'

// Special code for commands that concern all keys. For these commands, the command tips of Redis do not say how to
// combine the replies of several masters.

type Special = (argv: readonly Bytes[], nodes: readonly RedisNode[]) => Promise<Reply>

/** Returns the function that runs a command on all keys; `undefined` if the command needs no special code. */
export function specialOf([name, ...more]: readonly Bytes[], nodes: readonly RedisNode[]): Special | undefined {
  if (/^DBSIZE$/i.test(name!) && more.length === 0) return size
  if (/^RANDOMKEY$/i.test(name!) && more.length === 0) return randomKey
  return /^SCAN$/i.test(name!) && nodes.length > 1 ? scan : undefined
}

/** Runs RANDOMKEY. If the reply is the marker and other keys exist, RANDOMKEY runs again. */
const randomKey: Special = async (argv, nodes) => {
  for (const node of nodes) {
    let isAlone = false
    while (!isAlone) {
      const key = replyIn(await node.send(argv))
      if (key !== null && key !== node.marker.key) return key
      isAlone = Number(replyIn(await node.send([latin1('DBSIZE')]))) <= 1
    }
  }
  return null
}

/**
 * Runs DBSIZE and subtracts the marker if it exists. EXISTS runs first, because it also deletes a marker whose lease
 * has expired.
 */
const size: Special = async (argv, nodes) => {
  const told = await Promise.all(
    nodes.map((node) =>
      node.alone((connection) => transacted(connection, [[latin1('EXISTS'), node.marker.key], argv])),
    ),
  )
  const sizes = told.map((each) => {
    const [marker, all] = (replyIn(each) as readonly RespValue[]).map((each) => replyIn(each))
    return Number(all) - Number(marker)
  })
  return sizes.reduce((sum, one) => sum + one, 0)
}

/**
 * Runs SCAN on one master after another. The returned cursor contains the number of the master and the cursor of that
 * master.
 */
const scan: Special = async (argv, nodes) => {
  const count = BigInt(nodes.length)
  const given = /^\d{1,25}$/.test(argv[1] ?? '') ? BigInt(argv[1]!) : undefined
  const at = Number((given ?? 0n) % count)
  const place = given === undefined ? argv.slice(1, 2) : [latin1(String(given / count))]
  const [next, page] = replyIn(await nodes[at]!.send([argv[0]!, ...place, ...argv.slice(2)])) as readonly Reply[]
  const follows = next === '0' ? (at + 1) % nodes.length : BigInt(next as string) * count + BigInt(at)
  return [latin1(String(follows)), page!]
}
