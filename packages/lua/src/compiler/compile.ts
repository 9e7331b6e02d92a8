import { unitsOf } from '../runtime/activation.js'
import type { CallSite, LuaFunction, LuaValue } from '../runtime/lua-value.js'
import { LuaTable, nothing } from '../runtime/lua-value.js'
import { charge } from '../runtime/steps.js'
import { LuaSyntaxError } from '../syntax/lexer.js'
import type { Block, Expression, FunctionNode, Local } from '../syntax/syntax-tree.js'
import { all, condition, expression } from './compile-expression.js'
import { block } from './compile-statement.js'
import type {
  Cell,
  CompiledCondition,
  CompiledFunction,
  Compiler,
  Completion,
  Evaluate,
  EvaluateAll,
  Execute,
  Frame,
} from './frame.js'
import { capture, newFrame } from './frame.js'

/** Maximum nesting of syntax tree nodes in one function. */
export const deepestNode = 1500

/**
 * Compiles a function to closures that use a frame. The closures do not refer to a machine, so all machines share the
 * compiled code.
 */
class FunctionCompiler implements Compiler {
  /**
   * Number of closures from the function's entry to the current node. At run time, each one uses a JavaScript frame.
   */
  nesting = 1
  #zero: number | undefined

  constructor(readonly chunk: string) {}

  /**
   * Returns the value of a number literal. As in the reference implementation, 0 and -0 in one function are one
   * constant. The constant has the sign of the literal that comes first.
   */
  constant(value: number): number {
    if (value !== 0) return value
    this.#zero ??= value
    return this.#zero
  }

  site(line: number, name?: string, isMethod = false, isTail = false): CallSite {
    return { chunk: this.chunk, line, name, isMethod, isTail }
  }

  expression(node: Expression): Evaluate {
    this.#deepen()
    const compiled = expression(this, node)
    this.nesting--
    return compiled
  }

  /** Compiles an expression. All values of a call or of `...` are kept. */
  all(node: Expression): EvaluateAll {
    this.#deepen()
    const compiled = all(this, node)
    this.nesting--
    return compiled
  }

  condition(node: Expression): CompiledCondition {
    this.#deepen()
    const compiled = condition(this, node)
    this.nesting--
    return compiled
  }

  block(statements: Block): Execute {
    this.#deepen()
    const compiled = block(this, statements)
    this.nesting--
    return compiled
  }

  /** Calls `work`, which compiles one level deeper. @throws LuaSyntaxError when the nesting exceeds `deepestNode` */
  nested<T>(work: () => T): T {
    this.#deepen()
    const compiled = work()
    this.nesting--
    return compiled
  }

  #deepen(): void {
    if (++this.nesting > deepestNode) throw new LuaSyntaxError('function or expression too complex', 0, 0, undefined)
  }

  /** Compiles a function expression. The result creates a Lua function with upvalues from the frame. */
  closure(node: FunctionNode): Evaluate {
    const make = compileFunction(node, this.chunk)
    const { upvalues } = node
    const count = upvalues.length
    const slots = upvalues.map(({ local, index }) => (local === undefined ? -1 - index : local.slot))
    return (frame) => {
      charge(unitsOf.closure)
      const cells: Cell[] = []
      for (let each = 0; each < count; each++) {
        const slot = slots[each]!
        cells.push(slot < 0 ? frame[0][-1 - slot] : frame[slot])
      }
      return make(cells)
    }
  }
}

/**
 * Compiles a whole source. The result creates the main function. When this function is called, it runs in the machine
 * that is active then.
 */
export function compileChunk(node: FunctionNode, chunk: string): () => LuaFunction {
  const make = compileFunction(node, chunk)
  return () => make([])
}

function compileFunction(node: FunctionNode, chunk: string): (upvalues: Cell[]) => LuaFunction {
  const body = block(new FunctionCompiler(chunk), node.body)
  const code: CompiledFunction = { node, body, compiler: () => new FunctionCompiler(chunk), steps: undefined }
  const { parameters, slots } = node
  const [one, two, three] = parameters
  if (node.isVararg || parameters.length > 3 || parameters.some((local) => local.isCaptured)) return anyFunction(code)
  if (one === undefined) return (upvalues) => attach(() => finish(body(newFrame(slots, upvalues))), code, upvalues)
  if (two === undefined) return oneParameter(code, one, body)
  if (three === undefined) return twoParameters(code, one, two, body)
  return (upvalues) =>
    attach(
      (a: LuaValue, b: LuaValue, c: LuaValue) => {
        const frame = newFrame(slots, upvalues)
        frame[one.slot] = a
        frame[two.slot] = b
        frame[three.slot] = c
        return finish(body(frame))
      },
      code,
      upvalues,
    )
}

function oneParameter(code: CompiledFunction, one: Local, body: Execute): (upvalues: Cell[]) => LuaFunction {
  const { slots } = code.node
  const { slot } = one
  return (upvalues) =>
    attach(
      (a: LuaValue) => {
        const frame = newFrame(slots, upvalues)
        frame[slot] = a
        return finish(body(frame))
      },
      code,
      upvalues,
    )
}

function twoParameters(
  code: CompiledFunction,
  one: Local,
  two: Local,
  body: Execute,
): (upvalues: Cell[]) => LuaFunction {
  const { slots } = code.node
  return (upvalues) =>
    attach(
      (a: LuaValue, b: LuaValue) => {
        const frame = newFrame(slots, upvalues)
        frame[one.slot] = a
        frame[two.slot] = b
        return finish(body(frame))
      },
      code,
      upvalues,
    )
}

function anyFunction(code: CompiledFunction): (upvalues: Cell[]) => LuaFunction {
  const { body } = code
  return (upvalues) => attach((...args: LuaValue[]) => finish(body(enterFrame(code, upvalues, args))), code, upvalues)
}

/** Creates the frame of a call, and stores the arguments in it. */
export function enterFrame(code: CompiledFunction, upvalues: Cell[], args: readonly LuaValue[]): Frame {
  const { parameters, slots, isVararg, argumentTable } = code.node
  const frame = newFrame(slots, upvalues)
  for (let index = 0; index < parameters.length; index++) {
    const local = parameters[index]!
    frame[local.slot] = local.isCaptured ? capture(args[index]) : args[index]
  }
  if (isVararg) {
    const extra = parameters.length === 0 ? args : args.slice(parameters.length)
    if (args.length > 16) charge(args.length >> 4)
    frame[1] = extra
    if (argumentTable !== undefined) {
      charge(unitsOf.table + unitsOf.listOfTable)
      const table = new LuaTable()
      table.adoptList([...extra])
      table.set('n', extra.length)
      frame[argumentTable.slot] = argumentTable.isCaptured ? capture(table) : table
    }
  }
  return frame
}

/** Returns the result of a body. A body that ended without `return` has no values. */
function finish(completion: Completion): Exclude<Completion, undefined> | readonly LuaValue[] {
  return completion === undefined ? nothing : completion
}

/** Stores the compiled code and the upvalues at a function, for use by coroutines. */
function attach(target: LuaFunction, code: CompiledFunction, upvalues: Cell[]): LuaFunction {
  const linked = target as LinkedFunction
  linked.code = code
  linked.upvalues = upvalues
  return target
}

export interface LinkedFunction extends LuaFunction {
  code?: CompiledFunction
  upvalues: Cell[]
}
