import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { maxName } from '../command/connection-memory.js'
import { replyError } from '../command/errors.js'
import { ok, ReplyError, Status } from '../command/reply.js'
import { parseInt64 } from '../command/text.js'
import { MapReply, TextReply } from '../command/typed-reply.js'
import type { Session } from './session.js'
import type { SessionCommand, SessionReply } from './session-row.js'

const any = Number.POSITIVE_INFINITY
const reset = new Status('RESET')

const commands: readonly SessionCommand<Session>[] = [
  {
    name: 'HELLO',
    usage: '[2|3 [AUTH user password] [SETNAME name]]',
    words: [1, any],
    isFree: true,
    inTransaction: 'refused',
    run: hello,
  },
  // The connection handles AUTH. Only an AUTH that is not allowed reaches the session, without its arguments.
  {
    name: 'AUTH',
    usage: '[user] password',
    words: [1, 3],
    isFree: true,
    inTransaction: 'refused',
    run: () => {
      throw replyError('syntax')
    },
  },
  {
    name: 'QUIT',
    words: [1, any],
    isFree: true,
    inTransaction: 'runs',
    run(session) {
      session.leaveAfterAnswer()
      return ok
    },
  },
  // The connection handles the other effects of RESET, such as signing out.
  { name: 'RESET', words: [1, 1], isFree: true, inTransaction: 'runs', run: () => reset },
  {
    name: 'PING',
    words: [1, 2],
    run(session, argv) {
      const pong = [latin1('pong'), argv[1] ?? latin1('')]
      if (session.isConfined) return pong
      return session.command(argv)
    },
  },

  { name: 'MULTI', words: [1, 1], inTransaction: 'runs', run: ({ transaction }) => transaction.begin() },
  { name: 'EXEC', words: [1, 1], inTransaction: 'runs', run: (session) => session.executeTransaction() },
  { name: 'DISCARD', words: [1, 1], inTransaction: 'runs', run: ({ transaction }) => transaction.discard() },
  {
    name: 'WATCH',
    usage: 'key [key …]',
    words: [2, any],
    inTransaction: 'runs',
    run: (session, [, ...keys]) => session.watchKeys(keys),
  },
  { name: 'UNWATCH', words: [1, 1], run: ({ transaction }) => transaction.unwatch() },

  {
    name: 'SUBSCRIBE',
    usage: 'channel [channel …]',
    words: [2, any],
    run: (session, [, ...names]) => session.subscribe('channels', names),
  },
  {
    name: 'PSUBSCRIBE',
    usage: 'pattern [pattern …]',
    words: [2, any],
    run: (session, [, ...names]) => session.subscribe('patterns', names),
  },
  {
    name: 'UNSUBSCRIBE',
    usage: '[channel …]',
    words: [1, any],
    run: (session, [, ...names]) => session.unsubscribe('channels', names),
  },
  {
    name: 'PUNSUBSCRIBE',
    usage: '[pattern …]',
    words: [1, any],
    run: (session, [, ...names]) => session.unsubscribe('patterns', names),
  },
  {
    name: 'SSUBSCRIBE',
    usage: 'channel [channel …]',
    words: [2, any],
    status: 'redis',
    run: (session, [, ...names]) => session.subscribe('shards', names),
  },
  {
    name: 'SUNSUBSCRIBE',
    usage: '[channel …]',
    words: [1, any],
    status: 'redis',
    run: (session, [, ...names]) => session.unsubscribe('shards', names),
  },
  { name: 'MONITOR', words: [1, 1], isAdmin: true, inTransaction: 'refused', run: (session) => session.monitor() },

  { name: 'CLIENT ID', words: [2, 2], run: ({ id }) => id },
  {
    name: 'CLIENT SETNAME',
    usage: 'name',
    words: [3, 3],
    run(session, argv) {
      session.name = nameOf(argv[2]!, 'Client names')
      return ok
    },
  },
  { name: 'CLIENT GETNAME', words: [2, 2], run: ({ name }) => (name === '' ? null : latin1(name)) },
  {
    name: 'CLIENT SETINFO',
    usage: 'LIB-NAME|LIB-VER text',
    words: [4, 4],
    run(session, [, , option, value]) {
      const which = option!.toUpperCase()
      if (which !== 'LIB-NAME' && which !== 'LIB-VER') {
        throw new ReplyError(`ERR Unrecognized option '${option}'`)
      }
      session.library[which === 'LIB-NAME' ? 'name' : 'version'] = nameOf(value!, which.toLowerCase())
      return ok
    },
  },
  { name: 'CLIENT INFO', words: [2, 2], run: (session) => new TextReply(session.describe([session])) },
  {
    name: 'CLIENT LIST',
    isAdmin: true,
    words: [2, any],
    run(session, argv) {
      if (argv.length > 2) throw replyError('syntax')
      return new TextReply(session.describe(session.others))
    },
  },
  {
    name: 'CLIENT UNBLOCK',
    usage: 'id [TIMEOUT|ERROR]',
    isAdmin: true,
    words: [3, 4],
    status: 'redis',
    run(session, [, , id, how]) {
      const way = how?.toUpperCase() ?? 'TIMEOUT'
      if (way !== 'TIMEOUT' && way !== 'ERROR') {
        throw new ReplyError('ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR')
      }
      return session.other(idOf(id!))?.unblock(way) === true ? 1 : 0
    },
  },
  {
    name: 'CLIENT KILL',
    usage: 'address | filter value [filter value …]',
    isAdmin: true,
    words: [3, any],
    status: 'redis',
    run: kill,
  },
  {
    name: 'CLIENT NO-EVICT',
    usage: 'ON|OFF',
    isAdmin: true,
    words: [3, 3],
    status: 'redis',
    run: (_session, argv) => onOrOff(argv),
  },
  { name: 'CLIENT GETREDIR', words: [2, 2], status: 'redis', run: () => -1 },
  {
    name: 'CLIENT REPLY',
    words: [3, 3],
    status: 'redis',
    run(session, argv) {
      const which = argv[2]!.toUpperCase()
      if (which !== 'ON' && which !== 'OFF' && which !== 'SKIP') throw replyError('syntax')
      return session.setReplies(which)
    },
  },
]

