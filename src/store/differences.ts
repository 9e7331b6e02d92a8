import {
  areNumbers,
  areTexts,
  errorIn,
  isAlike,
  isNear,
  isUnavailable,
  isUnknown,
  written,
} from './compared-replies.js'
import { commandOf, hasNewerOption, isNewer, limitsRanks } from './newer-than-redis.js'
import { asScriptFrame, asShortest, plainScriptError } from './redis-replies.js'

// Known differences between the double and two other systems, one row each. These systems are the service and
// redis-server, which may run behind the same API. A row must match only the difference that its `about` describes. A
// broader row would hide new differences.

/** System that is compared with the double. */
export type ComparedSystem = 'service' | 'redis'

/**
 * Replies of the double and of another system to one command, or to one request without a command. Replies have the
 * form of the REST API: plain JSON values, and `{ error }` for errors.
 */
export interface ComparedReplies {
  /** Empty if the request was not a command. */
  readonly argv: readonly string[]
  /** Reply of the double. */
  readonly double: unknown
  /** Reply of the system that is compared with the double. */
  readonly other: unknown
}

/** A documented difference between the double and the service or redis-server. */
export interface KnownDifference {
  readonly name: string
  /** Description of the difference. */
  readonly about: string
  /** Page and section that document it, such as `docs/protocol/store.md 7.3`. */
  readonly where: string
  /** Systems whose replies differ from those of the double in this way. */
  readonly of: readonly ComparedSystem[]
  explains(compared: ComparedReplies): boolean
}

