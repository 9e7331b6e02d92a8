import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { unitsPerItem } from '../../kernel/work.js'
import type { UserDescription } from '../access/access-control.js'
import { categories, categoriesOf, connectionBound, isCategory, type Permissible } from '../access/categories.js'
import type { User } from '../access/user.js'
import { bytes, named, oneOrMore, optional, toInt, zeroOrMore } from '../command/arguments.js'
import { type Command, type CommandStore, checkArity, command } from '../command/command.js'
import type { CommandFlag } from '../command/command-description.js'
import {
  deniedText,
  notFound,
  replyError,
  subcommandSyntax,
  unknownCategory,
  wrongPassword,
} from '../command/errors.js'
import { ok, type Reply } from '../command/reply.js'
import { helpCommand } from './help.js'

const username = named('username', bytes)
const password = named('password', bytes)
const managing: readonly CommandFlag[] = ['slow', 'admin', 'dangerous', 'noscript']

/** Units of work for each byte of a rule. A pattern of sets such as `[a]` needs a hundred times its memory. [measured] */
const unitsPerRuleByte = 8

export const aclCommands: readonly Command[] = [
  command('ACL SETUSER', {
    flags: managing,
    since: '6.0.0',
    deviations:
      'Passwords are tokens of ACL GENTOKEN. The rule nopass, password hashes, selectors and rules for subcommands need policy.aclRules `redis`. Built-in users cannot be changed under either policy.',
    args: [username, named('[rule …]', zeroOrMore(bytes))],
    run({ store }, username, rules) {
      // Each new rule is compared with the earlier ones.
      const patterns = store.access.patternsOf(username)
      store.work.charge((rules.length + 1) * Math.ceil((rules.length + patterns) / 4))
      for (const rule of rules) store.work.charge(unitsPerRuleByte * rule.length)
      const hasCommand = (name: string): boolean => store.knows(name)
      store.access.setUser(username, rules, { dialect: store.options.policy.aclRules, hasCommand })
      return ok
    },
  }),

  command('ACL GETUSER', {
    flags: managing,
    since: '6.0.0',
    deviations: 'Returns selectors only under policy.aclRules `redis`. Keys and channels are lists.',
    args: [username],
    run({ store }, username) {
      const user = store.access.describe().find(({ name }) => name === username)
      return user === undefined ? null : details(user, store.options.policy.aclRules === 'redis')
    },
  }),

  command('ACL DELUSER', {
    flags: managing,
    since: '6.0.0',
    args: [oneOrMore(username)],
    run: ({ store }, usernames) => store.access.deleteUsers(usernames),
  }),

  command('ACL LIST', {
    flags: managing,
    since: '6.0.0',
    args: [],
    run: ({ store }) => described(store).map(line),
  }),

  command('ACL USERS', {
    flags: managing,
    since: '6.0.0',
    args: [],
    run: ({ store }) => described(store).map(({ name }) => latin1(name)),
  }),

  command('ACL WHOAMI', {
    flags: ['slow', 'noscript'],
    since: '6.0.0',
    args: [],
    run: ({ user }) => latin1(user.name),
  }),

  command('ACL CAT', {
    flags: ['slow', 'noscript'],
    since: '6.0.0',
    args: [named('[category]', zeroOrMore(bytes))],
    run({ store }, given) {
      if (given.length > 1) throw subcommandSyntax('ACL', 'CAT')
      return given[0] === undefined ? categories.map((name) => latin1(name)) : membersOf(given[0], store)
    },
  }),

  command('ACL GENPASS', {
    flags: ['slow', 'noscript'],
    since: '6.0.0',
    deviations:
      'Rounds up to whole bytes. ACL SETUSER accepts the result as a password only under policy.aclRules `redis`.',
    args: [named('[bits]', zeroOrMore(bytes))],
    run({ store }, bits) {
      if (bits.length > 1) throw subcommandSyntax('ACL', 'GENPASS')
      const count = bits[0] === undefined ? 256 : toInt(bits[0])
      if (count < 1 || count > 4096) throw replyError('genpassBits')
      return latin1(store.access.randomHex(2 * Math.ceil(count / 8)))
    },
  }),

  command('ACL LOG', {
    flags: managing,
    since: '6.0.0',
    deviations: 'Always empty.',
    args: [named('[count | RESET]', zeroOrMore(bytes))],
    run(_context, [word, ...more]) {
      if (more.length > 0) throw subcommandSyntax('ACL', 'LOG')
      if (word?.toUpperCase() === 'RESET') return ok
      if (word !== undefined) toInt(word)
      return []
    },
  }),

  command('ACL LOAD', { flags: managing, since: '6.0.0', deviations: 'Does nothing.', args: [], run: () => ok }),
  command('ACL SAVE', { flags: managing, since: '6.0.0', deviations: 'Does nothing.', args: [], run: () => ok }),

  command('ACL DRYRUN', {
    flags: managing,
    since: '7.0.0',
    status: 'redis',
    args: [username, named('command', bytes), named('[arg …]', zeroOrMore(bytes))],
    run({ store }, username, name, args) {
      const user = store.access.userNamed(username)
      if (user === undefined) throw notFound('User', username)
      const argv = [name, ...args]
      const denial = deniedIn(argv, user, store)
      return denial === undefined ? ok : latin1(denial)
    },
  }),

  helpCommand(
    'ACL',
    '6.0.0',
    ['slow'],
    {
      'CAT [<category>]': 'Lists the categories, or the commands of one category.',
      'DELUSER <username> [<username> ...]': 'Deletes users.',
      'DRYRUN <username> <command> [<arg> ...]': 'Checks whether a user may run a command, without running it.',
      'GENPASS [<bits>]': 'Returns random hexadecimal digits.',
      'GENTOKEN <username> [<password>]': 'Returns a token for a user, which SETUSER accepts as a password.',
      'GETUSER <username>': 'Returns the rules of a user.',
      LIST: 'Returns the rules of all users.',
      LOAD: 'Does nothing: users are in memory.',
      'LOG [<count> | RESET]': 'Always empty.',
      'RESTTOKEN <username> <password>': 'Returns the REST token of a user.',
      SAVE: 'Does nothing: users are in memory.',
      'SETUSER <username> <attribute> [<attribute> ...]': 'Creates or changes a user.',
      USERS: 'Returns the names of all users.',
      WHOAMI: 'Returns the name of the current user.',
    },
    'redis',
  ),

  command('ACL RESTTOKEN', {
    flags: managing,
    since: 'service',
    args: [username, password],
    run({ store }, username, password) {
      const token = store.access.tokenFor(username, password)
      if (token === undefined) throw wrongPassword(username)
      return latin1(token)
    },
  }),

  command('ACL GENTOKEN', {
    flags: managing,
    since: 'service',
    args: [username, optional(password)],
    run: ({ store }, username, password) => latin1(store.access.generateToken(username, password)),
  }),
]

