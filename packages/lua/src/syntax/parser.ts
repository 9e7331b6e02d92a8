import type { LuaSyntaxError } from './lexer.js'
import { endOfSource, Lexer, name, number, string } from './lexer.js'
import { Scopes } from './scopes.js'
import type {
  BinaryOperator,
  Block,
  Clause,
  Expression,
  FunctionNode,
  Local,
  Statement,
  TableItem,
  Variable,
} from './syntax-tree.js'

/**
 * Parses a Lua 5.1 source. The parser has the limits of the reference compiler for locals, upvalues and nesting. This
 * package has its own parser, because the available npm package rejects `return 'end'` and `break;`. That npm package
 * also loses the parentheses of `return (f())`, and has other error texts.
 * @throws LuaSyntaxError with the texts of the reference compiler
 */
export function parse(source: string, chunk: string): FunctionNode {
  return new Parser(new Lexer(source, chunk)).chunk()
}

/** Maximum nesting of blocks and subexpressions. In the reference compiler, the C stack has this limit. */
export const maxLevels = 195
/** Maximum number of operators or suffixes in a chain. Each of them becomes a JavaScript frame. */
export const maxChain = 1000

/**
 * Left and right precedence of each operator. The operators `..` and `^` have a lower right precedence, which makes
 * them right-associative.
 */
const priorities: Readonly<Record<string, readonly [number, number]>> = {
  '+': [6, 6],
  '-': [6, 6],
  '*': [7, 7],
  '/': [7, 7],
  '%': [7, 7],
  '^': [10, 9],
  '..': [5, 4],
  '~=': [3, 3],
  '==': [3, 3],
  '<': [3, 3],
  '<=': [3, 3],
  '>': [3, 3],
  '>=': [3, 3],
  and: [2, 2],
  or: [1, 1],
}

const unaryPriority = 8

class Parser {
  readonly #lexer: Lexer
  readonly #scopes: Scopes
  #levels = 0

  constructor(lexer: Lexer) {
    this.#lexer = lexer
    this.#scopes = new Scopes(lexer)
  }

  chunk(): FunctionNode {
    this.#scopes.open(0, true)
    const body = this.#block()
    this.#check(endOfSource)
    return this.#scopes.close([], undefined, body)
  }

  // Tokens.

