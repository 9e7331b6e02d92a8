import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { globMatcher } from '../../kernel/glob.js'
import { unitsPerItem, type Work } from '../../kernel/work.js'
import { categoriesOf, isCategory } from '../access/categories.js'
import { bytes, named, oneOrMore, zeroOrMore } from '../command/arguments.js'
import { type Command, type CommandContext, type CommandStore, command } from '../command/command.js'
import type { CommandFlag } from '../command/command-description.js'
import { replyError } from '../command/errors.js'
import { itemsOf, type Reply, Status } from '../command/reply.js'
import type { CommandTable } from './command-table.js'
import { helpCommand } from './help.js'

const telling: readonly CommandFlag[] = ['slow', 'connection']

/**
 * Flags with their names in redis-server. Other flags of redis-server, such as `loading`, do not apply to a store in
 * this process.
 */
const shownFlags: Partial<Record<CommandFlag, string>> = {
  write: 'write',
  read: 'readonly',
  admin: 'admin',
  blocking: 'blocking',
  noscript: 'noscript',
  nomulti: 'no_multi',
  fast: 'fast',
}

/** Matches the usage of a command whose key positions depend on the arguments. */
const movable = /\bnumkeys\b|\b(?:STREAMS|STORE) (?:key|destination)\b|\bBY pattern\b/

/**
 * Write commands that need no memory, so that redis-server runs them even when its memory is full. All other write
 * commands have the flag `denyoom`. [redis 7.0; newer commands: like similar ones]
 */
const needsNoMemory: ReadonlySet<string> = new Set(
  (
    'ARDEL ARDELRANGE ARSEEK BLMPOP BLPOP BRPOP BZMPOP BZPOPMAX BZPOPMIN DEL DELEX EXPIRE EXPIREAT FLUSHALL FLUSHDB FUNCTION_DELETE FUNCTION_FLUSH ' +
    'GETDEL GETEX HDEL HGETDEL HGETEX HPERSIST JSON.ARRPOP JSON.ARRTRIM JSON.CLEAR JSON.DEL JSON.FORGET LMPOP LPOP LREM ' +
    'LTRIM MOVE PERSIST PEXPIRE PEXPIREAT RENAME RENAMENX RPOP SMOVE SPOP SREM SWAPDB UNLINK XACK XACKDEL XAUTOCLAIM XCLAIM ' +
    'XDEL XDELEX XGROUP_DELCONSUMER XGROUP_DESTROY XGROUP_SETID XREADGROUP XTRIM ZMPOP ZPOPMAX ZPOPMIN ZREM ZREMRANGEBYLEX ' +
    'ZREMRANGEBYRANK ZREMRANGEBYSCORE VECTOR.DEL VECTOR.DROP'
  )
    .split(' ')
    .map((name) => name.replace('_', ' ')),
)

/** Descriptions of a command table, created once because the table never changes. */
class CommandDocs {
  /** Commands by the first word of their name: the command itself and its subcommands. */
  readonly names: ReadonlyMap<string, readonly Command[]>
  readonly list: readonly Bytes[]
  /** Names that a filtered COMMAND LIST can return, each with its categories. */
  readonly categories: readonly (readonly [name: Bytes, categories: ReadonlySet<string>])[]
  readonly #rows = new Map<string, CommandMovement>()
  readonly #docs = new Map<string, CommandMovement>()
  readonly #commands: CommandTable<Command>

  constructor({ commands, blockingCommands }: CommandStore) {
    this.#commands = commands
    this.names = new Map([...commands.names, ...blockingCommands.names])
    this.list = [...this.names.keys()].map(shown)
    this.categories = [...this.names].flatMap(([name, under]) => {
      const rows = under.map((one) => [shown(one.name), categoriesOf(one)] as const)
      // A name such as CONFIG, which only has subcommands, belongs only to the category `slow`.
      return under.some((one) => one.name === name) ? rows : [[shown(name), new Set(['slow'])] as const, ...rows]
    })
  }

