import { hostErrorValue, TailCall, unitsOf, vm } from '../runtime/activation.js'
import type { LuaFunction, LuaValue, Result, Steps } from '../runtime/lua-value.js'
import { isMany, LuaTable, nothing, oneNil } from '../runtime/lua-value.js'
import type { OperationSite } from '../runtime/operations.js'
import {
  arithmetic,
  arithmeticEvents,
  concatenate,
  equals,
  index,
  isTrue,
  lengthOf,
  lessOrEqual,
  lessThan,
  metamethod,
  rawSet,
  setIndex,
  typeError,
} from '../runtime/operations.js'
import { charge, exhausted, remaining } from '../runtime/steps.js'
import type { Block, CallNode, Expression, MethodNode, Statement, Variable } from '../syntax/syntax-tree.js'
import { stepsOfBlock } from './code-size.js'
import type { LinkedFunction } from './compile.js'
import { enterFrame } from './compile.js'
import { initialiser, store } from './compile-assignment.js'
import type { WantedValues } from './compile-call.js'
import { appendResult, begin, callParts, method, putOff, roomForTailCalls } from './compile-call.js'
import { genericLoop, iterator, loopRange } from './compile-loop.js'
import type { Cell, CompiledFunction, Compiler, Completion, Frame } from './frame.js'
import { broken } from './frame.js'
import { isMulti, isReadLate, isTargetReadLate, operationOf, titleOf } from './operands.js'

/**
 * Form of a function that can be suspended. It is a generator, uses the same frame, and is compiled when a coroutine
 * first runs the function. Code without calls cannot yield, so it is not compiled again. As in Lua 5.1, a Lua function
 * may yield only if another Lua function called it. Metamethods, iterators, and functions that a library function calls
 * may not yield.
 */
function* runSteps(code: CompiledFunction, upvalues: Cell[], args: readonly LuaValue[]): Steps {
  code.steps ??= compileSteps(code)
  const end: Completion = yield* code.steps(enterFrame(code, upvalues, args))
  return end === undefined ? nothing : end
}

/** The function `coroutine.yield`. A generator recognizes it, and stops instead of calling it. */
export const yieldFunction: LuaFunction = () => {
  // This code runs only if no generator could stop. The error text is always right, because even the main function of a
  // script is called by a C function.
  throw hostErrorValue('attempt to yield across metamethod/C-call boundary')
}

/** Runs the function of a coroutine, and then its deferred tail calls. */
export function* runCoroutine(code: CompiledFunction, upvalues: Cell[], args: readonly LuaValue[]): Steps {
  let result: Result = yield* runSteps(code, upvalues, args)
  while (result instanceof TailCall) {
    if (--remaining.steps < 0) exhausted()
    result = yield* enter(result.target, [...result])
  }
  return result
}

type Generated<T> = Generator<Result, T, readonly LuaValue[]>

/** Compiled code: a generator if the code can yield, otherwise a closure. */
type Part<T> =
  | { readonly run: (frame: Frame) => T; readonly steps: undefined }
  | { readonly run: undefined; readonly steps: (frame: Frame) => Generated<T> }

function compileSteps(code: CompiledFunction): (frame: Frame) => Steps {
  const part = new YieldingCompiler(code.compiler()).block(code.node.body)
  if (part.steps !== undefined) return part.steps as (frame: Frame) => Steps
  const { run } = part
  // biome-ignore lint/correctness/useYield: a body without calls never yields
  return function* (frame): Steps {
    return run(frame)
  }
}

/** JavaScript frames of a generator. It needs more than a closure, because `yield*` and `next()` use frames too. */
const framesPerStep = 4

class YieldingCompiler {
  readonly #compiler: Compiler

  constructor(compiler: Compiler) {
    this.#compiler = compiler
  }

