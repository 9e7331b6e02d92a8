import type { Compiler } from './compile.js'
import type { Operation } from './operations.js'
import type { Expression } from './syntax-tree.js'

/** Whether an expression may give more or fewer values than one. */
export function isMulti(node: Expression | undefined): boolean {
  return node !== undefined && (node.kind === 'vararg' || node.kind === 'call' || node.kind === 'method')
}

/** What an error message calls the value of an expression. */
export function titleOf(node: Expression): string | undefined {
  switch (node.kind) {
    case 'local':
      return `local '${node.local.name}'`
    case 'upvalue':
      return `upvalue '${node.name}'`
    case 'global':
      return `global '${node.name}'`
    case 'index':
      return `field '${node.key.kind === 'string' ? node.key.value : '?'}'`
    case 'single':
      return titleOf(node.inner)
    default:
      return undefined
  }
}

export function operationOf(compiler: Compiler, line: number, left: Expression, right?: Expression): Operation {
  return {
    site: compiler.site(line),
    left: titleOf(left),
    right: right === undefined ? undefined : titleOf(right),
  }
}
