import { describe, expect, it } from 'vitest'
import type { Bytes } from '../../src/kernel/bytes.js'
import { commandTable } from '../../src/store/commands/index.js'
import { createEngine } from '../support/engine.js'
import { decodeReply } from '../support/resp.js'

function run(engine: ReturnType<typeof createEngine>, ...argv: string[]): unknown {
  const plain = (reply: ReturnType<typeof decodeReply>): unknown =>
    'array' in reply
      ? reply.array.map(plain)
      : 'bulk' in reply
        ? reply.bulk
        : 'integer' in reply
          ? Number(reply.integer)
          : reply
  return plain(decodeReply(engine.execute(argv)))
}

/** Returns the names of a whole scan, page by page; calls `between` after each page. */
function scanAll(engine: ReturnType<typeof createEngine>, argv: string[], between: (page: number) => void): string[] {
  const names: string[] = []
  let cursor = '0'
  for (let page = 0; ; page++) {
    const [command, key, ...options] = argv
    const [next, items] = run(engine, command!, key!, cursor, ...options) as [string, string[]]
    names.push(...items)
    if (next === '0') return names
    cursor = next
    between(page)
  }
}

describe('HSCAN, SSCAN and ZSCAN', () => {
  const members = Array.from({ length: 95 }, (_, at) => `m${at}`)

  it.each([
    ['SSCAN', (name: string) => ['SADD', 'k', name], (name: string) => ['SREM', 'k', name], 1],
    ['HSCAN', (name: string) => ['HSET', 'k', name, 'v'], (name: string) => ['HDEL', 'k', name], 2],
    ['ZSCAN', (name: string) => ['ZADD', 'k', '1', name], (name: string) => ['ZREM', 'k', name], 2],
  ] as const)('%s returns pages and every lasting member exactly once', (scan, add, remove, width) => {
    const engine = createEngine()
    // A name of more than 64 bytes makes a collection leave the compact encoding, so that it is scanned in pages.
    for (const member of ['x'.repeat(65), ...members]) run(engine, ...add(member))
    const first = run(engine, scan, 'k', '0', 'COUNT', '10') as [string, string[]]
    expect(first[0]).not.toBe('0')
    expect(first[1].length).toBe(10 * width)
    // Without COUNT all members are returned in one page. [store.md 7.2]
    const whole = run(engine, scan, 'k', '0') as [string, string[]]
    expect([whole[0], whole[1].length]).toEqual(['0', 96 * width])
    const seen = scanAll(engine, [scan, 'k', 'COUNT', '7'], (page) => {
      run(engine, ...remove(`m${page}`), `m${94 - page}`)
      run(engine, ...add(`new${page}`))
      // Moving a member within a sorted set must not hide it.
      run(engine, ...add(`m${40 + page}`).map((word) => (word === '1' ? String(-page) : word)))
    }).filter((_, at) => at % width === 0)
    const stayed = members.slice(20, 70)
    expect(seen.filter((name) => stayed.includes(name)).sort()).toEqual(stayed.toSorted())
    expect(new Set(seen).size).toBe(seen.length)
  })

  it('filter with MATCH within a page, which may be empty', () => {
    const engine = createEngine()
    for (const member of members) run(engine, 'SADD', 'k', member)
    const [cursor, items] = run(engine, 'SSCAN', 'k', '0', 'MATCH', 'm94', 'COUNT', '10') as [string, string[]]
    expect([cursor === '0', items]).toEqual([false, []])
    expect(scanAll(engine, ['SSCAN', 'k', 'MATCH', 'm94'], () => {})).toEqual(['m94'])
  })
})

describe('random members', () => {
  const draws = (command: string[], times: number, setUp: string[]): Map<string, number> => {
    const engine = createEngine()
    run(engine, ...setUp)
    const counts = new Map<string, number>()
    for (let count = 0; count < times; count++) {
      for (const name of [run(engine, ...command)].flat() as string[]) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    return counts
  }

  it.each([
    [['SRANDMEMBER', 'k'], ['SADD', 'k', 'a', 'b', 'c', 'd'], 4000],
    [['SRANDMEMBER', 'k', '3'], ['SADD', 'k', 'a', 'b', 'c', 'd'], 12_000],
    [['SRANDMEMBER', 'k', '-2'], ['SADD', 'k', 'a', 'b', 'c', 'd'], 8000],
    [['HRANDFIELD', 'k', '1'], ['HSET', 'k', 'a', '', 'b', '', 'c', '', 'd', ''], 4000],
    [['ZRANDMEMBER', 'k', '2'], ['ZADD', 'k', '1', 'a', '2', 'b', '3', 'c', '4', 'd'], 8000],
  ])('%j picks each of four with the same probability', (command, setUp, total) => {
    const counts = draws(command, 4000, setUp)
    expect([...counts.keys()].sort()).toEqual(['a', 'b', 'c', 'd'])
    for (const count of counts.values()) expect(Math.abs(count - total / 4)).toBeLessThan(total / 20)
  })

  it('never contain a member twice for a positive count', () => {
    const engine = createEngine()
    run(engine, 'SADD', 'k', ...Array.from({ length: 50 }, (_, at) => `m${at}`))
    for (let count = 1; count <= 50; count++) {
      const picked = run(engine, 'SRANDMEMBER', 'k', String(count)) as string[]
      expect(new Set(picked).size).toBe(count)
    }
    const popped = run(engine, 'SPOP', 'k', '30') as string[]
    expect(new Set([...popped, ...(run(engine, 'SMEMBERS', 'k') as string[])]).size).toBe(50)
  })

  it('are rejected with more repeats than a reply can hold', () => {
    const engine = createEngine()
    run(engine, 'SADD', 'k', 'a')
    expect(run(engine, 'SRANDMEMBER', 'k', '-9223372036854775807')).toEqual({ error: 'ERR value is out of range' })
  })

  it('are the same for the same seed', () => {
    const picks = () => {
      const engine = createEngine()
      run(engine, 'SADD', 'k', 'a', 'b', 'c', 'd', 'e', 'f')
      return [run(engine, 'SRANDMEMBER', 'k', '-20'), run(engine, 'SPOP', 'k', '3')]
    }
    expect(picks()).toEqual(picks())
  })
})

describe('keys of a command for access rules', () => {
  it.each([
    ['ZUNIONSTORE d 2 a b WEIGHTS 1 2', 'd a b'],
    ['ZINTER 2 a b WITHSCORES', 'a b'],
    ['ZINTERCARD 1 a LIMIT 3', 'a'],
    ['ZRANGESTORE d a 0 1', 'd a'],
    ['SINTERCARD 2 a b', 'a b'],
    ['SMOVE a b c', 'a b'],
    ['LMPOP 2 a b LEFT COUNT 3', 'a b'],
    ['LMOVE a b LEFT RIGHT', 'a b'],
    ['ZMPOP 1 a MIN', 'a'],
    ['GEORADIUS a 1 2 3 km STORE b', 'a b'],
    ['GEORADIUSBYMEMBER a m 3 km STOREDIST b', 'a b'],
    ['GEOSEARCHSTORE d a FROMMEMBER x BYRADIUS 1 km', 'd a'],
    ['PFMERGE d a b', 'd a b'],
    ['PFCOUNT a b', 'a b'],
    ['HSETEX a FIELDS 1 f v', 'a'],
    ['HGETALL a', 'a'],
  ])('include %s', (line, keys) => {
    const argv = line.split(' ') as Bytes[]
    expect(commandTable.find(argv)?.keysOf(argv).join(' ')).toBe(keys)
  })
})
