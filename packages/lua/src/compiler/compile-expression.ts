import { unitsOf, vm } from '../runtime/activation.js'
import type { LuaValue } from '../runtime/lua-value.js'
import { isMany, LuaTable } from '../runtime/lua-value.js'
import type { OperationSite } from '../runtime/operations.js'
import { arithmetic, concatenate, index, lengthOf, rawSet, textOf } from '../runtime/operations.js'
import { charge } from '../runtime/steps.js'
import type { Expression, GlobalNode, IndexNode, TableItem } from '../syntax/syntax-tree.js'
import { callExpression } from './compile-call.js'
import { arithmeticExpression, comparison, equality } from './compile-operator.js'
import type { CompiledCondition, Compiler, Evaluate, EvaluateAll } from './frame.js'
import { isMulti, isReadLate, operationOf } from './operands.js'

/** Compiles an expression to a closure that returns one value. */
export function expression(compiler: Compiler, node: Expression): Evaluate {
  switch (node.kind) {
    case 'nil':
      return () => undefined
    case 'true':
      return () => true
    case 'false':
      return () => false
    case 'number': {
      const value = compiler.constant(node.value)
      return () => value
    }
    case 'string': {
      const { value } = node
      return () => value
    }
    case 'vararg':
      return (frame) => frame[1][0]
    case 'function':
      return compiler.closure(node)
    case 'local': {
      const { slot, isCaptured } = node.local
      return isCaptured ? (frame) => frame[slot].v : (frame) => frame[slot]
    }
    case 'upvalue': {
      const { index: at } = node
      return (frame) => frame[0][at].v
    }
    case 'global':
      return globalAccess(compiler, node)
    case 'index':
      return indexAccess(compiler, node)
    case 'call':
    case 'method':
      return callExpression(compiler, node, 'one') as Evaluate
    case 'binary':
      return binary(compiler, node)
    case 'concat':
      return concatenation(compiler, node.parts, node.line)
    case 'and': {
      const left = compiler.expression(node.left)
      const right = compiler.expression(node.right)
      return (frame) => {
        const value = left(frame)
        return value === undefined || value === false ? value : right(frame)
      }
    }
    case 'or': {
      const left = compiler.expression(node.left)
      const right = compiler.expression(node.right)
      return (frame) => {
        const value = left(frame)
        return value === undefined || value === false ? right(frame) : value
      }
    }
    case 'not': {
      const operand = compiler.condition(node.operand)
      return (frame) => !operand(frame)
    }
    case 'negate': {
      const operand = compiler.expression(node.operand)
      const operation = operationOf(compiler, node.line, node.operand, node.operand)
      return (frame) => {
        const value = operand(frame)
        return typeof value === 'number' ? -value : arithmetic('__unm', value, value, operation)
      }
    }
    case 'length': {
      const operand = compiler.expression(node.operand)
      const operation = operationOf(compiler, node.line, node.operand)
      return (frame) => {
        const value = operand(frame)
        return value instanceof LuaTable ? value.list.length : lengthOf(value, operation)
      }
    }
    case 'table':
      return tableConstructor(compiler, node.items, node.line)
    case 'single':
      return expression(compiler, node.inner)
  }
}

/**
 * Compiles an expression to a closure that returns all its values. The closure returns an array, unless there is
 * exactly one value.
 */
export function all(compiler: Compiler, node: Expression): EvaluateAll {
  if (node.kind === 'vararg') return (frame) => frame[1]
  if (node.kind === 'call' || node.kind === 'method') return callExpression(compiler, node, 'all')
  return expression(compiler, node)
}

/** Compiles an expression of which only the truth value is used. */
export function condition(compiler: Compiler, node: Expression): CompiledCondition {
  switch (node.kind) {
    case 'not': {
      const operand = compiler.condition(node.operand)
      return (frame) => !operand(frame)
    }
    case 'and': {
      const left = compiler.condition(node.left)
      const right = compiler.condition(node.right)
      return (frame) => left(frame) && right(frame)
    }
    case 'or': {
      const left = compiler.condition(node.left)
      const right = compiler.condition(node.right)
      return (frame) => left(frame) || right(frame)
    }
    case 'single':
      return condition(compiler, node.inner)
    case 'binary': {
      if (node.operator === '==' || node.operator === '~=') return equality(compiler, node)
      if (node.operator.charAt(0) === '<' || node.operator.charAt(0) === '>') return comparison(compiler, node)
    }
  }
  const value = compiler.expression(node)
  return (frame) => {
    const result = value(frame)
    return result !== undefined && result !== false
  }
}

function binary(compiler: Compiler, node: Expression & { kind: 'binary' }): Evaluate {
  switch (node.operator) {
    case '==':
    case '~=':
      return equality(compiler, node)
    case '<':
    case '<=':
    case '>':
    case '>=':
      return comparison(compiler, node)
    default:
      return arithmeticExpression(compiler, node)
  }
}

