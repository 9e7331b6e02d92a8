import type { Work } from '../../../../src/kernel/work.js'
import type { CallSite, Coroutine, LuaFunction, LuaTable, LuaValue, Result } from './lua-value.js'
import { nothing, LuaTable as Table } from './lua-value.js'
import { charge, exhausted, remaining } from './steps.js'

/**
 * State of the current run. It is global because all machines share the compiled code. For an inner run, `enter` saves
 * the state of the outer run and restores it later. Runs are synchronous, so only one run is active at a time.
 */
export const vm: Registers = {
  budget: 0,
  joined: '',
  room: 0,
  depth: 0,
  sites: [],
  coroutine: undefined,
  nested: 0,
  memory: 0,
  globals: new Table(),
  state: undefined as unknown as MachineState,
}

interface Registers {
  /** Number of steps that the run may use. */
  budget: number
  /** The last long string that `..` produced. JavaScript engines copy its parts only when the string is first read. */
  joined: string
  /** Remaining JavaScript frames. They are counted so that a stack overflow occurs at the same depth on every host. */
  room: number
  /** Number of active calls in this coroutine. `sites[depth - 1]` is the site where the running function was called. */
  depth: number
  sites: CallSite[]
  coroutine: Coroutine | undefined
  /** Number of active calls that library functions and metamethods made. */
  nested: number
  /** Remaining bytes that library functions may allocate in this run. */
  memory: number
  globals: LuaTable
  state: MachineState
}

/** State of one machine that is kept between runs. */
export interface MachineState {
  /** Addresses that `tostring` has shown for tables and functions. They are not real addresses. */
  readonly addresses: WeakMap<object, string>
  addressCount: number
  readonly random: RandomState
  /** Settings of the cjson library. */
  readonly json: JsonSettings
}

/** State of the random generator: 48 bits as three 16-bit numbers, the lowest first. */
export type RandomState = [number, number, number]

export interface JsonSettings {
  sparseConvert: boolean
  sparseRatio: number
  sparseSafe: number
  encodeMaxDepth: number
  decodeMaxDepth: number
  encodeInvalidNumbers: 'error' | 'allow' | 'null'
  decodeInvalidNumbers: boolean
  keepBuffer: boolean
  numberPrecision: number
}

/**
 * Maximum number of JavaScript frames in a run. A frame takes 100 to 200 bytes, and engines allow about 1 MB. The store
 * and its caller need a part of that.
 */
export const roomForRun = 5500

/** Maximum total size of the strings that one run creates, in bytes. */
export const memoryForRun = 0x4000_0000

/** Maximum length of a string. Real servers allow more, but a script must not use up the memory of the test process. */
export const maxString = 0x400_0000

/** Error in Lua. It is thrown up to the next `pcall`, or out of the script. */
export class LuaError {
  readonly value: LuaValue
  /**
   * Site in the Lua code where the error occurred. If a library function threw it, the site of the call to that
   * function.
   */
  readonly site: CallSite | undefined
  /** Name under which the script called the library function that threw the error. */
  readonly callee: string | undefined

  constructor(value: LuaValue, site?: CallSite, callee?: string) {
    this.value = value
    this.site = site
    this.callee = callee
  }

  get message(): string {
    return typeof this.value === 'string' || typeof this.value === 'number' ? String(this.value) : 'Lua error object'
  }
}

/** Site of a call that a library function makes, for which there is no Lua code. */
const hostSite: CallSite = { chunk: '', line: 0, name: undefined, isMethod: false, isTail: false }

/** A tail call that was deferred, because the active calls already use much of the stack. */
export class TailCall extends Array<LuaValue> {
  target: LuaFunction = noTarget
  site: CallSite = hostSite
}

function noTarget(): Result {
  return nothing
}

/**
 * Steps for each object that a script creates, because creating and collecting an object takes longer than a loop
 * iteration.
 */
export const unitsOf = { table: 6, listOfTable: 4, closure: 16, join: 2, string: 3 }

