import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRandom } from '../../src/kernel/random.js'
import { randomProgram, randomText } from '../store/scripting/random-programs.js'
import { createScriptStore } from '../store/scripting/script-store.js'
import { compareReplies } from '../support/compare-replies.js'
import { asService } from '../support/deviations.js'
import { type LiveRedis, startRedis } from '../support/live-redis.js'
import { decodeReply, type RespReply } from '../support/resp.js'
import { showReply } from '../support/steps.js'

let redis: LiveRedis

beforeAll(async () => {
  redis = await startRedis()
})

afterAll(async () => {
  await redis.stop()
})

/** Some seeds create a program that crashes redis-server 7.0, which does not support an error table without `err`. */
const seed = 'one'
const count = 2000

it(`${count} random Lua programs end the same in both`, async () => {
  const random = createRandom(seed)
  const differences: string[] = []
  let compared = 0
  for (let at = 0; at < count; at++) {
    const source = at % 6 === 0 ? randomText(random) : randomProgram(random)
    const argv = ['EVAL', source, '2', 'k1', 'k2', '5', 'text', '']
    const raw = createScriptStore({ maxScriptSteps: 20_000 }).execute(argv)
    // An endless program would also be endless there, and the amount of stack and memory depends on the machine.
    if (/Script killed|stack overflow|not enough memory/.test(raw)) continue
    await redis.client.send(['FLUSHALL'])
    const expected = asService(decodeReply(await redis.client.raw(argv)), argv)
    const reply = decodeReply(raw)
    compared++
    if (!isComparable(expected) || !compareReplies(expected, reply, new Set(['failure']))) continue
    differences.push(`${source}\n  expected ${showReply(expected)}\n  got      ${showReply(reply)}`)
  }
  expect(differences).toEqual([])
  expect(compared).toBeGreaterThan(count * 0.9)
})

/**
 * Returns whether a reply is comparable: no addresses, no invalid UTF-8 in an error, and no name of the function that a
 * `for` loop calls, because the reference implementation takes it from an arbitrary register.
 */
function isComparable(reply: RespReply): boolean {
  const shown = showReply(reply)
  return !/0x[0-9a-f]{6,}|[\x80-\xff]|attempt to call (?:global|field|upvalue|local)/.test(shown)
}
