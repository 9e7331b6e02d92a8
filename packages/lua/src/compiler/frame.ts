import type { CallSite, LuaValue, Result, Steps } from '../runtime/lua-value.js'
import type { Block, Expression, FunctionNode } from '../syntax/syntax-tree.js'

/**
 * The memory of one call: slot 0 the upvalues, slot 1 the extra arguments of a vararg function, then the locals.
 * A local that an inner function uses has a cell in its slot instead of its value.
 */
// biome-ignore lint/suspicious/noExplicitAny: the compiler knows what each slot holds
export type Frame = any[]

export interface Cell {
  v: LuaValue
}

export type Evaluate = (frame: Frame) => LuaValue
/** An expression in a place where every value it gives counts. */
export type EvaluateAll = (frame: Frame) => Result
export type CompiledCondition = (frame: Frame) => boolean

/**
 * How a statement ended: `undefined` to continue, `broken` for `break`, anything else is the result of the function.
 * A single nil is returned as an array, so that it differs from `undefined`.
 */
export type Completion = Result
export type Execute = (frame: Frame) => Completion

/** Never a Lua value: no table is a plain array. */
export const broken: readonly LuaValue[] = Object.freeze(['break'])

/** A compiled function before it has upvalues. */
export interface CompiledFunction {
  readonly node: FunctionNode
  readonly body: Execute
  /** A fresh compiler for the form below. */
  readonly compiler: () => Compiler
  /** The form that can be suspended, made when a coroutine first runs the function. */
  steps: ((frame: Frame) => Steps) | undefined
}

/** The compiler of one function as the compilers of its nodes see it: they compile what a node holds by it. */
export interface Compiler {
  readonly chunk: string
  /** Closures between the function's entry and the node being compiled; each is a JavaScript frame at run time. */
  readonly nesting: number
  /** A number literal. */
  constant(value: number): number
  site(line: number, name?: string, isMethod?: boolean, isTail?: boolean): CallSite
  expression(node: Expression): Evaluate
  /** Keeps every value of a call or `...`. */
  all(node: Expression): EvaluateAll
  condition(node: Expression): CompiledCondition
  block(statements: Block): Execute
  /** Compiles one closure deeper. */
  nested<T>(work: () => T): T
  /** A function expression: finds its upvalues in the frame and makes a Lua function. */
  closure(node: FunctionNode): Evaluate
}

export function capture(value: LuaValue): Cell {
  return { v: value }
}

/** Literals of fixed size are what engines allocate fastest. */
export function newFrame(slots: number, upvalues: readonly Cell[]): Frame {
  if (slots <= 4) return [upvalues, undefined, undefined, undefined]
  if (slots <= 8) return [upvalues, undefined, undefined, undefined, undefined, undefined, undefined, undefined]
  const frame: Frame = [upvalues, undefined, undefined, undefined, undefined, undefined, undefined, undefined]
  for (let slot = 8; slot < slots; slot++) frame.push(undefined)
  return frame
}
