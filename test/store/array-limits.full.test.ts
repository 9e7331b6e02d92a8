import { createSandbox } from 'stuntdouble'
import { describe, expect, it } from 'vitest'
import { Rest } from '../support/ask.js'

// Commands that a careless implementation would need minutes or gigabytes for.

const top = '18446744073709551614'
const exceeded = expect.stringContaining('max work exceeded')

describe('commands over huge ranges need only the work of the filled slots', () => {
  const { store } = createSandbox({ onWarning: () => {} })
  store.run('ARMSET', 'sparse', 0, 'a', '4000000000', 'b', '9007199254740993', 'c', top, 'd')

  it.each([
    [
      ['ARSCAN', 'sparse', '0', top, 'LIMIT', '3'],
      [
        [0, 'a'],
        [4_000_000_000, 'b'],
        [9_007_199_254_740_993n, 'c'],
      ],
    ],
    [['ARSCAN', 'sparse', '1', '3999999999'], []],
    [
      ['ARGREP', 'sparse', '+', '-', 'RE', '[cd]'],
      [top, 9_007_199_254_740_993n],
    ],
    [['AROP', 'sparse', '0', top, 'USED'], 4],
    [['AROP', 'sparse', '0', top, 'MATCH', 'd'], 1],
    [
      ['ARLASTITEMS', 'sparse', '2'],
      [null, 'd'],
    ],
    [['ARINFO', 'sparse'], expect.arrayContaining(['slices', 4])],
    [['ARDELRANGE', 'none', '0', top], 0],
  ])('%j', (argv, expected) => {
    expect(store.run(...argv)).toEqual(expected)
  })

  it('rings of every size and ranges of deletions', () => {
    const { store } = createSandbox({ onWarning: () => {} })
    expect(store.run('ARRING', 'k', top, 'a', 'b')).toBe(1)
    expect(store.run('ARSEEK', 'k', top)).toBe(1)
    expect(store.run('ARRING', 'k', '18446744073709551615', 'c', 'd')).toBe(0)
    expect(store.run('ARSET', 'k', top, 'x')).toBe(0)
    expect(store.run('ARRING', 'k', '3', 'e')).toBe(2)
    expect(store.run('ARGETRANGE', 'k', 0, 3)).toEqual(['x', 'd', 'e', null])
    store.run('ARSET', 'k', '1000000000000', 'f')
    expect(store.run('ARDELRANGE', 'k', '1', top, '1', top)).toBe(3)
    expect(store.run('ARDELRANGE', 'k', top, '0')).toBe(1)
    expect(store.run('EXISTS', 'k')).toBe(0)
  })
})

describe('large replies', () => {
  it('ARGETRANGE returns a million positions, and no more', async () => {
    const rest = Rest.open()
    await rest.run('ARSET', 'k', 5, 'a')
    const reply = (await rest.run('ARGETRANGE', 'k', 0, 999_999)) as unknown[]
    expect([reply.length, reply[5], reply[6], reply.at(-1)]).toEqual([1_000_000, 'a', null, null])
    expect(await rest.run('ARGETRANGE', 'none', top, '18446744073708551615')).toHaveLength(1_000_000)
    await expect(rest.run('ARGETRANGE', 'k', 0, 1_000_000)).rejects.toThrow(
      'ERR range exceeds maximum of 1000000 items',
    )
    await expect(rest.run('ARGETRANGE', 'none', top, 0)).rejects.toThrow('ERR range exceeds maximum of 1000000 items')
  })

  it('count for maxWork and maxResponseSize', async () => {
    const small = Rest.open({ policy: { maxResponseSize: 10_000 } })
    await expect(small.run('ARGETRANGE', 'none', 0, 9999)).rejects.toThrow('max response size exceeded')
    const lazy = Rest.open({ policy: { maxWork: 10_000 } })
    await expect(lazy.run('ARGETRANGE', 'none', 0, 20_000)).rejects.toThrow('max work exceeded')
    const many = Array.from({ length: 30 }, () => ['ARGETRANGE', 'none', '0', '999999'])
    const { json } = await Rest.open().post('/pipeline', many)
    expect(json).toContainEqual({ error: exceeded })
  })
})

