import type { OperationSite } from '../runtime/operations.js'
import { cString } from '../syntax/lexer.js'
import type { Expression, Variable } from '../syntax/syntax-tree.js'
import type { Compiler } from './frame.js'

/** Returns whether the number of values of an expression is unknown at compile time. */
export function isMulti(node: Expression | undefined): boolean {
  return node !== undefined && (node.kind === 'vararg' || node.kind === 'call' || node.kind === 'method')
}

/** Returns the name that error messages use for the value of an expression, such as `local 'x'`. */
export function titleOf(node: Expression): string | undefined {
  switch (node.kind) {
    case 'local':
      return `local '${node.local.name}'`
    case 'upvalue':
      return `upvalue '${node.name}'`
    case 'global':
      return `global '${node.name}'`
    case 'index':
      return `field '${node.key.kind === 'string' ? cString(node.key.value) : '?'}'`
    case 'single':
      return titleOf(node.inner)
    case 'and':
      // If the left operand of `and` is a true constant, the result is the right operand. Return that operand's name.
      return isTrueConstant(node.left) ? titleOf(node.right) : undefined
    case 'or':
      return node.left.kind === 'nil' || node.left.kind === 'false' ? titleOf(node.right) : undefined
    default:
      return undefined
  }
}

function isTrueConstant(node: Expression): boolean {
  return node.kind === 'true' || node.kind === 'number' || node.kind === 'string'
}

export function operationOf(compiler: Compiler, line: number, left: Expression, right?: Expression): OperationSite {
  return {
    site: compiler.site(line),
    left: titleOf(left),
    right: right === undefined ? undefined : titleOf(right),
  }
}

/**
 * Returns whether an operand must be read after the other operand, because evaluating the other operand may change its
 * value. The reference implementation reads a local when it is used: `x + f()` uses the `x` that `f` assigned.
 */
export function isReadLate(node: Expression, other: Expression): boolean {
  if (node.kind === 'single') return isReadLate(node.inner, other)
  return node.kind === 'local' && node.local.isCaptured && !isPlain(other)
}

/**
 * Returns whether `t` or `k` of a target `t[k]` in a multiple assignment must be read late. The reference
 * implementation reads a local only when it assigns, except if the statement assigns that local too.
 */
export function isTargetReadLate(node: Expression, targets: readonly Variable[]): boolean {
  if (node.kind === 'single') return isTargetReadLate(node.inner, targets)
  if (node.kind !== 'local' || !node.local.isCaptured) return false
  return !targets.some((target) => target.kind === 'local' && target.local === node.local)
}

/**
 * Returns whether the evaluation of an expression cannot change a variable, because the expression is only a name or a
 * constant.
 */
function isPlain(node: Expression): boolean {
  switch (node.kind) {
    case 'index':
    case 'call':
    case 'method':
    case 'binary':
    case 'concat':
    case 'and':
    case 'or':
    case 'negate':
    case 'length':
    case 'table':
    case 'not':
    case 'single':
      return false
    default:
      return true
  }
}
