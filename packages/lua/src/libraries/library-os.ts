import { vm } from '../runtime/activation.js'
import { library } from '../runtime/library-arguments.js'
import type { LuaTable } from '../runtime/lua-value.js'
import { remaining } from '../runtime/steps.js'

/** Steps that count as one second in `os.clock`. A real server runs about this many. */
const stepsPerSecond = 10_000_000

/**
 * Library `os`, which newer servers have. Its only function is `os.clock`. The time depends only on the steps of the
 * script, so it is the same in every run.
 */
export const osLibrary: LuaTable = library({
  clock: () => (vm.budget - remaining.steps) / stepsPerSecond,
})
