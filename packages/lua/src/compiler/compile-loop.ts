import { errorAt, settle, TailCall, vm } from '../runtime/activation.js'
import type { CallSite, Cursor, LuaValue } from '../runtime/lua-value.js'
import { isMany, LuaTable } from '../runtime/lua-value.js'
import type { OperationSite } from '../runtime/operations.js'
import { callValue, toNumber } from '../runtime/operations.js'
import { exhausted, remaining } from '../runtime/steps.js'
import { next, nextIndex } from '../runtime/traversal.js'
import type { Statement } from '../syntax/syntax-tree.js'
import { initialiser, valueList } from './compile-assignment.js'
import { begin } from './compile-call.js'
import type { Compiler, Execute, Frame } from './frame.js'
import { broken, capture } from './frame.js'

export function whileLoop(compiler: Compiler, node: Statement & { kind: 'while' }): Execute {
  const condition = compiler.condition(node.condition)
  const body = compiler.block(node.body)
  return (frame) => {
    while (condition(frame)) {
      if (--remaining.steps < 0) exhausted()
      const end = body(frame)
      if (end !== undefined) {
        if (end === broken) break
        return end
      }
    }
    return undefined
  }
}

export function repeatLoop(compiler: Compiler, node: Statement & { kind: 'repeat' }): Execute {
  const body = compiler.block(node.body)
  const condition = compiler.condition(node.condition)
  return (frame) => {
    do {
      if (--remaining.steps < 0) exhausted()
      const end = body(frame)
      if (end !== undefined) {
        if (end === broken) break
        return end
      }
    } while (!condition(frame))
    return undefined
  }
}

export function numericFor(compiler: Compiler, node: Statement & { kind: 'numeric-for' }): Execute {
  const start = compiler.expression(node.start)
  const limit = compiler.expression(node.limit)
  const step = node.step === undefined ? undefined : compiler.expression(node.step)
  const body = compiler.block(node.body)
  const site = compiler.site(node.line)
  const { slot, isCaptured } = node.local
  return (frame) => {
    const range = loopRange(start(frame), limit(frame), step === undefined ? 1 : step(frame), site)
    const { last, by } = range
    for (let at = range.start; by > 0 ? at <= last : at >= last; at += by) {
      if (--remaining.steps < 0) exhausted()
      frame[slot] = isCaptured ? capture(at) : at
      const end = body(frame)
      if (end !== undefined) {
        if (end === broken) break
        return end
      }
    }
    return undefined
  }
}

export function loopRange(
  start: LuaValue,
  limit: LuaValue,
  step: LuaValue,
  site: CallSite,
): { start: number; last: number; by: number } {
  const from = toNumber(start)
  if (from === undefined) throw errorAt(site, "'for' initial value must be a number")
  const last = toNumber(limit)
  if (last === undefined) throw errorAt(site, "'for' limit must be a number")
  const by = toNumber(step)
  if (by === undefined) throw errorAt(site, "'for' step must be a number")
  // The reference implementation first subtracts the step from the start and then adds it. With a huge step or NaN,
  // this changes the result.
  return { start: from - by + by, last, by }
}

/** Name that errors use for the function that a `for` loop calls. */
const generatorName = '(for generator)'

export interface GenericLoop {
  readonly evaluate: (frame: Frame) => readonly LuaValue[]
  readonly put: readonly ((frame: Frame, value: LuaValue) => void)[]
  readonly operation: OperationSite
  readonly weight: number
}

export function genericLoop(compiler: Compiler, node: Statement & { kind: 'generic-for' }): GenericLoop {
  return {
    evaluate: valueList(compiler, node.values, 3),
    put: node.locals.map(initialiser),
    operation: { site: compiler.site(node.line, generatorName), left: undefined, right: undefined },
    weight: compiler.nesting + 2,
  }
}

export function genericFor(compiler: Compiler, node: Statement & { kind: 'generic-for' }): Execute {
  const loop = genericLoop(compiler, node)
  const { put } = loop
  const body = compiler.block(node.body)
  const [first, second] = put
  return (frame) => {
    const advance = iterator(loop, loop.evaluate(frame))
    for (;;) {
      if (--remaining.steps < 0) exhausted()
      const turn = advance()
      if (turn === undefined) return undefined
      first!(frame, turn.key)
      if (second !== undefined) second(frame, turn.value)
      for (let at = 2; at < put.length; at++) put[at]!(frame, turn.rest?.[at])
      const end = body(frame)
      if (end !== undefined) {
        if (end === broken) return undefined
        return end
      }
    }
  }
}

interface Turn {
  key: LuaValue
  value: LuaValue
  /** All values of the iteration, if there can be more than two, otherwise `undefined`. */
  rest: readonly LuaValue[] | undefined
}

/**
 * Returns a function for a `for … in` loop. Each call of this function returns the values of the next iteration, or
 * `undefined` at the end of the loop. All calls return the same object.
 */
export function iterator(loop: GenericLoop, [callee, state, control]: readonly LuaValue[]): () => Turn | undefined {
  const turn: Turn = { key: control, value: undefined, rest: undefined }
  if (state instanceof LuaTable) {
    if (callee === next && control === undefined) return walk(state.cursor(), turn)
    if (callee === nextIndex && control === 0) return count(state, turn)
  }
  const { operation, weight } = loop
  return () => {
    const depth = begin(operation.site, weight)
    const { key } = turn
    const result = typeof callee === 'function' ? callee(state, key) : callValue(operation, callee, [state, key])
    const settled = result instanceof TailCall ? settle(result) : result
    vm.depth = depth
    vm.room += weight
    if (isMany(settled)) {
      turn.key = settled[0]
      turn.value = settled[1]
      turn.rest = settled
    } else {
      turn.key = settled as LuaValue
      turn.value = undefined
      turn.rest = undefined
    }
    return turn.key === undefined ? undefined : turn
  }
}

function walk(cursor: Cursor, turn: Turn): () => Turn | undefined {
  return () => {
    if (!cursor.advance()) return undefined
    turn.key = cursor.key
    turn.value = cursor.value
    return turn
  }
}

function count(table: LuaTable, turn: Turn): () => Turn | undefined {
  let at = 0
  return () => {
    turn.key = ++at
    turn.value = table.getNumber(at)
    return turn.value === undefined ? undefined : turn
  }
}
