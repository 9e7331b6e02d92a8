import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runs } from '../support/effort.js'
import { createEngine } from '../support/engine.js'
import { type LiveRedis, startRedis } from '../support/live-redis.js'
import { decodeReply, type RespReply } from '../support/resp.js'

// Known difference of `~`: redis-server deletes whole nodes of 100 entries, and the service all surplus entries; both
// delete nothing if fewer than 100 are surplus. [store.md 7.2]

let redis: LiveRedis
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

const fill = `for n = 1, tonumber(ARGV[1]) do redis.call('XADD', KEYS[1], n .. '-1', 'n', n) end`

it('MAXLEN and MINID with ~ delete what the live server deletes, and the part of a node that it keeps', async () => {
  const trims = fc.record({
    length: fc.integer({ min: 1, max: 1200 }),
    keep: fc.integer({ min: 0, max: 1200 }),
    by: fc.constantFrom('MAXLEN', 'MINID'),
  })
  await fc.assert(
    fc.asyncProperty(trims, async ({ length, keep, by }) => {
      const engine = createEngine()
      const rows = [
        ['FLUSHALL'],
        ['EVAL', fill, '1', 's', String(length)],
        ['XTRIM', 's', by, '~', by === 'MAXLEN' ? String(keep) : `${Math.max(length - keep, 0) + 1}-1`],
      ]
      let [theirs, ours] = [0, 0]
      for (const argv of rows) {
        theirs = number(await redis.client.send(argv))
        ours = number(decodeReply(engine.execute(argv)))
      }
      const tooMany = Math.max(length - keep, 0)
      expect(ours).toBe(tooMany < 100 ? 0 : tooMany)
      // The last, incomplete node is deleted if no entry should stay.
      expect(theirs).toBe(tooMany === length ? length : Math.floor(ours / 100) * 100)
    }),
    { numRuns: runs(50, 150, 1500) },
  )
})

function number(reply: RespReply): number {
  return 'integer' in reply ? Number(reply.integer) : -1
}
