import type { LuaSyntaxError } from '@stuntdouble/lua'
import { type Bytes, text } from '../../kernel/bytes.js'
import { ReplyError } from '../command/reply.js'

// Error texts of scripts and functions. The wording is from store.md 9. If the service's wording is not public, the
// wording is that of redis 7.0.

// Errors that a script sees, either as a text or in an error table.

export const inScript = {
  unknownCommand: 'ERR Unknown Redis command called from script',
  wrongArity: 'ERR Wrong number of args calling Redis command from script',
  notAllowed: 'ERR This Redis command is not allowed from script',
  noArguments: 'ERR Please specify at least one argument for this redis lib call',
  badArguments: 'ERR Lua redis lib command arguments must be strings or integers',
  readOnly: 'READONLY Write commands are not allowed from read-only scripts',
  // The first part of these texts is from store.md 6.2, the reasons are from redis 7.0.
  commandPermission: "ERR ACL failure in script: The user executing the script can't run this command or subcommand",
  keyPermission:
    "ERR ACL failure in script: The user executing the script can't access at least one of the keys mentioned in the command arguments",
  channelPermission:
    "ERR ACL failure in script: The user executing the script can't publish to the channel mentioned in the command",
  invalidAclCommand: 'ERR Invalid command passed to redis.acl_check_cmd()',
  wrongCount: 'ERR wrong number of arguments',
  wrongArguments: 'ERR wrong number or type of arguments',
  logArguments: 'ERR redis.log() requires two arguments or more.',
  logLevelType: 'ERR First argument must be a number (log level).',
  logLevel: 'ERR Invalid debug level.',
  setrespArguments: 'ERR redis.setresp() requires one argument.',
  respVersion: 'ERR RESP version must be 2 or 3.',
  setReplArguments: 'ERR redis.set_repl() requires two arguments.',
  replicationFlags: 'ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.',
  registerOutside: 'ERR redis.register_function can only be called on FUNCTION LOAD command',
  registerCount: 'ERR wrong number of arguments to redis.register_function',
  registerSingle:
    'ERR calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments).',
  registerFirst: 'ERR first argument to redis.register_function must be a string',
  registerSecond: 'ERR second argument to redis.register_function must be a function',
  registerKey: 'ERR named argument key given to redis.register_function is not a string',
  registerUnknown: 'ERR unknown argument given to redis.register_function',
  registerNoName: 'ERR redis.register_function must get a function name argument',
  registerNoCallback: 'ERR redis.register_function must get a callback argument',
  registerName: 'ERR function_name argument given to redis.register_function must be a string',
  registerDescription: 'ERR description argument given to redis.register_function must be a string',
  registerCallback: 'ERR callback argument given to redis.register_function must be a function',
  registerFlags: 'ERR flags argument to redis.register_function must be a table representing function flags',
  registerFlag: 'ERR unknown flag given',
  registerBadName:
    'ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one character long',
  registerTwice: 'ERR Function already exists in the library',
} as const

const fixed = {
  noScript: 'NOSCRIPT No matching script. Please use EVAL.',
  notBusy: 'NOTBUSY No scripts in execution right now.',
  negativeKeys: "ERR Number of keys can't be negative",
  badKeyCount: 'ERR Bad number of keys provided',
  writeFlagInReadOnly: 'ERR Can not execute a script with write flag using *_ro command.',
  invalidShebang: 'ERR Invalid script shebang',
  invalidEngine: 'ERR Invalid engine in script shebang',
  missingMetadata: 'ERR Missing library metadata',
  invalidMetadata: 'ERR Invalid library metadata',
  repeatedName: 'ERR Invalid metadata value, name argument was given multiple times',
  noLibraryName: 'ERR Library name was not given',
  restorePolicy: 'ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.',
  libraryNotFound: 'ERR Library not found',
  noFunctions: 'ERR No functions registered',
  functionNotFound: 'ERR Function not found',
  listNameMissing: 'ERR library name argument was not given',
} as const

