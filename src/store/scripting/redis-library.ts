import {
  charge,
  chargeParts,
  exhausted,
  hostErrorValue,
  type LuaTable,
  type LuaValue,
  library,
  longJoin,
  type Result,
  remaining,
} from '@stuntdouble/lua'
import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { sha1Hex } from '../../kernel/digest.js'
import type { Work } from '../../kernel/work.js'
import type { ResolvedPolicy } from '../../policy/policy.js'
import { connectionBound } from '../access/categories.js'
import type { User } from '../access/user.js'
import type { CommandDescription } from '../command/command-description.js'
import { type Reply, ReplyError, WorkExceeded } from '../command/reply.js'
import { luaOfReply, tableWith, wordOfNumber } from './conversion.js'
import { luaOfTypedReply } from './resp3.js'
import { dynamicKey, inScript, wholeDatabase } from './script-errors.js'

/** State of the running script that its commands depend on. */
export interface ScriptRun {
  readonly user: User
  readonly isReadOnly: boolean
  /** The only keys that the script may use, if it requested key locking. */
  readonly lockedKeys: readonly Bytes[] | undefined
  isResp3: boolean
}

/** Part of the store that scripts use. The other methods receive the command that `lookup` returned. */
export interface ScriptStore {
  readonly work: Work
  readonly options: { readonly policy: Pick<ResolvedPolicy, 'maxScriptSteps'> }
  lookup(argv: readonly Bytes[]): CommandDescription
  permit(command: CommandDescription, argv: readonly Bytes[], user: User): void
  check(argv: readonly Bytes[], user: User): unknown
  executePart(command: CommandDescription, argv: readonly Bytes[], user: User, origin: string): Reply
}

export interface ScriptHost {
  readonly store: ScriptStore
  /** The current run; library functions are called only during a run. */
  readonly run: ScriptRun
}

/** Returns the library `redis.*` for EVAL. [store.md 9.2] */
export function redisLibrary(host: ScriptHost): LuaTable {
  return library({
    ...functionsLibrary(host),
    breakpoint: () => false,
    debug: () => [],
    replicate_commands: () => true,
  })
}

export function redisLibraryOfFunctions(host: ScriptHost): LuaTable {
  return library(functionsLibrary(host))
}

function functionsLibrary(host: ScriptHost): Record<string, LuaValue> {
  return {
    ...constants,
    REPL_ALL: 3,
    REPL_AOF: 1,
    REPL_NONE: 0,
    REPL_REPLICA: 2,
    REPL_SLAVE: 2,
    acl_check_cmd: (...args: LuaValue[]) => checkPermission(host, wordsOf(args)),
    call: (...args: LuaValue[]): Result => {
      const result = perform(host, args)
      if (result instanceof LuaCommandError) throw hostErrorValue(result.table)
      return result
    },
    error_reply: (...args: LuaValue[]) => singleField('err', args),
    log,
    pcall: (...args: LuaValue[]): Result => {
      const result = perform(host, args)
      return result instanceof LuaCommandError ? result.table : result
    },
    set_repl: setReplication,
    setresp: (...args: LuaValue[]) => setVersion(host, args),
    sha1hex,
    status_reply: (...args: LuaValue[]) => singleField('ok', args),
  }
}

/** Constants of `redis.*`, which are also available while a library is loaded. [redis 7.0] */
export const constants: Readonly<Record<string, LuaValue>> = {
  LOG_DEBUG: 0,
  LOG_NOTICE: 2,
  LOG_VERBOSE: 1,
  LOG_WARNING: 3,
  REDIS_VERSION: '7.0.15',
  REDIS_VERSION_NUM: 0x0007000f,
  log,
}

/** Raises an error as functions of `redis.*` do: as a table with the text in `err`. */
function raise(text: string): never {
  throw hostErrorValue(tableWith('err', text))
}

// Commands.

/** Error of a command, with the table that `redis.call` raises and `redis.pcall` returns. */
class LuaCommandError {
  readonly table: LuaTable

  constructor(text: string, isOfCommand = true) {
    this.table = isOfCommand ? tableWith('ignore_error_stats_update', true) : tableWith('err', text)
    if (isOfCommand) this.table.set('err', text)
  }
}

function perform(host: ScriptHost, args: readonly LuaValue[]): LuaValue | LuaCommandError {
  if (args.length === 0) return new LuaCommandError(inScript.noArguments, false)
  // Preallocated, because an array that grows by pushing reserves memory for more arguments.
  const argv = new Array<Bytes>(args.length)
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]
    if (typeof arg === 'string') argv[index] = latin1(arg)
    else if (typeof arg === 'number') argv[index] = wordOfNumber(arg)
    else return new LuaCommandError(inScript.badArguments, false)
  }
  const command = find(host.store, argv)
  if (typeof command === 'string') return new LuaCommandError(command)
  const refusal = refuse(host, command, argv)
  if (refusal !== undefined) return new LuaCommandError(refusal)
  return execute(host, command, argv)
}

/** Returns the command, or the text of an error if there is no such command. */
function find(store: ScriptStore, argv: readonly Bytes[]): CommandDescription | string {
  try {
    return store.lookup(argv)
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error
    const name = argv[0]!.toUpperCase()
    return connectionBound.has(name) || isBlocking(name) ? inScript.notAllowed : inScript.unknownCommand
  }
}

/**
 * Returns whether a command blocks. The service has no such commands, and a real server does not allow them in scripts.
 */