/** Deducts the steps for reading each byte of a string, for example in a comparison, a search or a copy. */
export function chargeReading(bytes: number): void {
  if (bytes >= bytesPerStep) charge(bytes >>> stepShift)
}

/** Reading 32 bytes costs one step. The constant is the binary logarithm of 32. */
const stepShift = 5
const bytesPerStep = 1 << stepShift

/**
 * Minimum length of a joined string whose parts JavaScript engines do not copy immediately. Most joined strings are
 * shorter.
 */
export const longJoin = 16_384

/** Deducts the steps for the first read of a joined string. The engine copies the parts of the string in that read. */
export function chargeParts(text: string): void {
  if (text.length < longJoin || text !== vm.joined) return
  vm.joined = ''
  chargeBytes(text.length)
}

/**
 * Deducts the steps for a string that `..` produces. Appending to the previously joined string copies nothing yet, for
 * example in a loop that builds a text. Any other long result costs as much as a new string.
 */
export function chargeJoin(left: string, right: string, joined: string): void {
  if (joined.length < longJoin) return
  const longer = left.length < right.length ? right : left
  if (longer.length < longJoin || longer !== vm.joined) chargeBytes(joined.length)
  else charge(joined.length >>> 11)
  vm.joined = joined
}

/**
 * Deducts the steps for a comparison of two strings. This function assumes that all bytes of the shorter string are
 * read.
 */
export function chargeComparison(left: LuaValue, right: LuaValue): void {
  if (typeof left !== 'string' || typeof right !== 'string') return
  chargeParts(left)
  chargeParts(right)
  chargeReading(Math.min(left.length, right.length))
}

/** Comparisons of strings up to this length cost no steps. */
export const longComparison = 512

/**
 * Deducts the steps and the memory for a string that a library function creates. If no memory remains, throws the error
 * of real Lua for a failed allocation.
 */
export function chargeBytes(bytes: number): void {
  checkLength(bytes)
  vm.memory -= bytes
  charge(unitsOf.string + (bytes >>> stepShift))
  if (vm.memory < 0) throw hostErrorValue('not enough memory')
}

/** Checks the length of a string that is still growing. `chargeBytes` deducts its bytes when the string is complete. */
export function checkLength(bytes: number): void {
  if (bytes > maxString) throw hostErrorValue('not enough memory')
}

export function stackOverflow(site: CallSite): never {
  throw errorAt(site, 'stack overflow')
}

/**
 * Returns a position such as `user_script:3: `. Level 1 is the position in the function that called the running one.
 */
export function where(level: number): string {
  const site = siteOf(level)
  return site === undefined || site.line === 0 ? '' : `${site.chunk}:${site.line}: `
}

function siteOf(level: number): CallSite | undefined {
  if (level < 1 || level > vm.depth) return undefined
  const site = vm.sites[vm.depth - level]
  // A tail call removes the frame of its caller, so the position is unknown. Level 1 is the call of a library function,
  // which keeps the frame.
  return level > 1 && site?.isTail ? undefined : site
}

export function errorAt(site: CallSite, message: string): LuaError {
  if (site.line === 0) return hostErrorValue(message)
  return new LuaError(`${site.chunk}:${site.line}: ${message}`, site)
}

/** Returns an error of a library function. The position of the function's caller precedes the message. */
export function hostError(message: string): LuaError {
  return new LuaError(where(1) + message, siteOf(1), siteOf(1)?.name)
}

/** Returns an error of a library function without adding a position. */
export function hostErrorValue(value: LuaValue): LuaError {
  return new LuaError(value, siteOf(1), siteOf(1)?.name)
}

/**
 * Returns the error `bad argument #1 to 'rep' (…)`. The number counts the arguments in the source: in `s:rep(2)` the
 * string is not one of them.
 */