export function scriptError(name: keyof typeof fixed): ReplyError {
  return new ReplyError(fixed[name])
}

/** Returns the error for a key that is not in KEYS although the script requested key locking. [store.md 9.5] */
export function dynamicKey(key: Bytes): string {
  return `ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: ${key}`
}

/** Returns the error for commands on the whole database. How the service words this error is not public. */
export function wholeDatabase(name: string): string {
  return `ERR ${name} is not allowed in Lua scripts when 'allow-key-locking' flag is set`
}

// Errors that the client who called the script receives.

/**
 * Returns the error for a script that did not end. A real server would let the script run, reply BUSY to all other
 * clients, and return another text after SCRIPT KILL. In the double no client can kill a script, so the text states the
 * limit.
 */
export function budgetExhausted(steps: number): ReplyError {
  return new ReplyError(
    `ERR Error running script: Script killed: it took more than ${steps} steps (loop iterations, calls, and processed data). If the script needs more, raise policy.maxScriptSteps and policy.maxWork.`,
  )
}

/** Returns the error for a script that cannot be compiled, as EVAL reports it. [store.md 9.4] */
export function syntaxError({ message, line, column, near }: LuaSyntaxError): ReplyError {
  const reason = /^[^:]*:\d+: (.*?)(?: near '.*')?$/s.exec(message)?.[1] ?? message
  const place =
    near === '<eof>' ? 'at EOF' : `line:${line}(column:${column})${near === undefined ? '' : ` near '${near}'`}`
  return new ReplyError(text(`ERR Error running script: @user_script ${place}: syntax error (${reason})` as Bytes))
}

/** Returns the error for a script that cannot be compiled, as SCRIPT LOAD reports it. */
export function compileError({ message }: LuaSyntaxError): ReplyError {
  return new ReplyError(text(`ERR Error compiling script (new function): ${message}` as Bytes))
}

export function functionCompileError({ message }: LuaSyntaxError): ReplyError {
  return new ReplyError(text(`ERR Error compiling function: ${message}` as Bytes))
}

export function flushMode(container: string): ReplyError {
  const verb = container === 'SCRIPT' ? 'support' : 'supports'
  return new ReplyError(`ERR ${container} FLUSH only ${verb} SYNC|ASYNC option`)
}

// Shebang lines.

export function unexpectedEngineLine(engine: string): ReplyError {
  return new ReplyError(text(`ERR Unexpected engine in script shebang: ${engine}` as Bytes))
}

export function unknownShebangOption(option: string): ReplyError {
  return new ReplyError(text(`ERR Unknown lua shebang option: ${option}` as Bytes))
}

export function unexpectedFlag(flag: string): ReplyError {
  return new ReplyError(text(`ERR Unexpected flag in script shebang: ${flag}` as Bytes))
}

// Functions.

export function unknownMetadata(word: string): ReplyError {
  return new ReplyError(text(`ERR Invalid metadata value given: ${word}` as Bytes))
}

export function badName(): ReplyError {
  return new ReplyError(inScript.registerBadName)
}

export function engineNotFound(engine: string): ReplyError {
  return new ReplyError(text(`ERR Engine '${engine}' not found` as Bytes))
}

export function libraryExists(name: string): ReplyError {
  return new ReplyError(`ERR Library '${name}' already exists`)
}

/** Returns the error for an existing library in the wording of FUNCTION RESTORE. */
export function restoredLibraryExists(name: string): ReplyError {
  return new ReplyError(`ERR Library ${name} already exists`)
}

export function functionExists(name: string): ReplyError {
  return new ReplyError(`ERR Function ${name} already exists`)
}

export function unknownLoadOption(option: Bytes): ReplyError {
  return new ReplyError(`ERR Unknown option given: ${text(option)}`)
}

export function unknownListArgument(word: Bytes): ReplyError {
  return new ReplyError(`ERR Unknown argument ${text(word)}`)
}
