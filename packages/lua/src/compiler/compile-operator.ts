import { pow } from '../../../../src/kernel/portable-math.js'
import { longComparison } from '../runtime/activation.js'
import type { CallSite, LuaValue } from '../runtime/lua-value.js'
import type { ArithmeticEvent, OperationSite } from '../runtime/operations.js'
import { arithmetic, arithmeticEvents, equals, lessOrEqual, lessThan, modulo, sameText } from '../runtime/operations.js'
import type { Expression } from '../syntax/syntax-tree.js'
import type { CompiledCondition, Compiler, Evaluate } from './frame.js'
import { isReadLate, operationOf } from './operands.js'

/**
 * Compiles operators. The closures handle two numbers, and comparisons of two identical values, without calling another
 * function.
 */

type Binary = Expression & { kind: 'binary' }

export function arithmeticExpression(compiler: Compiler, node: Binary): Evaluate {
  const folded = fold(node)
  if (folded !== undefined) {
    const constant = compiler.constant(folded)
    return () => constant
  }
  const operation = operationOf(compiler, node.line, node.left, node.right)
  const event = arithmeticEvents[node.operator]!
  if (node.right.kind === 'number') {
    const left = compiler.expression(node.left)
    const value = compiler.constant(node.right.value)
    if (node.left.kind === 'local' && !node.left.local.isCaptured) {
      const withLocal = localWithConstant(event, node.left.local.slot, value, operation)
      if (withLocal !== undefined) return withLocal
    }
    return withConstant(event, left, value, operation)
  }
  if (isReadLate(node.left, node.right)) {
    const left = compiler.expression(node.left)
    const right = compiler.expression(node.right)
    return (frame) => {
      const b = right(frame)
      return arithmetic(event, left(frame), b, operation)
    }
  }
  if (node.left.kind === 'local' && !node.left.local.isCaptured) {
    const right = compiler.expression(node.right)
    const withLocal = localWithAny(event, node.left.local.slot, right, operation)
    if (withLocal !== undefined) return withLocal
    return withBoth(event, compiler.expression(node.left), right, operation)
  }
  return withBoth(event, compiler.expression(node.left), compiler.expression(node.right), operation)
}

/** Compiles an operation whose left operand is a local. The local is read directly, without a closure. */
function localWithAny(event: string, slot: number, right: Evaluate, operation: OperationSite): Evaluate | undefined {
  switch (event) {
    case '__add':
      return (frame) => {
        const b = right(frame)
        const a = frame[slot]
        if (typeof a === 'number' && typeof b === 'number') return a + b
        return arithmetic('__add', a, b, operation)
      }
    case '__sub':
      return (frame) => {
        const b = right(frame)
        const a = frame[slot]
        if (typeof a === 'number' && typeof b === 'number') return a - b
        return arithmetic('__sub', a, b, operation)
      }
    case '__mul':
      return (frame) => {
        const b = right(frame)
        const a = frame[slot]
        if (typeof a === 'number' && typeof b === 'number') return a * b
        return arithmetic('__mul', a, b, operation)
      }
    default:
      return undefined
  }
}

/**
 * Computes an operation on number literals at compile time. The reference compiler does so too, except if the result is
 * not finite.
 */
function fold(node: Expression): number | undefined {
  if (node.kind === 'number') return node.value
  if (node.kind !== 'binary' || node.operator === '/' || node.operator === '%') return undefined
  if (node.left.kind !== 'number' || node.right.kind !== 'number') return undefined
  const { value: left } = node.left
  const { value: right } = node.right
  const value =
    node.operator === '+'
      ? left + right
      : node.operator === '-'
        ? left - right
        : node.operator === '*'
          ? left * right
          : Number.NaN
  return Number.isFinite(value) ? value : undefined
}

function localWithConstant(
  event: string,
  slot: number,
  constant: number,
  operation: OperationSite,
): Evaluate | undefined {
  if (event === '__add') {
    return (frame) => {
      const a = frame[slot]
      return typeof a === 'number' ? a + constant : arithmetic('__add', a, constant, operation)
    }
  }
  if (event === '__sub') {
    return (frame) => {
      const a = frame[slot]
      return typeof a === 'number' ? a - constant : arithmetic('__sub', a, constant, operation)
    }
  }
  return undefined
}

function withConstant(event: ArithmeticEvent, left: Evaluate, constant: number, operation: OperationSite): Evaluate {
  switch (event) {
    case '__add':
      return (frame) => {
        const a = left(frame)
        return typeof a === 'number' ? a + constant : arithmetic('__add', a, constant, operation)
      }
    case '__sub':
      return (frame) => {
        const a = left(frame)
        return typeof a === 'number' ? a - constant : arithmetic('__sub', a, constant, operation)
      }
    case '__mul':
      return (frame) => {
        const a = left(frame)
        return typeof a === 'number' ? a * constant : arithmetic('__mul', a, constant, operation)
      }
    case '__div':
      return (frame) => {
        const a = left(frame)
        return typeof a === 'number' ? a / constant : arithmetic('__div', a, constant, operation)
      }
    case '__mod':
      return (frame) => {
        const a = left(frame)
        return typeof a === 'number' ? modulo(a, constant) : arithmetic('__mod', a, constant, operation)
      }
    default:
      return (frame) => {
        const a = left(frame)
        return typeof a === 'number' ? pow(a, constant) : arithmetic('__pow', a, constant, operation)
      }
  }
}

