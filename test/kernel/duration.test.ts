import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Duration, formatDuration, milliseconds, parseDuration } from '../../src/kernel/duration.js'

describe('parseDuration()', () => {
  test.each([
    ['0s', 0],
    ['250ms', 250],
    ['90s', 90_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
    ['1d1h30m', 86_400_000 + 5_400_000],
    ['1h1m1s1ms', 3_661_001],
    ['1.5h', 5_400_000],
    ['2s1m', 62_000],
    ['1m1m', 120_000],
    ['1w', 7 * 86_400_000],
    ['1mo', 30 * 86_400_000],
    ['1y', 365 * 86_400_000],
    ['1y2mo3w4d5m', (365 + 60 + 21 + 4) * 86_400_000 + 300_000],
  ])('parses %s as %i ms', (text, expected) => {
    expect(parseDuration(text)).toBe(expected)
  })

  test.each(['', '5', 's', '5 s', '-5s', '5sec', '5S', '5s ', '1e3s', '.5s', '5.s', '1q', '5sm', '1mO', '1o'])(
    'returns undefined for %j',
    (text) => {
      expect(parseDuration(text)).toBeUndefined()
    },
  )
})

const units = {
  ms: ['millisecond', 'msec', 'milli'],
  s: ['second', 'sec', ''],
  m: ['minute', 'min'],
  h: ['hour', 'hr'],
  d: ['day'],
  w: ['week', 'wk'],
  mo: ['month'],
  y: ['year', 'yr'],
}

describe('milliseconds()', () => {
  test('suggests a valid text for units that are written in full', () => {
    const written = fc.constantFrom(
      ...Object.entries(units).flatMap(([unit, names]) =>
        names.flatMap((name) => (name === '' ? [] : [name, `${name}s`]).map((word) => [unit, word] as const)),
      ),
    )
    const amount = fc.oneof(fc.nat(1000), fc.constantFrom(0.5, 1.5, 2.25))
    const gap = fc.constantFrom('', ' ', '  ')
    fc.assert(
      fc.property(written, amount, gap, fc.boolean(), ([unit, word], count, space, loud) => {
        const text = `${count}${space}${loud ? word.toUpperCase() : word}`
        let told = ''
        try {
          milliseconds(text as '1s')
        } catch (error) {
          told = (error as Error).message
        }
        expect(told).toBe(`${JSON.stringify(text)} is not a duration. Use '${count}${unit}'.`)
        expect(milliseconds(`${count}${unit}` as '1s')).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  test('returns numbers unchanged', () => {
    expect(milliseconds(1_500)).toBe(1_500)
    expect(milliseconds('1m30s')).toBe(90_000)
  })

  test.each([
    [-1, '-1'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    ['soon' as Duration, '"soon"'],
    [true as never, 'true'],
    [null as never, 'null'],
    [{ wait: '1s' } as never, '{"wait":"1s"}'],
  ])('throws for %s with valid forms', (given, shown) => {
    expect(() => milliseconds(given)).toThrow(`${shown} is not a duration`)
    expect(() => milliseconds(given)).toThrow(/milliseconds.*'90s', '5m' or '1d10h30m'/)
  })
})

describe('formatDuration()', () => {
  test.each([
    [0, '0s'],
    [1, '1ms'],
    [90_000, '1m30s'],
    [86_400_000, '1d'],
    [93_784_005, '1d2h3m4s5ms'],
    [-90_000, '-1m30s'],
    [0.5, '0.5ms'],
  ])('formats %d as %s', (given, expected) => {
    expect(formatDuration(given)).toBe(expected)
  })

  test('writes what parseDuration() reads', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 * 365 * 86_400_000 }), (time) => {
        expect(parseDuration(formatDuration(time))).toBe(time)
      }),
    )
  })
})
