import { vm } from '../runtime/activation.js'
import { library } from '../runtime/library-arguments.js'
import type { LuaTable } from '../runtime/lua-value.js'
import { remaining } from '../runtime/steps.js'

/** Steps that count as a second of script time, approximately the speed of a real server. */
const stepsPerSecond = 10_000_000

/**
 * Library `os` with its only function, `os.clock`, which newer servers have. It returns the time of the script alone,
 * which is the same in every run.
 */
export const osLibrary: LuaTable = library({
  clock: () => (vm.budget - remaining.steps) / stepsPerSecond,
})
