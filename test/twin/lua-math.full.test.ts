import { expect, it } from 'vitest'
import { createRandom } from '../../src/kernel/random.js'
import { createEngine } from '../support/engine.js'
import { startRedis } from '../support/live-redis.js'

// The C library of the live server does not round every result to the nearest double, so the last digit may differ for
// some arguments. These are the largest shares that are accepted.

const shares: Readonly<Record<string, number>> = {
  'math.exp(x)': 0.005,
  'math.log(math.abs(x))': 0.005,
  'math.log10(math.abs(x))': 0.15,
  'math.sin(x)': 0.005,
  'math.cos(x)': 0.005,
  'math.tan(x)': 0.005,
  'math.asin(x / 30)': 0.005,
  'math.acos(x / 30)': 0.005,
  'math.atan(x)': 0.005,
  'math.atan2(x, 7)': 0.005,
  'math.sinh(x)': 0.3,
  'math.cosh(x)': 0.3,
  'math.tanh(x)': 0.3,
  'math.abs(x) ^ 2.5': 0.005,
  'x ^ 3': 0.005,
}

it('Lua computes the numbers of the live server', { timeout: 60_000 }, async () => {
  const redis = await startRedis()
  try {
    const engine = createEngine()
    const random = createRandom('lua math')
    const values = Array.from({ length: 2000 }, () => (random.int(2 ** 32) / 2 ** 32 - 0.5) * 60)
    for (const [expression, share] of Object.entries(shares)) {
      const script = `local all = {}
        for at, text in ipairs(ARGV) do
          local x = tonumber(text)
          all[at] = string.format('%.17g', ${expression})
        end
        return all`
      const argv = ['EVAL', script, '0', ...values.map(String)] as const
      const [theirs, ours] = [await redis.client.raw(argv), engine.execute(argv)].map(numbersOf)
      expect(theirs).toHaveLength(values.length)
      const different = theirs!.filter((value, at) => !Object.is(value, ours![at]))
      expect.soft(different.length / values.length, expression).toBeLessThanOrEqual(share)
      for (const [at, value] of theirs!.entries()) {
        if (!Number.isNaN(value)) expect(Math.abs(ours![at]! - value)).toBeLessThanOrEqual(2 ** -51 * Math.abs(value))
      }
    }
  } finally {
    await redis.stop()
  }
})

/** Reads the lines of a RESP array of bulk strings. */
function numbersOf(reply: unknown): number[] {
  return String(reply)
    .split('\r\n')
    .filter((line) => line !== '' && !/^[*$]/.test(line))
    .map((line) => (/nan/.test(line) ? Number.NaN : Number(line)))
}
