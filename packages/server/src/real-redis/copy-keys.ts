import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import type { Reply } from '../../../../src/store/command/reply.js'
import { dumpOf } from '../../../../src/store/dump/snapshot.js'
import type { StoreDump } from '../../../../src/store/dump/store-dump.js'
import { plainReply } from '../../../../src/store/plain.js'
import { StoreEngine } from '../../../../src/store/store-engine.js'
import { lastIndex, noIndex } from '../../../../src/store/values/array-value.js'
import type { RealRedis } from './real-redis.js'

/** Maximum number of keys in a snapshot. It limits the memory that a snapshot needs in this process. */
export const maxKeys = 20_000

/**
 * Copies each key of a real Redis into a local store, and returns the dump of this store. Consumer groups of streams
 * are omitted. JSON is the only type of a module that is copied.
 * @param like store whose options the copy gets, such as clock and dialect
 */
export async function copyOf(engine: RealRedis, like: StoreEngine): Promise<StoreDump> {
  const size = Number(await engine.run([latin1('DBSIZE')])) - engine.markers.length
  if (size > maxKeys) {
    throw new Error(
      `snapshot(): the real Redis must have at most ${maxKeys} keys (got ${size}). Read single keys with store.run().`,
    )
  }
  const policy = { ...like.options.policy, maxWork: Number.MAX_SAFE_INTEGER }
  const copy = new StoreEngine({ ...like.options, clock: { now: () => like.options.clock.now() }, policy })
  const keys = (await engine.run(['KEYS', '*'].map(latin1))) as readonly Bytes[]
  for (const key of [...keys].sort()) if (!engine.markers.includes(key)) await copyKey(key, engine, copy)
  return dumpOf(copy.db)
}

async function copyKey(key: Bytes, engine: RealRedis, copy: StoreEngine): Promise<void> {
  const ask = (name: string, ...more: readonly string[]): Promise<Reply> =>
    engine.run([latin1(name), key, ...more.map(latin1)])
  const type = String(plainReply(await ask('TYPE')))
  // The key has expired after the list of keys was read.
  if (type === 'none') return
  for (const row of await (rowsOf[type] ?? foreign(type))(ask)) {
    copy.execute([latin1(row[0] as string), key, ...(row.slice(1) as Bytes[])])
  }
  const left = await ask('PTTL')
  if (typeof left === 'number' && left >= 0) copy.execute([latin1('PEXPIRE'), key, latin1(String(Math.max(1, left)))])
}

type RunText = (name: string, ...more: readonly string[]) => Promise<Reply>
/** Commands that write the value of a key, without the key itself. */
type Rows = readonly (readonly Reply[])[]

const rowsOf: Readonly<Record<string, (ask: RunText) => Promise<Rows>>> = {
  string: async (ask) => [['SET', await ask('GET')] as Reply[]],
  hash: async (ask) => [['HSET', ...listOf(await ask('HGETALL'))] as Reply[]],
  list: async (ask) => [['RPUSH', ...listOf(await ask('LRANGE', '0', '-1'))] as Reply[]],
  set: async (ask) => [['SADD', ...listOf(await ask('SMEMBERS'))] as Reply[]],
  zset: async (ask) => {
    const pairs = listOf(await ask('ZRANGE', '0', '-1', 'WITHSCORES'))
    return [['ZADD', ...pairs.flatMap((_, at) => (at % 2 === 0 ? [pairs[at + 1]!, pairs[at]!] : []))] as Reply[]]
  },
  stream: async (ask) =>
    listOf(await ask('XRANGE', '-', '+')).map((entry) => {
      const [id, fields] = listOf(entry)
      return ['XADD', id!, ...listOf(fields!)] as Reply[]
    }),
  array: async (ask) => {
    const slots = listOf(await ask('ARSCAN', '0', String(lastIndex)))
    const next = (await ask('ARNEXT')) ?? noIndex
    return [
      [latin1('ARMSET'), ...slots.flatMap(listOf).map(argument)],
      [latin1('ARSEEK'), argument(next)],
    ]
  },
  'ReJSON-RL': async (ask) => [['JSON.SET', '$', await ask('JSON.GET')] as Reply[]],
}

function foreign(type: string): (ask: RunText) => Promise<Rows> {
  return async () => [['SET', latin1(`(a value of type ${type})`)] as Reply[]]
}

/** Returns an integer or a string of a reply as an argument. */
function argument(reply: Reply): Bytes {
  return latin1(String(reply))
}

function listOf(reply: Reply): readonly Reply[] {
  return Array.isArray(reply) ? reply : []
}
