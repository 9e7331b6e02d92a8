import { charge, errorAt, exhausted, settle, TailCall, vm } from './activation.js'
import type { Compiler } from './compile.js'
import { begin, callExpression } from './compile-call.js'
import type { Evaluate, EvaluateAll, Execute, Frame } from './frame.js'
import { broken, capture } from './frame.js'
import { isMulti, isReadLate, isTargetReadLate, operationOf } from './operands.js'
import type { Operation } from './operations.js'
import { callValue, rawSet, setIndex, toNumber } from './operations.js'
import type { Block, Expression, IndexNode, Local, Statement, Variable } from './syntax-tree.js'
import { next, nextIndex } from './traversal.js'
import type { CallSite, Cursor, Value } from './value.js'
import { isMany, LuaTable, nothing, oneNil } from './value.js'

/** Compiles statements to closures that tell how they ended (see `Completion`). */
export function block(compiler: Compiler, statements: Block): Execute {
  const list = statements.map((each) => statement(compiler, each))
  const [one, two, three] = list
  switch (list.length) {
    case 0:
      return () => undefined
    case 1:
      return one!
    case 2:
      return (frame) => {
        const end = one!(frame)
        return end !== undefined ? end : two!(frame)
      }
    case 3:
      return (frame) => {
        let end = one!(frame)
        if (end !== undefined) return end
        end = two!(frame)
        return end !== undefined ? end : three!(frame)
      }
    default:
      return (frame) => {
        for (let at = 0; at < list.length; at++) {
          const end = list[at]!(frame)
          if (end !== undefined) return end
        }
        return undefined
      }
  }
}

function statement(compiler: Compiler, node: Statement): Execute {
  switch (node.kind) {
    case 'declare':
      return declare(compiler, node.locals, node.values)
    case 'assign':
      return assign(compiler, node)
    case 'call-statement': {
      const call = compiler.nested(() => callExpression(compiler, node.call, 'all'))
      return (frame) => {
        call(frame)
        return undefined
      }
    }
    case 'local-function': {
      const { slot, isCaptured } = node.local
      const value = compiler.closure(node.value)
      if (!isCaptured) {
        return (frame) => {
          frame[slot] = value(frame)
          return undefined
        }
      }
      return (frame) => {
        const cell = capture(undefined)
        frame[slot] = cell
        cell.v = value(frame)
        return undefined
      }
    }
    case 'do':
      return compiler.block(node.body)
    case 'if':
      return ifStatement(compiler, node)
    case 'while':
      return whileLoop(compiler, node)
    case 'repeat':
      return repeatLoop(compiler, node)
    case 'numeric-for':
      return numericFor(compiler, node)
    case 'generic-for':
      return genericFor(compiler, node)
    case 'return':
      return returnStatement(compiler, node.values)
    case 'break':
      return () => broken
  }
}

// Declarations and assignments

/** Puts a fresh value into a local: a new cell each time, so that closures of a loop do not share one. */
export function initialiser(local: Local): (frame: Frame, value: Value) => void {
  const { slot, isCaptured } = local
  if (isCaptured) {
    return (frame, value) => {
      frame[slot] = capture(value)
    }
  }
  return (frame, value) => {
    frame[slot] = value
  }
}

function declare(compiler: Compiler, locals: readonly Local[], values: readonly Expression[]): Execute {
  const [local] = locals
  if (locals.length === 1 && values.length === 1) {
    const { slot, isCaptured } = local!
    const value = compiler.expression(values[0]!)
    if (isCaptured) {
      return (frame) => {
        frame[slot] = capture(value(frame))
        return undefined
      }
    }
    return (frame) => {
      frame[slot] = value(frame)
      return undefined
    }
  }
  const put = locals.map(initialiser)
  const evaluate = valueList(compiler, values, locals.length)
  return (frame) => {
    const list = evaluate(frame)
    for (let at = 0; at < put.length; at++) put[at]!(frame, list[at])
    return undefined
  }
}

/** Evaluates a list of expressions; at least what `count` variables need, nils left out. */
export function valueList(
  compiler: Compiler,
  values: readonly Expression[],
  count: number,
): (frame: Frame) => readonly Value[] {
  if (values.length === 0) return () => nothing
  const last = values[values.length - 1]
  const isOpen = values.length <= count && isMulti(last)
  const fixed = (isOpen ? values.slice(0, -1) : values).map((each) => compiler.expression(each))
  const rest = isOpen ? compiler.all(last!) : undefined
  if (fixed.length === 0) {
    return (frame) => {
      const result = rest!(frame)
      return isMany(result) ? result : [result as Value]
    }
  }
  return (frame) => gather(frame, fixed, rest)
}

