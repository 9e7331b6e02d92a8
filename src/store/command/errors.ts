import { type Bytes, text } from '../../kernel/bytes.js'

import { ReplyError, WorkExceeded } from './reply.js'

/** Reason why a user may not run a command: the command itself, or the first denied key or channel. */
export type Denial =
  | { readonly of: 'command' }
  | { readonly of: 'key'; readonly name: Bytes }
  | { readonly of: 'channel'; readonly name: Bytes }

// All error texts of the store. The wording is from store.md 7.3, 7.4, 1.4, 1.5, 6 and 10. Where the service's wording
// is not public, it is that of redis-server 7.0.

const fixed = {
  syntax: 'ERR syntax error',
  notInteger: 'ERR value is not an int or out of range',
  notFloat: 'ERR value is not a valid float',
  wrongType: 'WRONGTYPE Operation against a key holding the wrong kind of value',
  noSuchKey: 'ERR no such key',
  offset: 'ERR offset is out of range',
  bitOffset: 'ERR bit offset is not an integer or out of range',
  bitValue: 'ERR bit is not an integer or out of range',
  bitArgument: 'ERR The bit argument must be 1 or 0.',
  bitopNot: 'ERR BITOP NOT must be called with a single source key.',
  bitfieldType: 'ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.',
  bitfieldOverflow: 'ERR Invalid OVERFLOW type specified',
  bitfieldReadOnly: 'ERR BITFIELD_RO only supports the GET subcommand',
  stringTooLong: 'ERR string exceeds maximum allowed size (proto-max-bulk-len)',
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
  firstDbIndex: 'ERR invalid first DB index',
  secondDbIndex: 'ERR invalid second DB index',
  sameObject: 'ERR source and destination objects are the same',
  slowlogCount: 'ERR count should be greater than or equal to -1',
  invalidCommand: 'ERR Invalid command specified',
  notInTransaction: 'ERR Command not allowed inside a transaction',
  noKeyArguments: 'ERR The command has no key arguments',
  invalidArgumentCount: 'ERR Invalid number of arguments specified for command',
  invalidArguments: 'ERR Invalid arguments specified for command',
  nxWithOthers: 'ERR NX and XX, GT or LT options at the same time are not compatible',
  gtAndLt: 'ERR GT and LT options at the same time are not compatible',
  waitLocal: 'ERR value is out of range, must be between 0 and 1',
  badDump: 'ERR DUMP payload version or checksum are wrong',
  busyKey: 'BUSYKEY Target key name already exists.',
  negativeTtl: 'ERR Invalid TTL value, must be >= 0',
  negativeIdleTime: 'ERR Invalid IDLETIME value, must be >= 0',
  frequencyRange: 'ERR Invalid FREQ value, must be >= 0 and <= 255',
  noFrequency:
    'ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.',
  notSortable: "ERR One or more scores can't be converted into double",
  negativeNotAllowed: 'ERR value is out of range, must be positive',
  outOfRange: 'ERR index out of range',
  invalidCursor: 'ERR invalid cursor',
  rankZero:
    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list",
  negativeCount: "ERR COUNT can't be negative",
  negativeMaxlen: "ERR MAXLEN can't be negative",
  negativeLimit: "ERR LIMIT can't be negative",
  numkeysPositive: 'ERR numkeys should be greater than 0',
  countPositive: 'ERR count should be greater than 0',
  tooManyKeys: "ERR Number of keys can't be greater than number of args",
  valueRange: 'ERR value is out of range',
  signedRange: 'ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807',
  hashNotInteger: 'ERR hash value is not an integer',
  hashNotFloat: 'ERR hash value is not a float',
  nanOrInfinity: 'ERR value is NaN or Infinity',
  fieldsMissing: 'ERR Mandatory argument FIELDS is missing or not at the right position',
  fieldsMismatch: 'ERR The `numfields` parameter must match the number of arguments',
  fieldsCountExpire: 'ERR Parameter `numFields` should be greater than 0',
  fieldsCount: 'ERR Number of fields must be a positive integer',
  negativeExpire: 'ERR invalid expire time, must be >= 0',
  onlyOneTime: 'ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified',
  onlyOneFieldCondition: 'ERR Only one of FXX or FNX arguments can be specified',
  xxAndNx: 'ERR XX and NX options at the same time are not compatible',
  gtLtNx: 'ERR GT, LT, and/or NX options at the same time are not compatible',
  incrSinglePair: 'ERR INCR option supports a single increment-element pair',
  scoreNotNumber: 'ERR resulting score is not a number (NaN)',
  scoreRange: 'ERR min or max is not a float',
  lexRange: 'ERR min or max not valid string range item',
  weightNotFloat: 'ERR weight value is not a float',
  limitWithoutBy: 'ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX',
  withScoresByLex: 'ERR syntax error, WITHSCORES not supported in combination with BYLEX',
  unit: 'ERR unsupported unit provided. please use M, KM, FT, MI',
  negativeRadius: 'ERR radius cannot be negative',
  radiusNotNumber: 'ERR need numeric radius',
  widthNotNumber: 'ERR need numeric width',
  heightNotNumber: 'ERR need numeric height',
  negativeBox: 'ERR height or width cannot be negative',
  countAboveZero: 'ERR COUNT must be > 0',
  anyWithoutCount: 'ERR the ANY argument requires COUNT argument',
  memberNotDecodable: 'ERR could not decode requested zset member',
  storeInRadius: 'ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options',
  storeInSearch: 'ERR GEOSEARCHSTORE is not compatible with WITHDIST, WITHHASH and WITHCOORD options',
  lcsNotStrings: 'ERR The specified keys must contain string values',
  lcsBoth: 'ERR If you want both the length and indexes, please just use IDX.',
  lcsTooLarge: 'ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len',
  notHyperLogLog: 'WRONGTYPE Key is not a valid HyperLogLog string value.',
  damagedHyperLogLog: 'INVALIDOBJ Corrupted HLL object detected',
  hyperLogLogMissing: 'ERR The specified key does not exist',
  hyperLogLogNotSparse: 'ERR HLL encoding is not sparse',
  invalidStreamId: 'ERR Invalid stream ID specified as stream command argument',
  zeroStreamId: 'ERR The ID specified in XADD must be greater than 0-0',
  smallStreamId: 'ERR The ID specified in XADD is equal or smaller than the target stream top item',
  streamExhausted: 'ERR The stream has exhausted the last possible ID, unable to add more items',
  invalidRangeStart: 'ERR invalid start ID for the interval',
  invalidRangeEnd: 'ERR invalid end ID for the interval',
  negativeMaxlenArgument: 'ERR The MAXLEN argument must be >= 0.',
  negativeTrimLimit: 'ERR The LIMIT argument must be >= 0.',
  twoTrims: 'ERR syntax error, MAXLEN and MINID options at the same time are not compatible',
  limitWithoutTrim: 'ERR syntax error, LIMIT cannot be used without specifying a trimming strategy',
  limitWithoutTilde: 'ERR syntax error, LIMIT cannot be used without the special ~ option',
  trimMissing: 'ERR syntax error, XTRIM must be called with a trimming strategy',
  idsCount: 'ERR Number of IDs must be a positive integer',
  idsMismatch: 'ERR The `numids` parameter must match the number of arguments',
  timeoutNotInteger: 'ERR timeout is not an integer or out of range',
  timeoutNegative: 'ERR timeout is negative',
  timeoutNotFloat: 'ERR timeout is not a float or out of range',
  unbalancedStreams: "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.",
  groupInXread: 'ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.',
  noackInXread: 'ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.',
  groupMissing: 'ERR Missing GROUP option for XREADGROUP',
  dollarInGroup:
    'ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.',
  newerWithoutGroup:
    'ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.',
  xgroupNeedsKey:
    'ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.',
  entriesRead: 'ERR value for ENTRIESREAD must be positive or -1',
  groupExists: 'BUSYGROUP Consumer Group name already exists',
  entriesAdded: 'ERR entries_added must be positive',
  setIdBelowGiven: 'ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id',
  setIdBelowTop: 'ERR The ID specified in XSETID is smaller than the target stream top item',
  setIdBelowLength: 'ERR The entries_added specified in XSETID is smaller than the target stream length',
  streamGone: 'UNBLOCKED the stream key no longer exists',
  groupGone: 'NOGROUP the consumer group this client was blocked on no longer exists',
  recordTooLarge: 'ERR max single record size exceeded',
  // redis-server rejects a command of a transaction with this text if the transaction would exceed `maxmemory`.
  outOfMemory: "OOM command not allowed when used memory > 'maxmemory'.",
  userName: "ERR Usernames can't contain spaces or null characters",
  weakPassword: 'ERR The password is too weak: it needs at least 8 characters',
  genpassBits:
    'ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096',
  jsonRoot: 'ERR new objects must be created at the root',
  jsonNoKey: "ERR could not perform this operation on a key that doesn't exist",
  jsonNoPath: 'ERR Path does not exist',
  jsonDynamicPath: 'Err wrong static path',
  jsonIndexBounds: 'ERR index out of bounds',
  jsonIndexRange: 'ERR array index out of range',
  jsonNotNumber: 'ERR result is not a number',
  jsonValue: 'ERR invalid JSON value',
  jsonDepth: 'ERR JSON value is nested deeper than 128 levels',
  arrayIndex: 'ERR invalid array index',
  arrayInsertOverflow: 'ERR insert index overflow',
  arrayRange: 'ERR range exceeds maximum of 1000000 items',
  arrayScanReverse: 'ERR start must not be greater than end',
  arrayLimit: 'ERR LIMIT must be positive',
  arrayPredicates: 'ERR too many predicates, maximum is 250',
  arrayRegexLength: 'ERR regular expression is too long, maximum is 2048 bytes',
  arrayRegexEmpty: 'ERR regular expression is empty',
  arrayBackReference: 'ERR regular expression backreferences are not supported',
  arraySize: 'ERR invalid size',
  arraySizePositive: 'ERR size must be positive',
  arrayCount: 'ERR invalid COUNT',
  arrayCountRange: 'ERR count exceeds maximum of 1000000 items',
  arrayOperation: 'ERR unknown operation',
  arrayMatchValue: 'ERR MATCH requires a value argument',
} as const

