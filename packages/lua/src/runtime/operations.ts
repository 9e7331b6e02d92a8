import { pow } from '../../../../src/kernel/portable-math.js'
import {
  callAt,
  chargeComparison,
  chargeJoin,
  errorAt,
  LuaError,
  longComparison,
  maxString,
  unitsOf,
  vm,
} from './activation.js'
import type { CallSite, LuaValue, Result } from './lua-value.js'
import { first, LuaTable, typeName } from './lua-value.js'
import { numberText, parseNumber } from './number-text.js'
import { charge } from './steps.js'

/** Operations that need coercion, metamethods or errors. Compiled code performs all other operations itself. */

/**
 * Position of an operator in a script. `left` and `right` are the names of its operands for error messages:
 * `local 'x'`, or `undefined`.
 */
export interface OperationSite {
  readonly site: CallSite
  readonly left: string | undefined
  readonly right: string | undefined
}

/** Metatable of all strings. Its `__index` is the string library. */
export const stringMeta: LuaTable = new LuaTable()

/** Maximum length of a chain of `__index` or `__newindex`. A longer chain counts as endless. */
const maxChain = 100

export function metatable(value: LuaValue): LuaTable | undefined {
  if (value instanceof LuaTable) return value.meta
  return typeof value === 'string' ? stringMeta : undefined
}

export function metamethod(value: LuaValue, event: string): LuaValue {
  return metatable(value)?.getString(event)
}

export function typeError(
  operation: OperationSite,
  verb: string,
  value: LuaValue,
  called: string | undefined,
): LuaError {
  const type = typeName(value)
  return errorAt(
    operation.site,
    called === undefined ? `attempt to ${verb} a ${type} value` : `attempt to ${verb} ${called} (a ${type} value)`,
  )
}

/** Calls a function, or the metamethod `__call` of another value. */
export function callValue(operation: OperationSite, target: LuaValue, args: readonly LuaValue[]): Result {
  if (typeof target === 'function') return target(...args)
  const handler = metamethod(target, '__call')
  if (typeof handler !== 'function') throw typeError(operation, 'call', target, operation.left)
  return handler(target, ...args)
}

function invoke(site: CallSite, handler: LuaValue, args: readonly LuaValue[]): Result {
  if (typeof handler === 'function') return callAt(site, handler, args)
  const inner = metamethod(handler, '__call')
  if (typeof inner !== 'function') {
    throw typeError({ site, left: undefined, right: undefined }, 'call', handler, undefined)
  }
  return callAt(site, inner, [handler, ...args])
}

// Fields.

export function index(object: LuaValue, key: LuaValue, operation: OperationSite): LuaValue {
  let current = object
  for (let step = 0; step < maxChain; step++) {
    let handler: LuaValue
    if (current instanceof LuaTable) {
      const value = current.get(key)
      if (value !== undefined) return value
      handler = current.meta?.getString('__index')
      if (handler === undefined) return undefined
    } else {
      handler = metamethod(current, '__index')
      if (handler === undefined) throw typeError(operation, 'index', current, step === 0 ? operation.left : undefined)
    }
    if (typeof handler === 'function') return first(callAt(operation.site, handler, [current, key]))
    current = handler
  }
  throw errorAt(operation.site, 'loop in gettable')
}

export function setIndex(object: LuaValue, key: LuaValue, value: LuaValue, operation: OperationSite): void {
  let current = object
  for (let step = 0; step < maxChain; step++) {
    let handler: LuaValue
    if (current instanceof LuaTable) {
      // As in redis-server, a read-only table rejects the assignment. The metatable of the read-only table is not used.
      if (current.isReadonly) throw errorAt(operation.site, readonlyText)
      handler = current.meta === undefined || current.get(key) !== undefined ? undefined : newIndex(current.meta)
      if (handler === undefined) {
        rawSet(current, key, value, operation)
        return
      }
    } else {
      handler = metamethod(current, '__newindex')
      if (handler === undefined) throw typeError(operation, 'index', current, step === 0 ? operation.left : undefined)
    }
    if (typeof handler === 'function') {
      callAt(operation.site, handler, [current, key, value])
      return
    }
    current = handler
  }
  throw errorAt(operation.site, 'loop in settable')
}

function newIndex(meta: LuaTable): LuaValue {
  return meta.getString('__newindex')
}

export const readonlyText = 'Attempt to modify a readonly table'

/** Assigns a value without metamethods. Throws an error for the keys nil and NaN. */
export function rawSet(table: LuaTable, key: LuaValue, value: LuaValue, operation: OperationSite): void {
  if (key === undefined) throw errorAt(operation.site, 'table index is nil')
  if (Number.isNaN(key)) throw errorAt(operation.site, 'table index is NaN')
  table.set(key, value)
}

// Arithmetic.

export type ArithmeticEvent = '__add' | '__sub' | '__mul' | '__div' | '__mod' | '__pow' | '__unm'

export const arithmeticEvents: Readonly<Record<string, ArithmeticEvent>> = {
  '+': '__add',
  '-': '__sub',
  '*': '__mul',
  '/': '__div',
  '%': '__mod',
  '^': '__pow',
}

/** Formats a number. Formatting a fraction takes longer, so it costs additional steps. */
export function textOf(value: number): string {
  if (!Number.isInteger(value)) charge(80)
  return numberText(value)
}

/** Converts a number, or a string that contains a number, to a number. Returns `undefined` for other values. */
export function toNumber(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return undefined
  if (value.length > 32) charge(value.length >> 2)
  return parseNumber(value)
}

