import type { LinkedFunction } from '../compiler/compile.js'
import { runCoroutine, yieldFunction } from '../compiler/compile-yielding.js'
import {
  argumentError,
  hostErrorValue,
  isStackOverflow,
  LuaError,
  stackOverflow,
  vm,
  where,
} from '../runtime/activation.js'
import type { Arguments } from '../runtime/library-arguments.js'
import { library } from '../runtime/library-arguments.js'
import type { LuaTable, LuaValue, Result } from '../runtime/lua-value.js'
import { all, Coroutine, oneNil } from '../runtime/lua-value.js'
import { charge } from '../runtime/steps.js'

function checkCoroutine(args: Arguments): Coroutine {
  const value = args[0]
  if (!(value instanceof Coroutine)) throw argumentError(1, 'coroutine expected')
  return value
}

function makeCoroutine(args: Arguments): Coroutine {
  const [target] = args
  const { code, upvalues } = (typeof target === 'function' ? target : {}) as Partial<LinkedFunction>
  if (code === undefined || upvalues === undefined) throw argumentError(1, 'Lua function expected')
  charge(8)
  return new Coroutine((first) => runCoroutine(code, upvalues, first))
}

/** Number of JavaScript frames that the resumption of a coroutine uses. */
const framesOfResume = 16

/** Runs a coroutine until it yields or ends. Returns the values, or the error that ended the coroutine. */
function resume(coroutine: Coroutine, args: readonly LuaValue[]): readonly LuaValue[] | LuaError {
  if (coroutine.status !== 'suspended') return new LuaError(`cannot resume ${coroutine.status} coroutine`)
  const { depth, room, sites, coroutine: resumer } = vm
  const needed = coroutine.room + framesOfResume
  if (room < needed) stackOverflow(sites[depth - 1]!)
  if (resumer !== undefined) resumer.status = 'normal'
  coroutine.status = 'running'
  vm.coroutine = coroutine
  vm.sites = coroutine.sites
  vm.depth = coroutine.depth
  vm.room = room - needed
  let isOver = true
  try {
    const step = advance(coroutine, args)
    isOver = step.done === true
    coroutine.depth = vm.depth
    coroutine.room = room - framesOfResume - vm.room
    return all(step.value)
  } catch (problem) {
    if (problem instanceof LuaError) return problem
    if (isStackOverflow(problem)) return new LuaError('stack overflow')
    throw problem
  } finally {
    coroutine.status = isOver ? 'dead' : 'suspended'
    if (isOver) coroutine.steps = undefined
    if (resumer !== undefined) resumer.status = 'running'
    vm.coroutine = resumer
    vm.sites = sites
    vm.depth = depth
    vm.room = room
  }
}

function advance(coroutine: Coroutine, args: readonly LuaValue[]): IteratorResult<Result, Result> {
  const { start, steps } = coroutine
  if (start === undefined) return steps!.next(args)
  coroutine.start = undefined
  coroutine.steps = start(args)
  return coroutine.steps.next(args)
}

export const coroutineLibrary: LuaTable = library({
  create: (...args: LuaValue[]) => makeCoroutine(args),
  resume: (...args: LuaValue[]): Result => {
    const outcome = resume(checkCoroutine(args), args.slice(1))
    return outcome instanceof LuaError ? [false, outcome.value] : [true, ...outcome]
  },
  running: (): Result => vm.coroutine ?? oneNil,
  status: (...args: LuaValue[]) => checkCoroutine(args).status,
  wrap: (...args: LuaValue[]): Result => {
    const coroutine = makeCoroutine(args)
    return (...values: LuaValue[]): Result => {
      const outcome = resume(coroutine, values)
      if (!(outcome instanceof LuaError)) return outcome
      const { value } = outcome
      throw hostErrorValue(typeof value === 'string' ? where(1) + value : value)
    }
  },
  yield: yieldFunction,
})
