import { vm } from '../runtime/activation.js'
import type { LuaValue } from '../runtime/lua-value.js'
import { isMany, LuaTable, nothing } from '../runtime/lua-value.js'
import type { OperationSite } from '../runtime/operations.js'
import { rawSet, setIndex } from '../runtime/operations.js'
import type { Expression, IndexNode, Local, Statement, Variable } from '../syntax/syntax-tree.js'
import type { Compiler, Evaluate, EvaluateAll, Execute, Frame } from './frame.js'
import { capture } from './frame.js'
import { isMulti, isReadLate, isTargetReadLate, operationOf } from './operands.js'

/**
 * Returns a function that initializes a local. If closures use the local, each call creates a new cell, so that
 * closures from different loop iterations do not share a cell.
 */
export function initialiser(local: Local): (frame: Frame, value: LuaValue) => void {
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

export function declare(compiler: Compiler, locals: readonly Local[], values: readonly Expression[]): Execute {
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

/**
 * Compiles a list of expressions to a function that returns at least their first `count` values. Nils at the end may be
 * missing.
 */
export function valueList(
  compiler: Compiler,
  values: readonly Expression[],
  count: number,
): (frame: Frame) => readonly LuaValue[] {
  if (values.length === 0) return () => nothing
  const last = values[values.length - 1]
  const isOpen = values.length <= count && isMulti(last)
  const fixed = (isOpen ? values.slice(0, -1) : values).map((each) => compiler.expression(each))
  const rest = isOpen ? compiler.all(last!) : undefined
  if (fixed.length === 0) {
    return (frame) => {
      const result = rest!(frame)
      return isMany(result) ? result : [result as LuaValue]
    }
  }
  return (frame) => gather(frame, fixed, rest)
}

export function gather(frame: Frame, fixed: readonly Evaluate[], rest: EvaluateAll | undefined): LuaValue[] {
  const list: LuaValue[] = []
  for (let at = 0; at < fixed.length; at++) list.push(fixed[at]!(frame))
  if (rest === undefined) return list
  const result = rest(frame)
  if (isMany(result)) for (let at = 0; at < result.length; at++) list.push(result[at])
  else list.push(result as LuaValue)
  return list
}

export function assign(compiler: Compiler, node: Statement & { kind: 'assign' }): Execute {
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
      const operation: OperationSite = { site: compiler.site(line), left: undefined, right: undefined }
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

export function store(table: LuaValue, key: LuaValue, value: LuaValue, operation: OperationSite): void {
  if (table instanceof LuaTable && table.meta === undefined && !table.isReadonly) {
    if (typeof key === 'string') table.set(key, value)
    else rawSet(table, key, value, operation)
  } else {
    setIndex(table, key, value, operation)
  }
}

/**
 * Compiles the left side of `=`. The result evaluates the parts of the left side, such as `t` and `k` of `t[k]`, and
 * returns a function that assigns the value.
 */
function reference(
  compiler: Compiler,
  target: Variable,
  { targets, line }: Statement & { kind: 'assign' },
): (frame: Frame) => (value: LuaValue) => void {
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
      const operation: OperationSite = { site: compiler.site(line), left: undefined, right: undefined }
      return () => (value) => setIndex(vm.globals, target.name, value, operation)
    }
  }
}