function compute(event: ArithmeticEvent, left: number, right: number): number {
  switch (event) {
    case '__add':
      return left + right
    case '__sub':
      return left - right
    case '__mul':
      return left * right
    case '__div':
      return left / right
    case '__mod':
      return modulo(left, right)
    case '__pow':
      return pow(left, right)
    case '__unm':
      return -left
  }
}

export function modulo(left: number, right: number): number {
  return left - Math.floor(left / right) * right
}

export function arithmetic(
  event: ArithmeticEvent,
  left: LuaValue,
  right: LuaValue,
  operation: OperationSite,
): LuaValue {
  const a = toNumber(left)
  const b = a === undefined ? undefined : toNumber(right)
  if (a !== undefined && b !== undefined) return compute(event, a, b)
  const handler = metamethod(left, event) ?? metamethod(right, event)
  if (handler !== undefined) return first(invoke(operation.site, handler, [left, right]))
  const isLeft = toNumber(left) === undefined
  throw typeError(operation, 'perform arithmetic on', isLeft ? left : right, isLeft ? operation.left : operation.right)
}

export function lengthOf(value: LuaValue, operation: OperationSite): LuaValue {
  if (typeof value === 'string') return value.length
  if (value instanceof LuaTable) return value.length()
  throw typeError(operation, 'get length of', value, operation.left)
}

// Comparison.

export function equals(left: LuaValue, right: LuaValue, site: CallSite): boolean {
  if (typeof left === 'string' && left.length > longComparison) return sameText(left, right)
  if (left === right) return true
  if (!(left instanceof LuaTable && right instanceof LuaTable)) return false
  const handler = commonHandler(left, right, '__eq')
  return handler !== undefined && isTrue(first(invoke(site, handler, [left, right])))
}

/** Returns whether a long string equals another value. The comparison counts against the step limit. */
export function sameText(left: string, right: LuaValue): boolean {
  if (typeof right !== 'string' || left.length !== right.length) return false
  chargeComparison(left, right)
  return left === right
}

/** Returns the metamethod for a comparison if it is the same for both operands. Otherwise, returns `undefined`. */
function commonHandler(left: LuaValue, right: LuaValue, event: string): LuaValue {
  const handler = metamethod(left, event)
  if (handler === undefined) return undefined
  return metatable(left) === metatable(right) || metamethod(right, event) === handler ? handler : undefined
}

export function isTrue(value: LuaValue): boolean {
  return value !== undefined && value !== false
}

export function lessThan(left: LuaValue, right: LuaValue, site: CallSite): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left < right
  if (typeof left === 'string' && typeof right === 'string') {
    if (left.length > longComparison) chargeComparison(left, right)
    return left < right
  }
  if (typeName(left) === typeName(right)) {
    const handler = commonHandler(left, right, '__lt')
    if (handler !== undefined) return isTrue(first(invoke(site, handler, [left, right])))
  }
  throw orderError(left, right, site)
}

export function lessOrEqual(left: LuaValue, right: LuaValue, site: CallSite): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left <= right
  if (typeof left === 'string' && typeof right === 'string') {
    if (left.length > longComparison) chargeComparison(left, right)
    return left <= right
  }
  if (typeName(left) === typeName(right)) {
    const handler = commonHandler(left, right, '__le')
    if (handler !== undefined) return isTrue(first(invoke(site, handler, [left, right])))
    const opposite = commonHandler(right, left, '__lt')
    if (opposite !== undefined) return !isTrue(first(invoke(site, opposite, [right, left])))
  }
  throw orderError(left, right, site)
}

function orderError(left: LuaValue, right: LuaValue, site: CallSite): LuaError {
  const a = typeName(left)
  const b = typeName(right)
  return errorAt(site, a === b ? `attempt to compare two ${a} values` : `attempt to compare ${a} with ${b}`)
}

// Strings.

export function concatenate(left: LuaValue, right: LuaValue, operation: OperationSite): LuaValue {
  if (isText(left) && isText(right)) return join(left, right, operation.site)
  const handler = metamethod(left, '__concat') ?? metamethod(right, '__concat')
  if (handler !== undefined) return first(invoke(operation.site, handler, [left, right]))
  const isRight = isText(left)
  throw typeError(operation, 'concatenate', isRight ? right : left, isRight ? operation.right : operation.left)
}

function isText(value: LuaValue): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

function join(left: string | number, right: string | number, site: CallSite): string {
  const a = typeof left === 'number' ? textOf(left) : left
  const b = typeof right === 'number' ? textOf(right) : right
  const { length } = a
  charge(unitsOf.join)
  // JavaScript engines do not copy the parts when they join strings. A joined string therefore needs at most as much
  // additional memory as its shorter part.
  const bytes = Math.min(length, b.length)
  if (bytes > 255) {
    vm.memory -= bytes
    if (vm.memory < 0) throw new LuaError('not enough memory', site)
  }
  if (length + b.length > maxString) throw new LuaError('not enough memory', site)
  const joined = a + b
  chargeJoin(a, b, joined)
  return joined
}

/**
 * Returns an address as C prints it, such as `0x7f0000000040`. The address is invented. It is the same in every run
 * with the same seed.
 */
function address(object: object): string {
  const { state } = vm
  let known = state.addresses.get(object)
  if (known === undefined) {
    known = `0x${(0x7f00_0000_0000 + ++state.addressCount * 0x40).toString(16).padStart(12, '0')}`
    state.addresses.set(object, known)
  }
  return known
}

/** Formats a value as `tostring` does, but never calls a metamethod. */
export function plainText(value: LuaValue): string {
  switch (typeof value) {
    case 'undefined':
      return 'nil'
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      return textOf(value)
    case 'string':
      return value
    default: {
      const type = typeName(value)
      return type === 'userdata' ? 'userdata: (nil)' : `${type}: ${address(value as object)}`
    }
  }
}