  #unexpected(): LuaSyntaxError {
    return this.#lexer.error('unexpected symbol')
  }

  #expected(kind: string): LuaSyntaxError {
    return this.#lexer.error(`'${kind}' expected`)
  }

  #accept(kind: string): boolean {
    if (this.#lexer.kind !== kind) return false
    this.#lexer.next()
    return true
  }

  #check(kind: string): void {
    if (this.#lexer.kind !== kind) throw this.#expected(kind)
  }

  #expect(kind: string): void {
    this.#check(kind)
    this.#lexer.next()
  }

  #expectClosing(kind: string, opening: string, line: number): void {
    if (this.#accept(kind)) return
    if (line === this.#lexer.line) throw this.#expected(kind)
    throw this.#lexer.error(`'${kind}' expected (to close '${opening}' at line ${line})`)
  }

  #name(): string {
    this.#check(name)
    const { text } = this.#lexer
    this.#lexer.next()
    return text
  }

  #enter(): void {
    if (++this.#levels > maxLevels) throw this.#lexer.errorWithoutToken('chunk has too many syntax levels')
  }

  #leave(): void {
    this.#levels--
  }

  #checkChain(length: number): void {
    if (length > maxChain) throw this.#lexer.error('function or expression too complex')
  }

  // Statements.

  #block(): Block {
    const statements: Statement[] = []
    this.#enter()
    for (let isLast = false; !isLast && !this.#blockEnds(); ) {
      isLast = this.#lexer.kind === 'return' || this.#lexer.kind === 'break'
      statements.push(this.#statement())
      this.#accept(';')
    }
    this.#leave()
    return statements
  }

  #blockEnds(): boolean {
    switch (this.#lexer.kind) {
      case 'else':
      case 'elseif':
      case 'end':
      case endOfSource:
      case 'until':
        return true
      default:
        return false
    }
  }

  #scopedBlock(): Block {
    return this.#scopes.scoped(() => this.#block())
  }

  #loopBody(): Block {
    this.#scopes.current.loops++
    const body = this.#scopedBlock()
    this.#scopes.current.loops--
    return body
  }

  #statement(): Statement {
    const lexer = this.#lexer
    const { line } = lexer
    switch (lexer.kind) {
      case 'if':
        return this.#if(line)
      case 'while':
        return this.#while(line)
      case 'do': {
        lexer.next()
        const body = this.#scopedBlock()
        this.#expectClosing('end', 'do', line)
        return { kind: 'do', body }
      }
      case 'for':
        return this.#for(line)
      case 'repeat':
        return this.#repeat(line)
      case 'function':
        return this.#functionStatement(line)
      case 'local':
        lexer.next()
        return this.#accept('function') ? this.#localFunction(line) : this.#localStatement()
      case 'return':
        lexer.next()
        return {
          kind: 'return',
          values: this.#blockEnds() || (lexer.kind as string) === ';' ? [] : this.#expressions(),
        }
      case 'break':
        lexer.next()
        if (this.#scopes.current.loops === 0) throw lexer.error('no loop to break')
        return { kind: 'break' }
      default:
        return this.#expressionStatement()
    }
  }

  #if(line: number): Statement {
    const clauses: Clause[] = []
    let otherwise: Block | undefined
    do {
      this.#lexer.next()
      const condition = this.#expression()
      this.#expect('then')
      clauses.push({ condition, body: this.#scopedBlock() })
    } while (this.#lexer.kind === 'elseif')
    if (this.#accept('else')) otherwise = this.#scopedBlock()
    this.#expectClosing('end', 'if', line)
    return { kind: 'if', clauses, otherwise }
  }

  #while(line: number): Statement {
    this.#lexer.next()
    const condition = this.#expression()
    this.#expect('do')
    const body = this.#loopBody()
    this.#expectClosing('end', 'while', line)
    return { kind: 'while', condition, body }
  }

  #repeat(line: number): Statement {
    this.#lexer.next()
    this.#scopes.current.loops++
    // The condition of `until` can use the locals of the body.
    const statement = this.#scopes.scoped((): Statement => {
      const body = this.#block()
      this.#expectClosing('until', 'repeat', line)
      return { kind: 'repeat', body, condition: this.#expression() }
    })
    this.#scopes.current.loops--
    return statement
  }

  #for(line: number): Statement {
    this.#lexer.next()
    const text = this.#name()
    switch (this.#lexer.kind) {
      case '=':
        return this.#numericFor(text, line)
      case ',':
      case 'in':
        return this.#genericFor(text, line)
      default:
        throw this.#lexer.error("'=' or 'in' expected")
    }
  }

  #numericFor(text: string, line: number): Statement {
    this.#lexer.next()
    const start = this.#expression()
    this.#expect(',')
    const limit = this.#expression()
    const step = this.#accept(',') ? this.#expression() : undefined
    this.#expect('do')
    const { lastLine } = this.#lexer
    return this.#scopes.scoped((): Statement => {
      const local = this.#scopes.declare(text)
      const body = this.#loopBody()
      this.#expectClosing('end', 'for', line)
      return { kind: 'numeric-for', local, start, limit, step, body, line: lastLine }
    })
  }

  #genericFor(text: string, line: number): Statement {
    const names = [text]
    while (this.#accept(',')) names.push(this.#name())
    this.#expect('in')
    const values = this.#expressions()
    this.#expect('do')
    return this.#scopes.scoped((): Statement => {
      const locals = names.map((each) => this.#scopes.declare(each))
      const body = this.#loopBody()
      this.#expectClosing('end', 'for', line)
      return { kind: 'generic-for', locals, values, body, line }
    })
  }

  #functionStatement(line: number): Statement {
    const lexer = this.#lexer
    lexer.next()
    let target: Variable = this.#scopes.resolve(this.#name(), line)
    let isMethod = false
    for (let length = 0; lexer.kind === '.' || lexer.kind === ':'; length++) {
      this.#checkChain(length)
      isMethod = lexer.kind === ':'
      lexer.next()
      target = { kind: 'index', object: target, key: { kind: 'string', value: this.#name() }, line }
      if (isMethod) break
    }
    return { kind: 'assign', targets: [target], values: [this.#functionBody(isMethod, line)], line }
  }

  #localFunction(line: number): Statement {
    const local = this.#scopes.declare(this.#name())
    return { kind: 'local-function', local, value: this.#functionBody(false, line) }
  }

  #localStatement(): Statement {
    const locals: Local[] = []
    do locals.push(this.#scopes.prepare(this.#name(), locals.length))
    while (this.#accept(','))
    const values = this.#accept('=') ? this.#expressions() : []
    this.#scopes.activate(locals)
    return { kind: 'declare', locals, values }
  }

  #expressionStatement(): Statement {
    const lexer = this.#lexer
    const target = this.#suffixed()
    if (target.kind === 'call' || target.kind === 'method') return { kind: 'call-statement', call: target }
    const targets: Variable[] = []
    let current: Expression = target
    for (;;) {
      if (!isVariable(current)) throw lexer.error('syntax error')
      targets.push(current)
      this.#checkChain(targets.length)
      if (!this.#accept(',')) break
      current = this.#suffixed()
    }
    this.#expect('=')
    const values = this.#expressions()
    return { kind: 'assign', targets, values, line: lexer.lastLine }
  }

  // Expressions.

  #expressions(): Expression[] {
    const list = [this.#expression()]
    while (this.#accept(',')) list.push(this.#expression())
    return list
  }

  #expression(): Expression {
    return this.#subexpression(0)
  }

  #subexpression(limit: number): Expression {
    const lexer = this.#lexer
    this.#enter()
    let left = this.#unary()
    for (let length = 0; ; length++) {
      const operator = lexer.kind
      const priority = priorities[operator]
      if (priority === undefined || priority[0] <= limit) break
      this.#checkChain(length)
      lexer.next()
      left = combine(operator, left, this.#subexpression(priority[1]), lexer.lastLine)
    }
    this.#leave()
    return left
  }

  #unary(): Expression {
    const lexer = this.#lexer
    switch (lexer.kind) {
      case 'not': {
        lexer.next()
        return { kind: 'not', operand: this.#subexpression(unaryPriority) }
      }
      case '-': {
        lexer.next()
        const operand = this.#subexpression(unaryPriority)
        if (operand.kind === 'number') return { kind: 'number', value: -operand.value }
        return { kind: 'negate', operand, line: lexer.lastLine }
      }
      case '#': {
        lexer.next()
        return { kind: 'length', operand: this.#subexpression(unaryPriority), line: lexer.lastLine }
      }
      default:
        return this.#simple()
    }
  }

  #simple(): Expression {
    const lexer = this.#lexer
    let result: Expression
    switch (lexer.kind) {
      case number:
        result = { kind: 'number', value: lexer.value }
        break
      case string:
        result = { kind: 'string', value: lexer.text }
        break
      case 'nil':
      case 'true':
      case 'false':
        result = { kind: lexer.kind }
        break
      case '...':
        if (!this.#scopes.current.isVararg) throw lexer.error("cannot use '...' outside a vararg function")
        this.#scopes.current.usesVararg = true
        result = { kind: 'vararg' }
        break
      case '{':
        return this.#table()
      case 'function': {
        const { line } = lexer
        lexer.next()
        return this.#functionBody(false, line)
      }
      default:
        return this.#suffixed()
    }
    lexer.next()
    return result
  }

  #prefix(): Expression {
    const lexer = this.#lexer
    const { line } = lexer
    if (lexer.kind === name) return this.#scopes.resolve(this.#name(), line)
    if (lexer.kind !== '(') throw this.#unexpected()
    lexer.next()
    const inner = this.#expression()
    this.#expectClosing(')', '(', line)
    return { kind: 'single', inner }
  }

  #suffixed(): Expression {
    const lexer = this.#lexer
    let result = this.#prefix()
    for (let length = 0; ; length++) {
      this.#checkChain(length)
      switch (lexer.kind) {
        case '.': {
          lexer.next()
          const { line } = lexer
          result = { kind: 'index', object: result, key: { kind: 'string', value: this.#name() }, line }
          break
        }
        case '[': {
          lexer.next()
          const key = this.#expression()
          this.#expect(']')
          result = { kind: 'index', object: result, key, line: lexer.lastLine }
          break
        }
        case ':': {
          lexer.next()
          const text = this.#name()
          const { line } = lexer
          result = { kind: 'method', object: result, name: text, args: this.#arguments(), line }
          break
        }
        case '(':
        case string:
        case '{': {
          const { line } = lexer
          result = { kind: 'call', target: result, args: this.#arguments(), line }
          break
        }
        default:
          return result
      }
    }
  }

  #arguments(): readonly Expression[] {
    const lexer = this.#lexer
    const { line } = lexer
    switch (lexer.kind) {
      case '(': {
        if (line !== lexer.lastLine) throw lexer.error('ambiguous syntax (function call x new statement)')
        lexer.next()
        const args = (lexer.kind as string) === ')' ? [] : this.#expressions()
        this.#expectClosing(')', '(', line)
        return args
      }
      case '{':
        return [this.#table()]
      case string: {
        const value = lexer.text
        lexer.next()
        return [{ kind: 'string', value }]
      }
      default:
        throw lexer.error('function arguments expected')
    }
  }

  #table(): Expression {
    const lexer = this.#lexer
    const { line } = lexer
    const items: TableItem[] = []
    lexer.next()
    while (lexer.kind !== '}') {
      items.push(this.#tableItem())
      if (!this.#accept(',') && !this.#accept(';')) break
    }
    this.#expectClosing('}', '{', line)
    return { kind: 'table', items, line: lexer.lastLine }
  }

  #tableItem(): TableItem {
    const lexer = this.#lexer
    if (lexer.kind === '[') {
      lexer.next()
      const key = this.#expression()
      this.#expect(']')
      this.#expect('=')
      return { key, value: this.#expression(), line: lexer.lastLine }
    }
    if (lexer.kind === name && lexer.peek() === '=') {
      const key: Expression = { kind: 'string', value: this.#name() }
      lexer.next()
      return { key, value: this.#expression(), line: lexer.lastLine }
    }
    return { key: undefined, value: this.#expression(), line: lexer.lastLine }
  }

  #functionBody(isMethod: boolean, line: number): FunctionNode {
    const lexer = this.#lexer
    const names: string[] = isMethod ? ['self'] : []
    this.#expect('(')
    let isVararg = false
    if (lexer.kind !== ')') {
      do {
        if (lexer.kind === name) {
          names.push(this.#name())
        } else if (this.#accept('...')) {
          isVararg = true
        } else {
          throw lexer.error("<name> or '...' expected")
        }
      } while (!isVararg && this.#accept(','))
    }
    this.#scopes.open(line, isVararg)
    const parameters = names.map((each) => this.#scopes.declare(each))
    const argumentTable = isVararg ? this.#scopes.declare('arg') : undefined
    this.#expect(')')
    const body = this.#block()
    this.#expectClosing('end', 'function', line)
    return this.#scopes.close(parameters, argumentTable, body)
  }
}

/** Returns whether a node is a variable, to which a value can be assigned. A variable in parentheses is not one. */
function isVariable(node: Expression): node is Variable {
  return node.kind === 'local' || node.kind === 'upvalue' || node.kind === 'global' || node.kind === 'index'
}

function combine(operator: string, left: Expression, right: Expression, line: number): Expression {
  if (operator === 'and' || operator === 'or') return { kind: operator, left, right }
  if (operator === '..') {
    // A chain of `..` is one node, because it is evaluated as a whole, from right to left.
    return { kind: 'concat', parts: [left, ...(right.kind === 'concat' ? right.parts : [right])], line }
  }
  return { kind: 'binary', operator: operator as BinaryOperator, left, right, line }
}
