// Cost of a script: over fengari, which ioredis-mock uses for scripts, and over the commands in the script.
import { createRequire } from 'node:module'
import type { Figure, Variant } from '../harness.ts'
import { rateLimitScripts, type Script } from '../rate-limit-scripts.ts'
import { type Argv, loneStore, type StoreEngine, words } from '../store.ts'

const require = createRequire(import.meta.url)

// biome-ignore lint/suspicious/noExplicitAny: fengari has no types
type Fengari = any

const others: readonly Script[] = [
  { name: 'return 1', source: 'return 1', keys: [], args: [] },
  { name: 'one redis.call', source: "return redis.call('get', KEYS[1])", keys: ['k'], args: [] },
  {
    name: '100 redis.call',
    source: "for i = 1, 100 do redis.call('get', KEYS[1]) end return 1",
    keys: ['k'],
    args: [],
  },
  {
    name: 'arithmetic, 10,000 turns',
    source: 'local s = 0 for i = 1, 10000 do s = s + i % 7 * 2 end return s',
    keys: [],
    args: [],
  },
  {
    name: 'tables and strings',
    source:
      "local t = {} for i = 1, 200 do t[#t + 1] = {id = i, name = 'n' .. i} end local s = '' for i, v in ipairs(t) do s = s .. v.name:upper() end return #s",
    keys: [],
    args: [],
  },
]

function evaluating(name: string, store: StoreEngine, script: Script): Variant {
  const argv: Argv = words('EVAL', script.source, script.keys.length, ...script.keys, ...script.args)
  return repeated(name, () => store.execute(argv))
}

function repeated(name: string, run: () => unknown): Variant {
  return {
    name,
    run(times) {
      for (let count = 0; count < times; count++) run()
    },
  }
}

/** fengari with a compiled chunk, whose `redis.call` uses the same kind of store. */
function fengari(store: StoreEngine, script: Script): Variant {
  const { lua, lauxlib, lualib, to_luastring, to_jsstring }: Fengari = require('fengari')
  const state = lauxlib.luaL_newstate()
  // Its Lua is 5.3, which formats whole floats as `1.0`; commands would reject them.
  const word = (running: Fengari, at: number): string =>
    lua.lua_type(running, at) === lua.LUA_TNUMBER
      ? String(lua.lua_tonumber(running, at))
      : to_jsstring(lua.lua_tostring(running, at))
  lualib.luaL_openlibs(state)
  lua.lua_createtable(state, 0, 1)
  lua.lua_pushcfunction(state, (running: Fengari) => {
    const argv: string[] = []
    for (let at = 1; at <= lua.lua_gettop(running); at++) argv.push(word(running, at))
    push(lua, to_luastring, running, store.execute(words(...argv)))
    return 1
  })
  lua.lua_setfield(state, -2, to_luastring('call'))
  lua.lua_setglobal(state, to_luastring('redis'))
  const body = script.source.replace(/^#![^\n]*/, '')
  if (lauxlib.luaL_loadstring(state, to_luastring(body)) !== 0) throw new Error(lua.lua_tojsstring(state, -1))
  const chunk = lauxlib.luaL_ref(state, lua.LUA_REGISTRYINDEX)
  return repeated('fengari', () => {
    pushList(lua, to_luastring, state, script.keys)
    lua.lua_setglobal(state, to_luastring('KEYS'))
    pushList(lua, to_luastring, state, script.args)
    lua.lua_setglobal(state, to_luastring('ARGV'))
    lua.lua_rawgeti(state, lua.LUA_REGISTRYINDEX, chunk)
    if (lua.lua_pcall(state, 0, 1, 0) !== 0) throw new Error(lua.lua_tojsstring(state, -1))
    lua.lua_settop(state, 0)
  })
}

function push(lua: Fengari, toLua: (text: string) => unknown, state: Fengari, reply: unknown): void {
  if (typeof reply === 'number') lua.lua_pushnumber(state, reply)
  else if (typeof reply === 'string') lua.lua_pushstring(state, toLua(reply))
  else if (Array.isArray(reply)) {
    lua.lua_createtable(state, reply.length, 0)
    reply.forEach((item, at) => {
      push(lua, toLua, state, item)
      lua.lua_rawseti(state, -2, at + 1)
    })
  } else lua.lua_pushboolean(state, reply !== null)
}

function pushList(lua: Fengari, toLua: (text: string) => unknown, state: Fengari, items: readonly string[]): void {
  push(lua, toLua, state, items)
}

const figureOver = (script: Script, goal: Readonly<Record<string, number>>): Figure => ({
  name: `EVAL of ${script.name} over fengari with a cached chunk`,
  baseline: fengari(loneStore(), script),
  variants: [evaluating('ours', loneStore(), script)],
  atMost: goal,
})

const overFengari = [
  ...rateLimitScripts().map((script) => (): Figure => figureOver(script, { ours: 0.25 })),
  // For comparison, without a goal.
  ...others.map((script) => (): Figure => figureOver(script, {})),
]

function overCommand(): Figure {
  const store = loneStore()
  store.execute(words('SET', 'k', 'value'))
  const get = words('GET', 'k')
  const calls = words('EVAL', "for i = 1, 1000 do redis.call('get', KEYS[1]) end", 1, 'k')
  return {
    name: 'a command in a script over the command itself, 1000 times',
    baseline: repeated('GET', () => {
      for (let count = 0; count < 1000; count++) store.execute(get)
    }),
    variants: [repeated('redis.call', () => store.execute(calls))],
    atMost: { 'redis.call': 4 },
  }
}

function endless(): Figure {
  const store = loneStore()
  const variants = [
    ['loop', 'while true do end'],
    ['calls', 'local function f() end while true do f() end'],
    ['pattern', "string.find(string.rep('a', 60), string.rep('a?', 60) .. string.rep('a', 60))"],
  ].map(([name, source]) => {
    const argv = words('EVAL', source!, 0)
    return repeated(name!, () => {
      try {
        store.execute(argv)
      } catch {
        // That it is stopped is what is measured.
      }
    })
  })
  const million = 1_000_000 / store.options.policy.maxScriptSteps
  return {
    name: 'an endless script until it is stopped',
    baseline: variants[0]!,
    variants: variants.slice(1),
    // 50 ms for a million steps.
    within: Object.fromEntries(variants.map(({ name }) => [name, 50_000 / million])),
    times: 1,
    rounds: 5,
  }
}

export const figures: readonly (() => Figure)[] = [...overFengari, overCommand, endless]
