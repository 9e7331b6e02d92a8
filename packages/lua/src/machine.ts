import { base } from './libraries/library-base.js'
import { bitLibrary } from './libraries/library-bit.js'
import { cjsonLibrary, initialJsonSettings } from './libraries/library-cjson.js'
import { cmsgpackLibrary } from './libraries/library-cmsgpack.js'
import { coroutineLibrary } from './libraries/library-coroutine.js'
import { initialRandom, mathLibrary } from './libraries/library-math.js'
import { osLibrary } from './libraries/library-os.js'
import { stringLibrary } from './libraries/library-string.js'
import { structLibrary } from './libraries/library-struct.js'
import { tableLibrary } from './libraries/library-table.js'
import type { Budget, MachineState, RandomState } from './runtime/activation.js'
import { call, enter, hostError } from './runtime/activation.js'
import type { LuaFunction, LuaValue, Result } from './runtime/lua-value.js'
import { isMany, LuaTable } from './runtime/lua-value.js'
import { plainText } from './runtime/operations.js'

/** Lua machine. It keeps the state that is not in tables from one run to the next. */
export interface Machine {
  /**
   * Calls a function and returns all its results. A call, or a loop iteration, of usual length costs one step of the
   * budget.
   * @param environment table of the globals
   * @throws LuaError when the function fails, and `BudgetExhausted` when the steps are used up
   */
  run(target: LuaFunction, args: readonly LuaValue[], environment: LuaTable, budget: Budget): readonly LuaValue[]
}

/** Creates a machine. All machines share the read-only libraries, so a new machine needs little time and memory. */
export function createMachine(random: RandomState = initialRandom()): Machine {
  const state: MachineState = { addresses: new WeakMap(), addressCount: 0, random, json: initialJsonSettings() }
  return {
    run: (target, args, environment, budget) =>
      enter(state, environment, budget, () => {
        const result = call(target, ...args)
        return isMany(result) ? result : [result]
      }),
  }
}

/**
 * Returns the globals of a script: the libraries of redis-server, without the dangerous functions of Lua, and the
 * values of the host. Only the host can change the table.
 */
export function createEnvironment(host: Readonly<Record<string, LuaValue>>): LuaTable {
  const globals = new LuaTable()
  for (const [name, value] of shared) globals.set(name, value)
  globals.set('_G', globals)
  return closeEnvironment(globals, host)
}

/** Returns globals that contain only the values of the host. A function library is loaded with them. */
export function createBareEnvironment(host: Readonly<Record<string, LuaValue>>): LuaTable {
  return closeEnvironment(new LuaTable(), host)
}

function closeEnvironment(globals: LuaTable, host: Readonly<Record<string, LuaValue>>): LuaTable {
  for (const [name, value] of Object.entries(host)) globals.set(name, value)
  globals.meta = protection
  globals.isReadonly = true
  return globals
}

const shared: readonly (readonly [string, LuaValue])[] = [
  ...Object.entries(base),
  ['_VERSION', 'Lua 5.1'],
  ['bit', bitLibrary],
  ['cjson', cjsonLibrary],
  ['cmsgpack', cmsgpackLibrary],
  ['coroutine', coroutineLibrary],
  ['math', mathLibrary],
  ['os', osLibrary],
  ['string', stringLibrary],
  ['struct', structLibrary],
  ['table', tableLibrary],
]

/** Metatable of the globals. Reading an unknown name throws an error. A misspelled name would otherwise be nil. */
export const protection: LuaTable = new LuaTable()
protection.set('__index', (_table: LuaValue, name: LuaValue): Result => {
  throw hostError(`Script attempted to access nonexistent global variable '${plainText(name)}'`)
})
protection.isReadonly = true
