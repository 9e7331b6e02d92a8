import { expect, it } from 'vitest'
import { createRandom } from '../../src/kernel/random.js'
import { createEngine } from '../support/engine.js'
import { startRedis } from '../support/live-redis.js'

// Strings with few different letters have many equally long subsequences, of which the same one must be found.

it('LCS finds exactly the subsequence of the live server, in 3000 pairs', async () => {
  const redis = await startRedis()
  const engine = createEngine()
  const random = createRandom('lcs')
  const drawn = (letters: number): string =>
    Array.from({ length: random.int(random.chance(1, 9) ? 150 : 12) }, () =>
      String.fromCharCode(random.int(letters)),
    ).join('')
  for (let round = 0; round < 3000; round++) {
    const letters = [1, 2, 3, 5, 256][random.int(5)]!
    const rows = [
      ['MSET', 'a', drawn(letters), 'b', drawn(letters)],
      ['LCS', 'a', 'b'],
      ['LCS', 'a', 'b', 'LEN'],
      ['LCS', 'a', 'b', 'IDX', 'WITHMATCHLEN', 'MINMATCHLEN', String(random.int(4))],
    ]
    const theirs = await Promise.all(rows.map((argv) => redis.client.raw(argv)))
    expect([rows, rows.map((argv) => engine.execute(argv))]).toEqual([rows, theirs])
  }
  await redis.stop()
})