  /**
   * Returns the row of COMMAND INFO for a name, or an empty list if there is no such command. Charges the row to the
   * work budget.
   * @throws ReplyError when there is not enough work left
   */
  rowOf(name: string, work: Work): readonly Reply[] {
    return this.#told(this.#rows, name, work, (one, commands) => [
      commands === undefined ? rowOf(one) : infoOf(name, commands),
    ])
  }

  /**
   * Returns the row of COMMAND DOCS for a name, or an empty list if there is no such command. Charges the row to the
   * work budget.
   * @throws ReplyError when there is not enough work left
   */
  docOf(name: string, work: Work): readonly Reply[] {
    return this.#told(this.#docs, name, work, (one, commands) => {
      if (commands === undefined) return namedDoc(one)
      const own = commands.find((command) => !isSubcommand(command))
      return [shown(name), docOf(own, commands[0]!.group, commands.filter(isSubcommand))]
    })
  }

  #told(
    all: Map<string, CommandMovement>,
    name: string,
    work: Work,
    make: (one: Command, commands: readonly Command[] | undefined) => readonly Reply[],
  ): readonly Reply[] {
    let known = all.get(name)
    if (known === undefined) {
      const commands = this.names.get(name)
      const one = commands?.[0] ?? this.#commands.named(name)
      // Unknown names are not cached.
      if (one === undefined) return []
      const reply = make(one, commands)
      known = { reply, units: unitsPerItem * itemsOf(reply) }
      all.set(name, known)
    }
    work.charge(known.units)
    return known.reply
  }
}

/** Description of a command, and the units of work to return it. */
interface CommandMovement {
  readonly reply: readonly Reply[]
  readonly units: number
}

const told = new WeakMap<CommandTable<Command>, CommandDocs>()

function toldOf(store: CommandStore): CommandDocs {
  const known = told.get(store.commands) ?? new CommandDocs(store)
  told.set(store.commands, known)
  return known
}

function findIn({ commands, blockingCommands }: CommandStore, argv: readonly Bytes[]): Command | undefined {
  return blockingCommands.find(argv) ?? commands.find(argv)
}

function shown(name: string): Bytes {
  return latin1(name.toLowerCase().replace(' ', '|'))
}

function isSubcommand({ name }: Command): boolean {
  return name.includes(' ')
}

/**
 * Returns the position of the first key, the position of the last key, and the step between keys. All three are 0 if
 * the positions depend on the arguments. [redis 7.0]
 */
function keyPositions(command: Command): readonly [first: number, last: number, step: number] {
  const [first, second, ...more] = keysAt(command, fewWords)
  if (first === undefined) return [0, 0, 0]
  const step = (second ?? first + 1) - first
  const last = more.at(-1) ?? second ?? first
  const fromEnd = last - (command.minWords + fewWords)
  // Compares with a longer example. The last key has either the same position in the longer example, or the same
  // distance from the end.
  if (command.minWords === command.maxWords || keysAt(command, 2 * fewWords).at(-1) === last) return [first, last, step]
  return [first, step > 1 ? -1 : fromEnd, step]
}

/**
 * Number of arguments in an example in addition to the minimum. This is enough for repeated keys, pairs of key and
 * value, and keys with a path.
 */
const fewWords = 6

/**
 * Returns the positions of the keys in an example of the command.
 * @param more the number of arguments in addition to the minimum
 */
function keysAt(command: Command, more: number): readonly number[] {
  const name = command.name.split(' ') as Bytes[]
  // All arguments of the example are different. They are valid as paths and as JSON, but not as counts. A command with
  // a count of keys can therefore not be parsed. This is intended, because the positions of its keys depend on the
  // arguments.
  const length = command.minWords === command.maxWords ? command.minWords : command.minWords + more
  const argv = [...name, ...Array.from({ length: length - name.length }, (_, at) => latin1(`${at}.5`))]
  const { keys, channels } = command.namesIn(argv)
  // A shard channel counts as a key, because it also selects a server of a cluster.
  const names = /\bshardchannel\b/.test(command.usage) ? channels : keys.map((key) => key.name)
  return names.map((name) => argv.indexOf(name))
}

