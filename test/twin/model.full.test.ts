import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { asService, isServicesOwn } from '../support/deviations.js'
import { runs, seedOr } from '../support/effort.js'
import { createEngine, type Engine } from '../support/engine.js'
import { type LiveRedis, startRedis } from '../support/live-redis.js'
import { type Row, rows as rowsOf, showRows } from '../support/random-rows.js'
import { decodeReply, type RespReply } from '../support/resp.js'
import { showReply } from '../support/steps.js'

// Random sequences of commands of all groups, generated from the usage in the command table, must leave both servers
// with the same replies and keys. A failure is shrunk and printed as rows for a transcript.

/**
 * Groups and commands that redis-server 7.0 also has, with replies that do not depend on random numbers or the machine.
 */
const groups = new Set([
  'string',
  'bitmap',
  'hash',
  'list',
  'set',
  'sorted-set',
  'geo',
  'hyperloglog',
  'stream',
  'generic',
  'server',
])
/**
 * Excluded: commands that depend on random numbers, the time of day or the machine; those with extended precision;
 * ranges of bytes, which are meaningless for different scores.
 */
const excluded =
  /^(H?INCRBYFLOAT|P?EXPIREAT|P?EXPIRETIME|SCAN|[HSZ]SCAN|SPOP|SRANDMEMBER|HRANDFIELD|ZRANDMEMBER|RANDOMKEY|DUMP|RESTORE.*|OBJECT .*|MEMORY .*|INFO|TIME|CONFIG .*|COMMAND.*|WAIT|MOVE|SWAPDB|LASTSAVE|SAVE|BG.*|ROLE|LOLWUT|PFSELFTEST|LATENCY .*|SLOWLOG .*|MODULE .*|.* HELP|XINFO .*|XPENDING|XCLAIM|XAUTOCLAIM|XSETID|SORT.*|Z.*LEX.*)$/
let comparableOnly: (name: string, group: string) => boolean

/** Returns whether a command is comparable: no newer options, and no options that depend on the time of day. */
function isComparable(row: Row): boolean {
  if ('advance' in row) return true
  if (isServicesOwn(row.argv)) return false
  const [name = '', ...words] = row.argv
  const options = words.map((word) => word.toUpperCase())
  if (
    options.some((word) =>
      /^(BYLEX|DB|IFEQ|IFNE|IFDEQ|IFDNE|WITHTYPE|BLOCK|KEEPREF|DELREF|ACKED|NOACK|WITHSCORE|EXAT|PXAT)$/.test(word),
    )
  )
    return false
  if (/^Z(REV)?RANK$/.test(name) && words.length > 2) return false
  // This number has no positive counterpart: the 7.0 server continues with it, the service cannot.
  if (name === 'LPOS' && options.includes('-9223372036854775808')) return false
  return !(name === 'XADD' && options.includes('*'))
}

let redis: LiveRedis
beforeAll(async () => {
  redis = await startRedis()
  const list = await redis.client.send(['COMMAND', 'LIST'])
  const known = new Set(
    'array' in list ? list.array.map((name) => ('bulk' in name ? name.bulk.toUpperCase() : '')) : [],
  )
  comparableOnly = (name, group) => groups.has(group) && known.has(name.split(' ')[0]!) && !excluded.test(name)
})
afterAll(() => redis.stop())

/** Moves time on the live server by reducing all expirations. */
const age =
  "for _, k in ipairs(redis.call('KEYS', '*')) do local t = redis.call('PTTL', k) if t >= 0 then redis.call('PEXPIRE', k, t - ARGV[1]) end end"

async function live(rows: readonly Row[]): Promise<RespReply[]> {
  const raw = await Promise.all(
    rows.map((row) => redis.client.raw('advance' in row ? ['EVAL', age, '0', String(row.advance)] : row.argv)),
  )
  return raw.map(decodeReply)
}

function ours(engine: Engine, rows: readonly Row[]): RespReply[] {
  return rows.map((row): RespReply => {
    if ('advance' in row) {
      engine.advance(row.advance)
      return { nil: 'bulk' }
    }
    return decodeReply(engine.execute(row.argv))
  })
}

/** Sets and hashes have no order. A sorted set prints -0 only in some encodings of redis. */
function comparable(reply: RespReply, argv: readonly string[]): string {
  const name = argv[0]!
  if ('array' in reply && /^(SMEMBERS|SINTER|SUNION|SDIFF|KEYS|HKEYS|HVALS|HGETALL)$/.test(name)) {
    const items = reply.array.map(showReply)
    const rows = name === 'HGETALL' ? items.flatMap((item, at) => (at % 2 ? [] : [`${item}: ${items[at + 1]}`])) : items
    return rows.sort().join(', ')
  }
  // Expirations: the live server needs some time for all commands.
  if (/TTL$|TIME$/.test(name) && 'integer' in reply) {
    const value = Number(reply.integer)
    return value < 0 ? String(value) : `about ${Math.round(value / (name.startsWith('P') ? 2000 : 2))}`
  }
  // In error texts of the double a byte that is not UTF-8 is U+FFFD; redis-server repeats GEOSEARCH as it was sent.
  if ('error' in reply)
    return reply.error.replace(/[^\x20-\x7e]+/g, '?').replace(/GEOSEARCH(STORE)?$/, (sent) => sent.toLowerCase())
  return showReply(reply).replaceAll('"-0"', '"0"')
}

/** Returns commands that read everything that is stored. */
const state = (keys: readonly string[]): Row[] =>
  keys.flatMap((key) =>
    [
      ['TYPE'],
      ['GET'],
      ['LRANGE', '0', '-1'],
      ['SMEMBERS'],
      ['HGETALL'],
      ['ZRANGE', '0', '-1', 'WITHSCORES'],
      ['XRANGE', '-', '+'],
      ['TTL'],
    ].map(([name, ...rest]) => ({ argv: [name!, key, ...rest] })),
  )

it('sequences of 50 commands on average leave the same state', async () => {
  const sequences = fc.array(rowsOf({ only: comparableOnly, mistakes: true }).filter(isComparable), {
    minLength: 1,
    maxLength: 99,
    size: 'max',
  })
  await fc.assert(
    fc.asyncProperty(sequences, async (rows) => {
      const engine = createEngine()
      await redis.client.raw(['FLUSHALL'])
      await same(engine, [...rows, { argv: ['KEYS', '*'] }], rows)
      const keys = decodeReply(engine.execute(['KEYS', '*']))
      await same(engine, state('array' in keys ? keys.array.map((key) => ('bulk' in key ? key.bulk : '')) : []), rows)
    }),
    { numRuns: runs(200, 1000, 10_000), seed: seedOr(20_300_101), endOnFailure: false },
  )
})

/** Runs commands on both; fails at the first different reply, with the commands that led to it. */
async function same(engine: Engine, rows: readonly Row[], history: readonly Row[]): Promise<void> {
  const theirReplies = await live(rows)
  const ourReplies = ours(engine, rows)
  rows.forEach((row, at) => {
    if ('advance' in row) return
    const expected = comparable(asService(theirReplies[at]!, row.argv), row.argv)
    const got = comparable(ourReplies[at]!, row.argv)
    if (got !== expected)
      expect.fail(`${showRows(history)}\n\n${showRows([row])}\n= ${got}\nbut the live server says\n  ${expected}`)
  })
}
