import { type Bytes, text } from '../kernel/bytes.js'
import { ReplyError } from './reply.js'

// Every error text of the data store. Wordings: spec/store.md 7.3, 7.4, 1.4, 1.5, 6 and 10; where the service's own
// wording is not public, redis-server 7.0's.

const fixed = {
  syntax: 'ERR syntax error',
  notInteger: 'ERR value is not an int or out of range',
  notFloat: 'ERR value is not a valid float',
  wrongType: 'WRONGTYPE Operation against a key holding the wrong kind of value',
  noSuchKey: 'ERR no such key',
  overflow: 'ERR increment or decrement would overflow',
  decrementOverflow: 'ERR decrement would overflow',
  notFinite: 'ERR increment would produce NaN or Infinity',
  emptyCommand: 'ERR empty command',
  notAnArray: 'expected JSON array',
  emptyBody: 'EOF',
  invalidJson: 'ERR invalid JSON',
  nullArgument: 'ERR null args are not supported',
  nestedArray: 'ERR unsupported arg type: "[": json.Delim',
  nestedObject: 'ERR unsupported arg type: "{": json.Delim',
  urlEscape: 'ERR invalid URL escape',
  responseFormat: 'ERR invalid response format',
  base64WithResp2: 'ERR base64 encoding is not allowed with resp2 format',
  noKeyPermission: 'NOPERM this user has no permissions to access one of the keys used as arguments',
  noChannelPermission: 'NOPERM this user has no permissions to access one of the channels used as arguments',
  dbIndex: 'ERR DB index is out of range',
  negativeNotAllowed: 'ERR value is out of range, must be positive',
  outOfRange: 'ERR index out of range',
  invalidCursor: 'ERR invalid cursor',
  jsonRoot: 'ERR new objects must be created at the root',
  jsonNoKey: "ERR could not perform this operation on a key that doesn't exist",
  jsonNoPath: 'ERR Path does not exist',
  jsonDynamicPath: 'Err wrong static path',
  jsonIndexBounds: 'ERR index out of bounds',
  jsonIndexRange: 'ERR array index out of range',
  jsonNotNumber: 'ERR result is not a number',
  jsonValue: 'ERR invalid JSON value',
  jsonDepth: 'ERR JSON value is nested deeper than 128 levels',
} as const

export type ErrorName = keyof typeof fixed

export function replyError(name: ErrorName): ReplyError {
  return new ReplyError(fixed[name])
}

export function errorText(name: ErrorName): string {
  return fixed[name]
}

export function wrongArity(command: string): ReplyError {
  return new ReplyError(`ERR wrong number of arguments for '${command.toLowerCase().replace(' ', '|')}' command`)
}

export function invalidExpire(command: string): ReplyError {
  return new ReplyError(`ERR invalid expire time in '${command.toLowerCase()}' command`)
}

/** An unknown or unsupported command; `docs` is the vendor's documentation address. */
export function notAvailable(name: Bytes | string, docs: string): ReplyError {
  const shown = text(name as Bytes).toUpperCase()
  return new ReplyError(
    `ERR Command is not available: '${shown}'. See https://${docs}/redis/overall/rediscompatibility for details`,
  )
}

/** A command that needs a connection, or has an endpoint of its own. */
export function notInRest(name: string): ReplyError {
  return new ReplyError(`ERR Command "${name.toUpperCase()}" is not allowed in REST or it has a special context path`)
}

export function noCommandPermission(name: string): ReplyError {
  return new ReplyError(
    `NOPERM this user has no permissions to run the '${name.toLowerCase().replace(' ', '|')}' command or its subcommand`,
  )
}

export function unknownSubcommand(container: string, given: Bytes): ReplyError {
  return new ReplyError(`ERR unknown subcommand '${text(given)}'. Try ${container.toUpperCase()} HELP.`)
}

export function unauthorized(docs: string): ReplyError {
  return new ReplyError(
    `WRONGPASS invalid or missing auth token. See https://${docs}/redis/troubleshooting/http_unauthorized for details.`,
  )
}

export function requestTooLarge(limit: number, actual: number, docs: string): ReplyError {
  return new ReplyError(
    `ERR max request size exceeded. Limit: ${limit} bytes, Actual: ${actual} bytes. See https://${docs}/redis/troubleshooting/max_request_size_exceeded for details`,
  )
}

export function dailyLimit(limit: number, usage: number, docs: string): ReplyError {
  return new ReplyError(
    `ERR max daily request limit exceeded. Limit: ${limit}, Usage: ${usage}. See https://${docs}/redis/troubleshooting/max_daily_request_limit for details`,
  )
}

export function monthlyLimit(limit: number, usage: number, docs: string): ReplyError {
  return new ReplyError(
    `ERR max requests limit exceeded. Limit: ${limit}, Usage: ${usage}. See https://${docs}/redis/troubleshooting/max_requests_limit for details`,
  )
}

/** A legacy JSON path that leads to nothing the command can work on; `what` is such as `not an array`. */
export function jsonPathMissing(what: string): ReplyError {
  return new ReplyError(`ERR Path does not exist or ${what}`)
}

/** A legacy JSON path that leads to a value of another type. */
export function jsonPathType(expected: string): ReplyError {
  return new ReplyError(`WRONGTYPE wrong type of path value - expected ${expected}`)
}

/** A JSON path that cannot be read or takes too long. The service's own text is not public. */
export function invalidJsonPath(path: Bytes, reason: string): ReplyError {
  return new ReplyError(`ERR invalid JSON path '${text(path)}': ${reason}`)
}
