import type { Bytes } from '../../kernel/bytes.js'
import type { MachineState } from './activation.js'
import { call, enter, hostError } from './activation.js'
import type { Chunk } from './chunk.js'
import { load } from './chunk.js'
import { base } from './library-base.js'
import { bitLibrary } from './library-bit.js'
import { cjsonLibrary, initialJsonSettings } from './library-cjson.js'
import { cmsgpackLibrary } from './library-cmsgpack.js'
import { coroutineLibrary } from './library-coroutine.js'
import { initialRandom, mathLibrary } from './library-math.js'
import { stringLibrary } from './library-string.js'
import { structLibrary } from './library-struct.js'
import { tableLibrary } from './library-table.js'
import { plainText } from './operations.js'
import type { LuaFunction, Result, Value } from './value.js'
import { isMany, LuaTable } from './value.js'

export interface RunOptions {
  /** One unit per loop turn and call. When it is used up the run throws `BudgetExhausted`. */
  readonly steps: number
  /** Globals for this run alone, such as `KEYS` and `ARGV`. */
  readonly globals?: Readonly<Record<string, Value>>
}

/** One Lua state: its globals, its random sequence, its settings. */
export interface Machine {
  /** The table behind global names. Scripts cannot change it, the host can. */
  readonly globals: LuaTable
  /** Compiles, or finds compiled, a source. Throws `LuaSyntaxError`. */
  compile(source: Bytes, chunkName: string): Chunk
  /** Runs a chunk and gives all it returned. Throws `LuaError` and `BudgetExhausted`. */
  run(chunk: Chunk, options: RunOptions): readonly Value[]
  /** Calls a function that an earlier run left behind. */
  call(target: LuaFunction, args: readonly Value[], options: RunOptions): readonly Value[]
}

/**
 * Makes a machine with the libraries of redis and `host` functions beside them, such as `redis`. The libraries are
 * shared by all machines and read-only, so this costs microseconds.
 */
export function createMachine(host: Readonly<Record<string, Value>>): Machine {
  const globals = createGlobals(host)
  const state: MachineState = {
    addresses: new WeakMap(),
    addressCount: 0,
    random: initialRandom(),
    json: initialJsonSettings(),
  }
  const perform = (target: LuaFunction, args: readonly Value[], options: RunOptions): readonly Value[] =>
    enter(state, globals, options.steps, () => {
      for (const [name, value] of Object.entries(options.globals ?? {})) globals.set(name, value)
      const result = call(target, ...args)
      return isMany(result) ? result : [result as Value]
    })
  return {
    globals,
    compile: (source, chunkName) => load(source, chunkName),
    run: (chunk, options) => perform(chunk(), [], options),
    call: perform,
  }
}

/** What a script finds as globals; the dangerous rest of Lua is not there. */
function createGlobals(host: Readonly<Record<string, Value>>): LuaTable {
  const globals = new LuaTable()
  for (const [name, value] of shared) globals.set(name, value)
  for (const [name, value] of Object.entries(host)) globals.set(name, value)
  globals.set('_G', globals)
  globals.meta = protection
  globals.isReadonly = true
  return globals
}

const shared: readonly (readonly [string, Value])[] = [
  ...Object.entries(base),
  ['_VERSION', 'Lua 5.1'],
  ['bit', bitLibrary],
  ['cjson', cjsonLibrary],
  ['cmsgpack', cmsgpackLibrary],
  ['coroutine', coroutineLibrary],
  ['math', mathLibrary],
  ['string', stringLibrary],
  ['struct', structLibrary],
  ['table', tableLibrary],
]

/** Reading an unknown global is an error, so that a typing mistake does not pass for nil. */
const protection = new LuaTable()
protection.set('__index', (_table: Value, name: Value): Result => {
  throw hostError(`Script attempted to access nonexistent global variable '${plainText(name)}'`)
})
protection.isReadonly = true
