import type { Lexer, LuaSyntaxError } from './lexer.js'
import type { Block, FunctionNode, Local, Upvalue, Variable } from './syntax-tree.js'

const maxLocals = 200
const maxUpvalues = 60

/** State of a function while its source is parsed. */
interface FunctionState {
  readonly parent: FunctionState | undefined
  readonly line: number
  readonly isVararg: boolean
  usesVararg: boolean
  readonly active: Local[]
  readonly upvalues: Upvalue[]
  freeSlot: number
  slots: number
  /** Number of loops that contain the current statement. */
  loops: number
}

/** Finds the variable that a name means at the current position, and assigns slots to locals. */
export class Scopes {
  readonly #lexer: Lexer
  #function!: FunctionState

  constructor(lexer: Lexer) {
    this.#lexer = lexer
  }

  get current(): FunctionState {
    return this.#function
  }

  open(line: number, isVararg: boolean): void {
    // Slot 0 contains the upvalues. In a vararg function, slot 1 contains the extra arguments.
    const first = isVararg ? 2 : 1
    this.#function = {
      parent: this.#function,
      line,
      isVararg,
      usesVararg: false,
      active: [],
      upvalues: [],
      freeSlot: first,
      slots: first,
      loops: 0,
    }
  }

  close(parameters: readonly Local[], argumentTable: Local | undefined, body: Block): FunctionNode {
    const state = this.#function
    this.#function = state.parent!
    return {
      kind: 'function',
      line: state.line,
      parameters,
      isVararg: state.isVararg,
      argumentTable: state.usesVararg ? undefined : argumentTable,
      upvalues: state.upvalues,
      body,
      slots: state.slots,
    }
  }

  declare(text: string): Local {
    const state = this.#function
    if (state.active.length >= maxLocals) throw this.#overLimit(maxLocals, 'local variables')
    const local: Local = { name: text, slot: state.freeSlot++, isCaptured: false }
    state.slots = Math.max(state.slots, state.freeSlot)
    state.active.push(local)
    return local
  }

  #overLimit(limit: number, what: string): LuaSyntaxError {
    const { line } = this.#function
    const owner = line === 0 ? 'main function' : `function at line ${line}`
    return this.#lexer.errorWithoutToken(`${owner} has more than ${limit} ${what}`)
  }

  /** Declares a local. It is not visible before its initializer has been parsed. */
  prepare(text: string, ahead: number): Local {
    const state = this.#function
    if (state.active.length + ahead >= maxLocals) throw this.#overLimit(maxLocals, 'local variables')
    const local: Local = { name: text, slot: state.freeSlot + ahead, isCaptured: false }
    state.slots = Math.max(state.slots, local.slot + 1)
    return local
  }

  activate(locals: readonly Local[]): void {
    const state = this.#function
    state.active.push(...locals)
    state.freeSlot += locals.length
  }

  scoped<T>(work: () => T): T {
    const state = this.#function
    const { freeSlot } = state
    const count = state.active.length
    const result = work()
    state.active.length = count
    state.freeSlot = freeSlot
    return result
  }

  resolve(text: string, line: number): Variable {
    const local = findLocal(this.#function, text)
    if (local !== undefined) return { kind: 'local', local }
    const index = this.#upvalue(this.#function, text)
    return index < 0 ? { kind: 'global', name: text, line } : { kind: 'upvalue', index, name: text }
  }

  /**
   * Returns the index of an upvalue, or -1 if no enclosing function has a local of this name. Every function between
   * the function with the local and the current function gets an upvalue, too.
   */
  #upvalue(state: FunctionState, text: string): number {
    const known = state.upvalues.findIndex((upvalue) => upvalue.name === text)
    // While an inner function is parsed, the outer functions declare no locals. An upvalue with the same name is
    // therefore the same variable.
    if (known >= 0) return known
    const { parent } = state
    if (parent === undefined) return -1
    const local = findLocal(parent, text)
    let index = -1
    if (local === undefined) {
      index = this.#upvalue(parent, text)
      if (index < 0) return -1
    } else {
      local.isCaptured = true
    }
    if (state.upvalues.length >= maxUpvalues) {
      this.#function = state
      throw this.#overLimit(maxUpvalues, 'upvalues')
    }
    return state.upvalues.push({ name: text, local, index }) - 1
  }
}

function findLocal(state: FunctionState, text: string): Local | undefined {
  const { active } = state
  for (let index = active.length - 1; index >= 0; index--) if (active[index]!.name === text) return active[index]
  return undefined
}
