import { type Bytes, text, utf8 } from '../../../src/kernel/bytes.js'
import { ReplyError } from '../../../src/store/command/reply.js'
import { commandTable } from '../../../src/store/commands/index.js'
import { argvOfJson, argvOfPath, rowsOfJson } from '../../../src/store/rest/request.js'
import type { DriftRequest, LeftOut } from './case.js'

// Decides which requests may be sent to a real database that other applications share. A request is not sent if one of
// its keys lacks the prefix of this run, or if it affects the whole database.

/** Commands that are never sent to a real service, in any form. */
export const neverSent: readonly (LeftOut & { readonly names: RegExp })[] = [
  {
    name: 'FLUSHDB, FLUSHALL, SWAPDB',
    names: /^(?:FLUSHDB|FLUSHALL|SWAPDB|MOVE)$/,
    because: 'they delete keys of other applications',
  },
  {
    name: 'SCRIPT FLUSH, FUNCTION FLUSH',
    names: /^(?:SCRIPT|FUNCTION) FLUSH$/,
    because: 'they delete scripts and libraries of other applications',
  },
  {
    name: 'SCRIPT KILL, FUNCTION KILL',
    names: /^(?:SCRIPT|FUNCTION) KILL$/,
    because: 'they end scripts of other applications',
  },
  { name: 'FUNCTION RESTORE', names: /^FUNCTION RESTORE$/, because: 'it can replace libraries of other applications' },
  {
    name: 'ACL and its subcommands',
    names: /^ACL(?: .*)?$/,
    because: 'they concern the users of the whole database',
  },
  {
    name: 'CONFIG GET, CONFIG SET',
    names: /^CONFIG(?: .*)?$/,
    because: 'they read or change settings of the whole database',
  },
  {
    name: 'SLOWLOG, LATENCY, LASTSAVE, PFSELFTEST, MEMORY except USAGE',
    names: /^(?:(?:SLOWLOG|LATENCY|LASTSAVE|PFSELFTEST)(?: .*)?|MEMORY (?!USAGE$).*)$/,
    because: 'they report on the whole server, or slow it down',
  },
  {
    name: 'RANDOMKEY, DBSIZE',
    names: /^(?:RANDOMKEY|DBSIZE)$/,
    because: 'they return or count keys of other applications',
  },
  { name: 'FUNCTION DUMP', names: /^FUNCTION DUMP$/, because: 'it returns libraries of other applications' },
  {
    name: 'SEARCH.LISTINDEXES, SEARCH.LISTALIASES',
    names: /^SEARCH\.LIST(?:INDEXES|ALIASES)$/,
    because: 'they list indexes of other applications',
  },
  {
    name: 'AUTH, QUIT, SHUTDOWN, DEBUG, REPLICAOF, MIGRATE, CLUSTER, MODULE, SAVE, CLIENT',
    names:
      /^(?:AUTH|QUIT|SHUTDOWN|DEBUG|REPLICAOF|SLAVEOF|MIGRATE|CLUSTER|MODULE|SAVE|BGSAVE|BGREWRITEAOF|CLIENT|FAILOVER)(?: .*)?$/,
    because: 'a server that supports them could lose data or connections',
  },
]

/** Commands without keys. They change no data and return no data of other applications. */
const harmless =
  /^(?:PING|ECHO|TIME|INFO|COMMAND|SELECT|WAIT|WAITAOF|SCRIPT (?:EXISTS|LOAD)|FUNCTION STATS|PUBSUB NUMPAT|JSON\.DEBUG HELP|XGROUP HELP|XINFO HELP|MULTI|EXEC|DISCARD|UNWATCH|HELLO|RESET|ROLE|LOLWUT)$/

/**
 * Commands whose first argument is not a key but must still begin with the prefix of this run: a pattern, a library or
 * a channel.
 */
const named =
  /^(?:KEYS|PUBLISH|PUBSUB CHANNELS|PUBSUB NUMSUB|FUNCTION DELETE|SUBSCRIBE|UNSUBSCRIBE|PSUBSCRIBE|PUNSUBSCRIBE|SPUBLISH|WATCH)$/

/** Invented command names that no server supports. They are sent to compare the error. */
const madeUp = /^(?:STUNTDOUBLE\w*)?$/i
const madeUpIn = /^STUNTDOUBLE$/