  block(statements: Block): Part<Completion> {
    if (!statements.some(statementMayYield)) return plain(this.#compiler.block(statements))
    const parts = statements.map((each) => this.#compiler.nested(() => this.#statement(each)))
    const steps = stepsOfBlock(statements)
    return {
      run: undefined,
      *steps(frame) {
        if (steps > 0) charge(steps)
        for (const part of parts) {
          const end = part.steps === undefined ? part.run(frame) : yield* part.steps(frame)
          if (end !== undefined) return end
        }
        return undefined
      },
    }
  }

  #statement(node: Statement): Part<Completion> {
    if (!statementMayYield(node)) return plain(this.#compiler.block([node]))
    switch (node.kind) {
      case 'declare': {
        const put = node.locals.map(initialiser)
        const list = this.#list(node.values)
        return stepsOf(function* (frame) {
          const values = yield* list(frame)
          for (let at = 0; at < put.length; at++) put[at]!(frame, values[at])
          return undefined
        })
      }
      case 'assign':
        return this.#assign(node)
      case 'call-statement': {
        const call = this.#call(node.call, 'all')
        return stepsOf(function* (frame) {
          yield* call(frame)
          return undefined
        })
      }
      case 'do':
        return this.block(node.body)
      case 'if':
        return this.#if(node)
      case 'while':
      case 'repeat':
        return this.#conditionLoop(node)
      case 'numeric-for':
        return this.#numericFor(node)
      case 'generic-for':
        return this.#genericFor(node)
      case 'return':
        return this.#return(node.values)
      default:
        return plain(this.#compiler.block([node]))
    }
  }

  #assign(node: Statement & { kind: 'assign' }): Part<Completion> {
    const targets = node.targets.map((each) => this.#reference(each, node))
    const list = this.#list(node.values)
    return stepsOf(function* (frame) {
      const put: ((value: LuaValue) => void)[] = []
      for (const target of targets) put.push(yield* target(frame))
      const values = yield* list(frame)
      for (let at = put.length - 1; at >= 0; at--) put[at]!(values[at])
      return undefined
    })
  }

  #reference(
    target: Variable,
    { targets, line }: Statement & { kind: 'assign' },
  ): (frame: Frame) => Generated<(value: LuaValue) => void> {
    const compiler = this.#compiler
    if (target.kind === 'index') {
      const object = this.#one(target.object)
      const key = this.#one(target.key)
      const operation = operationOf(compiler, line, target.object)
      const isLateObject = isTargetReadLate(target.object, targets)
      const isLateKey = isTargetReadLate(target.key, targets)
      return function* (frame) {
        const table = isLateObject ? undefined : yield* value(object, frame)
        const at = isLateKey ? undefined : yield* value(key, frame)
        return (assigned) =>
          store(isLateObject ? object.run!(frame) : table, isLateKey ? key.run!(frame) : at, assigned, operation)
      }
    }
    const put = assignment(compiler, target, line)
    return function* (frame) {
      return (assigned) => put(frame, assigned)
    }
  }

  #if(node: Statement & { kind: 'if' }): Part<Completion> {
    const clauses = node.clauses.map(({ condition, body }) => {
      return { test: this.#one(condition), body: this.block(body) }
    })
    const otherwise = node.otherwise === undefined ? undefined : this.block(node.otherwise)
    return stepsOf(function* (frame) {
      for (const { test, body } of clauses) {
        if (isTrue(yield* value(test, frame))) return yield* completion(body, frame)
      }
      return otherwise === undefined ? undefined : yield* completion(otherwise, frame)
    })
  }

  #conditionLoop(node: Statement & { kind: 'while' | 'repeat' }): Part<Completion> {
    const test = this.#one(node.condition)
    const body = this.block(node.body)
    const isWhile = node.kind === 'while'
    return stepsOf(function* (frame) {
      for (;;) {
        if (isWhile && !isTrue(yield* value(test, frame))) return undefined
        if (--remaining.steps < 0) exhausted()
        const end = yield* completion(body, frame)
        if (end !== undefined) return end === broken ? undefined : end
        if (!isWhile && isTrue(yield* value(test, frame))) return undefined
      }
    })
  }

  #numericFor(node: Statement & { kind: 'numeric-for' }): Part<Completion> {
    const start = this.#one(node.start)
    const limit = this.#one(node.limit)
    const step = node.step === undefined ? plain<LuaValue>(() => 1) : this.#one(node.step)
    const body = this.block(node.body)
    const site = this.#compiler.site(node.line)
    const put = initialiser(node.local)
    return stepsOf(function* (frame) {
      const from = yield* value(start, frame)
      const to = yield* value(limit, frame)
      const range = loopRange(from, to, yield* value(step, frame), site)
      for (let at = range.start; range.by > 0 ? at <= range.last : at >= range.last; at += range.by) {
        if (--remaining.steps < 0) exhausted()
        put(frame, at)
        const end = yield* completion(body, frame)
        if (end !== undefined) return end === broken ? undefined : end
      }
      return undefined
    })
  }

