import { describe, expect, test } from 'vitest'
import {
  acos,
  asin,
  atan,
  atan2,
  cos,
  cosh,
  exp,
  log,
  log2,
  log10,
  pow,
  sin,
  sinh,
  tan,
  tanh,
} from '../../src/kernel/portable-math.js'
import { createRandom } from '../../src/kernel/random.js'
import { amount } from '../support/effort.js'
import { exactly } from '../support/exact-math.js'

const portable = { acos, asin, atan, atan2, cos, cosh, exp, log, log10, log2, pow, sin, sinh, tan, tanh }

type Name = keyof typeof exactly

const { POSITIVE_INFINITY: infinity, NaN: nan } = Number
const smallest = Number.MIN_VALUE
const largest = Number.MAX_VALUE

const bits = new DataView(new ArrayBuffer(8))

/** Arguments of every size, near the points where functions change, and short ones, whose results are often exact. */
function argument(random: ReturnType<typeof createRandom>): number {
  const size = random.int(2 ** 32) / 2 ** 32 + random.int(2 ** 21) / 2 ** 53
  const sign = random.int(2) === 0 ? 1 : -1
  switch (random.int(8)) {
    case 0:
      return sign * size
    case 1:
      return sign * size * 10
    case 2:
      return sign * size * 800
    case 3:
      return sign * size * 2 ** -random.int(40)
    case 4:
      return 1 + sign * size * 2 ** -random.int(52)
    case 5:
      return random.int(10_000) / 8
    case 6:
      return random.int(2 ** 20) * (Math.PI / 2 ** random.int(8))
    default:
      bits.setUint32(0, random.int(2 ** 32))
      bits.setUint32(4, random.int(2 ** 32))
      return Number.isFinite(bits.getFloat64(0)) ? bits.getFloat64(0) : size
  }
}

describe('a result is the double that is nearest to the true value', () => {
  test.each(Object.keys(exactly) as Name[])('%s', { timeout: 300_000 }, (name) => {
    const random = createRandom(41).fork(name)
    const isWithinOne = name === 'asin' || name === 'acos'
    const wrong: unknown[] = []
    const count = amount(100, 2_000, 50_000)
    let compared = 0
    for (let at = 0; at < count; at++) {
      const args = exactly[name].length === 1 ? [argument(random)] : [argument(random), argument(random)]
      if (isWithinOne && Math.abs(args[0]!) > 1) args[0]! = 1 / args[0]!
      if (name === 'pow' && random.int(2) === 0) args[1] = random.int(40) / [1, 2, 4, -1][random.int(4)]!
      const expected = (exactly[name] as (...values: number[]) => number | undefined)(...args)
      if (expected === undefined) continue
      compared++
      const result = (portable[name] as (...values: number[]) => number)(...args)
      if (!Object.is(result, expected)) wrong.push({ args, result, expected })
    }
    expect(wrong).toEqual([])
    expect(compared).toBeGreaterThan(count / 4)
  })

  // A product of few digits can be exactly between two doubles. Then the even one is the result.
  test.each([
    [2 ** 27 + 1, 2, (2 ** 27 + 1) * (2 ** 27 + 1)],
    [(2 ** 18 + 1) ** 2, 1.5, (2 ** 18 + 1) * (2 ** 18 + 1) * (2 ** 18 + 1)],
    [94906267, 2, 9007199515875288],
    [3, 34, 16677181699666568],
    [10, 22, 1e22],
    [10, 23, 1e23],
    [10, 308, 1e308],
    [0.1, 3, 0.0010000000000000002],
    [2, -1074, smallest],
    [2, -1075, 0],
    [3 * 2 ** -538, 2, 2 * smallest],
    [largest, 0.5, 2 ** 512],
    [81, 0.25, 3],
    [-3, 3, -27],
  ])('pow(%s, %s)', (base, exponent, expected) => {
    expect(pow(base, exponent)).toBe(expected)
  })
})

