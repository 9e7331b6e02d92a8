import { settle, stackOverflow, TailCall, vm } from '../runtime/activation.js'
import type { CallSite, LuaFunction, LuaValue, Result } from '../runtime/lua-value.js'
import { isMany, LuaTable, oneNil } from '../runtime/lua-value.js'
import type { OperationSite } from '../runtime/operations.js'
import { callValue, index } from '../runtime/operations.js'
import { exhausted, remaining } from '../runtime/steps.js'
import type { CallNode, Expression, MethodNode } from '../syntax/syntax-tree.js'
import type { Compiler, Evaluate, EvaluateAll } from './frame.js'
import { isMulti, titleOf } from './operands.js'

/**
 * How the values that a call returns are used: only the first value, all values, or as the result of the calling
 * function.
 */
export type WantedValues = 'one' | 'all' | 'tail'

/**
 * If fewer JavaScript frames than this remain, tail calls are deferred. Otherwise a long chain of tail calls would use
 * up the stack.
 */
export const roomForTailCalls = 4800

/**
 * Begins a call. Deducts one step and the JavaScript frames, and records the call site.
 * @param weight number of JavaScript frames that the call uses
 * @returns the call depth, which must be restored after the call
 */
export function begin(site: CallSite, weight: number): number {
  if (--remaining.steps < 0) exhausted()
  vm.room -= weight
  if (vm.room < 0) stackOverflow(site)
  const { depth } = vm
  vm.sites[depth] = site
  vm.depth = depth + 1
  return depth
}

/** Runs the deferred tail calls of a result. With `isOne`, returns only the first value. */
function reduce(result: readonly LuaValue[], isOne: boolean): Result {
  const settled = result instanceof TailCall ? settle(result) : result
  return isOne && isMany(settled) ? settled[0] : settled
}

export interface CallParts {
  readonly operation: OperationSite
  /** Number of JavaScript frames from the entry of the function to this call. */
  readonly weight: number
}

/** JavaScript frames of a call: one for the closure that calls, and one for the function and its body. */
const framesOfCall = 2
/** JavaScript frames of a call whose arguments are an array, which is spread. */
const framesOfOpenCall = 4

export function callParts(compiler: Compiler, node: CallNode | MethodNode, want: WantedValues): CallParts {
  const name = node.kind === 'method' ? node.name : calledName(node.target)
  const left = node.kind === 'method' ? `method '${node.name}'` : titleOf(node.target)
  const site = compiler.site(node.line, name, node.kind === 'method', want === 'tail')
  const isOpen = node.kind === 'method' || node.args.length > 3 || isMulti(node.args.at(-1))
  const weight = compiler.nesting + (isOpen ? framesOfOpenCall : framesOfCall)
  return { operation: { site, left, right: undefined }, weight }
}

/** Returns the function name that the error `bad argument #1 to '…'` contains. */
function calledName(target: Expression): string | undefined {
  switch (target.kind) {
    case 'local':
      return target.local.name
    case 'upvalue':
    case 'global':
      return target.name
    case 'index':
      return target.key.kind === 'string' ? target.key.value : '?'
    case 'single':
      return calledName(target.inner)
    default:
      return undefined
  }
}

export function callExpression(compiler: Compiler, node: CallNode | MethodNode, want: WantedValues): EvaluateAll {
  const parts = callParts(compiler, node, want)
  const { args } = node
  const last = args[args.length - 1]
  const isOpen = isMulti(last)
  const fixed = (isOpen ? args.slice(0, -1) : args).map((each) => compiler.expression(each))
  const rest = isOpen ? compiler.all(last!) : undefined
  if (node.kind === 'method') {
    return methodCall(compiler.expression(node.object), node, fixed, rest, parts, want)
  }
  const target = compiler.expression(node.target)
  if (rest !== undefined) return openCall(target, fixed, rest, parts, want)
  switch (fixed.length) {
    case 0:
      return callWithNone(target, parts, want)
    case 1:
      return callWithOne(target, fixed[0]!, parts, want)
    case 2:
      return callWithTwo(target, fixed[0]!, fixed[1]!, parts, want)
    case 3:
      return callWithThree(target, fixed[0]!, fixed[1]!, fixed[2]!, parts, want)
    default:
      return openCall(target, fixed, undefined, parts, want)
  }
}

function callWithNone(target: Evaluate, { operation, weight }: CallParts, want: WantedValues): EvaluateAll {
  if (want === 'tail') return (frame) => tailCall(target(frame), [], operation, weight)
  const isOne = want === 'one'
  const { site } = operation
  return (frame) => {
    const callee = target(frame)
    const depth = begin(site, weight)
    const result = typeof callee === 'function' ? callee() : callValue(operation, callee, [])
    const value = isMany(result) ? reduce(result, isOne) : result
    vm.depth = depth
    vm.room += weight
    return value
  }
}

