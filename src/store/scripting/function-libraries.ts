import {
  type Budget,
  BudgetExhausted,
  createBareEnvironment,
  createEnvironment,
  createMachine,
  hostErrorValue,
  LuaError,
  type LuaFunction,
  LuaSyntaxError,
  LuaTable,
  type LuaValue,
  library,
  load,
  type Machine,
  numberText,
  protection,
  type RandomState,
  type Result,
} from '@stuntdouble/lua'
import type { Bytes } from '../../kernel/bytes.js'
import type { User } from '../access/user.js'
import type { Reply } from '../command/reply.js'
import { listOf, tableWith } from './conversion.js'
import { constants, redisLibraryOfFunctions, type ScriptHost } from './redis-library.js'
import * as refuse from './script-errors.js'
import { inScript } from './script-errors.js'
import { registeringFailed } from './script-failures.js'
import { flagsOf, isFlag, isName, noFlags, readLibrary, type ScriptFlags } from './shebang.js'

/** Chunk name of libraries, as in redis: positions begin with `user_function:2:`. */
const chunkName = '@user_function'
const shownName = 'user_function'

export interface StoredFunction {
  readonly name: string
  readonly description: string | undefined
  readonly flags: ScriptFlags
  readonly callback: LuaFunction
}

export interface StoredLibrary {
  readonly name: string
  readonly code: Bytes
  readonly functions: readonly StoredFunction[]
}

/** Handling of existing libraries by FUNCTION RESTORE: delete all, keep all, or replace those with the same names. */
export type RestoreMode = 'flush' | 'append' | 'replace'

/** Call of a function in a Lua state (`machine`) on behalf of a user. */
export interface FunctionCall {
  readonly machine: Machine
  readonly environment: LuaTable
  readonly target: LuaFunction
  readonly args: readonly LuaValue[]
  readonly chunk: string
  readonly user: User
  readonly keys: readonly Bytes[]
  readonly isReadOnly: boolean
  readonly flags: ScriptFlags
}

export interface Performer extends ScriptHost {
  readonly budget: Budget
  perform(call: FunctionCall): Reply
}

/** Libraries that FUNCTION LOAD added to a store, and the Lua state that they share. [store.md 9.5] */
export class Libraries {
  readonly #host: Performer
  readonly #random: RandomState
  readonly #libraries = new Map<string, StoredLibrary>()
  /** Functions by lower-case name, because clients may write a name in any case. */
  readonly #functions = new Map<string, StoredFunction>()
  #machine: Machine | undefined
  #environment: LuaTable | undefined
  /** Functions that the library being loaded has registered. */
  #registering: Map<string, StoredFunction> | undefined

  constructor(host: Performer, random: RandomState) {
    this.#host = host
    this.#random = random
  }

