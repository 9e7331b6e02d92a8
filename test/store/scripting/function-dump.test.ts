import { expect, it } from 'vitest'
import { createScriptStore, type ScriptStore } from './script-store.js'

// FUNCTION DUMP and RESTORE. Replies as redis-server 7.0.15 gave them for the same libraries.

const library = (name: string, fn: string, value: string): string =>
  `#!lua name=${name}\nredis.register_function('${fn}', function() return '${value}' end)`

const libraries = (store: ScriptStore): unknown => (store.run('FUNCTION', 'LIST') as unknown[][]).map((each) => each[1])

function filled(...codes: string[]): ScriptStore {
  const store = createScriptStore()
  for (const code of codes) store.run('FUNCTION', 'LOAD', code)
  return store
}

const dump = filled(library('a', 'f', 'old'), library('b', 'g', '\u{1F600}')).run('FUNCTION', 'DUMP') as string

/** Words that are bytes already. */
const restore = (store: ScriptStore, ...mode: string[]): string =>
  store.execute(['FUNCTION', 'RESTORE', dump, ...mode]).trim()

it('brings libraries into another store', () => {
  const store = createScriptStore()
  expect(restore(store)).toBe('+OK')
  expect(libraries(store)).toEqual(['a', 'b'])
  expect(store.run('FCALL', 'f', 0)).toBe('old')
  expect(store.run('FCALL', 'g', 0)).toBe(Buffer.from('\u{1F600}').toString('latin1'))
})

it('does not append what is there already, and then changes nothing', () => {
  const store = filled(library('b', 'h', 'kept'))
  for (const mode of [[], ['APPEND']]) expect(restore(store, ...mode)).toBe('-ERR Library b already exists')
  expect(libraries(store)).toEqual(['b'])
  expect(store.run('FCALL', 'h', 0)).toBe('kept')
})

it('replaces libraries of the same name, and leaves the others', () => {
  const store = filled(library('a', 'gone', 'x'), library('other', 'h', 'kept'))
  expect(restore(store, 'replace')).toBe('+OK')
  expect(store.run('FCALL', 'f', 0)).toBe('old')
  expect(store.run('FCALL', 'h', 0)).toBe('kept')
  expect(store.failure('FCALL', 'gone', 0)).toBe('ERR Function not found')
})

it('refuses functions that another library has, and then changes nothing', () => {
  const store = filled(library('other', 'F', 'kept'))
  for (const mode of ['APPEND', 'REPLACE']) expect(restore(store, mode)).toBe('-ERR Function f already exists')
  expect(libraries(store)).toEqual(['other'])
})

it('flushes first when it is told to', () => {
  const store = filled(library('a', 'x', 'gone'), library('other', 'f', 'gone'))
  expect(restore(store, 'FLUSH')).toBe('+OK')
  expect(libraries(store)).toEqual(['a', 'b'])
  expect(store.run('FCALL', 'f', 0)).toBe('old')
})

it('an empty dump restores nothing, and FLUSH with it empties the store', () => {
  const nothing = createScriptStore().run('FUNCTION', 'DUMP') as string
  const store = filled(library('a', 'f', 'x'))
  expect(store.execute(['FUNCTION', 'RESTORE', nothing])).toBe('+OK\r\n')
  expect(libraries(store)).toEqual(['a'])
  expect(store.execute(['FUNCTION', 'RESTORE', nothing, 'FLUSH'])).toBe('+OK\r\n')
  expect(libraries(store)).toEqual([])
})

it('refuses what is damaged', () => {
  const damaged = dump.replace('old', 'odd')
  expect(damaged).not.toBe(dump)
  const text = '-ERR DUMP payload version or checksum are wrong\r\n'
  expect(createScriptStore().execute(['FUNCTION', 'RESTORE', damaged])).toBe(text)
})

it('a dump of functions is none of a key, and the other way round', () => {
  const store = createScriptStore()
  store.run('SET', 'k', 'v')
  const text = '-ERR DUMP payload version or checksum are wrong\r\n'
  expect(store.execute(['RESTORE', 'l', '0', dump])).toBe(text)
  expect(store.execute(['FUNCTION', 'RESTORE', store.run('DUMP', 'k') as string])).toBe(text)
})