export const sessionCommands: ReadonlyMap<string, SessionCommand<Session>> = new Map(
  commands.map((row) => [row.name, row]),
)

function hello(session: Session, argv: readonly Bytes[]): SessionReply {
  const { protocol, name } = helloOf(argv)
  if (name !== undefined) session.name = nameOf(name, 'Client names')
  if (protocol !== undefined) session.protocol = protocol
  const told = {
    server: 'redis',
    version: session.serverVersion,
    proto: session.protocol,
    id: session.id,
    mode: 'standalone',
    role: 'master',
  }
  const pairs = Object.entries(told).flatMap(([field, value]) => [
    latin1(field),
    typeof value === 'string' ? latin1(value) : value,
  ])
  return new MapReply([...pairs, latin1('modules'), []])
}

/** Arguments of HELLO. */
export interface Hello {
  readonly protocol?: 2 | 3
  readonly user?: Bytes
  readonly password?: Bytes
  readonly name?: Bytes
}

/** @throws ReplyError when the arguments are invalid */
export function helloOf([, version, ...options]: readonly Bytes[]): Hello {
  if (version === undefined) return {}
  const asked = parseInt64(version)
  if (asked === undefined) throw new ReplyError('ERR Protocol version is not an integer or out of range')
  const protocol = Number(asked)
  if (protocol !== 2 && protocol !== 3) throw new ReplyError('NOPROTO unsupported protocol version')
  let hello: Hello = { protocol }
  while (options.length > 0) {
    const option = options.shift()!
    const which = option.toUpperCase()
    if (which === 'AUTH' && options.length >= 2) {
      hello = { ...hello, user: options.shift()!, password: options.shift()! }
    } else if (which === 'SETNAME' && options.length >= 1) hello = { ...hello, name: options.shift()! }
    else throw new ReplyError(`ERR Syntax error in HELLO option '${option}'`)
  }
  return hello
}

function kill(session: Session, argv: readonly Bytes[]): SessionReply {
  const [, , first, ...rest] = argv
  if (rest.length === 0) {
    const found = [...session.others].find(({ address }) => address === first)
    if (found === undefined) throw new ReplyError('ERR No such client')
    found.kill()
    return ok
  }
  const filters = argv.slice(2)
  if (filters.length % 2 !== 0) throw replyError('syntax')
  let found = [...session.others]
  let sparesSelf = true
  for (let at = 0; at < filters.length; at += 2) {
    const value = filters[at + 1]!
    const filter = filters[at]!.toUpperCase()
    if (filter === 'ID') {
      const id = Number(parseInt64(value) ?? 0)
      if (id < 1) throw new ReplyError('ERR client-id should be greater than 0')
      found = found.filter((other) => other.id === id)
    } else if (filter === 'ADDR') found = found.filter(({ address }) => address === value)
    else if (filter === 'USER') {
      if (!session.knowsUser(value)) throw new ReplyError(`ERR No such user '${value}'`)
      found = found.filter(({ user }) => user.name === value)
    } else if (filter === 'TYPE') found = found.filter(ofKind(value))
    else if (filter === 'SKIPME' && /^(?:yes|no)$/i.test(value)) sparesSelf = value.toLowerCase() === 'yes'
    else throw replyError('syntax')
  }
  const killed = found.filter((other) => other !== session || !sparesSelf)
  for (const other of killed) other.kill()
  return killed.length
}

const kinds: ReadonlySet<string> = new Set(['normal', 'master', 'replica', 'slave', 'pubsub'])

/** @throws ReplyError when the client type is unknown */
function ofKind(given: Bytes): (session: Session) => boolean {
  const kind = given.toLowerCase()
  if (!kinds.has(kind)) throw new ReplyError(`ERR Unknown client type '${given}'`)
  return (session) => session.kind === kind
}

function onOrOff(argv: readonly Bytes[]): SessionReply {
  if (!/^(?:on|off)$/i.test(argv[2]!)) throw replyError('syntax')
  return ok
}

function idOf(word: Bytes): number {
  const id = parseInt64(word)
  if (id === undefined) throw replyError('notInteger')
  return Number(id)
}

/**
 * Returns the text if it is a valid name. The length is limited, because CLIENT LIST returns the names of all
 * connections. redis-server has no limit; this package chose one.
 */
function nameOf(text: Bytes, what: string): Bytes {
  if (text.length > maxName) throw replyError('outOfMemory')
  if (/^[!-~]*$/.test(text)) return text
  throw new ReplyError(`ERR ${what} cannot contain spaces, newlines or special characters.`)
}