  get all(): readonly StoredLibrary[] {
    return [...this.#libraries.values()]
  }

  get functionCount(): number {
    return this.#functions.size
  }

  /**
   * Implements FUNCTION LOAD and returns the name of the library. Nothing changes on an error.
   * @throws ReplyError when the library is invalid
   */
  load(code: Bytes, mayReplace: boolean): string {
    const { name, body } = readLibrary(code)
    if (this.#libraries.has(name) && !mayReplace) throw refuse.libraryExists(name)
    this.#replace([{ name, code, functions: this.#register(body) }])
    return name
  }

  /**
   * Implements FUNCTION RESTORE with the code of libraries. Nothing changes on an error.
   * @throws ReplyError when a library is invalid
   */
  restore(codes: readonly Bytes[], mode: RestoreMode): void {
    const restored = codes.map((code): StoredLibrary => {
      const { name, body } = readLibrary(code)
      if (mode === 'append' && this.#libraries.has(name)) throw refuse.restoredLibraryExists(name)
      return { name, code, functions: this.#register(body) }
    })
    if (mode === 'flush') {
      this.#libraries.clear()
      this.#functions.clear()
    }
    this.#replace(restored)
  }

  /** Implements FUNCTION DELETE. */
  delete(name: Bytes): void {
    const found = this.#libraries.get(name)
    if (found === undefined) throw refuse.scriptError('libraryNotFound')
    this.#remove(found)
  }

  /** Implements FUNCTION FLUSH, which also resets the Lua state. */
  flush(): void {
    this.#libraries.clear()
    this.#functions.clear()
    this.#machine = undefined
    this.#environment = undefined
  }

  named(name: Bytes): StoredFunction {
    const found = this.#functions.get(name.toLowerCase())
    if (found === undefined) throw refuse.scriptError('functionNotFound')
    return found
  }

  /**
   * Implements FCALL.
   * @throws ReplyError when the function fails
   */
  call(found: StoredFunction, keys: readonly Bytes[], args: readonly Bytes[], user: User, isReadOnly: boolean): Reply {
    const host = this.#host
    this.#environment ??= createEnvironment({ redis: redisLibraryOfFunctions(host) })
    return host.perform({
      machine: this.#state(),
      environment: this.#environment,
      target: found.callback,
      args: [listOf(keys), listOf(args)],
      chunk: shownName,
      user,
      keys,
      isReadOnly,
      flags: found.flags,
    })
  }

  #replace(libraries: readonly StoredLibrary[]): void {
    const old = libraries.flatMap(({ name }) => this.#libraries.get(name) ?? [])
    const leaving = new Set(old.flatMap(({ functions }) => functions))
    for (const { name } of libraries.flatMap(({ functions }) => functions)) {
      const other = this.#functions.get(name.toLowerCase())
      if (other !== undefined && !leaving.has(other)) throw refuse.functionExists(name)
    }
    for (const each of old) this.#remove(each)
    for (const library of libraries) {
      this.#libraries.set(library.name, library)
      for (const each of library.functions) this.#functions.set(each.name.toLowerCase(), each)
    }
  }

  #state(): Machine {
    this.#machine ??= createMachine(this.#random)
    return this.#machine
  }

  #remove({ name, functions }: StoredLibrary): void {
    this.#libraries.delete(name)
    for (const each of functions) this.#functions.delete(each.name.toLowerCase())
  }

  /** Runs the code of a library, in which only `redis.register_function`, `redis.log` and constants are available. */
  #register(body: string): readonly StoredFunction[] {
    const { budget } = this.#host
    const registered = new Map<string, StoredFunction>()
    this.#registering = registered
    try {
      this.#state().run(load(body, chunkName)(), [], this.#loading(), budget)
    } catch (error) {
      if (error instanceof LuaSyntaxError) throw refuse.functionCompileError(error)
      if (error instanceof LuaError) throw registeringFailed(error)
      if (error instanceof BudgetExhausted) throw refuse.budgetExhausted(budget.most)
      throw error
    } finally {
      this.#registering = undefined
    }
    if (registered.size === 0) throw refuse.scriptError('noFunctions')
    return [...registered.values()]
  }

  #loading(): LuaTable {
    const redis = library({
      ...constants,
      register_function: (...args: LuaValue[]): Result => {
        const registering = this.#registering
        if (registering === undefined) raise(inScript.registerOutside)
        const made = args.length === 1 ? namedArguments(args[0]) : positionalArguments(args)
        if (!isName(made.name)) raise(inScript.registerBadName)
        if (registering.has(made.name)) raise(inScript.registerTwice)
        registering.set(made.name, made)
        return []
      },
    })
    redis.meta = protection
    return createBareEnvironment({ redis })
  }
}

function raise(text: string): never {
  throw hostErrorValue(tableWith('err', text))
}

/** Returns a name as text. As in redis, scripts may pass a number. */
function nameOf(value: LuaValue, problem: string): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? numberText(value) : raise(problem)
}

function positionalArguments(args: readonly LuaValue[]): StoredFunction {
  if (args.length !== 2) raise(inScript.registerCount)
  const name = nameOf(args[0], inScript.registerFirst)
  const callback = args[1]
  if (typeof callback !== 'function') raise(inScript.registerSecond)
  return { name, callback, description: undefined, flags: noFlags }
}

function namedArguments(given: LuaValue): StoredFunction {
  if (!(given instanceof LuaTable)) raise(inScript.registerSingle)
  let name: string | undefined
  let description: string | undefined
  let callback: LuaFunction | undefined
  let flags = noFlags
  for (const cursor = given.cursor(); cursor.advance(); ) {
    const { value } = cursor
    switch (nameOf(cursor.key, inScript.registerKey).toLowerCase()) {
      case 'function_name':
        name = nameOf(value, inScript.registerName)
        break
      case 'description':
        description = nameOf(value, inScript.registerDescription)
        break
      case 'callback':
        callback = typeof value === 'function' ? value : raise(inScript.registerCallback)
        break
      case 'flags':
        flags = flagList(value)
        break
      default:
        raise(inScript.registerUnknown)
    }
  }
  if (name === undefined) raise(inScript.registerNoName)
  if (callback === undefined) raise(inScript.registerNoCallback)
  return { name, description, callback, flags }
}

function flagList(value: LuaValue): ScriptFlags {
  if (!(value instanceof LuaTable)) raise(inScript.registerFlags)
  const names: string[] = []
  for (let at = 1; value.getNumber(at) !== undefined; at++) {
    const flag = value.getNumber(at)
    if (typeof flag !== 'string' || !isFlag(flag)) raise(inScript.registerFlag)
    names.push(flag)
  }
  return flagsOf(names)
}
