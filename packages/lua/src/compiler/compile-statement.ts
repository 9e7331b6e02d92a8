import { nothing, oneNil } from '../runtime/lua-value.js'
import { charge } from '../runtime/steps.js'
import type { Block, Expression, Statement } from '../syntax/syntax-tree.js'
import { stepsOfBlock } from './code-size.js'
import { assign, declare, gather } from './compile-assignment.js'
import { callExpression } from './compile-call.js'
import { genericFor, numericFor, repeatLoop, whileLoop } from './compile-loop.js'
import type { Compiler, Execute } from './frame.js'
import { broken, capture } from './frame.js'
import { isMulti } from './operands.js'

/** Compiles statements to closures that return how they ended (see `Completion`). */
export function block(compiler: Compiler, statements: Block): Execute {
  const run = plainBlock(compiler, statements)
  const steps = stepsOfBlock(statements)
  if (steps === 0) return run
  return (frame) => {
    charge(steps)
    return run(frame)
  }
}

function plainBlock(compiler: Compiler, statements: Block): Execute {
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