export type ErrorName = keyof typeof fixed

export function replyError(name: ErrorName): ReplyError {
  return new ReplyError(fixed[name])
}

export function wrongArity(command: string): ReplyError {
  return new ReplyError(`ERR wrong number of arguments for '${command.toLowerCase().replace(' ', '|')}' command`)
}

export function invalidExpire(command: string): ReplyError {
  return new ReplyError(`ERR invalid expire time in '${command.toLowerCase()}' command`)
}

/** Returns the error for an unknown or unsupported command. @param docs documentation address of the vendor */
export function notAvailable(name: Bytes | string, docs: string): ReplyError {
  const shown = text(name as Bytes).toUpperCase()
  return new ReplyError(
    `ERR Command is not available: '${shown}'. See https://${docs}/redis/overall/rediscompatibility for details`,
  )
}

export function notInRest(name: string): ReplyError {
  return new ReplyError(`ERR Command "${name.toUpperCase()}" is not allowed in REST or it has a special context path`)
}

export function denied(name: string, { of }: Denial): ReplyError {
  if (of === 'command') return noCommandPermission(name)
  return replyError(of === 'key' ? 'noKeyPermission' : 'noChannelPermission')
}

/** Returns the text of a denial as ACL DRYRUN shows it. */
export function deniedText(name: string, denial: Denial): string {
  if (denial.of !== 'command') {
    return `This user has no permissions to access the '${cText(denial.name)}' ${denial.of}`
  }
  return `This user has no permissions to run the '${name.toLowerCase().replace(' ', '|')}' command`
}