/** The documented differences. If several rows explain the same two replies, the first one is reported. */
export const namedDifferences: readonly KnownDifference[] = [
  {
    name: 'int or integer',
    about: 'In one error the service writes "not an int" where redis-server writes "not an integer".',
    where: 'docs/protocol/store.md 7.3',
    of: ['redis'],
    explains: ({ double, other }) =>
      written(other).replaceAll('value is not an integer or out of range', 'value is not an int or out of range') ===
      written(double),
  },
  {
    name: 'unknown commands',
    about: 'The service has a different error text for unknown commands and subcommands.',
    where: 'docs/protocol/store.md 7.4',
    of: ['redis'],
    explains: ({ double, other }) => isUnavailable(double) && isUnknown(other),
  },
  {
    name: 'commands without a page',
    about:
      "The service's documentation has no page for some commands of redis-server. The double runs them unless policy.commands is 'documented'.",
    where: 'docs/limits.md',
    of: ['service', 'redis'],
    explains: ({ argv, double, other }) =>
      isUnavailable(double) !== isUnavailable(other) && commandOf(argv)?.status === 'redis',
  },
  {
    name: 'newer commands',
    about: 'redis-server 7.0 does not know the commands of the service, of modules and of newer versions.',
    where: 'docs/reference/commands.md',
    of: ['redis'],
    explains: ({ argv, double, other }) => !isUnavailable(double) && isUnknown(other) && isNewer(commandOf(argv)),
  },
  {
    name: 'newer options',
    about: 'redis-server 7.0 rejects the options of the service and of newer versions.',
    where: 'docs/reference/commands.md',
    of: ['redis'],
    explains: ({ argv, other }) => mistaken.test(errorIn(other) ?? '') && hasNewerOption(argv),
  },
  {
    name: 'flag allow-key-locking',
    about: 'redis-server 7.0 does not know the script flag allow-key-locking.',
    where: 'docs/protocol/store.md 8',
    of: ['redis'],
    explains: ({ argv, other }) =>
      isScript(argv) && errorIn(other) === 'ERR Unexpected flag in script shebang: allow-key-locking',
  },
  {
    name: 'passed over',
    about:
      'UNLINK without keys, COPY of a key onto itself, and XINFO CONSUMERS of an unknown group are not errors of the service.',
    where: 'docs/protocol/store.md 7.2',
    of: ['redis'],
    explains: ({ argv, double, other }) =>
      passedOver.some(
        ([words, error, reply]) =>
          words.test(argv.join(' ')) && error.test(errorIn(other) ?? '') && written(double) === written(reply),
      ),
  },
  {
    name: 'LIMIT with ranks',
    about: 'The service accepts LIMIT with a range of ranks.',
    where: 'docs/protocol/store.md 7.2',
    of: ['redis'],
    explains: ({ argv, other }) =>
      limitsRanks(argv) && /^ERR syntax error, LIMIT is only supported/.test(errorIn(other) ?? ''),
  },
  {
    name: 'one database',
    about: 'The double has one database, so any other index is out of range.',
    where: 'docs/protocol/store.md 8',
    of: ['redis'],
    explains: ({ argv, double }) =>
      /^(?:SELECT|COPY|MOVE|SWAPDB)$/i.test(argv[0] ?? '') && errorIn(double) === 'ERR DB index is out of range',
  },
  {
    name: 'FCALL_RO without no-writes',
    about: 'In the service, FCALL_RO runs a function that only reads, even without the flag no-writes.',
    where: 'docs/protocol/store.md 8',
    of: ['redis'],
    explains: ({ argv, other }) =>
      /^FCALL_RO$/i.test(argv[0] ?? '') &&
      errorIn(other) === 'ERR Can not execute a script with write flag using *_ro command.',
  },
  {
    name: 'shortest digits',
    about:
      'Scores, and numbers that scripts pass to commands, have as few digits as possible. redis-server 7.0 prints 17 digits, and prints -0.',
    where: 'docs/protocol/store.md 3.4',
    of: ['redis'],
    explains: ({ argv, double, other }) =>
      (isScored(argv) || isScript(argv)) && isAlike(double, other, (ours, theirs) => asShortest(theirs) === ours),
  },
  {
    name: 'double precision',
    about: 'Sums are computed in double precision. redis-server uses extended precision.',
    where: 'docs/protocol/store.md 3.4',
    of: ['redis'],
    explains: ({ argv, double, other }) => /^H?INCRBYFLOAT$/i.test(argv[0] ?? '') && isNear(double, other),
  },
  {
    name: 'frame of script errors',
    about: "Errors that end a script have the service's format, with its traceback.",
    where: 'docs/protocol/store.md 9.4',
    of: ['redis'],
    explains: ({ argv, double, other }) =>
      isScript(argv) && plainScriptError(errorIn(double) ?? '') === asScriptFrame(errorIn(other) ?? 'none'),
  },
  {
    name: 'traceback of script errors',
    about: 'Script errors of the service end with the complete traceback of its Lua implementation.',
    where: 'docs/limits.md',
    of: ['service'],
    explains: ({ argv, double, other }) =>
      isScript(argv) &&
      /^ERR Error running script: /.test(errorIn(other) ?? '') &&
      withoutReason(errorIn(double)) === withoutReason(errorIn(other)),
  },
  {
    name: 'client address in MONITOR',
    about: 'The service shows every client as 0.0.0.0:0.',
    where: 'docs/protocol/store.md 8',
    of: ['redis'],
    explains: ({ argv, double, other }) =>
      argv.length === 0 && written(other).replace(/\[0 [^\]]*\]/, '[0 0.0.0.0:0]') === written(double),
  },
  {
    name: 'approximate trimming of streams',
    about: 'The number of entries that XTRIM with ~ deletes depends on the internal node size of the server.',
    where: 'docs/limits.md',
    of: ['service', 'redis'],
    explains: ({ argv, double, other }) =>
      /^XTRIM$/i.test(argv[0] ?? '') && argv.includes('~') && areNumbers(double, other),
  },
  {
    name: 'payloads of DUMP',
    about: 'The payload has a different format, and RESTORE accepts only payloads of the same implementation.',
    where: 'docs/limits.md',
    of: ['service', 'redis'],
    explains: ({ argv, double, other }) => {
      const name = commandOf(argv)?.name ?? ''
      if (/DUMP$/.test(name)) return areTexts(double, other)
      return /RESTORE$/.test(name) && badPayload.test(errorIn(double) ?? '') !== badPayload.test(errorIn(other) ?? '')
    },
  },
  {
    name: 'about the server',
    about: 'Sizes and encodings are estimates of the double. Descriptions of the server have a format of the double.',
    where: 'docs/reference/commands.md',
    of: ['service', 'redis'],
    explains({ argv, double, other }) {
      const name = commandOf(argv)?.name ?? ''
      if (/ HELP$/.test(name)) return areLists(double, other)
      return ofTheServer[name]?.(double, other) === true
    },
  },
  {
    name: 'arrays and vectors',
    about: 'The service documents AR* and VECTOR.*, and a running database may not have these commands yet.',
    where: 'docs/protocol/array.md',
    of: ['service'],
    explains: ({ argv, other }) => /^(AR[A-Z]+|VECTOR\.\w+)$/i.test(argv[0] ?? '') && isUnavailable(other),
  },
  {
    name: 'wording of JSON errors',
    about: "The service's wording of these errors is not public; the double uses that of RedisJSON.",
    where: 'docs/limits.md',
    of: ['service'],
    explains: ({ argv, double, other }) =>
      /^JSON\./i.test(argv[0] ?? '') && [double, other].every((reply) => isOwnWording(errorIn(reply))),
  },
]