/** Returns a readable reason why a user may not run a command, or `undefined`. */
function deniedIn(argv: readonly Bytes[], user: User, store: CommandStore): string | undefined {
  const name = argv[0]!
  const bound = connectionBound.get(name.toUpperCase())
  if (bound !== undefined) return boundDenial(bound, argv.slice(1), user, store)
  const command = store.blockingCommands.find(argv) ?? store.commands.find(argv)
  if (command === undefined) throw notFound('Command', name)
  checkArity(command, argv)
  const denial = user.denial(command, command.namesIn(argv), store.work)
  return denial && deniedText(command.name, denial)
}

/**
 * Returns the denial for a command that exists only on connections and is not in the command table. The arguments of
 * subscriptions are channels, and the arguments of WATCH are keys.
 */
function boundDenial(
  bound: Permissible,
  words: readonly Bytes[],
  user: User,
  { work }: CommandStore,
): string | undefined {
  const { name } = bound
  const channels = /^P?SUBSCRIBE$/.test(name) ? [...words] : []
  const keys = name === 'WATCH' ? words.map((word) => ({ name: word, use: 'R' }) as const) : []
  const denial = user.denial(bound, { keys, channels, ...(name === 'PSUBSCRIBE' && { kind: 'pattern' }) }, work)
  return denial && deniedText(name, denial)
}

/** Units of work to describe one user, which joins several texts. */
const unitsPerUser = 80

function described({ access, work }: CommandStore): ReturnType<CommandStore['access']['describe']> {
  const users = access.describe()
  work.charge(unitsPerUser * users.length)
  return users
}

function membersOf(category: Bytes, { commands, blockingCommands, work }: CommandStore): Reply {
  const name = category.toLowerCase()
  if (!isCategory(name)) throw unknownCategory(category)
  const all = [...commands.commands, ...blockingCommands.commands, ...connectionBound.values()]
  work.charge(unitsPerItem * all.length)
  return all
    .filter((command) => categoriesOf(command).has(name))
    .map((command) => latin1(command.name.toLowerCase().replace(' ', '|')))
}

function details(
  { flags, passwords, commands, keys, channels, selectors }: UserDescription,
  hasSelectors: boolean,
): Reply {
  const list = (items: readonly string[]): Reply => items.map((item) => latin1(item))
  const shown = selectors.map(
    ({ commandText, keyPatterns, channelPatterns }): Reply => [
      latin1('commands'),
      latin1(commandText),
      latin1('keys'),
      list(keyPatterns),
      latin1('channels'),
      list(channelPatterns),
    ],
  )
  return [
    latin1('flags'),
    list(flags),
    latin1('passwords'),
    list(passwords),
    latin1('commands'),
    latin1(commands),
    latin1('keys'),
    list(keys),
    latin1('channels'),
    list(channels),
    ...(hasSelectors ? [latin1('selectors'), shown] : []),
  ]
}

/** Returns a user as a line of ACL LIST: rules from which ACL SETUSER creates the same user. */
function line({ name, flags, passwords, commands, keys, channels, selectors }: UserDescription): Bytes {
  const hashes = passwords.map((hash) => `#${hash}`)
  const head = ['user', name, flags[0]!, ...(flags.includes('nopass') ? ['nopass'] : []), ...hashes]
  const further = selectors.map(
    ({ keyPatterns, channelPatterns, commandText }) => `(${permissionText(keyPatterns, channelPatterns, commandText)})`,
  )
  return latin1([...head, permissionText(keys, channels, commands), ...further].join(' '))
}

function permissionText(keys: readonly string[], channels: readonly string[], commands: string): string {
  const keyRules = keys.map((pattern) => (pattern.startsWith('%') ? pattern : `~${pattern}`))
  const channelRules = channels.map((pattern) => `&${pattern}`)
  if (!channels.includes('*')) channelRules.unshift('resetchannels')
  return [...keyRules, ...channelRules, commands].join(' ')
}
