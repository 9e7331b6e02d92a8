import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { asService, isServicesOwn } from '../support/deviations.js'
import { runs, seedOr } from '../support/effort.js'
import { createEngine, type Engine } from '../support/engine.js'
import { type LiveRedis, startRedis } from '../support/live-redis.js'
import { type Row, rows as rowsOf, showRows } from '../support/random-rows.js'
import { decodeReply, type RespReply } from '../support/resp.js'
import { showReply } from '../support/steps.js'

// Sequences of commands of all groups, written at random after the usage in the command table, must leave both
// servers with the same replies and the same keys. A failure is shrunk and printed as rows to paste into a transcript.

/** Groups and commands that redis-server 7.0 has, too, with replies that do not depend on chance or on the machine. */
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
/** Those of chance, of the time of day and of the machine; those that compute in extended precision; ranges of bytes, which mean nothing among different scores. */
const excluded =
  /^(H?INCRBYFLOAT|P?EXPIREAT|P?EXPIRETIME|SCAN|[HSZ]SCAN|SPOP|SRANDMEMBER|HRANDFIELD|ZRANDMEMBER|RANDOMKEY|DUMP|RESTORE.*|OBJECT .*|MEMORY .*|INFO|TIME|CONFIG .*|COMMAND.*|WAIT|MOVE|SWAPDB|LASTSAVE|SAVE|BG.*|ROLE|LOLWUT|PFSELFTEST|LATENCY .*|SLOWLOG .*|MODULE .*|.* HELP|XINFO .*|XPENDING|XCLAIM|XAUTOCLAIM|XSETID|SORT.*|Z.*LEX.*)$/
let comparableOnly: (name: string, group: string) => boolean

/** Newer options, and options whose replies or waits depend on the time of day. */
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
  // Its opposite does not exist: the 7.0 server goes on with it, the service cannot.
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

/** Time passes for the live server by taking it from all deadlines. */
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

/** Sets and hashes have no order. A sorted set prints -0 in some encodings of redis only. */
function comparable(reply: RespReply, argv: readonly string[]): string {
  const name = argv[0]!
  if ('array' in reply && /^(SMEMBERS|SINTER|SUNION|SDIFF|KEYS|HKEYS|HVALS|HGETALL)$/.test(name)) {
    const items = reply.array.map(showReply)
    const rows = name === 'HGETALL' ? items.flatMap((item, at) => (at % 2 ? [] : [`${item}: ${items[at + 1]}`])) : items
    return rows.sort().join(', ')
  }
  // Deadlines: the live server needs some time for all this.
  if (/TTL$|TIME$/.test(name) && 'integer' in reply) {
    const value = Number(reply.integer)
    return value < 0 ? String(value) : `about ${Math.round(value / (name.startsWith('P') ? 2000 : 2))}`
  }
  // In our error texts a byte that is no UTF-8 is U+FFFD; redis-server names GEOSEARCH as it was sent.
  if ('error' in reply)
    return reply.error.replace(/[^\x20-\x7e]+/g, '?').replace(/GEOSEARCH(STORE)?$/, (sent) => sent.toLowerCase())
  return showReply(reply).replaceAll('"-0"', '"0"')
}

/** Asks for everything that is stored. */
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

it('sequences of 50 commands on average leave the same behind', { timeout: 120_000 }, async () => {
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

/** Runs rows on both; fails with the first that is answered differently, and with what led to it. */
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
