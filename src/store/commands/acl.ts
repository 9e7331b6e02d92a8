import { type Bytes, latin1 } from '../../kernel/bytes.js'
import type { Description } from '../access/access.js'
import { categories, categoriesOf, connectionBound, isCategory } from '../access/categories.js'
import { bytes, named, oneOrMore, optional, toInt, zeroOrMore } from '../command/arguments.js'
import { type Command, type CommandFlag, command } from '../command/command.js'
import { replyError, subcommandSyntax, unknownCategory, wrongPassword } from '../command/errors.js'
import { ok, type Reply } from '../command/reply.js'
import type { Store } from '../store.js'

const username = named('username', bytes)
const password = named('password', bytes)
const managing: readonly CommandFlag[] = ['slow', 'admin', 'dangerous', 'noscript']

export const aclCommands: readonly Command[] = [
  command('ACL SETUSER', {
    flags: managing,
    since: '6.0.0',
    deviations:
      'Passwords are tokens of ACL GENTOKEN. No nopass, no hashes, no selectors, no rules for subcommands; built-in users stay as they are.',
    args: [username, named('[rule …]', zeroOrMore(bytes))],
    run({ store }, username, rules) {
      // Each rule is compared with those before it.
      const patterns = store.access.patternsOf(username)
      store.work.charge((rules.length + 1) * Math.ceil((rules.length + patterns) / 4))
      store.access.setUser(username, rules, (name) => store.knows(name))
      return ok
    },
  }),

  command('ACL GETUSER', {
    flags: managing,
    since: '6.0.0',
    deviations: 'Has no selectors; keys and channels are lists.',
    args: [username],
    run({ store }, username) {
      const user = store.access.describe().find(({ name }) => name === username)
      return user === undefined ? null : details(user)
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
    run: ({ store }) => store.access.describe().map(line),
  }),

  command('ACL USERS', {
    flags: managing,
    since: '6.0.0',
    args: [],
    run: ({ store }) => store.access.describe().map(({ name }) => latin1(name)),
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
    deviations: 'Rounds up to whole bytes. The result is no password for ACL SETUSER.',
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

/** Commands of a category, lower case, subcommands behind a bar. */
function membersOf(category: Bytes, { commands, blockingCommands }: Store): Reply {
  const name = category.toLowerCase()
  if (!isCategory(name)) throw unknownCategory(category)
  return [...commands.commands, ...blockingCommands.commands, ...connectionBound.values()]
    .filter((command) => categoriesOf(command).has(name))
    .map((command) => latin1(command.name.toLowerCase().replace(' ', '|')))
}

function details({ flags, passwords, commands, keys, channels }: Description): Reply {
  const list = (items: readonly string[]): Reply => items.map((item) => latin1(item))
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
  ]
}

/** The rules that would make the same user. */
function line({ name, flags, passwords, commands, keys, channels }: Description): Bytes {
  const keyRules = keys.map((pattern) => (pattern.startsWith('%') ? pattern : `~${pattern}`))
  const channelRules = channels.map((pattern) => `&${pattern}`)
  if (!flags.includes('allchannels')) channelRules.unshift('resetchannels')
  const hashes = passwords.map((hash) => `#${hash}`)
  return latin1(['user', name, flags[0], ...hashes, ...keyRules, ...channelRules, commands].join(' '))
}
