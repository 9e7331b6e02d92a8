import type { Work } from '../../../../src/kernel/work.js'
import type { CallSite, Coroutine, LuaFunction, LuaTable, LuaValue, Result } from './lua-value.js'
import { nothing, LuaTable as Table } from './lua-value.js'
import { charge, exhausted, remaining } from './steps.js'

/**
 * Registers of the current run. All machines share compiled code, so the values of one run are stored here; `enter`
 * saves the registers of an outer run and restores them. Runs are synchronous, so they never overlap.
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
  /** Budget at the beginning of the run. */
  budget: number
  /** The long string that was joined last. The engine copies its parts when the string is first read. */
  joined: string
  /**
   * Remaining JavaScript stack in frames. It is counted, so that the depth of a stack overflow does not depend on the
   * host.
   */
  room: number
  /** Number of calls in progress in this coroutine; `sites[depth - 1]` is the call of the running function. */
  depth: number
  sites: CallSite[]
  coroutine: Coroutine | undefined
  /** Number of calls in progress from library functions and metamethods. */
  nested: number
  /** Remaining bytes that library functions may allocate in this run. */
  memory: number
  globals: LuaTable
  state: MachineState
}

/** State of one machine that is kept between runs. */
export interface MachineState {
  /** Invented addresses that `tostring` returned for tables and functions. */
  readonly addresses: WeakMap<object, string>
  addressCount: number
  readonly random: RandomState
  /** Settings of the cjson library. */
  readonly json: JsonSettings
}

/** The 48 bits of the random generator as three 16-bit numbers, low word first. */
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
 * Maximum JavaScript frames of a run. A frame takes 100 to 200 bytes and engines allow about a megabyte, of which the
 * store and the caller of the library need a part.
 */
export const roomForRun = 5500

/** Maximum bytes of all strings that one run creates. */
export const memoryForRun = 0x4000_0000

/** Maximum length of a string: real servers allow more, but a test double must not use up the memory of its host. */
export const maxString = 0x400_0000

