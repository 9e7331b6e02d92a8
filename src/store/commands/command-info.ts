import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { globMatcher } from '../../kernel/glob.js'
import { categoriesOf, isCategory } from '../access/categories.js'
import { bytes, named, oneOrMore, zeroOrMore } from '../command/arguments.js'
import { type Command, type CommandContext, type CommandFlag, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import { type Reply, Status } from '../command/reply.js'
import type { Store } from '../store.js'
import { helpCommand } from './help.js'

// COMMAND and its subcommands: what the command table says of itself.

const telling: readonly CommandFlag[] = ['slow', 'connection']

/** What redis-server calls these flags. Of its others, such as `loading`, a store in this process knows nothing. */
const shownFlags: Partial<Record<CommandFlag, string>> = {
  write: 'write',
  read: 'readonly',
  admin: 'admin',
  blocking: 'blocking',
  noscript: 'noscript',
  nomulti: 'no_multi',
  fast: 'fast',
}

/** Whether only the words of a command tell where all of its keys are. */
const movable = /\bnumkeys\b|\b(?:STREAMS|STORE) (?:key|destination)\b|\bBY pattern\b/

/** Writes that need no memory, which a server has that is full: of the others it says `denyoom`. [redis 7.0; newer ones like their neighbors] */
const needsNoMemory: ReadonlySet<string> = new Set(
  (
    'BLMPOP BLPOP BRPOP BZMPOP BZPOPMAX BZPOPMIN DEL DELEX EXPIRE EXPIREAT FLUSHALL FLUSHDB FUNCTION_DELETE FUNCTION_FLUSH ' +
    'GETDEL GETEX HDEL HGETDEL HGETEX HPERSIST JSON.ARRPOP JSON.ARRTRIM JSON.CLEAR JSON.DEL JSON.FORGET LMPOP LPOP LREM ' +
    'LTRIM MOVE PERSIST PEXPIRE PEXPIREAT RENAME RENAMENX RPOP SMOVE SPOP SREM SWAPDB UNLINK XACK XACKDEL XAUTOCLAIM XCLAIM ' +
    'XDEL XDELEX XGROUP_DELCONSUMER XGROUP_DESTROY XGROUP_SETID XREADGROUP XTRIM ZMPOP ZPOPMAX ZPOPMIN ZREM ZREMRANGEBYLEX ' +
    'ZREMRANGEBYRANK ZREMRANGEBYSCORE'
  )
    .split(' ')
    .map((name) => name.replace('_', ' ')),
)

/** Every name, with its command and its subcommands. */
function namesOf({ commands, blockingCommands }: Store): ReadonlyMap<string, readonly Command[]> {
  return new Map([...commands.names, ...blockingCommands.names])
}

function findIn({ commands, blockingCommands }: Store, argv: readonly Bytes[]): Command | undefined {
  return blockingCommands.find(argv) ?? commands.find(argv)
}

function shown(name: string): Bytes {
  return latin1(name.toLowerCase().replace(' ', '|'))
}

function isSubcommand({ name }: Command): boolean {
  return name.includes(' ')
}

/** Where the keys of a command are: the first, the last, and from one to the next; zeros where only its words tell. [redis 7.0] */
function keyPositions(command: Command): readonly [first: number, last: number, step: number] {
  const [first, second, ...more] = keysAt(command, fewWords)
  if (first === undefined) return [0, 0, 0]
  const step = (second ?? first + 1) - first
  const last = more.at(-1) ?? second ?? first
  const fromEnd = last - (command.minWords + fewWords)
  // In a longer command the last key is as far from the end, unless it has its fixed place.
  if (command.minWords === command.maxWords || keysAt(command, 2 * fewWords).at(-1) === last) return [first, last, step]
  return [first, step > 1 ? -1 : fromEnd, step]
}

/** Keys come singly, in pairs with their values, or with a path besides. */
const fewWords = 6

/** At which words of a command the keys are, with so many words more than it needs. */
function keysAt(command: Command, more: number): readonly number[] {
  const name = command.name.split(' ') as Bytes[]
  // Each word is another one. It may be a path or JSON, but no count: where keys are counted, only words tell.
  const length = command.minWords === command.maxWords ? command.minWords : command.minWords + more
  const argv = [...name, ...Array.from({ length: length - name.length }, (_, at) => latin1(`${at}.5`))]
  const { keys, channels } = command.namesIn(argv)
  // The channel of a shard leads to a server as keys do.
  const names = /\bshardchannel\b/.test(command.usage) ? channels : keys.map((key) => key.name)
  return names.map((name) => argv.indexOf(name))
}

function rowOf(command: Command, store: Store, subcommands: readonly Command[] = []): Reply {
  // A name that has subcommands, too, takes their words.
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
    subcommands.map((one) => rowOf(one, store)),
  ]
}

/** A name under which there are only subcommands. */
function containerRow(name: string, subcommands: readonly Command[], store: Store): Reply {
  return [shown(name), -2, [], 0, 0, 0, [new Status('@slow')], [], [], subcommands.map((one) => rowOf(one, store))]
}

