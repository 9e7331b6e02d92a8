import { expect, test } from 'vitest'
import { latin1 } from '../../../src/kernel/bytes.js'
import { prepareScript } from '../../../src/store/scripting/prepared-scripts.js'
import { createScriptStore } from './script-store.js'

// Creating and keeping values takes longer than a loop iteration: the host must allocate and collect them.

const times = 20_000

/** Returns the work of a script that does something this many times, once per iteration. */
function unitsOf(turn: string, prepared = ''): number {
  const { run, store } = createScriptStore()
  const before = store.work.spent
  run('EVAL', `local t={} ${prepared} for i=1,${times} do ${turn} end return 1`, 0)
  return (store.work.spent - before) / times
}

// Units by time, 25 ns each, measured with a script that keeps all values it creates until its budget ends.
test.each([
  ['a number in a list', 't[i]=i', 2],
  ['an empty table', 't[i]={}', 8],
  ['a table with a list', 't[i]={i}', 12],
  ['a table with a name', 't[i]={a=i}', 13],
  ['a table of all arguments', 't[i]=f(i)', 12],
  ['a closure', 't[i]=function() return i end', 17],
  ['a name in a large table', 't[-i]=i', 16],
  ['a joined string', 't[i]="a"..i', 4],
  ['a string of a library', 't[i]=string.rep("x",255)', 12],
  ['a short one', 't[i]=string.upper("x")', 5],
])('charges the steps of %s', (_, turn, units) => {
  expect(unitsOf(turn, 'local f=function(...) return {...} end')).toBeGreaterThanOrEqual(units)
})

test('charges tables in a coroutine the same', () => {
  const inside = unitsOf('', `coroutine.wrap(function() for i=1,${times} do t[i]={i} end end)()`)
  expect(inside).toBeGreaterThanOrEqual(11)
})

test('charges nothing for an existing element', () => {
  expect(unitsOf('t.a=i t[1]=i')).toBeLessThan(3)
})

test('lets ordinary scripts end: fifty thousand objects are read from JSON and counted', () => {
  const { run } = createScriptStore()
  const json = JSON.stringify(Array.from({ length: 50_000 }, (_, at) => ({ id: at, n: 'name' })))
  const script = 'local seen={} for _,o in ipairs(cjson.decode(ARGV[1])) do seen[o.id]=true end return #seen'
  expect(run('EVAL', script, 0, json)).toBe(49_999)
})

test.each([
  ['a table that doubles', 'local t={1,1} for i=1,40 do t={t,t} end return t'],
  ['pairs that double', 'local t={map={a=1,b=1}} for i=1,40 do t={map={a=t,b=t}} end return t'],
  [
    'a row that occurs in many places',
    'local r={} for i=1,1000 do r[i]=1 end local s={} for i=1,1000 do s[i]=r end local t={} for i=1,1000 do t[i]=s end return t',
  ],
])('charges a reply for each item: %s', (_, script) => {
  const { failure } = createScriptStore()
  expect(failure('EVAL', script, 0)).toContain('max work exceeded')
})

test('keeps compiled scripts by size, not only by number', () => {
  const source = (name: string) => latin1(`return '${name}${'x'.repeat(500_000)}'`)
  const first = prepareScript(source('a'))
  expect(prepareScript(source('a'))).toBe(first)
  for (const name of ['b', 'c']) prepareScript(source(name))
  expect(prepareScript(source('a'))).not.toBe(first)
})