function isBlocking(name: string): boolean {
  return /^(?:BLPOP|BRPOP|BRPOPLPUSH|BLMOVE|BLMPOP|BZPOPMIN|BZPOPMAX|BZMPOP)$/.test(name)
}

/** Returns the reason why a command may not run in this script. */
function refuse({ run }: ScriptHost, command: CommandDescription, argv: readonly Bytes[]): string | undefined {
  if (!command.hasArity(argv)) return inScript.wrongArity
  if (!command.inScripts) return inScript.notAllowed
  if (run.isReadOnly && command.writes) return inScript.readOnly
  return run.lockedKeys === undefined ? undefined : refuseKeys(run.lockedKeys, command, argv)
}

function refuseKeys(locked: readonly Bytes[], command: CommandDescription, argv: readonly Bytes[]): string | undefined {
  if (command.name === 'FLUSHDB' || command.name === 'FLUSHALL') return wholeDatabase(command.name)
  for (const key of command.keysOf(argv)) if (!locked.includes(key)) return dynamicKey(key)
  return undefined
}

function execute(
  { store, run }: ScriptHost,
  command: CommandDescription,
  argv: readonly Bytes[],
): LuaValue | LuaCommandError {
  const { work } = store
  chargeCommand(argv)
  work.left = remaining.steps
  let reply: Reply
  try {
    store.permit(command, argv, run.user)
    reply = store.executePart(command, argv, run.user, 'lua')
  } catch (error) {
    // A script cannot catch the error for exhausted work, just as it cannot catch the error for an endless loop.
    if (error instanceof WorkExceeded) exhausted()
    if (error instanceof ReplyError) return new LuaCommandError(errorInScript(error.message))
    throw error
  } finally {
    // In the meantime, a listener may have run other scripts, which used steps of the same budget.
    remaining.steps = Math.min(remaining.steps, work.left)
  }
  charge(stepsOfReply(reply))
  return run.isResp3 ? luaOfTypedReply(command, argv, reply) : luaOfReply(reply, false)
}

/** Steps that every command of a script costs. */
const stepsPerCommand = 16

function chargeCommand(argv: readonly Bytes[]): void {
  let bytes = 0
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]!
    if (word.length >= longJoin) chargeParts(word)
    bytes += word.length
  }
  charge(stepsPerCommand + argv.length + (bytes >>> 6))
}

/** Returns the steps for a reply: an array becomes a table, which costs two steps per element. */
function stepsOfReply(reply: Reply): number {
  if (!Array.isArray(reply)) return 0
  let steps = 2 * reply.length
  for (const item of reply as readonly Reply[]) if (typeof item === 'object') steps += stepsOfReply(item)
  return steps
}

/**
 * Returns the text that scripts see for an error. Inside scripts, errors for missing permissions have different texts.
 */
function errorInScript(message: string): string {
  if (!message.startsWith('NOPERM')) return message
  if (message.includes('channels')) return inScript.channelPermission
  return message.includes('keys') ? inScript.keyPermission : inScript.commandPermission
}

function wordsOf(args: readonly LuaValue[]): Bytes[] {
  if (args.length === 0) raise(inScript.noArguments)
  return args.map((arg) => {
    if (typeof arg === 'string') return latin1(arg)
    return typeof arg === 'number' ? wordOfNumber(arg) : raise(inScript.badArguments)
  })
}

function checkPermission({ store, run }: ScriptHost, argv: readonly Bytes[]): Result {
  if (typeof find(store, argv) === 'string') raise(inScript.invalidAclCommand)
  try {
    store.check(argv, run.user)
    return true
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error
    // Other errors, such as a wrong number of arguments, do not concern permissions.
    return !error.message.startsWith('NOPERM')
  }
}

// Replies and settings.

function singleField(field: 'ok' | 'err', args: readonly LuaValue[]): Result {
  const [text] = args
  if (args.length !== 1 || typeof text !== 'string') return tableWith('err', inScript.wrongArguments)
  return tableWith(field, field === 'ok' ? text : withCode(text))
}

/** Adds the error code `ERR` to a text that consists of a single word. */
function withCode(text: string): string {
  const bare = text.replace(/^-/, '').replace(/[\r\n]+$/, '')
  return bare.includes(' ') ? bare : `ERR ${bare}`
}

function log(...args: LuaValue[]): Result {
  if (args.length < 2) raise(inScript.logArguments)
  const level = typeof args[0] === 'string' ? Number(args[0]) : args[0]
  if (typeof level !== 'number' || Number.isNaN(level)) raise(inScript.logLevelType)
  if (level < 0 || level > 3) raise(inScript.logLevel)
  return []
}

function setVersion({ run }: ScriptHost, args: readonly LuaValue[]): Result {
  if (args.length !== 1) raise(inScript.setrespArguments)
  const version = Number(args[0])
  if (version !== 2 && version !== 3) raise(inScript.respVersion)
  run.isResp3 = version === 3
  return []
}

function setReplication(...args: LuaValue[]): Result {
  if (args.length !== 1) raise(inScript.setReplArguments)
  const flags = Math.trunc(Number(args[0]) || 0)
  if (flags < 0 || flags > 3) raise(inScript.replicationFlags)
  return []
}

function sha1hex(...args: LuaValue[]): Result {
  if (args.length !== 1) raise(inScript.wrongCount)
  const [value] = args
  if (typeof value === 'string') charge(40 + value.length)
  if (typeof value === 'number') return sha1Hex(wordOfNumber(value))
  return sha1Hex(latin1(typeof value === 'string' ? value : ''))
}
