import type { CallSite, LuaValue, Result, Steps } from '../runtime/lua-value.js'
import type { Block, Expression, FunctionNode } from '../syntax/syntax-tree.js'

/**
 * Variables of one call. Slot 0 contains the upvalues. In a vararg function, slot 1 contains the extra arguments. The
 * locals follow. If an inner function uses a local, the slot of the local contains a cell, and the cell contains the
 * value.
 */
// biome-ignore lint/suspicious/noExplicitAny: the compiler knows what each slot holds
export type Frame = any[]

export interface Cell {
  v: LuaValue
}

export type Evaluate = (frame: Frame) => LuaValue
/** Compiled expression that returns all values of the expression. */
export type EvaluateAll = (frame: Frame) => Result
export type CompiledCondition = (frame: Frame) => boolean

/**
 * How a statement ended. `undefined`: the function continues. `broken`: a `break`. Any other value is the result of the
 * function. The result nil is therefore an array with one nil.
 */
export type Completion = Result
export type Execute = (frame: Frame) => Completion

/** Returned for `break`. It cannot be confused with a Lua value, because no Lua value is an array. */
export const broken: readonly LuaValue[] = Object.freeze(['break'])

/** Compiled function without upvalues. The upvalues are added when the function is created at run time. */
export interface CompiledFunction {
  readonly node: FunctionNode
  readonly body: Execute
  /** Returns a compiler for the form that can be suspended. */
  readonly compiler: () => Compiler
  /** Form that can be suspended. It is compiled when a coroutine first runs the function. */
  steps: ((frame: Frame) => Steps) | undefined
}

/** The parts of a function's compiler that the compilers of its nodes use. */
export interface Compiler {
  readonly chunk: string
  readonly nesting: number
  constant(value: number): number
  site(line: number, name?: string, isMethod?: boolean, isTail?: boolean): CallSite
  expression(node: Expression): Evaluate
  all(node: Expression): EvaluateAll
  condition(node: Expression): CompiledCondition
  block(statements: Block): Execute
  nested<T>(work: () => T): T
  closure(node: FunctionNode): Evaluate
}

export function capture(value: LuaValue): Cell {
  return { v: value }
}

/** Creates the frame of a call. Engines allocate literals of fixed size fastest, so small frames are literals. */
export function newFrame(slots: number, upvalues: readonly Cell[]): Frame {
  if (slots <= 4) return [upvalues, undefined, undefined, undefined]
  if (slots <= 8) return [upvalues, undefined, undefined, undefined, undefined, undefined, undefined, undefined]
  const frame: Frame = [upvalues, undefined, undefined, undefined, undefined, undefined, undefined, undefined]
  for (let slot = 8; slot < slots; slot++) frame.push(undefined)
  return frame
}
