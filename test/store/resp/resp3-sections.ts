import { readdirSync } from 'node:fs'
import { type Section, section } from '../../support/steps.js'

const directory = new URL('../', import.meta.url)

/** Steps that the groups lack: replies whose types differ in RESP3. */
const more = section(
  'types of RESP3',
  `
  ZADD z 1 a 2 b 3 c
  ZPOPMIN z
  ZPOPMAX z 1
  ZADD z 1 a 2 b 3 c
  ZPOPMIN z 2
  ZADD z 1 a 2 b 3 c
  ZMPOP 1 z MIN COUNT 2
  ZADD z INCR 4 d
  ZSCORE z d
  ZSCORE z nobody
  ZMSCORE z d nobody
  ZRANGE z 0 -1 WITHSCORES
  ZRANDMEMBER z -2 WITHSCORES
  ZUNION 1 z WITHSCORES
  BZPOPMIN z 0
  ZADD z 1 a
  BZMPOP 0 1 z MAX
  HSET h a 1 b 2
  HGETALL h
  HRANDFIELD h -2 WITHVALUES
  SADD s a b c
  SMEMBERS s
  SPOP s 1
  SPOP s
  SINTER s s
  SRANDMEMBER s 2
  GEOADD g 13.361389 38.115556 Palermo
  GEOPOS g Palermo nobody
  GEOSEARCH g FROMMEMBER Palermo BYRADIUS 10 km ASC WITHCOORD WITHDIST WITHHASH
  GEODIST g Palermo Palermo
  XADD x 1-1 f v
  XGROUP CREATE x gr 0
  XREAD COUNT 1 STREAMS x 0
  XREADGROUP GROUP gr me STREAMS x >
  XREADGROUP GROUP gr me STREAMS x >
  XINFO STREAM x
  XINFO STREAM x FULL
  XINFO GROUPS x
  XINFO CONSUMERS x gr
  XPENDING x gr
  XPENDING x gr - + 10
  XAUTOCLAIM x gr me 0 0
  GET nothing
  LPOP nothing
  LPOP nothing 1
  INCRBYFLOAT f 1.5
  INFO keyspace
  PUBSUB NUMSUB a
  `,
)

/** Returns the steps of all groups that redis-server knows, and more. */
export async function resp3Sections(): Promise<readonly Section[]> {
  const files = readdirSync(directory).filter((name) => name.endsWith('.steps.ts'))
  const groups = await Promise.all(files.map((file) => import(new URL(file, directory).href)))
  const all = groups.flatMap(({ steps }: { steps: readonly Section[] }) => steps)
  return [...all.filter(({ source }) => source === undefined), more]
}
