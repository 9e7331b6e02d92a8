import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRandom, type Random } from '../../src/kernel/random.js'
import { asService, isServicesOwn } from '../support/deviations.js'
import { createEngine } from '../support/engine.js'
import { type LiveRedis, startRedis } from '../support/live-redis.js'
import { decodeReply, type RespReply } from '../support/resp.js'
import { showReply } from '../support/steps.js'

/** Arguments for each capital letter in a form: mostly valid ones, some that are errors. */
const words: Readonly<Record<string, readonly string[]>> = {
  K: ['z1', 'z2', 'z3', 's1', 's2', 'l1', 'l2', 'h1', 'h2', 'str', 'none', 'g1', 'p1'],
  M: ['a', 'b', 'c', 'd', 'e', '', 'aa', 'ab', '\xff', '1', '2'],
  I: ['0', '1', '2', '3', '-1', '-2', '-3', '5', '10', '-100', '9223372036854775807', '-9223372036854775807', 'x', ''],
  N: ['1', '2', '3', '2', '1', '0', '-1', 'x', '9'],
  F: ['0', '1', '2', '3', '-1', '1.5', '-2.5', 'inf', '-inf', '1e3', '0.25', 'nan', 'x', '1e400'],
  B: ['0', '1', '(1', '(2', '2', '3', '-inf', '+inf', 'inf', '(inf', 'x', '', '1.5', '(-1'],
  X: ['2.35', '13.36', '-122.4', '180', '-180', '0', '181', 'x', '15.08'],
  Y: ['48.85', '38.11', '37.77', '85.05112878', '-85', '0', '86', 'x', '37.5'],
  D: ['0', '1', '10', '100', '200', '5000', '25000', '-1', 'x'],
  U: ['m', 'km', 'mi', 'ft', 'KM', 'parsec'],
}

const forms = `
  ZADD K F M | ZADD K F M F M | ZADD K NX F M F M | ZADD K XX CH F M | ZADD K GT F M | ZADD K LT CH F M F M
  ZADD K INCR F M | ZADD K GT INCR F M | ZADD K XX LT INCR F M | ZADD K 1 a 2 b 3 c 1 d | ZINCRBY K F M | ZREM K M M
  ZCARD K | ZSCORE K M | ZMSCORE K M M | ZRANK K M | ZREVRANK K M | ZCOUNT K B B | ZRANGE K I I | ZRANGE K I I WITHSCORES
  ZRANGE K I I REV | ZRANGE K B B BYSCORE | ZRANGE K B B BYSCORE LIMIT I I | ZRANGE K B B BYSCORE REV LIMIT I I WITHSCORES
  ZREVRANGE K I I WITHSCORES | ZRANGEBYSCORE K B B | ZRANGEBYSCORE K B B WITHSCORES LIMIT I I
  ZREVRANGEBYSCORE K B B LIMIT I I | ZRANGESTORE K K I I | ZRANGESTORE K K B B BYSCORE | ZREMRANGEBYRANK K I I
  ZREMRANGEBYSCORE K B B | ZPOPMIN K | ZPOPMIN K I | ZPOPMAX K I | ZMPOP N K K MIN | ZMPOP N K MAX COUNT I
  ZUNION N K K WITHSCORES | ZUNION N K K | ZINTER N K K WITHSCORES | ZINTER N K K AGGREGATE MIN WITHSCORES
  ZDIFF N K K WITHSCORES | ZUNIONSTORE K N K K | ZUNIONSTORE K N K K WEIGHTS F F | ZINTERSTORE K N K K
  ZDIFFSTORE K N K K | ZINTERCARD N K K LIMIT I
  SADD K M | SADD K M M M | SREM K M M | SCARD K | SISMEMBER K M | SMISMEMBER K M M | SMEMBERS K | SMOVE K K M
  SINTER K K | SUNION K K | SDIFF K K | SINTERSTORE K K K | SUNIONSTORE K K K | SDIFFSTORE K K K | SINTERCARD N K K LIMIT I
  LPUSH K M | RPUSH K M M M | LPUSHX K M | RPUSHX K M M | LPOP K | RPOP K | LPOP K I | RPOP K I | LLEN K | LINDEX K I
  LSET K I M | LINSERT K BEFORE M M | LINSERT K AFTER M M | LRANGE K I I | LTRIM K I I | LREM K I M | LPOS K M
  LPOS K M RANK I | LPOS K M COUNT I MAXLEN I | LPOS K M RANK I COUNT I | LMOVE K K LEFT RIGHT | LMOVE K K RIGHT RIGHT
  RPOPLPUSH K K | LMPOP N K K LEFT | LMPOP N K RIGHT COUNT I
  HSET K M M | HSET K M M M M | HSETNX K M M | HMSET K M M | HGET K M | HMGET K M M | HDEL K M M | HEXISTS K M | HLEN K
  HSTRLEN K M | HGETALL K | HKEYS K | HVALS K | HINCRBY K M I
  GEOADD K X Y M | GEOADD K NX X Y M X Y M | GEOADD K XX CH X Y M | GEOPOS K M M | GEOHASH K M | GEODIST K M M U
  GEODIST K M M | GEOSEARCH K FROMLONLAT X Y BYRADIUS D U | GEOSEARCH K FROMMEMBER M BYRADIUS D U WITHDIST
  GEOSEARCH K FROMLONLAT X Y BYBOX D D U | GEOSEARCH K FROMLONLAT X Y BYBOX D D U COUNT I ANY
  GEOSEARCHSTORE K K FROMMEMBER M BYRADIUS D U | GEORADIUS K X Y D U WITHHASH | GEORADIUS K X Y D U STORE K
  PFADD K M M | PFCOUNT K | PFCOUNT K K | PFMERGE K K | PFADD K
  DEL K | EXISTS K | TYPE K | SET str x | RENAME K K | COPY K K`
  .split(/[|\n]/)
  .map((form) => form.trim().split(' '))
  .filter((form) => form.length > 1)