/** Returns the known difference that explains two replies, or `undefined` if the difference is new. */
export function namedDifference(compared: ComparedReplies, other: ComparedSystem): KnownDifference | undefined {
  return namedDifferences.find((row) => row.of.includes(other) && row.explains(compared))
}

const mistaken =
  /^ERR (?:syntax error|wrong number of arguments|Invalid stream ID specified as stream command argument)/

const passedOver: readonly (readonly [words: RegExp, error: RegExp, reply: unknown])[] = [
  [/^UNLINK$/i, /^ERR wrong number of arguments/, 0],
  [/^COPY /i, /^ERR source and destination objects are the same$/, 0],
  [/^XINFO CONSUMERS /i, /^NOGROUP /, []],
]

const badPayload = /^ERR (?:DUMP payload version or checksum are wrong|Bad data format)/

/** Commands whose replies describe the server. Each has a function that returns whether a difference is acceptable. */
const ofTheServer: Readonly<Record<string, (double: unknown, other: unknown) => boolean>> = {
  INFO: areTexts,
  COMMAND: (double, other) => Array.isArray(double) && double.length === 0 && Array.isArray(other),
  'COMMAND COUNT': areNumbers,
  'COMMAND DOCS': areLists,
  'COMMAND GETKEYSANDFLAGS': areLists,
  'COMMAND INFO': areLists,
  'COMMAND LIST': areLists,
  LASTSAVE: areNumbers,
  'LATENCY DOCTOR': areTexts,
  'LATENCY HISTOGRAM': areLists,
  LOLWUT: areTexts,
  'MEMORY DOCTOR': areTexts,
  'MEMORY MALLOC-STATS': areTexts,
  'MEMORY STATS': areLists,
  'SLOWLOG GET': areLists,
  'SLOWLOG LEN': areNumbers,
  'MEMORY USAGE': areNumbers,
  'JSON.DEBUG MEMORY': areNumbers,
  'OBJECT ENCODING': areTexts,
  'OBJECT REFCOUNT': areNumbers,
  'XINFO STREAM': (double, other) =>
    written(without(/^radix-tree-/, double)) === written(without(/^radix-tree-/, other)),
}

function areLists(double: unknown, other: unknown): boolean {
  return Array.isArray(double) && Array.isArray(other)
}

function without(label: RegExp, reply: unknown): unknown {
  if (!Array.isArray(reply)) return reply
  return reply.filter((_, at) => !label.test(String(reply[at - (at % 2)])))
}

function isScript(argv: readonly string[]): boolean {
  return /^(?:EVAL|EVALSHA|FCALL)(?:_RO)?$/i.test(argv[0] ?? '')
}

function isScored(argv: readonly string[]): boolean {
  return /^Z/i.test(argv[0] ?? '')
}

/** Returns whether the service's wording of an error is not public. */
function isOwnWording(error: string | undefined): boolean {
  const known = /^(?:ERR (?:wrong number of arguments|syntax error|unknown|Command is not|max )|NOPERM|WRONGPASS)/
  return error !== undefined && !known.test(error)
}

function withoutReason(error: string | undefined): string | undefined {
  return error && plainScriptError(error).replace(/(: syntax error) \(.*\)$/s, '$1')
}