function withBoth(event: ArithmeticEvent, left: Evaluate, right: Evaluate, operation: OperationSite): Evaluate {
  switch (event) {
    case '__add':
      return (frame) => {
        const a = left(frame)
        const b = right(frame)
        if (typeof a === 'number' && typeof b === 'number') return a + b
        return arithmetic('__add', a, b, operation)
      }
    case '__sub':
      return (frame) => {
        const a = left(frame)
        const b = right(frame)
        if (typeof a === 'number' && typeof b === 'number') return a - b
        return arithmetic('__sub', a, b, operation)
      }
    case '__mul':
      return (frame) => {
        const a = left(frame)
        const b = right(frame)
        if (typeof a === 'number' && typeof b === 'number') return a * b
        return arithmetic('__mul', a, b, operation)
      }
    case '__div':
      return (frame) => {
        const a = left(frame)
        const b = right(frame)
        if (typeof a === 'number' && typeof b === 'number') return a / b
        return arithmetic('__div', a, b, operation)
      }
    case '__mod':
      return (frame) => {
        const a = left(frame)
        const b = right(frame)
        if (typeof a === 'number' && typeof b === 'number') return modulo(a, b)
        return arithmetic('__mod', a, b, operation)
      }
    default:
      return (frame) => {
        const a = left(frame)
        const b = right(frame)
        if (typeof a === 'number' && typeof b === 'number') return pow(a, b)
        return arithmetic('__pow', a, b, operation)
      }
  }
}

export function equality(compiler: Compiler, node: Binary): CompiledCondition {
  const isEqual = node.operator === '=='
  const constant = constantOf(node.right)
  const left = compiler.expression(node.left)
  if (constant !== undefined && !isLong(constant.value)) {
    const { value } = constant
    return isEqual ? (frame) => left(frame) === value : (frame) => left(frame) !== value
  }
  const right = compiler.expression(node.right)
  const site = compiler.site(node.line)
  if (isReadLate(node.left, node.right)) {
    return (frame) => {
      const b = right(frame)
      return equals(left(frame), b, site) === isEqual
    }
  }
  if (isEqual) {
    return (frame) => {
      const a = left(frame)
      const b = right(frame)
      if (isLong(a)) return sameText(a, b)
      return a === b || (typeof a === 'object' && typeof b === 'object' && equals(a, b, site))
    }
  }
  return (frame) => {
    const a = left(frame)
    const b = right(frame)
    if (isLong(a)) return !sameText(a, b)
    return a !== b && !(typeof a === 'object' && typeof b === 'object' && equals(a, b, site))
  }
}

function isLong(value: LuaValue): value is string {
  return typeof value === 'string' && value.length > longComparison
}

/** Returns the value of a literal. A literal has no metamethods, so it can be compared by identity. */
function constantOf(node: Expression): { value: undefined | boolean | number | string } | undefined {
  switch (node.kind) {
    case 'nil':
      return { value: undefined }
    case 'true':
      return { value: true }
    case 'false':
      return { value: false }
    case 'number':
    case 'string':
      return { value: node.value }
    default:
      return undefined
  }
}

export function comparison(compiler: Compiler, node: Binary): CompiledCondition {
  const site = compiler.site(node.line)
  // `a > b` is compiled as `b < a`, but `a` must still be evaluated first.
  const isSwapped = node.operator.charAt(0) === '>'
  const isStrict = node.operator.length === 1
  const left = compiler.expression(node.left)
  if (node.right.kind === 'number')
    return compareConstant(left, compiler.constant(node.right.value), isSwapped, isStrict, site)
  const right = compiler.expression(node.right)
  if (isReadLate(node.left, node.right)) {
    const compare = isStrict ? lessThan : lessOrEqual
    return (frame) => {
      const b = right(frame)
      const a = left(frame)
      return isSwapped ? compare(b, a, site) : compare(a, b, site)
    }
  }
  if (isSwapped) {
    if (isStrict) {
      return (frame) => {
        const a = left(frame)
        const b = right(frame)
        return typeof a === 'number' && typeof b === 'number' ? a > b : lessThan(b, a, site)
      }
    }
    return (frame) => {
      const a = left(frame)
      const b = right(frame)
      return typeof a === 'number' && typeof b === 'number' ? a >= b : lessOrEqual(b, a, site)
    }
  }
  if (isStrict) {
    return (frame) => {
      const a = left(frame)
      const b = right(frame)
      return typeof a === 'number' && typeof b === 'number' ? a < b : lessThan(a, b, site)
    }
  }
  return (frame) => {
    const a = left(frame)
    const b = right(frame)
    return typeof a === 'number' && typeof b === 'number' ? a <= b : lessOrEqual(a, b, site)
  }
}

function compareConstant(
  left: Evaluate,
  constant: number,
  isSwapped: boolean,
  isStrict: boolean,
  site: CallSite,
): CompiledCondition {
  if (isSwapped) {
    if (isStrict) {
      return (frame) => {
        const a = left(frame)
        return typeof a === 'number' ? a > constant : lessThan(constant, a, site)
      }
    }
    return (frame) => {
      const a = left(frame)
      return typeof a === 'number' ? a >= constant : lessOrEqual(constant, a, site)
    }
  }
  if (isStrict) {
    return (frame) => {
      const a = left(frame)
      return typeof a === 'number' ? a < constant : lessThan(a, constant, site)
    }
  }
  return (frame) => {
    const a = left(frame)
    return typeof a === 'number' ? a <= constant : lessOrEqual(a, constant, site)
  }
}