/**
 * Keys by the first letter of a command. Most rows use one of these, so that commands find values of their type.
 */
const fittingKeys: Readonly<Record<string, readonly string[]>> = {
  Z: ['z1', 'z2', 'z3', 's1'],
  S: ['s1', 's2'],
  L: ['l1', 'l2'],
  R: ['l1', 'l2'],
  H: ['h1', 'h2'],
  G: ['g1', 'z1'],
  P: ['p1'],
}

function randomCommand(random: Random): string[] {
  const pick = <T>(items: readonly T[]): T => items[random.int(items.length)]!
  const form = pick(forms)
  const fitting = random.chance(17, 20) ? fittingKeys[form[0]![0]!] : undefined
  const argv = form.map((part) => pick(part === 'K' && fitting ? fitting : (words[part] ?? [part])))
  if (random.chance(1, 16)) {
    const at = 1 + random.int(argv.length - 1)
    const other = pick(pick(forms))
    argv.splice(at, random.int(2), ...(random.chance(1, 3) ? [] : [words[other]?.[0] ?? other]))
  }
  return argv
}

/** Replies that are sets have no order; a sorted set prints -0 only in some encodings of redis. */
function comparable(reply: RespReply, argv: readonly string[]): string {
  if (!('array' in reply)) return showReply(reply).replaceAll('"-0"', '"0"')
  const items = reply.array.map(showReply)
  if (/^(SMEMBERS|SINTER|SUNION|SDIFF)$/.test(argv[0]!)) items.sort()
  return items.join(', ').replaceAll('"-0"', '"0"')
}

/** Newer than 7.0: ZRANK accepts a third argument. */
const isKnownDeviation = (argv: readonly string[]) =>
  isServicesOwn(argv) || (/^Z(REV)?RANK$/.test(argv[0]!) && argv.length === 4)

let redis: LiveRedis

beforeAll(async () => {
  redis = await startRedis()
})

afterAll(async () => {
  await redis.stop()
})

it.each([1, 2, 3, 4])('replies to 5,000 random commands like the live server, seed %i', async (seed) => {
  const random = createRandom(seed)
  const engine = createEngine()
  await redis.client.send(['FLUSHALL'])
  for (let count = 0; count < 5000; count++) {
    const argv = randomCommand(random)
    if (isKnownDeviation(argv)) continue
    const live = asService(decodeReply(await redis.client.raw(argv)), argv)
    const ours = decodeReply(engine.execute(argv))
    expect([argv.join(' '), comparable(ours, argv)]).toEqual([argv.join(' '), comparable(live, argv)])
  }
})