  #genericFor(node: Statement & { kind: 'generic-for' }): Part<Completion> {
    const list = this.#list(node.values)
    const loop = genericLoop(this.#compiler, node)
    const body = this.block(node.body)
    const { put } = loop
    return stepsOf(function* (frame) {
      const advance = iterator(loop, yield* list(frame))
      for (;;) {
        if (--remaining.steps < 0) exhausted()
        const turn = advance()
        if (turn === undefined) return undefined
        put[0]!(frame, turn.key)
        if (put.length > 1) put[1]!(frame, turn.value)
        for (let at = 2; at < put.length; at++) put[at]!(frame, turn.rest?.[at])
        const end = yield* completion(body, frame)
        if (end !== undefined) return end === broken ? undefined : end
      }
    })
  }

  #return(values: readonly Expression[]): Part<Completion> {
    const [only] = values
    if (values.length === 1 && (only!.kind === 'call' || only!.kind === 'method')) {
      return { run: undefined, steps: this.#call(only as CallNode | MethodNode, 'tail') }
    }
    const list = this.#list(values)
    return stepsOf(function* (frame) {
      return yield* list(frame)
    })
  }

  // Expressions.

  #list(nodes: readonly Expression[]): (frame: Frame) => Generated<readonly LuaValue[]> {
    const last = nodes[nodes.length - 1]
    const isOpen = isMulti(last)
    const fixed = (isOpen ? nodes.slice(0, -1) : nodes).map((each) => this.#one(each))
    const rest = isOpen ? this.#all(last!) : undefined
    return function* (frame) {
      const values: LuaValue[] = []
      for (const part of fixed) values.push(yield* value(part, frame))
      if (rest !== undefined)
        appendResult(values, rest.steps === undefined ? rest.run(frame) : yield* rest.steps(frame))
      return values
    }
  }

  #all(node: Expression): Part<Result> {
    if (node.kind === 'call' || node.kind === 'method') return { run: undefined, steps: this.#call(node, 'all') }
    return plain(this.#compiler.all(node))
  }

  #one(node: Expression): Part<LuaValue> {
    if (!mayYield(node)) return plain(this.#compiler.expression(node))
    return { run: undefined, steps: this.#compiler.nested(() => this.#yielding(node)) }
  }

  #yielding(node: Expression): (frame: Frame) => Generated<LuaValue> {
    const compiler = this.#compiler
    switch (node.kind) {
      case 'call':
      case 'method':
        return this.#call(node, 'one') as (frame: Frame) => Generated<LuaValue>
      case 'single':
        return this.#yielding(node.inner)
      case 'index': {
        const operation = operationOf(compiler, node.line, node.object)
        return this.#two(node.object, node.key, (object, key) => index(object, key, operation))
      }
      case 'binary':
        return this.#two(node.left, node.right, binary(compiler, node))
      case 'and':
      case 'or': {
        const left = this.#one(node.left)
        const right = this.#one(node.right)
        const isAnd = node.kind === 'and'
        return function* (frame) {
          const result = yield* value(left, frame)
          return isTrue(result) === isAnd ? yield* value(right, frame) : result
        }
      }
      case 'not':
        return this.#two(node.operand, undefined, (operand) => !isTrue(operand))
      case 'negate': {
        const operation = operationOf(compiler, node.line, node.operand, node.operand)
        return this.#two(node.operand, undefined, (operand) => arithmetic('__unm', operand, operand, operation))
      }
      case 'length': {
        const operation = operationOf(compiler, node.line, node.operand)
        return this.#two(node.operand, undefined, (operand) => lengthOf(operand, operation))
      }
      case 'concat':
        return this.#concat(node)
      case 'table':
        return this.#table(node)
      default:
        throw new Error(`${node.kind} cannot yield`)
    }
  }

  #two(
    left: Expression,
    right: Expression | undefined,
    combine: (a: LuaValue, b: LuaValue) => LuaValue,
  ): (frame: Frame) => Generated<LuaValue> {
    const one = this.#one(left)
    const two = right === undefined ? undefined : this.#one(right)
    if (right !== undefined && two !== undefined && isReadLate(left, right)) {
      return function* (frame) {
        const b = yield* value(two, frame)
        return combine(yield* value(one, frame), b)
      }
    }
    return function* (frame) {
      const a = yield* value(one, frame)
      return combine(a, two === undefined ? undefined : yield* value(two, frame))
    }
  }