export function argumentError(index: number, message: string): LuaError {
  const site = siteOf(1)
  const name = site?.name ?? '?'
  if (site?.isMethod) {
    if (index === 1) return hostError(`calling '${name}' on bad self (${message})`)
    return hostError(`bad argument #${index - 1} to '${name}' (${message})`)
  }
  return hostError(`bad argument #${index} to '${name}' (${message})`)
}

/** Calls a function for a library function or a metamethod. Deferred tail calls of the result have already run. */
export function call(target: LuaFunction, ...args: LuaValue[]): Result {
  return callAt(hostSite, target, args)
}

/** Maximum number of JavaScript frames between a library function and the body of a function that it calls. */
const hostCallFrames = 12

/** Maximum number of nested C calls in the reference implementation. */
export const maxNested = 199

export function callAt(site: CallSite, target: LuaFunction, args: readonly LuaValue[]): Result {
  const depth = vm.depth
  if (--remaining.steps < 0) exhausted()
  if (vm.room < hostCallFrames) stackOverflow(site)
  if (vm.nested >= maxNested) throw errorAt(site, 'C stack overflow')
  vm.nested++
  vm.room -= hostCallFrames
  vm.sites[depth] = site
  vm.depth = depth + 1
  const result = target(...args)
  const settled = result instanceof TailCall ? settle(result) : result
  vm.depth = depth
  vm.room += hostCallFrames
  vm.nested--
  return settled
}

/** Runs deferred tail calls in a loop, so that they need no additional stack. */
export function settle(result: TailCall): Result {
  let current: Result = result
  while (current instanceof TailCall) {
    if (--remaining.steps < 0) exhausted()
    vm.sites[vm.depth - 1] = current.site
    current = current.target(...current)
  }
  return current
}

/**
 * Limits of a run: a maximum number of steps, and the remaining work of the request. A step is one unit of that work.
 */
export interface Budget {
  readonly work: Work
  readonly most: number
}

/** Runs `work` as a new run, and restores the state of the outer run afterwards. */
export function enter<T>(state: MachineState, globals: LuaTable, budget: Budget, work: () => T): T {
  const outerSteps = remaining.steps
  const {
    budget: outerBudget,
    joined,
    room,
    depth,
    sites,
    coroutine,
    nested,
    memory,
    globals: outerGlobals,
    state: outerState,
  } = vm
  const steps = Math.floor(Math.max(0, Math.min(budget.most, budget.work.left)))
  const before = budget.work.left
  remaining.steps = steps
  vm.budget = steps
  vm.joined = ''
  // An inner run, for example in a listener, has only the remaining stack of the outer run.
  vm.room = depth === 0 ? roomForRun : room - hostCallFrames
  vm.sites = depth === 0 ? sites : []
  vm.depth = 0
  vm.coroutine = undefined
  vm.nested = 0
  vm.memory = memoryForRun
  vm.globals = globals
  vm.state = state
  try {
    return work()
  } finally {
    budget.work.left = before - (steps - Math.max(remaining.steps, 0))
    remaining.steps = outerSteps
    vm.budget = outerBudget
    vm.joined = joined
    vm.room = room
    vm.depth = depth
    vm.sites = sites
    vm.coroutine = coroutine
    vm.nested = nested
    vm.memory = memory
    vm.globals = outerGlobals
    vm.state = outerState
  }
}

/** Runs `work`. If a Lua error ends it, restores the state and returns the error. Other errors are thrown. */
export function enterProtected<T>(work: () => T): T | LuaError {
  const { depth, room, sites, coroutine, nested } = vm
  try {
    return work()
  } catch (problem) {
    vm.depth = depth
    vm.room = room
    vm.sites = sites
    vm.coroutine = coroutine
    vm.nested = nested
    if (problem instanceof LuaError) return problem
    // The counted frames are only an estimate, so the JavaScript stack can overflow earlier.
    if (isStackOverflow(problem)) return new LuaError('stack overflow')
    throw problem
  }
}

export function isStackOverflow(problem: unknown): boolean {
  return problem instanceof Error && /call stack|too much recursion/i.test(problem.message)
}
