import { expect, it } from 'vitest'
import { createScriptStore, type ScriptStore } from './script-store.js'

// FUNCTION DUMP and RESTORE. Replies recorded from redis-server 7.0.15 for the same libraries.

const library = (name: string, fn: string, value: string): string =>
  `#!lua name=${name}\nredis.register_function('${fn}', function() return '${value}' end)`

const libraries = (store: ScriptStore): unknown => (store.run('FUNCTION', 'LIST') as unknown[][]).map((each) => each[1])

function filled(...codes: string[]): ScriptStore {
  const store = createScriptStore()
  for (const code of codes) store.run('FUNCTION', 'LOAD', code)
  return store
}

const dump = filled(library('a', 'f', 'old'), library('b', 'g', '\u{1F600}')).run('FUNCTION', 'DUMP') as string

/** Arguments that are already bytes. */
const restore = (store: ScriptStore, ...mode: string[]): string =>
  store.execute(['FUNCTION', 'RESTORE', dump, ...mode]).trim()

it('adds libraries to another store', () => {
  const store = createScriptStore()
  expect(restore(store)).toBe('+OK')
  expect(libraries(store)).toEqual(['a', 'b'])
  expect(store.run('FCALL', 'f', 0)).toBe('old')
  expect(store.run('FCALL', 'g', 0)).toBe(Buffer.from('\u{1F600}').toString('latin1'))
})

it('rejects APPEND of an existing library without a change', () => {
  const store = filled(library('b', 'h', 'kept'))
  for (const mode of [[], ['APPEND']]) expect(restore(store, ...mode)).toBe('-ERR Library b already exists')
  expect(libraries(store)).toEqual(['b'])
  expect(store.run('FCALL', 'h', 0)).toBe('kept')
})

it('replaces libraries with the same name, and keeps the others', () => {
  const store = filled(library('a', 'gone', 'x'), library('other', 'h', 'kept'))
  expect(restore(store, 'replace')).toBe('+OK')
  expect(store.run('FCALL', 'f', 0)).toBe('old')
  expect(store.run('FCALL', 'h', 0)).toBe('kept')
  expect(store.failure('FCALL', 'gone', 0)).toBe('ERR Function not found')
})

it('rejects functions that another library has, without a change', () => {
  const store = filled(library('other', 'F', 'kept'))
  for (const mode of ['APPEND', 'REPLACE']) expect(restore(store, mode)).toBe('-ERR Function f already exists')
  expect(libraries(store)).toEqual(['other'])
})

it('deletes all libraries first with FLUSH', () => {
  const store = filled(library('a', 'x', 'gone'), library('other', 'f', 'gone'))
  expect(restore(store, 'FLUSH')).toBe('+OK')
  expect(libraries(store)).toEqual(['a', 'b'])
  expect(store.run('FCALL', 'f', 0)).toBe('old')
})

it('restores nothing from an empty dump, which FLUSH uses to empty the store', () => {
  const nothing = createScriptStore().run('FUNCTION', 'DUMP') as string
  const store = filled(library('a', 'f', 'x'))
  expect(store.execute(['FUNCTION', 'RESTORE', nothing])).toBe('+OK\r\n')
  expect(libraries(store)).toEqual(['a'])
  expect(store.execute(['FUNCTION', 'RESTORE', nothing, 'FLUSH'])).toBe('+OK\r\n')
  expect(libraries(store)).toEqual([])
})

it('rejects damaged payloads', () => {
  const damaged = dump.replace('old', 'odd')
  expect(damaged).not.toBe(dump)
  const text = '-ERR DUMP payload version or checksum are wrong\r\n'
  expect(createScriptStore().execute(['FUNCTION', 'RESTORE', damaged])).toBe(text)
})

it('does not exchange payloads of functions and keys', () => {
  const store = createScriptStore()
  store.run('SET', 'k', 'v')
  const text = '-ERR DUMP payload version or checksum are wrong\r\n'
  expect(store.execute(['RESTORE', 'l', '0', dump])).toBe(text)
  expect(store.execute(['FUNCTION', 'RESTORE', store.run('DUMP', 'k') as string])).toBe(text)
})