function gather(frame: Frame, fixed: readonly Evaluate[], rest: EvaluateAll | undefined): Value[] {
  const list: Value[] = []
  for (let at = 0; at < fixed.length; at++) list.push(fixed[at]!(frame))
  if (rest === undefined) return list
  const result = rest(frame)
  if (isMany(result)) for (let at = 0; at < result.length; at++) list.push(result[at])
  else list.push(result as Value)
  return list
}

function assign(compiler: Compiler, node: Statement & { kind: 'assign' }): Execute {
  const [target] = node.targets
  const [value] = node.values
  if (node.targets.length === 1 && node.values.length === 1) return assignOne(compiler, target!, value!, node.line)
  const targets = node.targets.map((each) => reference(compiler, each, node))
  const evaluate = valueList(compiler, node.values, node.targets.length)
  return (frame) => {
    const put = targets.map((each) => each(frame))
    const list = evaluate(frame)
    for (let at = put.length - 1; at >= 0; at--) put[at]!(list[at])
    return undefined
  }
}

function assignOne(compiler: Compiler, target: Variable, node: Expression, line: number): Execute {
  if (target.kind === 'index') return assignField(compiler, target, node, line)
  const value = compiler.expression(node)
  switch (target.kind) {
    case 'local': {
      const { slot, isCaptured } = target.local
      if (isCaptured) {
        return (frame) => {
          frame[slot].v = value(frame)
          return undefined
        }
      }
      return (frame) => {
        frame[slot] = value(frame)
        return undefined
      }
    }
    case 'upvalue': {
      const { index: at } = target
      return (frame) => {
        const result = value(frame)
        frame[0][at].v = result
        return undefined
      }
    }
    case 'global': {
      const { name } = target
      const operation: Operation = { site: compiler.site(line), left: undefined, right: undefined }
      return (frame) => {
        setIndex(vm.globals, name, value(frame), operation)
        return undefined
      }
    }
  }
}

function assignField(compiler: Compiler, target: IndexNode, node: Expression, line: number): Execute {
  const object = compiler.expression(target.object)
  const key = compiler.expression(target.key)
  const value = compiler.expression(node)
  const operation = operationOf(compiler, line, target.object)
  const isLateObject = isReadLate(target.object, target.key) || isReadLate(target.object, node)
  const isLateKey = isReadLate(target.key, node)
  if (isLateObject || isLateKey) {
    return (frame) => {
      const early = isLateObject ? undefined : object(frame)
      const at = isLateKey ? undefined : key(frame)
      const assigned = value(frame)
      store(isLateObject ? object(frame) : early, isLateKey ? key(frame) : at, assigned, operation)
      return undefined
    }
  }
  return (frame) => {
    const table = object(frame)
    const at = key(frame)
    store(table, at, value(frame), operation)
    return undefined
  }
}

export function store(table: Value, key: Value, value: Value, operation: Operation): void {
  if (table instanceof LuaTable && table.meta === undefined && !table.isReadonly) {
    if (typeof key === 'string') table.set(key, value)
    else rawSet(table, key, value, operation)
  } else {
    setIndex(table, key, value, operation)
  }
}

/** Evaluates what stands left of `=` and gives the assignment itself. */
export function reference(
  compiler: Compiler,
  target: Variable,
  { targets, line }: Statement & { kind: 'assign' },
): (frame: Frame) => (value: Value) => void {
  switch (target.kind) {
    case 'index': {
      const object = compiler.expression(target.object)
      const key = compiler.expression(target.key)
      const operation = operationOf(compiler, line, target.object)
      const isLateObject = isTargetReadLate(target.object, targets)
      const isLateKey = isTargetReadLate(target.key, targets)
      return (frame) => {
        const table = isLateObject ? undefined : object(frame)
        const at = isLateKey ? undefined : key(frame)
        return (value) => store(isLateObject ? object(frame) : table, isLateKey ? key(frame) : at, value, operation)
      }
    }
    case 'local': {
      const { slot, isCaptured } = target.local
      return (frame) => (value) => {
        if (isCaptured) frame[slot].v = value
        else frame[slot] = value
      }
    }
    case 'upvalue': {
      const { index: at } = target
      return (frame) => (value) => {
        frame[0][at].v = value
      }
    }
    case 'global': {
      const operation: Operation = { site: compiler.site(line), left: undefined, right: undefined }
      return () => (value) => setIndex(vm.globals, target.name, value, operation)
    }
  }
}