/** Returns the reason why a request must not be sent to the real service; `undefined` if it may be sent. */
export function refusal(ask: DriftRequest, prefix: string): string | undefined {
  if (ask.service === 'queue') return undefined
  if (ask.method === 'OPTIONS' || !/^(?:GET|HEAD|POST|PUT)$/.test(ask.method)) return undefined
  for (const argv of rowsOf(ask)) {
    const reason = refusalOf(argv, utf8(prefix))
    if (reason !== undefined) return reason
  }
  return undefined
}

/**
 * Returns all arguments of a request that begin with the prefix. Every key that the request can create is one of these
 * arguments.
 */
export function ownWords(ask: DriftRequest, prefix: string): readonly Bytes[] {
  return ask.service === 'queue' ? [] : rowsOf(ask).flatMap((argv) => argv.filter((word) => word.startsWith(prefix)))
}

/** Returns the commands that a request runs. A request that cannot be parsed runs no command. */
function rowsOf({ path, body = utf8('') }: DriftRequest): readonly (readonly Bytes[])[] {
  const [route = '', ...query] = path.split('?')
  try {
    if (route === '/pipeline' || route === '/multi-exec') return rowsOfJson(body)
    if (route === '/') return [argvOfJson(body)]
    const argv = argvOfPath(route, query.join('?'), body)
    return /^(?:monitor|subscribe|psubscribe)$/.test(route.split('/')[1] ?? '')
      ? [argvOfPath(route, '', utf8(''))]
      : [argv]
  } catch (error) {
    if (error instanceof ReplyError) return []
    throw error
  }
}

/** Returns the reason why a command must not be sent; `undefined` if it may be sent. */
export function refusalOf(argv: readonly Bytes[], prefix: Bytes): string | undefined {
  const [first = '', second = ''] = argv.map((word) => text(word).toUpperCase())
  const name = commandTable.find(argv)?.name ?? first
  for (const { names, because } of neverSent)
    if (names.test(name) || names.test(`${first} ${second}`)) return `${name} is never sent: ${because}`
  if (leavesDatabase(name, argv)) return `${name} would write to another database`
  const own = (word: Bytes | undefined): boolean => word?.startsWith(prefix) === true
  if (harmless.test(name) || harmless.test(`${first} ${second}`) || madeUp.test(first) || madeUpIn.test(second))
    return undefined
  // MONITOR also returns commands of other clients, but the contract ignores them.
  if (name === 'MONITOR') return undefined
  const command = commandTable.find(argv)
  const behind = argv.slice(name.split(' ').length)
  if (named.test(name) || command === undefined) {
    // `every()` is also true without channels. Then PUBSUB NUMSUB returns an empty list.
    const isOurs = named.test(name) ? behind.slice(0, name === 'PUBLISH' ? 1 : undefined).every(own) : own(behind[0])
    if (name === 'KEYS' || name === 'PUBSUB CHANNELS' ? own(behind[0]) : isOurs) return undefined
    return (command !== undefined && argv.length < command.minWords) || behind.length === 0
      ? keyless(name)
      : `${name} has an argument that does not begin with the prefix of this run`
  }
  // A command with a wrong number of arguments always returns an error and changes no data.
  if (!command.hasArity(argv)) return undefined
  return refusalOfWords(
    command.name,
    behind,
    command.namesIn(argv).keys.map(({ name: key }) => key),
    own,
  )
}

function leavesDatabase(name: string, argv: readonly Bytes[]): boolean {
  if (name === 'SELECT') return /^-?\d+$/.test(argv[1] ?? '') && argv[1] !== '0'
  const at = name === 'COPY' ? argv.findIndex((word) => word.toUpperCase() === 'DB') : -1
  return at !== -1 && argv[at + 1] !== '0'
}

function keyless(name: string): string | undefined {
  return name === 'PUBSUB CHANNELS'
    ? 'PUBSUB CHANNELS without a pattern also returns the channels of other users'
    : undefined
}

/**
 * Returns the reason why a command must not be sent. Returns `undefined` if it may be sent. Checks the keys, and also
 * arguments that select keys, such as the pattern of SCAN and the prefixes of an index.
 */