describe('expensive searches are rejected before they block the process', () => {
  const values = Array.from({ length: 2000 }, (_, at) => `${'a'.repeat(50)}${at}`)

  it.each([
    ['a nested repetition', ['RE', `^${'((a*)*)*'.repeat(12)}b$`]],
    ['a counted repetition', ['RE', '(a?){100}(a?){100}(a?){100}b']],
    ['many predicates', Array.from({ length: 250 }, (_, at) => ['RE', `(x|y|z)*${at}b`]).flat()],
    ['many globs', Array.from({ length: 250 }, () => ['GLOB', '*a*a*a*a*b*c']).flat()],
  ])('%s', async (_, predicates) => {
    const rest = Rest.open()
    await rest.run('ARINSERT', 'k', ...values)
    const { json } = await rest.post('/', ['ARGREP', 'k', '-', '+', ...predicates])
    expect(json).toEqual({ error: exceeded })
  })

  it('a substring that would need time in proportion to both lengths multiplied', async () => {
    const rest = Rest.open()
    await rest.run('ARSET', 'k', 0, 'a'.repeat(4_000_000))
    expect(await rest.run('ARGREP', 'k', '-', '+', 'MATCH', `b${'a'.repeat(2_000_000)}`)).toEqual([])
    expect(await rest.run('ARGREP', 'k', '-', '+', 'MATCH', 'a'.repeat(4_000_000))).toEqual([0])
    expect(await rest.run('ARGREP', 'k', '-', '+', 'MATCH', 'A'.repeat(4_000_000), 'NOCASE')).toEqual([0])
    expect(await rest.run('AROP', 'k', 0, 5, 'SUM')).toBeNull()
    const { json } = await rest.post('/', ['ARGREP', 'k', '-', '+', 'RE', 'b'])
    expect(json).toEqual({ error: exceeded })
  })

  it('a number with a million digits', async () => {
    const rest = Rest.open()
    await rest.run('ARSET', 'k', 0, '1'.repeat(4_000_000), '2')
    expect(await rest.run('AROP', 'k', 0, 1, 'SUM')).toBe('2')
  })

  it('251 predicates', async () => {
    const rest = Rest.open()
    await rest.run('ARSET', 'k', 0, 'a')
    const predicates = Array.from({ length: 250 }, () => ['MATCH', 'a']).flat()
    expect(await rest.run('ARGREP', 'k', '-', '+', ...predicates)).toEqual([0])
    const more = rest.run('ARGREP', 'k', '-', '+', ...predicates, 'MATCH', 'a')
    await expect(more).rejects.toThrow('ERR too many predicates, maximum is 250')
  })
})

it('a rejected ARDELRANGE deletes nothing', async () => {
  const rest = Rest.open({ policy: { maxWork: 20_000 } })
  for (let at = 0; at < 10; at++) await rest.run('ARSET', 'k', at * 1000, ...Array.from({ length: 1000 }, String))
  const ranges = Array.from({ length: 1000 }, () => [0, top]).flat()
  await expect(rest.run('ARDELRANGE', 'k', ...ranges)).rejects.toThrow('max work exceeded')
  expect(await rest.run('ARCOUNT', 'k')).toBe(10_000)
})

it('an array with a value of 8 MB is copied, dumped and restored', async () => {
  const { store } = createSandbox({ onWarning: () => {} })
  const value = 'x'.repeat(8_000_000)
  store.run('ARSET', 'k', top, value)
  expect(store.run('COPY', 'k', 'l')).toBe(1)
  expect(store.run('ARGET', 'l', top)).toBe(value)
  const dump = store.dump()
  const { store: other } = createSandbox({ onWarning: () => {} })
  other.load(dump)
  expect(other.run('ARGREP', 'k', '-', '+', 'EXACT', value)).toEqual([top])
})
