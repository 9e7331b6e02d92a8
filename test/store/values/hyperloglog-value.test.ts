import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bytes, fromArray, latin1, toArray } from '../../../src/kernel/bytes.js'
import {
  addElement,
  cachedCount,
  createHyperLogLog,
  DamagedHyperLogLog,
  estimate,
  invalidateCount,
  isDense,
  isHyperLogLog,
  mergeRegisters,
  murmur64,
  registersOf,
  withRegisters,
  writeCachedCount,
} from '../../../src/store/values/hyperloglog-value.js'
import recorded from './hyperloglog.recorded.json' with { type: 'json' }

function counterOf(elements: Iterable<string>): Uint8Array {
  let hll = createHyperLogLog()
  for (const element of elements) hll = addElement(hll, element as Bytes).hll
  invalidateCount(hll)
  return hll
}

function numbered(prefix: string, size: number): string[] {
  return Array.from({ length: size }, (_, at) => `${prefix}${at}`)
}

describe('a HyperLogLog string', () => {
  it.each(recorded)('equals that of redis-server for $size elements', ({ prefix, size, length, sha1, count }) => {
    const hll = counterOf(numbered(prefix, size))
    expect(hll.length).toBe(length)
    expect(createHash('sha1').update(hll).digest('hex')).toBe(sha1)
    expect(estimate(registersOf(hll))).toBe(count)
  })

  it('starts as 18 bytes with a valid count of 0', () => {
    expect(fromArray(createHyperLogLog())).toBe('HYLL\x01\0\0\0\0\0\0\0\0\0\0\0\x7f\xff')
    expect(cachedCount(createHyperLogLog())).toBe(0)
  })

  it('keeps a count until it is invalidated', () => {
    const hll = createHyperLogLog()
    writeCachedCount(hll, 0x0102030405)
    expect(cachedCount(hll)).toBe(0x0102030405)
    invalidateCount(hll)
    expect(cachedCount(hll)).toBeUndefined()
  })

  it('is recognized by its header', () => {
    expect(isHyperLogLog(createHyperLogLog())).toBe(true)
    expect(isHyperLogLog(toArray(latin1('HYLL')))).toBe(false)
    expect(isHyperLogLog(toArray(latin1('HYLX\x01\0\0\0\0\0\0\0\0\0\0\0\x7f\xff')))).toBe(false)
    expect(isHyperLogLog(toArray(latin1(`HYLL\x02${'\0'.repeat(11)}`)))).toBe(false)
    expect(isHyperLogLog(toArray(latin1(`HYLL\x00${'\0'.repeat(11)}`)))).toBe(false)
    expect(isHyperLogLog(toArray(latin1(`HYLL\x00${'\0'.repeat(12_299)}`)))).toBe(true)
  })

  it('is damaged when its runs do not cover all registers', () => {
    expect(() => registersOf(createHyperLogLog().slice(0, 16))).toThrow(DamagedHyperLogLog)
    const short = createHyperLogLog()
    short[16] = 0x40
    expect(() => registersOf(short)).toThrow(DamagedHyperLogLog)
  })
})

describe('mergeRegisters()', () => {
  it('equals adding everything to one counter', () => {
    const one = counterOf(numbered('a', 400))
    const other = counterOf(numbered('b', 3000))
    expect(isDense(one)).toBe(false)
    expect(isDense(other)).toBe(true)
    const registers = registersOf(one)
    mergeRegisters(registers, registersOf(other))
    const merged = withRegisters(one.slice(), registers, true)
    expect(isDense(merged)).toBe(true)
    expect(registersOf(merged)).toEqual(registersOf(counterOf([...numbered('a', 400), ...numbered('b', 3000)])))
  })
})

describe('murmur64()', () => {
  const mask = (1n << 64n) - 1n

  /** The published algorithm with big integers. */
  function published(bytes: string): bigint {
    const m = 0xc6a4a7935bd1e995n
    let hash = (0xadc83b19n ^ (BigInt(bytes.length) * m)) & mask
    let at = 0
    for (; at + 8 <= bytes.length; at += 8) {
      let word = 0n
      for (let byte = 7; byte >= 0; byte--) word = (word << 8n) | BigInt(bytes.charCodeAt(at + byte))
      word = (word * m) & mask
      word ^= word >> 47n
      hash = ((hash ^ ((word * m) & mask)) * m) & mask
    }
    if (at < bytes.length) {
      for (let byte = bytes.length - 1; byte >= at; byte--)
        hash ^= BigInt(bytes.charCodeAt(byte)) << BigInt(8 * (byte - at))
      hash = (hash * m) & mask
    }
    hash = ((hash ^ (hash >> 47n)) * m) & mask
    return hash ^ (hash >> 47n)
  }

  it('equals the algorithm with big integers', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (array) => {
        const bytes = fromArray(array)
        const { low, high } = murmur64(bytes)
        expect((BigInt(high) << 32n) | BigInt(low)).toBe(published(bytes))
      }),
    )
  })
})
