import {
  type Budget,
  BudgetExhausted,
  createEnvironment,
  createMachine,
  initialRandom,
  isStackOverflow,
  LuaError,
  LuaSyntaxError,
  type LuaTable,
  type Machine,
} from '@stuntdouble/lua'
import { type Bytes, latin1 } from '../../kernel/bytes.js'
import type { User } from '../access/user.js'
import type { Reply, ReplyError } from '../command/reply.js'
import { listOf, replyOfLua } from './conversion.js'
import { type FunctionCall, Libraries, type Performer } from './function-libraries.js'
import { type PreparedScript, prepareScript, scriptName } from './prepared-scripts.js'
import { redisLibrary, type ScriptHost, type ScriptRun, type ScriptStore } from './redis-library.js'
import * as refuse from './script-errors.js'
import { scriptFailed } from './script-failures.js'
import { noFlags } from './shebang.js'

/** Scripts and functions of one store, and the Lua states in which they run. Everything is created on first use. */
export class Scripts implements ScriptHost, Performer {
  readonly store: ScriptStore
  readonly libraries: Libraries
  readonly #scripts = new Map<string, Bytes>()
  readonly #random = initialRandom()
  #machine: Machine | undefined
  #environment: LuaTable | undefined
  #run: ScriptRun | undefined

  constructor(store: ScriptStore) {
    this.store = store
    this.libraries = new Libraries(this, this.#random)
  }

  get isRunning(): boolean {
    return this.#run !== undefined
  }

  get run(): ScriptRun {
    if (this.#run === undefined) throw new Error('A function of redis.* was called outside a script.')
    return this.#run
  }

  /**
   * Implements SCRIPT LOAD.
   * @throws ReplyError when the script does not compile
   */
  add(source: Bytes): Bytes {
    this.store.work.charge(compilation(source))
    const { digest } = prepare(source, refuse.compileError)
    this.#scripts.set(digest, source)
    return latin1(digest)
  }

  has(digest: Bytes): boolean {
    return this.#scripts.has(digest.toLowerCase())
  }

  source(digest: Bytes): Bytes {
    const source = this.#scripts.get(digest) ?? this.#scripts.get(digest.toLowerCase())
    if (source === undefined) throw refuse.scriptError('noScript')
    return source
  }

  /** Drops all scripts. As on a real server, their Lua state is reset. */
  flush(): void {
    this.#scripts.clear()
    this.#machine = undefined
    this.#environment = undefined
  }

  reset(): void {
    this.flush()
    this.libraries.flush()
    this.#random.splice(0, 3, ...initialRandom())
  }

  // Runs.

  /**
   * Implements EVAL and its variants.
   * @throws ReplyError when the script fails
   */
  evaluate(source: Bytes, keys: readonly Bytes[], args: readonly Bytes[], user: User, isReadOnly: boolean): Reply {
    this.store.work.charge(compilation(source))
    const { digest, flags, main } = prepare(source, refuse.syntaxError)
    this.#scripts.set(digest, source)
    if (isReadOnly && flags !== undefined && !flags.noWrites) throw refuse.scriptError('writeFlagInReadOnly')
    this.#machine ??= createMachine(this.#random)
    this.#environment ??= createEnvironment({ redis: redisLibrary(this) })
    const environment = this.#environment
    // A listener of the store may run this script while another script runs, so KEYS and ARGV of the other script are
    // saved.
    const isNested = this.#run !== undefined
    const outer = isNested ? [environment.get('KEYS'), environment.get('ARGV')] : []
    environment.set('KEYS', listOf(keys))
    environment.set('ARGV', listOf(args))
    try {
      return this.perform({
        machine: this.#machine,
        environment,
        target: main,
        args: [],
        chunk: scriptName,
        user,
        keys,
        isReadOnly,
        flags: flags ?? noFlags,
      })
    } finally {
      if (isNested) {
        environment.set('KEYS', outer[0])
        environment.set('ARGV', outer[1])
      }
    }
  }

  /**
   * Runs a function in a Lua state on behalf of a user. Converts the first value that the function returns to a reply.
   */
  perform({ machine, environment, target, args, chunk, user, keys, isReadOnly, flags }: FunctionCall): Reply {
    const outer = this.#run
    this.#run = {
      user,
      isReadOnly: isReadOnly || flags.noWrites,
      lockedKeys: flags.keyLocking ? [...keys] : undefined,
      isResp3: false,
    }
    try {
      return replyOfLua(machine.run(target, args, environment, this.budget)[0], this.store.work)
    } catch (error) {
      throw asReply(error, chunk, this.budget)
    } finally {
      this.#run = outer
    }
  }

  get budget(): Budget {
    return { work: this.store.work, most: this.store.options.policy.maxScriptSteps }
  }
}

/**
 * Returns the work for compiling a source. A cached source costs the same, so that the cost does not depend on other
 * stores.
 */
export function compilation(source: Bytes): number {
  return source.length <= freeSource ? 0 : (source.length - freeSource) * unitsPerCharacter
}

const freeSource = 4096
const unitsPerCharacter = 4

function prepare(source: Bytes, worded: (error: LuaSyntaxError) => ReplyError): PreparedScript {
  try {
    return prepareScript(source)
  } catch (error) {
    throw error instanceof LuaSyntaxError ? worded(error) : error
  }
}

/** Converts errors of the script to error replies; other errors are returned unchanged. */
function asReply(error: unknown, chunk: string, { most }: Budget): unknown {
  if (error instanceof LuaError) return scriptFailed(error, chunk)
  if (error instanceof BudgetExhausted) return refuse.budgetExhausted(most)
  if (isStackOverflow(error)) return scriptFailed(new LuaError('stack overflow'), chunk)
  return error
}