// Control

function ifStatement(compiler: Compiler, node: Statement & { kind: 'if' }): Execute {
  const clauses = node.clauses.map(({ condition, body }) => {
    return { test: compiler.condition(condition), body: compiler.block(body) }
  })
  const otherwise = node.otherwise === undefined ? undefined : compiler.block(node.otherwise)
  if (clauses.length === 1) {
    const { test, body } = clauses[0]!
    if (otherwise === undefined) return (frame) => (test(frame) ? body(frame) : undefined)
    return (frame) => (test(frame) ? body(frame) : otherwise(frame))
  }
  return (frame) => {
    for (let at = 0; at < clauses.length; at++) {
      const { test, body } = clauses[at]!
      if (test(frame)) return body(frame)
    }
    return otherwise === undefined ? undefined : otherwise(frame)
  }
}

function whileLoop(compiler: Compiler, node: Statement & { kind: 'while' }): Execute {
  const condition = compiler.condition(node.condition)
  const body = compiler.block(node.body)
  return (frame) => {
    while (condition(frame)) {
      if (--vm.steps < 0) exhausted()
      const end = body(frame)
      if (end !== undefined) {
        if (end === broken) break
        return end
      }
    }
    return undefined
  }
}

function repeatLoop(compiler: Compiler, node: Statement & { kind: 'repeat' }): Execute {
  const body = compiler.block(node.body)
  const condition = compiler.condition(node.condition)
  return (frame) => {
    do {
      if (--vm.steps < 0) exhausted()
      const end = body(frame)
      if (end !== undefined) {
        if (end === broken) break
        return end
      }
    } while (!condition(frame))
    return undefined
  }
}

function numericFor(compiler: Compiler, node: Statement & { kind: 'numeric-for' }): Execute {
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
      if (--vm.steps < 0) exhausted()
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
  start: Value,
  limit: Value,
  step: Value,
  site: CallSite,
): { start: number; last: number; by: number } {
  const from = toNumber(start)
  if (from === undefined) throw errorAt(site, "'for' initial value must be a number")
  const last = toNumber(limit)
  if (last === undefined) throw errorAt(site, "'for' limit must be a number")
  const by = toNumber(step)
  if (by === undefined) throw errorAt(site, "'for' step must be a number")
  // The reference goes one step back first, which shows when the step is huge or not a number.
  return { start: from - by + by, last, by }
}

/** The name that errors give to the function a `for` loop calls. */
const generatorName = '(for generator)'

export interface GenericLoop {
  readonly evaluate: (frame: Frame) => readonly Value[]
  readonly put: readonly ((frame: Frame, value: Value) => void)[]
  readonly operation: Operation
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

function genericFor(compiler: Compiler, node: Statement & { kind: 'generic-for' }): Execute {
  const loop = genericLoop(compiler, node)
  const { put } = loop
  const body = compiler.block(node.body)
  const [first, second] = put
  return (frame) => {
    const advance = iterator(loop, loop.evaluate(frame))
    for (;;) {
      if (--vm.steps < 0) exhausted()
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
  key: Value
  value: Value
  /** All values of the turn, when there may be more than two. */
  rest: readonly Value[] | undefined
}

/** Gives the values of the next turn of a `for … in` loop, `undefined` at its end. The object is used again. */
export function iterator(loop: GenericLoop, [callee, state, control]: readonly Value[]): () => Turn | undefined {
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
      turn.key = settled as Value
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

function returnStatement(compiler: Compiler, values: readonly Expression[]): Execute {
  const [only] = values
  if (only === undefined) return () => nothing
  if (values.length === 1) return returnOne(compiler, only)
  const last = values[values.length - 1]!
  const isOpen = isMulti(last)
  const fixed = (isOpen ? values.slice(0, -1) : values).map((each) => compiler.expression(each))
  const rest = isOpen ? compiler.all(last) : undefined
  return (frame) => {
    const list = gather(frame, fixed, rest)
    if (list.length > 16) charge(list.length >> 4)
    return list
  }
}

function returnOne(compiler: Compiler, node: Expression): Execute {
  if (node.kind === 'call' || node.kind === 'method') return callExpression(compiler, node, 'tail')
  if (node.kind === 'vararg') return (frame) => frame[1]
  const value = compiler.expression(node)
  return (frame) => {
    const result = value(frame)
    return result === undefined ? oneNil : result
  }
}
