import { setImmediate as hostTurn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { storeInternals } from '../../../src/store/store-internals.js'
import { Rest } from '../../support/ask.js'
import { runs } from '../../support/effort.js'
import { running, searchingSandbox } from './searching.js'

const words = (from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => `w${(from + at).toString(36)}`).join(' ')

it('an index that was built in slices finds what a new index finds', async () => {
  const text = fc
    .array(fc.constantFrom('red', 'shoes', 'running', 'one', 'Zwei'), { maxLength: 6 })
    .map((all) => all.join(' '))
  const longText = fc.tuple(text, fc.nat(3)).map(([end, from]) => `${words(from * 4000, 9000)} ${end}`)
  const write = fc.oneof(
    fc.tuple(
      fc.constant('HSET'),
      fc.constantFrom('d:1', 'd:2', 'd:3'),
      fc.constant('t'),
      fc.oneof({ arbitrary: text, weight: 3 }, longText),
    ),
    fc.tuple(fc.constant('DEL'), fc.constantFrom('d:1', 'd:2', 'd:3')),
    fc.tuple(fc.constant('SEARCH.REINDEX'), fc.constant('i')),
    fc.tuple(fc.constant('SEARCH.COUNT'), fc.constant('i'), fc.constant('{}')),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(write, fc.boolean(), fc.boolean()), { maxLength: 12 }), async (steps) => {
      const sandbox = await searchingSandbox()
      const [run, rest] = [running(sandbox), new Rest(sandbox)]
      const { engine } = storeInternals.of(sandbox.store)
      run('SEARCH.CREATE i ON HASH PREFIX 1 d: SCHEMA t TEXT')
      // Together these are more than a slice.
      for (let at = 0; at < 2; at++) run(`HSET d:large${at} t`, words(at * 9000, 10_000))
      const asked: Promise<unknown>[] = []
      for (const [command, isAsked, waits] of steps) {
        // Commands may arrive while an index is being built.
        if (isAsked) asked.push(rest.post('', command))
        else engine.run(...command)
        if (waits) await Promise.all(asked)
        else await hostTurn()
      }
      await Promise.all(asked)
      run('SEARCH.CREATE new ON HASH PREFIX 1 d: SCHEMA t TEXT')
      for (const filter of [
        '{}',
        '{"t":"red shoe"}',
        '{"t":{"$phrase":{"value":"red run","prefix":true}}}',
        '{"t":"w4"}',
      ]) {
        const found = (name: string) => {
          const rows = run(`SEARCH.QUERY ${name}`, filter, 'NOCONTENT') as [string, string][]
          return rows.map(String).sort()
        }
        expect(found('i')).toEqual(found('new'))
      }
      await sandbox.dispose()
    }),
    { numRuns: runs(5, 5, 60) },
  )
})

it('the cache of embedded texts is emptied when it needs too much memory', async () => {
  let calls = 0
  const run = running(
    await searchingSandbox({
      embed: (texts) => {
        if (texts.includes('cat')) calls++
        return texts.map(() => Float32Array.from([1]))
      },
    }),
  )
  run('SEARCH.CREATE i ON HASH PREFIX 1 d: SCHEMA t HYBRID')
  const search = (query: string) => run('SEARCH.QUERY i', JSON.stringify({ $ann: { field: 't', query } }))
  search('cat')
  search('cat')
  expect(calls).toBe(1)
  for (let at = 0; at < 80; at++) search(`${at}`.padEnd(1_000_000))
  search('cat')
  expect(calls).toBe(2)
})