function rowOf(command: Command, subcommands: readonly Command[] = []): Reply {
  // If a command also has subcommands, their arguments can follow its name. Its number of arguments is then not fixed.
  const exact = command.minWords === command.maxWords && subcommands.length === 0
  const flags = command.flags.flatMap((flag) => shownFlags[flag] ?? [])
  if (command.writes && !needsNoMemory.has(command.name)) flags.push('denyoom')
  if (movable.test(command.usage)) flags.push('movablekeys')
  return [
    shown(command.name),
    exact ? command.minWords : -command.minWords,
    flags.map((flag) => new Status(flag)),
    ...keyPositions(command),
    [...categoriesOf(command)].map((category) => new Status(`@${category}`)),
    [],
    [],
    subcommands.map((one) => rowOf(one)),
  ]
}

/** Returns the row of a container: a name such as CONFIG, which only has subcommands. */
function containerRow(name: string, subcommands: readonly Command[]): Reply {
  return [shown(name), -2, [], 0, 0, 0, [new Status('@slow')], [], [], subcommands.map((one) => rowOf(one))]
}

function infoOf(name: string, commands: readonly Command[]): Reply {
  const own = commands.find((command) => !isSubcommand(command))
  const subcommands = commands.filter(isSubcommand)
  return own === undefined ? containerRow(name, subcommands) : rowOf(own, subcommands)
}

function info(names: readonly Bytes[], store: CommandStore): Reply {
  const known = toldOf(store)
  if (names.length === 0) return [...known.names.keys()].flatMap((name) => known.rowOf(name, store.work))
  return names.map((name) => known.rowOf(name.toUpperCase().replace('|', ' '), store.work)[0] ?? null)
}

function docOf(command: Command | undefined, group: string, subcommands: readonly Command[]): Reply {
  const doc: Reply[] = []
  if (command !== undefined && command.since !== 'service') doc.push(latin1('since'), latin1(command.since))
  doc.push(latin1('group'), latin1(group))
  if (subcommands.length > 0)
    doc.push(
      latin1('subcommands'),
      subcommands.flatMap((one) => namedDoc(one)),
    )
  return doc
}

function namedDoc(command: Command): Reply[] {
  return [shown(command.name), docOf(command, command.group, [])]
}

function docs(names: readonly Bytes[], store: CommandStore): Reply {
  const known = toldOf(store)
  const wanted =
    names.length === 0 ? [...known.names.keys()] : names.map((name) => name.toUpperCase().replace('|', ' '))
  return wanted.flatMap((name) => known.docOf(name, store.work))
}

function list(words: readonly Bytes[], store: CommandStore): Reply {
  const known = toldOf(store)
  store.work.charge(unitsPerItem * known.list.length)
  if (words.length === 0) return known.list
  const [filter, by, pattern, ...more] = words
  if (filter!.toUpperCase() !== 'FILTERBY' || pattern === undefined || more.length > 0) throw replyError('syntax')
  const kind = by!.toUpperCase()
  // There are no modules: commands of modules are part of the store.
  if (kind === 'MODULE') return []
  if (kind === 'ACLCAT') {
    const category = pattern.toLowerCase()
    if (!isCategory(category)) return []
    return known.categories.filter(([, categories]) => categories.has(category)).map(([name]) => name)
  }
  if (kind !== 'PATTERN') throw replyError('syntax')
  const matches = globMatcher(latin1(pattern.toLowerCase()), store.work)
  return known.categories.map(([name]) => name).filter(matches)
}

type KeyNames = ReturnType<Command['namesIn']>['keys']