export function noCommandPermission(name: string): ReplyError {
  return new ReplyError(
    `NOPERM this user has no permissions to run the '${name.toLowerCase().replace(' ', '|')}' command or its subcommand`,
  )
}

/** Returns an argument as redis prints it in errors with C's `%s`, which ends at the first zero byte. */
function cText(bytes: Bytes): string {
  const end = bytes.indexOf('\0')
  return text(end === -1 ? bytes : (bytes.slice(0, end) as Bytes))
}

export function unknownSubcommand(container: string, given: Bytes): ReplyError {
  return new ReplyError(`ERR unknown subcommand '${cText(given)}'. Try ${container.toUpperCase()} HELP.`)
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

/**
 * Returns the error for replies that exceed the maximum size of one response. A limit of this package, not of the
 * service.
 */
export function replyTooLarge(limit: number, hasRun: boolean): ReplyError {
  return new ReplyError(
    `ERR max response size exceeded. Limit: ${limit} bytes for all replies to one request. ${fate(hasRun)}. Request less data per request, or raise policy.maxResponseSize`,
  )
}

/**
 * Returns the error for replies whose encoding needs more work than the request has left. A limit of this package, not
 * of the service.
 */
export function replyTooMuchWork(limit: number, hasRun: boolean): ReplyError {
  return new WorkExceeded(
    `ERR max work exceeded. Limit: ${limit} units for one request, including its response. ${fate(hasRun)}. Request less data per request, or raise policy.maxWork`,
  )
}

function fate(hasRun: boolean): string {
  return hasRun ? 'The command ran, but its reply is not sent' : 'The command was not run'
}

/** Returns the error for a request that takes too much work. A limit of this package, not of the service. */
export function tooMuchWork(limit: number): ReplyError {
  return new WorkExceeded(
    `ERR max work exceeded. Limit: ${limit} units for one request. Request less work per request, or raise policy.maxWork`,
  )
}

export function tooManyRows(limit: number): ReplyError {
  return new ReplyError(
    `ERR max work exceeded. Limit: ${limit} commands for one request. Send fewer commands per request, or raise policy.maxWork`,
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

export function storageExceeded(limit: number, usage: number, docs: string): ReplyError {
  return new ReplyError(
    `ERR DB capacity quota exceeded. Threshold: ${limit} bytes, Usage: ${usage} bytes. See https://${docs} for details`,
  )
}

export function keyTooLarge(limit: number, actual: number): ReplyError {
  return new ReplyError(`ERR max key size exceeded. Limit: ${limit} bytes, Actual: ${actual} bytes`)
}

/**
 * Returns the error for a legacy JSON path without a usable value.
 * @param what the reason in the text of the error, such as `not an array`
 */
export function jsonPathMissing(what: string): ReplyError {
  return new ReplyError(`ERR Path does not exist or ${what}`)
}

/** Returns the error for a legacy JSON path to a value of the wrong type. */
export function jsonPathType(expected: string): ReplyError {
  return new ReplyError(`WRONGTYPE wrong type of path value - expected ${expected}`)
}

/** Returns the error for a JSON path that is invalid or takes too long. The service's wording is not public. */
export function invalidJsonPath(path: Bytes, reason: string): ReplyError {
  return new ReplyError(`ERR invalid JSON path '${text(path)}': ${reason}`)
}

/** Returns the error for an invalid regular expression of ARGREP. */
export function invalidRegex(reason: string): ReplyError {
  return new ReplyError(`ERR invalid regular expression: ${reason}`)
}

export function unknownHyperLogLogSubcommand(given: Bytes): ReplyError {
  return new ReplyError(`ERR Unknown PFDEBUG subcommand '${cText(given)}'`)
}

export function testFailed(reason: string): ReplyError {
  return new ReplyError(`TESTFAILED ${reason}`)
}

export function noLatencySamples(event: Bytes): ReplyError {
  return new ReplyError(`ERR No samples available for event '${cText(event)}'`)
}

/** Returns the error for a user or command that ACL DRYRUN does not know. */
export function notFound(what: 'User' | 'Command', name: Bytes): ReplyError {
  return new ReplyError(`ERR ${what} '${cText(name)}' not found`)
}

export function unsupportedOption(option: Bytes): ReplyError {
  return new ReplyError(`ERR Unsupported option ${text(option)}`)
}

export function unknownSetting(name: Bytes): ReplyError {
  return new ReplyError(`ERR Unknown option or number of arguments for CONFIG SET - '${cText(name)}'`)
}

export function duplicateSetting(name: string): ReplyError {
  return new ReplyError(`ERR CONFIG SET failed (possibly related to argument '${name}') - duplicate parameter`)
}

export function invalidEventFlags(name: string): ReplyError {
  return new ReplyError(
    `ERR CONFIG SET failed (possibly related to argument '${name}') - Invalid event class character. Use 'Ag$lshzxeKEtmdn'.`,
  )
}

export function bitopNeedsTwo(operation: string): ReplyError {
  return new ReplyError(`ERR BITOP ${operation} must be called with at least two source keys.`)
}

export function inputKeyNeeded(command: string): ReplyError {
  return new ReplyError(`ERR at least 1 input key is needed for '${command.toLowerCase()}' command`)
}

/** Returns the error for an invalid position. Numbers are formatted as C's `%f` does. */
export function invalidPosition(longitude: number, latitude: number): ReplyError {
  return new ReplyError(`ERR invalid longitude,latitude pair ${sixDecimals(longitude)},${sixDecimals(latitude)}`)
}

function sixDecimals(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  return Math.abs(value) < 1e21 ? value.toFixed(6) : `${BigInt(value)}.000000`
}

/**
 * Returns the error for a geo search that has neither or both of two options that exclude each other.
 * @param command the name of the command as it was sent, because redis repeats it
 */
export function searchNeedsOne(choices: string, command: string): ReplyError {
  return new ReplyError(`ERR exactly one of ${choices} can be specified for ${command}`)
}

export function noSuchGroup(key: Bytes, group: Bytes, where = ''): ReplyError {
  return new ReplyError(`NOGROUP No such key '${cText(key)}' or consumer group '${cText(group)}'${where}`)
}

export function noSuchGroupOfKey(key: Bytes, group: Bytes): ReplyError {
  return new ReplyError(`NOGROUP No such consumer group '${cText(group)}' for key name '${cText(key)}'`)
}

/**
 * Returns the error for an invalid argument of a command that claims pending entries, such as XCLAIM.
 * @param option the name of the option in the text of the error, such as `min-idle-time` or `IDLE option`
 */
export function invalidClaimArgument(option: string, command = 'XCLAIM'): ReplyError {
  return new ReplyError(`ERR Invalid ${option} argument for ${command}`)
}

export function unknownClaimOption(option: Bytes): ReplyError {
  return new ReplyError(`ERR Unrecognized XCLAIM option '${cText(option)}'`)
}

export function subcommandSyntax(container: string, subcommand: Bytes | string): ReplyError {
  return new ReplyError(
    `ERR unknown subcommand or wrong number of arguments for '${cText(subcommand as Bytes)}'. Try ${container} HELP.`,
  )
}

/** Returns the error for a read that would give a consumer more pending entries than the plan allows. [store.md 7.2] */
export function pendingLimit(
  limit: number,
  pending: number,
  requested: number,
  names: { readonly key: Bytes; readonly group: Bytes; readonly consumer: Bytes },
): ReplyError {
  return new ReplyError(
    `ERR XReadGroup is cancelled. Pending Entries List limit per consumer is about to be reached. Limit: ${limit}, Current PEL size: ${pending}, Requested Read: ${requested}, Key: ${text(names.key)}, Group: ${text(names.group)}, Consumer: ${text(names.consumer)}.`,
  )
}

/** Returns the error for a rule of ACL SETUSER that cannot be applied. [store.md 6.3] */
export function refusedRule(rule: Bytes, reason: string): ReplyError {
  return new ReplyError(`ERR Error in ACL SETUSER modifier '${cText(rule)}': ${reason}`)
}

export function userNotRemovable(user: Bytes): ReplyError {
  return new ReplyError(`ERR The '${cText(user)}' user cannot be removed`)
}

export function unknownCategory(category: Bytes): ReplyError {
  return new ReplyError(`ERR Unknown category '${cText(category)}'`)
}

/**
 * Returns the error of ACL RESTTOKEN, which does not reveal whether the user or the password is wrong. [store.md 6.3]
 */
export function wrongPassword(user: Bytes): ReplyError {
  return new ReplyError(`ERR Wrong password or user "${text(user)}" does not exist`)
}
