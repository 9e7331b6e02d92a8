import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRandom, type Random } from '../../src/kernel/random.js'
import type { Command } from '../../src/store/command/command.js'
import { commandTable } from '../../src/store/commands/index.js'
import { asService, isServicesOwn } from '../support/deviations.js'
import { runs } from '../support/effort.js'
import { createEngine } from '../support/engine.js'
import { type LiveRedis, startRedis } from '../support/live-redis.js'
import { decodeReply, type RespReply } from '../support/resp.js'
import { showReply } from '../support/steps.js'

// Commands with few or many mostly meaningless arguments: both must report the same of several errors.

const groups = new Set('string bitmap hash list set sorted-set geo hyperloglog generic connection'.split(' '))
/** Excluded: commands that wait, leave the database, or compute in extended precision. */
const excluded = /^(WAIT|SELECT|MOVE|PFSELFTEST|H?INCRBYFLOAT)$/
/**
 * Only errors of these are compared: other replies depend on random numbers, on time, on the machine, or on encodings.
 */
const errorsOnly =
  /^(SPOP|SRANDMEMBER|HRANDFIELD|ZRANDMEMBER|RANDOMKEY|DUMP|MEMORY USAGE|OBJECT .*|[HSZ]?SCAN|P?TTL|P?EXPIRETIME)$/

const fill =
  `ZADD z 1 a 2 b 3 c|ZADD y 0 a 0 b|SADD s a b 1|RPUSH l a b c a|HSET h a 1 b x c 1.5|PFADD p a b|SET str foobar
GEOADD g 13.361389 38.115556 a 15.087269 37.502669 b|SET num 10|SET ttl v EX 1000000|SET big 9223372036854775807`
    .split(/[|\n]/)
    .map((row) => row.split(' '))
const keys = 'z y s l h g p str num ttl big none missing'.split(' ')
const values = `a b c 1 0 -1 2 10 x 1.5 -2.5 inf -inf nan 1e3 +inf (1 [a (b - + * ? # 1000 9223372036854775807
-9223372036854775808 9223372036854775808 +1 -0 00 0x10 1e400 .5 5. FIELDS km m AND NOT u8 i64 u64 #1 99999999999999`
  .split(/\s+/)
  .concat('', ' 1', '1 ')
const keywords =
  `NX XX GT LT CH INCR GET EX PX EXAT PXAT KEEPTTL PERSIST COUNT MATCH TYPE WITHSCORES LIMIT BY ASC DESC ALPHA
STORE STOREDIST REPLACE ABSTTL REV BYSCORE BYLEX WEIGHTS AGGREGATE SUM MIN MAX LEFT RIGHT BEFORE RANK MAXLEN WITHDIST ANY
FROMMEMBER FROMLONLAT BYRADIUS BYBOX WITHVALUES BIT BYTE OVERFLOW SAT SET INCRBY SAMPLES`.split(/\s+/)

function randomWords(command: Command, random: Random): string[] {
  const pick = (pool: readonly string[]): string => pool[random.int(pool.length)]!
  const name = command.name.split(' ')
  const own = command.usage.split(/[\s[\]<>|]+/).filter((word) => /^[A-Z]/.test(word) && !name.includes(word))
  const words = Array.from({ length: random.int(command.minWords + 6) }, (_, at) => {
    if (random.chance(4, 5) && at === 0) return pick(keys)
    const kind = random.int(10)
    if (kind < 4 && own.length > 0) return random.chance(1, 3) ? pick(own).toLowerCase() : pick(own)
    return pick(kind === 8 ? keys : kind === 9 ? keywords : values)
  })
  return [...name, ...words]
}

/**
 * Returns whether a command is comparable: no options that 7.0 does not know, no text of megabytes, and no known
 * differences.
 */
function isComparable(name: string, argv: readonly string[]): boolean {
  const words = argv.map((word) => word.toUpperCase())
  if (words.some((word) => /^(IFD?(EQ|NE)|WITHTYPE|NOVALUES)$/.test(word))) return false
  // The third argument of ZRANK is newer, there is one database, and RESTORE checks FREQ after IDLETIME in another
  // order.
  if (/^Z(REV)?RANK$/.test(name) && argv.length === 4) return false
  if (isServicesOwn(argv)) return false
  if (words.includes('DB') || (words.includes('FREQ') && words.includes('IDLETIME'))) return false
  // This number has no positive counterpart: the 7.0 server continues with it.
  if (name === 'LPOS' && words.includes('-9223372036854775808')) return false
  return !(/^(SETRANGE|SETBIT|BITFIELD)$/.test(name) && argv.some((word) => word.length > 6))
}

function comparable(reply: RespReply, name: string): string {
  // redis-server repeats GEOSEARCH as it was sent, and prints -0 only in some places.
  if ('error' in reply)
    return reply.error.replace(/GEOSEARCH(STORE)?$/, (sent) => sent.toLowerCase()).replaceAll('-0.000000', '0.000000')
  if (errorsOnly.test(name)) return 'no error'
  if (!('array' in reply)) return showReply(reply).replace('"-0"', '"0"')
  const items = reply.array.map(showReply)
  return (/^([HS].*|KEYS|SORT.*)$/.test(name) ? items.sort() : items).join(', ').replaceAll('"-0"', '"0"')
}

let redis: LiveRedis
let commands: readonly Command[]
beforeAll(async () => {
  redis = await startRedis()
  const list = await redis.client.send(['COMMAND', 'LIST'])
  const known = new Set('array' in list ? list.array.map((name) => showReply(name).slice(1, -1).toUpperCase()) : [])
  commands = commandTable.commands.filter(
    ({ name, group }) => groups.has(group) && known.has(name.split(' ')[0]!) && !excluded.test(name),
  )
})
afterAll(() => redis.stop())

it.each(Array.from({ length: runs(1, 3, 6) }, (_, index) => index + 1))(
  'reports the same errors as the live server, seed %i',
  async (seed) => {
    const random = createRandom(seed)
    for (let round = 0; round < 3000; round++) {
      const engine = createEngine()
      const rows = Array.from({ length: 6 }, () => {
        const command = commands[random.int(commands.length)]!
        return { name: command.name, argv: randomWords(command, random) }
      }).filter(({ name, argv }) => isComparable(name, argv))
      const sent = [['FLUSHALL'], ...fill, ...rows.map(({ argv }) => argv)]
      const theirs = (await Promise.all(sent.map((argv) => redis.client.raw(argv)))).slice(1 + fill.length)
      for (const argv of fill) engine.execute(argv)
      rows.forEach(({ name, argv }, at) => {
        const told = [argv.join(' '), comparable(asService(decodeReply(theirs[at]!), argv), name)]
        expect([argv.join(' '), comparable(decodeReply(engine.execute(argv)), name)]).toEqual(told)
      })
    }
  },
)