/** Lua error, thrown up to the next `pcall` or out of the script. */
export class LuaError {
  readonly value: LuaValue
  /** Position where it was raised: the running function, or the call of the library function that raised it. */
  readonly site: CallSite | undefined
  /** Name by which the library function that raised it was called. */
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

/** Site of calls from a library function instead of Lua code. */
const hostSite: CallSite = { chunk: '', line: 0, name: undefined, isMethod: false, isTail: false }

/** Call in tail position that is deferred, because earlier calls already use much of the stack. */
export class TailCall extends Array<LuaValue> {
  target: LuaFunction = noTarget
  site: CallSite = hostSite
}

function noTarget(): Result {
  return nothing
}

/**
 * Steps for each object that a script creates and may keep. Creating and collecting an object takes longer than a loop
 * iteration.
 */
export const unitsOf = { table: 6, listOfTable: 4, closure: 16, join: 2, string: 3 }

/** Deducts the steps for reading every byte of a string, such as for a comparison, a search or a copy. */
export function chargeReading(bytes: number): void {
  if (bytes >= bytesPerStep) charge(bytes >>> stepShift)
}

/** Binary logarithm of the bytes that cost one step: 32 bytes. */
const stepShift = 5
const bytesPerStep = 1 << stepShift

/** Minimum length of a joined string that engines do not copy immediately. Most joined strings are shorter. */
export const longJoin = 16_384

/** Deducts the steps for the first read of a string that was joined from parts, because that read copies the parts. */
export function chargeParts(text: string): void {
  if (text.length < longJoin || text !== vm.joined) return
  vm.joined = ''
  chargeBytes(text.length)
}

/**
 * Deducts the steps for a joined string. If it continues the previously joined string, as in a loop that builds a text,
 * nothing is copied yet. Any other long string costs the steps of a new string.
 */
export function chargeJoin(left: string, right: string, joined: string): void {
  if (joined.length < longJoin) return
  const longer = left.length < right.length ? right : left
  if (longer.length < longJoin || longer !== vm.joined) chargeBytes(joined.length)
  else charge(joined.length >>> 11)
  vm.joined = joined
}

/**
 * Deducts the steps for a comparison of strings. Strings of equal length are compared up to the end, for an order only
 * up to the first difference.
 */
export function chargeComparison(left: LuaValue, right: LuaValue): void {
  if (typeof left !== 'string' || typeof right !== 'string') return
  chargeParts(left)
  chargeParts(right)
  chargeReading(Math.min(left.length, right.length))
}

/** Length below which comparing strings is free. */
export const longComparison = 512

/**
 * Deducts the steps and the memory for a new string of a library function. Throws the error that real Lua throws when
 * memory allocation fails.
 */
export function chargeBytes(bytes: number): void {
  checkLength(bytes)
  vm.memory -= bytes
  charge(unitsOf.string + (bytes >>> stepShift))
  if (vm.memory < 0) throw hostErrorValue('not enough memory')
}

/** Checks the length of a string that is still growing. Its bytes are deducted when the string is complete. */
export function checkLength(bytes: number): void {
  if (bytes > maxString) throw hostErrorValue('not enough memory')
}

export function stackOverflow(site: CallSite): never {
  throw errorAt(site, 'stack overflow')
}

/**
 * Returns a position such as `user_script:3: ` for a function on the stack; level 1 is the function that called the
 * running one.
 */
export function where(level: number): string {
  const site = siteOf(level)
  return site === undefined || site.line === 0 ? '' : `${site.chunk}:${site.line}: `
}

function siteOf(level: number): CallSite | undefined {
  if (level < 1 || level > vm.depth) return undefined
  const site = vm.sites[vm.depth - level]
  // The frame of a function that ended in a tail call was removed; only a library function keeps it.
  return level > 1 && site?.isTail ? undefined : site
}

export function errorAt(site: CallSite, message: string): LuaError {
  if (site.line === 0) return hostErrorValue(message)
  return new LuaError(`${site.chunk}:${site.line}: ${message}`, site)
}

/** Returns an error that a library function raises, with the position of its caller. */
export function hostError(message: string): LuaError {
  return new LuaError(where(1) + message, siteOf(1), siteOf(1)?.name)
}

/** Returns an error that a library function raises with an unchanged value. */
export function hostErrorValue(value: LuaValue): LuaError {
  return new LuaError(value, siteOf(1), siteOf(1)?.name)
}

/** Returns `bad argument #1 to 'rep' (…)`, counted as the caller wrote it: `s:rep()` passes the string implicitly. */
export function argumentError(index: number, message: string): LuaError {
  const site = siteOf(1)
  const name = site?.name ?? '?'
  if (site?.isMethod) {
    if (index === 1) return hostError(`calling '${name}' on bad self (${message})`)
    return hostError(`bad argument #${index - 1} to '${name}' (${message})`)
  }
  return hostError(`bad argument #${index} to '${name}' (${message})`)
}

/** Calls a function from a library function or a metamethod. The result is final, without deferred calls. */
export function call(target: LuaFunction, ...args: LuaValue[]): Result {
  return callAt(hostSite, target, args)
}

/** Upper limit of JavaScript frames between the library function and the body of the called one. */
const hostCallFrames = 12

/** Limit of the C stack in the reference implementation. */
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

/** Runs deferred calls one after another, so that they do not use the stack. */
export function settle(result: TailCall): Result {
  let current: Result = result
  while (current instanceof TailCall) {
    if (--remaining.steps < 0) exhausted()
    vm.sites[vm.depth - 1] = current.site
    current = current.target(...current)
  }
  return current
}

/** Maximum steps of a run, also limited by the remaining work of the request. A step is a unit of work. */
export interface Budget {
  readonly work: Work
  readonly most: number
}

/** Runs `work` with new registers, and restores the registers of an outer run. */
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
  // A run inside another one, for example by a listener, shares the stack with it.
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

/** Runs `work` and returns the Lua error that ended it, with the registers restored. Other errors are thrown. */
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
    // The count of frames is an estimate; the engine may overflow earlier.
    if (isStackOverflow(problem)) return new LuaError('stack overflow')
    throw problem
  }
}

export function isStackOverflow(problem: unknown): boolean {
  return problem instanceof Error && /call stack|too much recursion/i.test(problem.message)
}
