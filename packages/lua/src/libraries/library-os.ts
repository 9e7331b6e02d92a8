import { vm } from '../runtime/activation.js'
import { library } from '../runtime/library-arguments.js'
import type { LuaTable } from '../runtime/lua-value.js'
import { remaining } from '../runtime/steps.js'

/** Steps that count as a second of a script's time, about what a real server does in one. */
const stepsPerSecond = 10_000_000

/** Newer servers have this one function of `os`. The time is that of the script alone, and the same in every run. */
export const osLibrary: LuaTable = library({
  clock: () => (vm.budget - remaining.steps) / stepsPerSecond,
})