function infoOf(name: string, commands: readonly Command[], store: Store): Reply {
  const own = commands.find((command) => !isSubcommand(command))
  const subcommands = commands.filter(isSubcommand)
  return own === undefined ? containerRow(name, subcommands, store) : rowOf(own, store, subcommands)
}

function info(names: readonly Bytes[], store: Store): Reply {
  const all = namesOf(store)
  if (names.length === 0) return [...all].map(([name, commands]) => infoOf(name, commands, store))
  return names.map((given) => {
    const name = given.toUpperCase().replace('|', ' ')
    const commands = all.get(name)
    if (commands !== undefined) return infoOf(name, commands, store)
    const one = store.commands.named(name)
    return one === undefined ? null : rowOf(one, store)
  })
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

function docs(names: readonly Bytes[], store: Store): Reply {
  const all = namesOf(store)
  const wanted = names.length === 0 ? [...all.keys()] : names.map((name) => name.toUpperCase().replace('|', ' '))
  return wanted.flatMap((name) => {
    const commands = all.get(name)
    const one = store.commands.named(name)
    if (commands === undefined) return one === undefined ? [] : namedDoc(one)
    const own = commands.find((command) => !isSubcommand(command))
    return [shown(name), docOf(own, commands[0]!.group, commands.filter(isSubcommand))]
  })
}

function list(words: readonly Bytes[], store: Store): Reply {
  const all = namesOf(store)
  if (words.length === 0) return [...all.keys()].map(shown)
  const [filter, by, pattern, ...more] = words
  if (filter!.toUpperCase() !== 'FILTERBY' || pattern === undefined || more.length > 0) throw replyError('syntax')
  const kind = by!.toUpperCase()
  const each = [...all].flatMap(([name, commands]) => {
    const rows = commands.map((one) => [one.name, categoriesOf(one)] as const)
    // A name of subcommands only belongs to no more than the slow ones.
    return commands.some((one) => one.name === name) ? rows : [[name, new Set(['slow'])] as const, ...rows]
  })
  // There are no modules: what other servers load is part of the store.
  if (kind === 'MODULE') return []
  if (kind === 'ACLCAT') {
    const category = pattern.toLowerCase()
    if (!isCategory(category)) return []
    return each
      .filter(([, categories]) => (categories as ReadonlySet<string>).has(category))
      .map(([name]) => shown(name))
  }
  if (kind !== 'PATTERN') throw replyError('syntax')
  const matches = globMatcher(latin1(pattern.toLowerCase()), store.work)
  return each.map(([name]) => shown(name)).filter(matches)
}

type KeyNames = ReturnType<Command['namesIn']>['keys']

/** The keys of a whole command, as COMMAND GETKEYS finds them. */
function keysIn(argv: readonly Bytes[], { store }: CommandContext): KeyNames {
  const command = findIn(store, argv)
  if (command === undefined) throw replyError('invalidCommand')
  if (!/\b(?:key|source)\b/.test(command.usage)) throw replyError('noKeyArguments')
  if (argv.length < command.minWords || argv.length > command.maxWords) throw replyError('invalidArgumentCount')
  const { keys } = command.namesIn(argv)
  // Scripts and functions need not have keys.
  if (keys.length === 0 && !command.flags.includes('scripting')) throw replyError('invalidArguments')
  return keys
}

/** As redis-server flags a key. Whether a write inserts, updates or deletes is not known here. */
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
    run: ({ store }) => namesOf(store).size,
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
      'Has no tips and no key specifications, and of the flags those that matter in the store. Lengths are those that the store takes: UNLINK needs no key, ZRANK may have WITHSCORE.',
    args: [named('[command …]', zeroOrMore(bytes))],
    run: ({ store }, names) => info(names, store),
  }),

  command('COMMAND DOCS', {
    flags: telling,
    since: '7.0.0',
    status: 'redis',
    deviations: 'Has the version, the group and the subcommands of each command.',
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
    deviations: 'Tells reading from writing; every write is an update.',
    args: [...wholeCommand],
    run: (context, name, args) =>
      keysIn([name, ...args], context).map((key) => [key.name, usesOf[key.use].map((flag) => new Status(flag))]),
  }),

  helpCommand(
    'COMMAND',
    '5.0.0',
    telling,
    {
      '(no subcommand)': 'An empty list, as the service documents it.',
      COUNT: 'How many commands the store has.',
      'LIST [FILTERBY MODULE <module> | ACLCAT <category> | PATTERN <pattern>]': 'The names of commands.',
      'INFO [<command> ...]': 'Length, flags, keys and categories of commands, by default of all.',
      'DOCS [<command> ...]': 'Version and group of commands, by default of all.',
      'GETKEYS <full-command>': 'The keys that a command names.',
      'GETKEYSANDFLAGS <full-command>': 'The same, with what the command does to them.',
    },
    'redis',
  ),
]
