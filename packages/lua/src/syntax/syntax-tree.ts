/** Parsed source, with every name resolved to a local, an upvalue or a global. */

/** Local variable of a function. */
export interface Local {
  readonly name: string
  readonly slot: number
  /** Whether an inner function uses the local. The slot of such a local contains a cell. */
  isCaptured: boolean
}

/**
 * Source of an upvalue when its function is created: a local of the enclosing function, or an upvalue of the enclosing
 * function.
 */
export interface Upvalue {
  readonly name: string
  readonly local: Local | undefined
  readonly index: number
}

export interface FunctionNode {
  readonly kind: 'function'
  readonly line: number
  readonly parameters: readonly Local[]
  readonly isVararg: boolean
  /** Local `arg` with the extra arguments, in the old style. Only a vararg function without `...` has it. */
  readonly argumentTable: Local | undefined
  readonly upvalues: readonly Upvalue[]
  readonly body: Block
  /** Number of slots in a frame of this function. */
  readonly slots: number
}

export type Block = readonly Statement[]

export type BinaryOperator = '+' | '-' | '*' | '/' | '%' | '^' | '==' | '~=' | '<' | '<=' | '>' | '>='

interface LocalNode {
  readonly kind: 'local'
  readonly local: Local
}
interface UpvalueNode {
  readonly kind: 'upvalue'
  readonly index: number
  readonly name: string
}
export interface GlobalNode {
  readonly kind: 'global'
  readonly name: string
  readonly line: number
}
export interface IndexNode {
  readonly kind: 'index'
  readonly object: Expression
  readonly key: Expression
  readonly line: number
}
export interface CallNode {
  readonly kind: 'call'
  readonly target: Expression
  readonly args: readonly Expression[]
  readonly line: number
}
export interface MethodNode {
  readonly kind: 'method'
  readonly object: Expression
  readonly name: string
  readonly args: readonly Expression[]
  readonly line: number
}

export type Variable = LocalNode | UpvalueNode | GlobalNode | IndexNode

export type TableItem =
  | { readonly key: undefined; readonly value: Expression; readonly line: number }
  | { readonly key: Expression; readonly value: Expression; readonly line: number }

export type Expression =
  | { readonly kind: 'nil' | 'true' | 'false' | 'vararg' }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | FunctionNode
  | Variable
  | CallNode
  | MethodNode
  | {
      readonly kind: 'binary'
      readonly operator: BinaryOperator
      readonly left: Expression
      readonly right: Expression
      readonly line: number
    }
  | { readonly kind: 'concat'; readonly parts: readonly Expression[]; readonly line: number }
  | { readonly kind: 'and' | 'or'; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'negate' | 'length'; readonly operand: Expression; readonly line: number }
  | { readonly kind: 'table'; readonly items: readonly TableItem[]; readonly line: number }
  /** Parentheses around a call or `...`, which reduce it to one value. */
  | { readonly kind: 'single'; readonly inner: Expression }

export type Statement =
  | { readonly kind: 'local-function'; readonly local: Local; readonly value: FunctionNode }
  | { readonly kind: 'declare'; readonly locals: readonly Local[]; readonly values: readonly Expression[] }
  | {
      readonly kind: 'assign'
      readonly targets: readonly Variable[]
      readonly values: readonly Expression[]
      readonly line: number
    }
  | { readonly kind: 'call-statement'; readonly call: CallNode | MethodNode }
  | { readonly kind: 'do'; readonly body: Block }
  | { readonly kind: 'while'; readonly condition: Expression; readonly body: Block }
  | { readonly kind: 'repeat'; readonly body: Block; readonly condition: Expression }
  | { readonly kind: 'if'; readonly clauses: readonly Clause[]; readonly otherwise: Block | undefined }
  | {
      readonly kind: 'numeric-for'
      readonly local: Local
      readonly start: Expression
      readonly limit: Expression
      readonly step: Expression | undefined
      readonly body: Block
      readonly line: number
    }
  | {
      readonly kind: 'generic-for'
      readonly locals: readonly Local[]
      readonly values: readonly Expression[]
      readonly body: Block
      readonly line: number
    }
  | { readonly kind: 'return'; readonly values: readonly Expression[] }
  | { readonly kind: 'break' }

export interface Clause {
  readonly condition: Expression
  readonly body: Block
}
