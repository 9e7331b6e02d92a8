import type { Block, Expression, Statement, TableItem } from '../syntax/syntax-tree.js'

// Estimates the amount of code in a block. A loop with a long body must cost more steps than a loop with a short body.

/** Number of syntax tree nodes that cost one step. */
const nodesPerStep = 2

/** This many steps of a block are not counted, because each loop iteration and each call costs a step anyway. */
const freeSteps = 4

/**
 * Returns the steps for the statements of a block. The steps of loops, calls, inner blocks and functions are counted
 * separately.
 */
export function stepsOfBlock(block: Block): number {
  let nodes = 0
  for (const statement of block) nodes += sizeOfStatement(statement)
  return Math.max(Math.floor(nodes / nodesPerStep) - freeSteps, 0)
}

function sizeOfStatement(node: Statement): number {
  switch (node.kind) {
    case 'declare':
      return 1 + sizeOfAll(node.values) + node.locals.length
    case 'assign':
      return 1 + sizeOfAll(node.targets) + sizeOfAll(node.values)
    case 'call-statement':
      return sizeOf(node.call)
    case 'while':
    case 'repeat':
      return 1 + sizeOf(node.condition)
    case 'if':
      return node.clauses.reduce((sum, { condition }) => sum + sizeOf(condition), 1)
    case 'numeric-for':
      return 1 + sizeOf(node.start) + sizeOf(node.limit) + (node.step === undefined ? 0 : sizeOf(node.step))
    case 'generic-for':
    case 'return':
      return 1 + sizeOfAll(node.values)
    default:
      return 1
  }
}

function sizeOfAll(nodes: readonly Expression[]): number {
  return nodes.reduce((sum, node) => sum + sizeOf(node), 0)
}

function sizeOf(node: Expression): number {
  switch (node.kind) {
    case 'index':
      return 1 + sizeOf(node.object) + sizeOf(node.key)
    case 'call':
      return 1 + sizeOf(node.target) + sizeOfAll(node.args)
    case 'method':
      return 1 + sizeOf(node.object) + sizeOfAll(node.args)
    case 'binary':
    case 'and':
    case 'or':
      return 1 + sizeOf(node.left) + sizeOf(node.right)
    case 'concat':
      return 1 + sizeOfAll(node.parts)
    case 'not':
    case 'negate':
    case 'length':
      return 1 + sizeOf(node.operand)
    case 'single':
      return 1 + sizeOf(node.inner)
    case 'table':
      return node.items.reduce((sum, item) => sum + sizeOfItem(item), 1)
    default:
      return 1
  }
}

function sizeOfItem({ key, value }: TableItem): number {
  return 1 + sizeOf(value) + (key === undefined ? 0 : sizeOf(key))
}
