import { expect, it } from 'vitest'
import { Rest } from '../support/ask.js'
import { createScriptStore } from './scripting/script-store.js'

// A request can create the bytes of a gap without sending them: policy.maxWork counts a unit for each 32.

const tooMuch = expect.stringContaining('ERR max work exceeded. Limit: ')
const limit = 100_000
const most = 32 * limit

/** Commands that create a string of this many bytes, or extend one to it. */
const growing: readonly (readonly [name: string, words: (key: string, length: number) => (string | number)[]])[] = [
  ['SETRANGE', (key, length) => ['SETRANGE', key, length - 1, 'x']],
  ['SETBIT', (key, length) => ['SETBIT', key, 8 * length - 1, 1]],
  ['SETBIT of a zero', (key, length) => ['SETBIT', key, 8 * length - 1, 0]],
  ['BITFIELD SET', (key, length) => ['BITFIELD', key, 'SET', 'u8', `#${length - 1}`, 1]],
  ['BITFIELD INCRBY', (key, length) => ['BITFIELD', key, 'GET', 'u8', 0, 'INCRBY', 'u8', `#${length - 1}`, 1]],
]

it.each(growing)('%s charges a gap before it is created', (_, words) => {
  const { run, failure } = createScriptStore({ maxWork: limit })
  expect(failure(...words('k', most + 32))).toEqual(tooMuch)
  expect(run('EXISTS', 'k')).toBe(0)
  run(...words('k', most))
  expect(run('STRLEN', 'k')).toBe(most)
  // Copying existing bytes costs less, so a string can grow request by request.
  expect(failure(...words('k', 2 * most + 32))).toEqual(tooMuch)
  expect(run('STRLEN', 'k')).toBe(most)
  run(...words('k', most + most / 2))
  expect(run('STRLEN', 'k')).toBe(most + most / 2)
})

it('%s charges each reallocation of a long string, not each byte', () => {
  const { run, store } = createScriptStore()
  for (let megabytes = 64; megabytes <= 192; megabytes += 64) run('SETRANGE', 'k', megabytes * 1_048_576, 'x')
  const before = store.work.spent
  run('APPEND', 'k', 'x')
  const first = store.work.spent - before
  // The reallocation adds a megabyte and copies 192.
  expect(first).toBeGreaterThan((192 * 1_048_576) / 256)
  run('APPEND', 'k', 'x')
  expect(store.work.spent - before).toBe(first)
})

it('overwriting without growth costs nothing', () => {
  const { run, store } = createScriptStore()
  run('SETRANGE', 'k', 1_000_000, 'x')
  const before = store.work.spent
  run('SETRANGE', 'k', 0, 'x')
  run('SETBIT', 'k', 7_999_999, 1)
  run('BITFIELD', 'k', 'SET', 'u8', 0, 1)
  expect(store.work.spent - before).toBe(0)
})

it('the maximum length of redis-server is rejected with its error, for any remaining work', () => {
  const { failure } = createScriptStore({ maxWork: limit })
  const tooLong = expect.stringContaining('string exceeds maximum allowed size (proto-max-bulk-len)')
  expect(failure('SETRANGE', 'k', 536_870_912, 'x')).toEqual(tooLong)
  expect(failure('SETBIT', 'k', '4294967296', 1)).toContain('bit offset')
})

it('a script creates no more than one command', () => {
  const { run, failure } = createScriptStore({ maxWork: 40_000, maxScriptSteps: 40_000 })
  const script = 'for i=1,1000000000 do redis.pcall("SETRANGE","k"..i,ARGV[1],"x") end'
  expect(failure('EVAL', script, 0, 99_999)).toContain('Script killed')
  const keys = run('KEYS', '*') as unknown as string[]
  expect(keys.length).toBeGreaterThan(2)
  expect(keys.length * 100_000).toBeLessThanOrEqual(32 * 40_000)
})

it.each(['/pipeline', '/multi-exec'])('all rows of %s together create no more than one command', async (path) => {
  const rest = Rest.open({ policy: { maxWork: 40_000 } })
  const rows = Array.from({ length: 50 }, (_, at) => ['SETRANGE', `k${at}`, '99999', 'x'])
  const { json } = await rest.post(path, rows)
  expect((json as { error?: string }[]).at(-1)).toEqual({ error: tooMuch })
  const count = Number(await rest.run('DBSIZE'))
  expect(count).toBeGreaterThan(2)
  expect(count * 100_000).toBeLessThanOrEqual(32 * 40_000)
})