  #concat(node: Expression & { kind: 'concat' }): (frame: Frame) => Generated<LuaValue> {
    const parts = node.parts.map((each) => this.#one(each))
    const operation: OperationSite = { site: this.#compiler.site(node.line), left: undefined, right: undefined }
    return function* (frame) {
      const values: LuaValue[] = []
      for (const part of parts) values.push(yield* value(part, frame))
      let result = values[values.length - 1]
      for (let at = values.length - 2; at >= 0; at--) result = concatenate(values[at], result, operation)
      return result
    }
  }

  #table(node: Expression & { kind: 'table' }): (frame: Frame) => Generated<LuaValue> {
    const last = node.items[node.items.length - 1]
    const isOpen = last !== undefined && last.key === undefined && isMulti(last.value)
    const rest = isOpen ? this.#all(last.value) : undefined
    const operation: OperationSite = { site: this.#compiler.site(node.line), left: undefined, right: undefined }
    const items = (isOpen ? node.items.slice(0, -1) : node.items).map((item) => {
      return { key: item.key === undefined ? undefined : this.#one(item.key), part: this.#one(item.value) }
    })
    return function* (frame) {
      charge(unitsOf.table + unitsOf.listOfTable)
      const table = new LuaTable()
      const list: LuaValue[] = []
      for (const { key, part } of items) {
        if (key === undefined) {
          list.push(yield* value(part, frame))
        } else {
          const at = yield* value(key, frame)
          rawSet(table, at, yield* value(part, frame), operation)
        }
      }
      if (rest !== undefined) appendResult(list, rest.steps === undefined ? rest.run(frame) : yield* rest.steps(frame))
      if (list.length > 0) table.adoptList(list)
      return table
    }
  }

  // Calls.

  #call(node: CallNode | MethodNode, want: WantedValues): (frame: Frame) => Generated<Result> {
    const { operation, weight } = callParts(this.#compiler, node, want)
    const object = this.#one(node.kind === 'method' ? node.object : node.target)
    const list = this.#list(node.args)
    const name = node.kind === 'method' ? node.name : undefined
    const lookup: OperationSite | undefined =
      node.kind === 'method' ? { ...operation, left: titleOf(node.object) } : undefined
    const room = weight * framesPerStep
    return function* (frame) {
      const target = yield* value(object, frame)
      const callee = name === undefined ? target : method(target, name, lookup!)
      const values = yield* list(frame)
      const args = name === undefined ? values : [target, ...values]
      return yield* invoke(callee, args, operation, room, want)
    }
  }
}

function* invoke(
  callee: LuaValue,
  args: readonly LuaValue[],
  operation: OperationSite,
  room: number,
  want: WantedValues,
): Generated<Result> {
  let target = callee
  let values = args
  if (typeof target !== 'function') {
    const handler = metamethod(callee, '__call')
    if (typeof handler !== 'function') throw typeError(operation, 'call', callee, operation.left)
    target = handler
    values = [callee, ...args]
  }
  if (want === 'tail' && vm.room < roomForTailCalls) return putOff(target, values, operation.site)
  const depth = begin(operation.site, room)
  let result = yield* enter(target, values)
  while (result instanceof TailCall && want !== 'tail') {
    if (--remaining.steps < 0) exhausted()
    vm.sites[vm.depth - 1] = result.site
    result = yield* enter(result.target, [...result])
  }
  vm.depth = depth
  vm.room += room
  if (want === 'one') return isMany(result) ? result[0] : result
  return result === undefined && want === 'tail' ? oneNil : result
}

function* enter(target: LuaFunction, args: readonly LuaValue[]): Generated<Result> {
  const { code, upvalues } = target as LinkedFunction
  if (code !== undefined) return yield* runSteps(code, upvalues, args)
  if (target === yieldFunction) return yield args
  return target(...args)
}

function plain<T>(run: (frame: Frame) => T): Part<T> {
  return { run, steps: undefined }
}

function stepsOf(steps: (frame: Frame) => Generated<Completion>): Part<Completion> {
  return { run: undefined, steps }
}

function* value(part: Part<LuaValue>, frame: Frame): Generated<LuaValue> {
  return part.steps === undefined ? part.run(frame) : yield* part.steps(frame)
}

function* completion(part: Part<Completion>, frame: Frame): Generated<Completion> {
  return part.steps === undefined ? part.run(frame) : yield* part.steps(frame)
}

function assignment(
  compiler: Compiler,
  target: Exclude<Variable, { kind: 'index' }>,
  line: number,
): (frame: Frame, value: LuaValue) => void {
  switch (target.kind) {
    case 'local': {
      const { slot, isCaptured } = target.local
      return (frame, assigned) => {
        if (isCaptured) frame[slot].v = assigned
        else frame[slot] = assigned
      }
    }
    case 'upvalue':
      return (frame, assigned) => {
        frame[0][target.index].v = assigned
      }
    case 'global': {
      const operation: OperationSite = { site: compiler.site(line), left: undefined, right: undefined }
      return (_frame, assigned) => setIndex(vm.globals, target.name, assigned, operation)
    }
  }
}

function binary(compiler: Compiler, node: Expression & { kind: 'binary' }): (a: LuaValue, b: LuaValue) => LuaValue {
  const operation = operationOf(compiler, node.line, node.left, node.right)
  const { site } = operation
  switch (node.operator) {
    case '==':
      return (a, b) => equals(a, b, site)
    case '~=':
      return (a, b) => !equals(a, b, site)
    case '<':
      return (a, b) => lessThan(a, b, site)
    case '<=':
      return (a, b) => lessOrEqual(a, b, site)
    case '>':
      return (a, b) => lessThan(b, a, site)
    case '>=':
      return (a, b) => lessOrEqual(b, a, site)
    default: {
      const event = arithmeticEvents[node.operator]!
      return (a, b) => arithmetic(event, a, b, operation)
    }
  }
}

// Finds code that may yield: any call, except those in inner functions.

function mayYield(node: Expression): boolean {
  switch (node.kind) {
    case 'call':
    case 'method':
      return true
    case 'index':
      return mayYield(node.object) || mayYield(node.key)
    case 'binary':
    case 'and':
    case 'or':
      return mayYield(node.left) || mayYield(node.right)
    case 'concat':
      return node.parts.some(mayYield)
    case 'not':
    case 'negate':
    case 'length':
      return mayYield(node.operand)
    case 'single':
      return mayYield(node.inner)
    case 'table':
      return node.items.some(({ key, value: item }) => mayYield(item) || (key !== undefined && mayYield(key)))
    default:
      return false
  }
}

function statementMayYield(node: Statement): boolean {
  switch (node.kind) {
    case 'call-statement':
      return true
    case 'declare':
    case 'return':
      return node.values.some(mayYield)
    case 'assign':
      return node.values.some(mayYield) || node.targets.some(mayYield)
    case 'do':
      return node.body.some(statementMayYield)
    case 'while':
    case 'repeat':
      return mayYield(node.condition) || node.body.some(statementMayYield)
    case 'if':
      return (
        node.clauses.some(({ condition, body }) => mayYield(condition) || body.some(statementMayYield)) ||
        (node.otherwise?.some(statementMayYield) ?? false)
      )
    case 'numeric-for':
      return (
        [node.start, node.limit, ...(node.step === undefined ? [] : [node.step])].some(mayYield) ||
        node.body.some(statementMayYield)
      )
    case 'generic-for':
      return node.values.some(mayYield) || node.body.some(statementMayYield)
    default:
      return false
  }
}