// Annex F of the C standard.
describe('special values', () => {
  test.each([
    [
      'exp',
      exp,
      [-0, 1],
      [infinity, infinity],
      [-infinity, 0],
      [nan, nan],
      [709.782712893384, 1.7976931348622732e308],
      [709.7827128933841, infinity],
      [-745.1332191019411, smallest],
      [-745.1332191019412, 0],
    ],
    [
      'log',
      log,
      [1, 0],
      [0, -infinity],
      [-0, -infinity],
      [infinity, infinity],
      [-1, nan],
      [-infinity, nan],
      [nan, nan],
      [smallest, -744.4400719213812],
    ],
    [
      'log2',
      log2,
      [1, 0],
      [0, -infinity],
      [8, 3],
      [smallest, -1074],
      [2 ** 1023, 1023],
      [infinity, infinity],
      [-1, nan],
    ],
    ['log10', log10, [1, 0], [1000, 3], [1e22, 22], [0, -infinity], [infinity, infinity], [-1, nan]],
    [
      'sin',
      sin,
      [0, 0],
      [-0, -0],
      [smallest, smallest],
      [infinity, nan],
      [-infinity, nan],
      [nan, nan],
      [1e22, -0.8522008497671888],
    ],
    ['cos', cos, [0, 1], [-0, 1], [smallest, 1], [infinity, nan], [nan, nan], [1e22, 0.523214785395139]],
    ['tan', tan, [0, 0], [-0, -0], [infinity, nan], [nan, nan], [Math.PI / 2, 16331239353195370]],
    ['asin', asin, [-0, -0], [1, Math.PI / 2], [-1, -Math.PI / 2], [1.0000000000000002, nan], [nan, nan]],
    ['acos', acos, [1, 0], [-1, Math.PI], [0, Math.PI / 2], [-2, nan], [nan, nan]],
    ['atan', atan, [-0, -0], [infinity, Math.PI / 2], [-infinity, -Math.PI / 2], [largest, Math.PI / 2], [nan, nan]],
    ['sinh', sinh, [-0, -0], [infinity, infinity], [-infinity, -infinity], [1e300, infinity], [nan, nan]],
    ['cosh', cosh, [-0, 1], [infinity, infinity], [-infinity, infinity], [-1e300, infinity], [nan, nan]],
    ['tanh', tanh, [-0, -0], [infinity, 1], [-infinity, -1], [1e300, 1], [nan, nan]],
  ] as readonly [string, (value: number) => number, ...(readonly [number, number])[]][])('%s', (_, of, ...rows) => {
    expect(rows.map(([value]) => [value, of(value)])).toEqual(rows)
  })

  test('atan2', () => {
    const rows = [
      ...[
        [0, 1, 0],
        [-0, 1, -0],
        [0, -1, Math.PI],
        [-0, -1, -Math.PI],
        [0, 0, 0],
        [-0, 0, -0],
        [0, -0, Math.PI],
      ],
      ...[
        [-0, -0, -Math.PI],
        [1, 0, Math.PI / 2],
        [-1, -0, -Math.PI / 2],
        [1, infinity, 0],
        [1, -infinity, Math.PI],
      ],
      ...[
        [infinity, 1, Math.PI / 2],
        [infinity, infinity, Math.PI / 4],
        [-infinity, -infinity, -3 * (Math.PI / 4)],
      ],
      ...[
        [nan, 1, nan],
        [1, nan, nan],
        [smallest, largest, 0],
        [largest, smallest, Math.PI / 2],
      ],
      [smallest, smallest, Math.PI / 4],
    ] as [number, number, number][]
    expect(rows.map(([y, x]) => [y, x, atan2(y, x)])).toEqual(rows)
  })

  test('pow', () => {
    const rows = [
      ...[
        [nan, 0, 1],
        [1, nan, 1],
        [1, infinity, 1],
        [-1, infinity, 1],
        [-1, -infinity, 1],
        [nan, 1, nan],
      ],
      ...[
        [2, nan, nan],
        [0, -1, infinity],
        [-0, -1, -infinity],
        [-0, -2, infinity],
        [-0, 3, -0],
        [-0, 0.5, 0],
      ],
      ...[
        [0, infinity, 0],
        [0, -infinity, infinity],
        [0.5, infinity, 0],
        [0.5, -infinity, infinity],
      ],
      ...[
        [2, infinity, infinity],
        [2, -infinity, 0],
        [infinity, -1, 0],
        [infinity, 0.1, infinity],
      ],
      ...[
        [-infinity, 3, -infinity],
        [-infinity, 2, infinity],
        [-infinity, -3, -0],
        [-infinity, 0.5, infinity],
      ],
      ...[
        [-8, 1 / 3, nan],
        [-1, 0.5, nan],
        [-1, 1e300, 1],
        [largest, 2, infinity],
        [largest, -2, 0],
      ],
      ...[
        [1.0000000000000002, 1e300, infinity],
        [1.0000000000000002, 1e-300, 1],
        [smallest, 1e300, 0],
      ],
    ] as [number, number, number][]
    expect(rows.map(([base, exponent]) => [base, exponent, pow(base, exponent)])).toEqual(rows)
  })
})
