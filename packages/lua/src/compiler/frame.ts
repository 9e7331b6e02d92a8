import type { CallSite, LuaValue, Result, Steps } from '../runtime/lua-value.js'
import type { Block, Expression, FunctionNode } from '../syntax/syntax-tree.js'

/**
 * Memory of one call: slot 0 has the upvalues, slot 1 the extra arguments of a vararg function, then the locals follow.
 * A local that an inner function uses has a cell in its slot instead of its value.
 */
// biome-ignore lint/suspicious/noExplicitAny: the compiler knows what each slot holds
export type Frame = any[]

export interface Cell {
  v: LuaValue
}

export type Evaluate = (frame: Frame) => LuaValue
/** Compiled expression of which every value is used. */
export type EvaluateAll = (frame: Frame) => Result
export type CompiledCondition = (frame: Frame) => boolean

/**
 * End of a statement: `undefined` to continue, `broken` for `break`, anything else is the result of the function. A
 * single nil is returned as an array, to distinguish it from `undefined`.
 */
export type Completion = Result
export type Execute = (frame: Frame) => Completion

/** Result of `break`. It never equals a Lua value, because tables are not arrays. */
export const broken: readonly LuaValue[] = Object.freeze(['break'])

/** Compiled function before it has upvalues. */
export interface CompiledFunction {
  readonly node: FunctionNode
  readonly body: Execute
  /** Returns a new compiler for the suspendable form. */
  readonly compiler: () => Compiler
  /** Suspendable form, created when a coroutine first runs the function. */
  steps: ((frame: Frame) => Steps) | undefined
}

/** Interface of a function's compiler for the compilers of its nodes. */
export interface Compiler {
  readonly chunk: string
  /** Closures between the function's entry and the current node; each is a JavaScript frame at run time. */
  readonly nesting: number
  /** Returns a number literal. */
  constant(value: number): number
  site(line: number, name?: string, isMethod?: boolean, isTail?: boolean): CallSite
  expression(node: Expression): Evaluate
  /** Compiles an expression that keeps every value of a call or `...`. */
  all(node: Expression): EvaluateAll
  condition(node: Expression): CompiledCondition
  block(statements: Block): Execute
  /** Runs `work`, which compiles a node inside one more closure. */
  nested<T>(work: () => T): T
  /** Compiles a function expression: gets its upvalues from the frame and creates a Lua function. */
  closure(node: FunctionNode): Evaluate
}

export function capture(value: LuaValue): Cell {
  return { v: value }
}

/**
 * Creates the frame of a call. Small sizes have their own literals, because engines allocate literals of fixed size
 * fastest.
 */
export function newFrame(slots: number, upvalues: readonly Cell[]): Frame {
  if (slots <= 4) return [upvalues, undefined, undefined, undefined]
  if (slots <= 8) return [upvalues, undefined, undefined, undefined, undefined, undefined, undefined, undefined]
  const frame: Frame = [upvalues, undefined, undefined, undefined, undefined, undefined, undefined, undefined]
  for (let slot = 8; slot < slots; slot++) frame.push(undefined)
  return frame
}