function callWithOne(
  target: Evaluate,
  one: Evaluate,
  { operation, weight }: CallParts,
  want: WantedValues,
): EvaluateAll {
  if (want === 'tail') return (frame) => tailCall(target(frame), [one(frame)], operation, weight)
  const isOne = want === 'one'
  const { site } = operation
  return (frame) => {
    const callee = target(frame)
    const a = one(frame)
    const depth = begin(site, weight)
    const result = typeof callee === 'function' ? callee(a) : callValue(operation, callee, [a])
    const value = isMany(result) ? reduce(result, isOne) : result
    vm.depth = depth
    vm.room += weight
    return value
  }
}

function callWithTwo(
  target: Evaluate,
  one: Evaluate,
  two: Evaluate,
  { operation, weight }: CallParts,
  want: WantedValues,
): EvaluateAll {
  if (want === 'tail') return (frame) => tailCall(target(frame), [one(frame), two(frame)], operation, weight)
  const isOne = want === 'one'
  const { site } = operation
  return (frame) => {
    const callee = target(frame)
    const a = one(frame)
    const b = two(frame)
    const depth = begin(site, weight)
    const result = typeof callee === 'function' ? callee(a, b) : callValue(operation, callee, [a, b])
    const value = isMany(result) ? reduce(result, isOne) : result
    vm.depth = depth
    vm.room += weight
    return value
  }
}

function callWithThree(
  target: Evaluate,
  one: Evaluate,
  two: Evaluate,
  three: Evaluate,
  { operation, weight }: CallParts,
  want: WantedValues,
): EvaluateAll {
  if (want === 'tail') {
    return (frame) => tailCall(target(frame), [one(frame), two(frame), three(frame)], operation, weight)
  }
  const isOne = want === 'one'
  const { site } = operation
  return (frame) => {
    const callee = target(frame)
    const a = one(frame)
    const b = two(frame)
    const c = three(frame)
    const depth = begin(site, weight)
    const result = typeof callee === 'function' ? callee(a, b, c) : callValue(operation, callee, [a, b, c])
    const value = isMany(result) ? reduce(result, isOne) : result
    vm.depth = depth
    vm.room += weight
    return value
  }
}

function openCall(
  target: Evaluate,
  fixed: readonly Evaluate[],
  rest: EvaluateAll | undefined,
  { operation, weight }: CallParts,
  want: WantedValues,
): EvaluateAll {
  return (frame) => {
    const callee = target(frame)
    const args: LuaValue[] = []
    for (let at = 0; at < fixed.length; at++) args.push(fixed[at]!(frame))
    if (rest !== undefined) appendResult(args, rest(frame))
    return dispatch(callee, args, operation, weight, want)
  }
}

function methodCall(
  object: Evaluate,
  node: MethodNode,
  fixed: readonly Evaluate[],
  rest: EvaluateAll | undefined,
  { operation, weight }: CallParts,
  want: WantedValues,
): EvaluateAll {
  const { name } = node
  const lookup: OperationSite = { ...operation, left: titleOf(node.object) }
  return (frame) => {
    const self = object(frame)
    const callee = method(self, name, lookup)
    const args: LuaValue[] = [self]
    for (let at = 0; at < fixed.length; at++) args.push(fixed[at]!(frame))
    if (rest !== undefined) appendResult(args, rest(frame))
    return dispatch(callee, args, operation, weight, want)
  }
}

export function method(self: LuaValue, name: string, lookup: OperationSite): LuaValue {
  if (self instanceof LuaTable) {
    const own = self.getString(name)
    if (own !== undefined) return own
  }
  return index(self, name, lookup)
}

export function appendResult(args: LuaValue[], result: Result): void {
  if (isMany(result)) for (let at = 0; at < result.length; at++) args.push(result[at])
  else args.push(result as LuaValue)
}

function dispatch(
  callee: LuaValue,
  args: LuaValue[],
  operation: OperationSite,
  weight: number,
  want: WantedValues,
): Result {
  if (want === 'tail') return tailCall(callee, args, operation, weight)
  const depth = begin(operation.site, weight)
  const result = typeof callee === 'function' ? callee(...args) : callValue(operation, callee, args)
  const value = isMany(result) ? reduce(result, want === 'one') : result
  vm.depth = depth
  vm.room += weight
  return value
}

function tailCall(callee: LuaValue, args: LuaValue[], operation: OperationSite, weight: number): Result {
  if (vm.room < roomForTailCalls && typeof callee === 'function') return putOff(callee, args, operation.site)
  const depth = begin(operation.site, weight)
  const result = typeof callee === 'function' ? callee(...args) : callValue(operation, callee, args)
  vm.depth = depth
  vm.room += weight
  // If the function continues, a statement returns `undefined`. The result nil of a function is therefore an array with
  // one nil.
  return result === undefined ? oneNil : result
}

export function putOff(target: LuaFunction, args: readonly LuaValue[], site: CallSite): TailCall {
  const postponed = new TailCall()
  for (let at = 0; at < args.length; at++) postponed.push(args[at])
  postponed.target = target
  postponed.site = site
  return postponed
}