function globalAccess(compiler: Compiler, node: GlobalNode): Evaluate {
  const { name } = node
  const operation: OperationSite = { site: compiler.site(node.line), left: undefined, right: undefined }
  return () => {
    const { globals } = vm
    const value = globals.getString(name)
    return value === undefined && globals.meta !== undefined ? index(globals, name, operation) : value
  }
}

function indexAccess(compiler: Compiler, node: IndexNode): Evaluate {
  const object = compiler.expression(node.object)
  const operation = operationOf(compiler, node.line, node.object)
  if (node.key.kind === 'string') return fieldAccess(object, node.key.value, operation)
  const key = compiler.expression(node.key)
  if (isReadLate(node.object, node.key)) {
    return (frame) => {
      const at = key(frame)
      return index(object(frame), at, operation)
    }
  }
  return (frame) => {
    const table = object(frame)
    const at = key(frame)
    if (table instanceof LuaTable) {
      const value = typeof at === 'number' ? table.getNumber(at) : table.get(at)
      if (value !== undefined || table.meta === undefined) return value
    }
    return index(table, at, operation)
  }
}

function fieldAccess(object: Evaluate, key: string, operation: OperationSite): Evaluate {
  return (frame) => {
    const table = object(frame)
    if (table instanceof LuaTable) {
      const value = table.getString(key)
      if (value !== undefined || table.meta === undefined) return value
    }
    return index(table, key, operation)
  }
}

/** Compiles a chain of `..`. The operands are evaluated from left to right, but joined from right to left. */
function concatenation(compiler: Compiler, nodes: readonly Expression[], line: number): Evaluate {
  const parts = nodes.map((node) => compiler.expression(node))
  const operations = nodes.slice(1).map((right, at) => {
    // Only the last `..` has an operand of the source on its right. The right operand of every other `..` is a joined
    // string, which has no name in errors.
    return operationOf(compiler, line, nodes[at]!, at === nodes.length - 2 ? right : { kind: 'nil' })
  })
  if (parts.length === 2) return pair(parts[0]!, parts[1]!, operations[0]!)
  return (frame) => {
    const values: LuaValue[] = []
    for (const part of parts) values.push(part(frame))
    let result = values[values.length - 1]
    for (let at = values.length - 2; at >= 0; at--) result = concatenate(values[at], result, operations[at]!)
    return result
  }
}

function pair(left: Evaluate, right: Evaluate, operation: OperationSite): Evaluate {
  return (frame) => {
    const a = left(frame)
    const b = right(frame)
    if (typeof a === 'string' && a.length < 256) {
      if (typeof b === 'string' && b.length >= 256) return concatenate(a, b, operation)
      if (typeof b === 'string' || typeof b === 'number') {
        charge(unitsOf.join)
        return a + (typeof b === 'number' ? textOf(b) : b)
      }
    }
    return concatenate(a, b, operation)
  }
}

function tableConstructor(compiler: Compiler, items: readonly TableItem[], line: number): Evaluate {
  if (items.length === 0) {
    return () => {
      charge(unitsOf.table)
      return new LuaTable()
    }
  }
  const last = items[items.length - 1]!
  const isOpen = last.key === undefined && isMulti(last.value)
  const fixed = isOpen ? items.slice(0, -1) : items
  const values = fixed.filter(({ key }) => key === undefined).map(({ value }) => compiler.expression(value))
  if (values.length === fixed.length) return listConstructor(values, isOpen ? compiler.all(last.value) : undefined)
  const operation: OperationSite = { site: compiler.site(line), left: undefined, right: undefined }
  const fill = fixed.map(({ key, value }) => {
    return [key === undefined ? undefined : compiler.expression(key), compiler.expression(value)] as const
  })
  const rest = isOpen ? compiler.all(last.value) : undefined
  return (frame) => {
    charge(unitsOf.table + unitsOf.listOfTable)
    const table = new LuaTable()
    const list: LuaValue[] = []
    for (const [key, value] of fill) {
      if (key === undefined) {
        list.push(value(frame))
      } else {
        const at = key(frame)
        rawSet(table, at, value(frame), operation)
      }
    }
    if (rest !== undefined) appendAll(list, rest(frame))
    if (list.length > 0) table.adoptList(list)
    return table
  }
}

function listConstructor(values: readonly Evaluate[], rest: EvaluateAll | undefined): Evaluate {
  const count = values.length
  return (frame) => {
    charge(unitsOf.table + unitsOf.listOfTable)
    const list: LuaValue[] = []
    for (let at = 0; at < count; at++) list.push(values[at]!(frame))
    if (rest !== undefined) appendAll(list, rest(frame))
    const table = new LuaTable()
    table.adoptList(list)
    return table
  }
}

function appendAll(list: LuaValue[], result: LuaValue | readonly LuaValue[]): void {
  if (isMany(result)) {
    if (result.length > 16) charge(result.length >> 4)
    for (let at = 0; at < result.length; at++) list.push(result[at])
  } else {
    list.push(result as LuaValue)
  }
}