function refusalOfWords(
  name: string,
  words: readonly Bytes[],
  keys: readonly Bytes[],
  own: (word: Bytes | undefined) => boolean,
): string | undefined {
  if (name === 'SCAN')
    return scansOwn(words, own)
      ? undefined
      : 'SCAN is sent only with exactly one MATCH, whose pattern begins with the prefix'
  if (/^SORT(?:_RO)?$/.test(name) && !sortsByOwn(words, own))
    return `${name} reads keys that do not begin with the prefix`
  if (name === 'FUNCTION LIST')
    return behindWord(words, 'LIBRARYNAME', own)
      ? undefined
      : 'FUNCTION LIST is sent only with a LIBRARYNAME that begins with the prefix'
  if (name === 'FUNCTION LOAD')
    return loadsOwn(words, own) ? undefined : 'FUNCTION LOAD is sent only with libraries of this run'
  if (name.startsWith('SEARCH.'))
    return searchesOwn(name, words, own)
      ? undefined
      : `${name} names an index, alias or key that does not belong to this run`
  if (/^(?:EVAL|FCALL)/.test(name) && keys.length === 0)
    return callsOf(words).every((called) => /^(?:PING|ECHO|STUNTDOUBLE)$/.test(called))
      ? undefined
      : `${name} names no key, and its script could use any key`
  // The arguments contain no valid key, so the reply should be an error. The service may run the command anyway, so one
  // argument must begin with the prefix of this run.
  if (keys.length === 0) return words.length === 0 || words.some(own) ? undefined : `${name} names no key`
  return keys.every(own) ? undefined : `${name} names a key that does not begin with the prefix`
}

/**
 * Returns whether SCAN has exactly one MATCH pattern, which must begin with the prefix. With two patterns, the service
 * would use the last one. Values of TYPE and COUNT are not patterns.
 */
function scansOwn([, ...options]: readonly Bytes[], own: (word: Bytes | undefined) => boolean): boolean {
  const at = options.findIndex((word, place) => place % 2 === 0 && word.toUpperCase() === 'MATCH')
  const isOnly = options.filter((word) => word.toUpperCase() === 'MATCH').length === 1
  return at !== -1 && isOnly && own(options[at + 1])
}

/**
 * Returns whether every BY and GET pattern of SORT begins with the prefix. `GET #` and patterns without `*` are
 * allowed, because they read no key.
 */
function sortsByOwn(words: readonly Bytes[], own: (word: Bytes | undefined) => boolean): boolean {
  return words.every((word, at) => {
    const before = words[at - 1]?.toUpperCase()
    return at < 2 || (before !== 'BY' && before !== 'GET') || !word.includes('*') || own(word)
  })
}

/** Returns whether the name of a library, and the names of all its functions, begin with the prefix. */
function loadsOwn(words: readonly Bytes[], own: (word: Bytes | undefined) => boolean): boolean {
  const code = words.at(-1) ?? ''
  const names = [...code.matchAll(/(?:name=|register_function\(\s*['"]|function_name\s*=\s*['"])(\w*)/g)]
  return names.every(([, found]) => own(found as Bytes))
}

function searchesOwn(name: string, words: readonly Bytes[], own: (word: Bytes | undefined) => boolean): boolean {
  if (!own(words[0]) || (name === 'SEARCH.ALIASADD' && !own(words[1]))) return false
  if (name !== 'SEARCH.CREATE') return true
  if (words[2]?.toUpperCase() === 'STREAM') return own(words[3])
  const at = words.findIndex((word) => word.toUpperCase() === 'PREFIX')
  const count = Number(words[at + 1])
  // Without PREFIX, the index would contain keys of other applications.
  return at !== -1 && count > 0 && words.slice(at + 2, at + 2 + count).every(own)
}

/**
 * Returns the names of the commands that a script calls. A name that the script computes is unknown and becomes `''`.
 */
function callsOf(words: readonly Bytes[]): string[] {
  return [...(words[0] ?? '').matchAll(/\bp?call\(\s*(?:['"](\w+))?/g)].map(([, called = '']) => called.toUpperCase())
}

function behindWord(words: readonly Bytes[], keyword: string, own: (word: Bytes | undefined) => boolean): boolean {
  const at = words.findIndex((word) => text(word).toUpperCase() === keyword)
  return at !== -1 && own(words[at + 1])
}