/** Returns the keys of a command, as COMMAND GETKEYS finds them. */
function keysIn(argv: readonly Bytes[], { store }: CommandContext): KeyNames {
  const command = findIn(store, argv)
  if (command === undefined) throw replyError('invalidCommand')
  if (!/\b(?:key|source)\b/.test(command.usage)) throw replyError('noKeyArguments')
  if (!command.hasArity(argv)) throw replyError('invalidArgumentCount')
  const { keys } = command.namesIn(argv)
  // A script or function without keys is valid.
  if (keys.length === 0 && !command.flags.includes('scripting')) throw replyError('invalidArguments')
  return keys
}

/** Flags of redis-server for the use of a key. The store does not know whether a write inserts, updates or deletes. */
const usesOf: Readonly<Record<KeyNames[number]['use'], readonly string[]>> = {
  '': ['RO'],
  R: ['RO', 'access'],
  W: ['RW', 'update'],
  RW: ['RW', 'access', 'update'],
}

const wholeCommand = [named('command', bytes), oneOrMore(named('arg', bytes))] as const

export const commandInfoCommands: readonly Command[] = [
  command('COMMAND', {
    flags: telling,
    since: '2.8.13',
    deviations: 'Always an empty list, as the service documents it.',
    args: [],
    run: () => [],
  }),

  command('COMMAND COUNT', {
    flags: telling,
    since: '2.8.13',
    status: 'redis',
    deviations: 'Counts the commands of the store.',
    args: [],
    run: ({ store }) => toldOf(store).names.size,
  }),

  command('COMMAND LIST', {
    flags: telling,
    since: '7.0.0',
    status: 'redis',
    deviations: 'Lists the commands of the store.',
    args: [named('[FILTERBY MODULE module | ACLCAT category | PATTERN pattern]', zeroOrMore(bytes))],
    run: ({ store }, words) => list(words, store),
  }),

  command('COMMAND INFO', {
    flags: telling,
    since: '2.8.13',
    status: 'redis',
    deviations:
      'Returns no tips and no key specifications, and only flags that apply to the store. The arity is that of the store: UNLINK needs no key, and ZRANK accepts WITHSCORE.',
    args: [named('[command …]', zeroOrMore(bytes))],
    run: ({ store }, names) => info(names, store),
  }),

  command('COMMAND DOCS', {
    flags: telling,
    since: '7.0.0',
    status: 'redis',
    deviations: 'Returns only the version, the group and the subcommands of each command.',
    args: [named('[command …]', zeroOrMore(bytes))],
    run: ({ store }, names) => docs(names, store),
  }),

  command('COMMAND GETKEYS', {
    flags: telling,
    since: '2.8.13',
    status: 'redis',
    args: [...wholeCommand],
    run: (context, name, args) => keysIn([name, ...args], context).map((key) => key.name),
  }),

  command('COMMAND GETKEYSANDFLAGS', {
    flags: telling,
    since: '7.0.0',
    status: 'redis',
    deviations: 'The flags show only whether the command reads or writes the key. Every write counts as an update.',
    args: [...wholeCommand],
    run: (context, name, args) =>
      keysIn([name, ...args], context).map((key) => [key.name, usesOf[key.use].map((flag) => new Status(flag))]),
  }),

  helpCommand(
    'COMMAND',
    '5.0.0',
    telling,
    {
      '(no subcommand)': 'Returns an empty list, as the service documents it.',
      COUNT: 'Returns the number of commands.',
      'LIST [FILTERBY MODULE <module> | ACLCAT <category> | PATTERN <pattern>]': 'Returns the names of commands.',
      'INFO [<command> ...]': 'Returns the arity, flags, keys and categories of commands (default: all).',
      'DOCS [<command> ...]': 'Returns the version and group of commands (default: all).',
      'GETKEYS <full-command>': 'Returns the keys in the arguments of a command.',
      'GETKEYSANDFLAGS <full-command>': 'Returns the keys in the arguments of a command, each with its flags.',
    },
    'redis',
  ),
]
