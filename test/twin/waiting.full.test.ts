import { afterAll, beforeAll, expect, it } from 'vitest'
import { LiveConnections } from '../store/blocking/live-programs.js'
import { replayProgram } from '../store/blocking/replayed.js'
import { runs } from '../support/effort.js'
import { type LiveRedis, startRedis } from '../support/live-redis.js'

let redis: LiveRedis
let live: LiveConnections

beforeAll(async () => {
  redis = await startRedis()
  live = await LiveConnections.open(redis.port)
})

afterAll(async () => {
  live.close()
  await redis.stop()
})

const count = runs(20, 60, 300)

it(`${count} random programs of blocked connections give the same replies to all`, async () => {
  const differences: string[] = []
  for (let program = 0; program < count; program++) {
    const seed = `${process.env.SEED ?? 'live'} ${program}`
    const found = await replayProgram(await live.record(seed, 60))
    if (found.length > 0) differences.push(`program ${seed}: ${found[0]}`)
  }
  expect(differences).toEqual([])
}, 600_000)
