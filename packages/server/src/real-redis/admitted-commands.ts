import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import { globOf } from '../../../../src/kernel/glob.js'
import { connectionBound, type Permissible } from '../../../../src/store/access/categories.js'
import type { User } from '../../../../src/store/access/user.js'
import type { Command } from '../../../../src/store/command/command.js'
import {
  denied,
  noCommandPermission,
  notAvailable,
  notInRest,
  replyError,
} from '../../../../src/store/command/errors.js'
import { ReplyError } from '../../../../src/store/command/reply.js'
import { blockingTable, commandTable } from '../../../../src/store/commands/index.js'
import { withoutWaiting } from '../../../../src/store/commands/stream-arguments.js'
import type { StoreEngine } from '../../../../src/store/store-engine.js'
import { type CommandInfo, flagsOf } from './command-catalog.js'
import type { RealRedis } from './real-redis.js'

// What may reach the engine over REST, and whose commands stay here.

/** One command on its way. */
export interface Admitted {
  readonly argv: readonly Bytes[]
  readonly writes: boolean
  /** Of tokens and users, and what would only make sense on one connection: answered here. */
  readonly stays: boolean
}

/**
 * Access is the sandbox's own, databases are one, and replicas there are none; and what manages the engine, or tells what
 * others do there, is nobody's business here.
 */
const staysHere =
  /^(?:(?:ACL|SELECT|WAIT|WAITAOF|MOVE|SWAPDB|ROLE|SAVE|BGSAVE|BGREWRITEAOF|LASTSAVE|SLOWLOG|LATENCY|MODULE|LOLWUT|PFSELFTEST)(?: .*)?|MEMORY (?!USAGE$).*|CONFIG (?:RESETSTAT|HELP))$/

/**
 * Lets a command through, or refuses it as the service does: what needs a connection, what waits, what manages the engine,
 * and what the user may not do. What no table of ours knows is passed on, with what the engine itself says of it.
 * @throws ReplyError
 */
export async function admitted(
  argv: readonly Bytes[],
  user: User,
  store: StoreEngine,
  engine: RealRedis,
): Promise<Admitted> {
  const name = argv[0]
  if (name === undefined) throw replyError('emptyCommand')
  const upper = name.toUpperCase()
  if (connectionBound.has(upper)) throw notInRest(upper)
  if (blockingTable.find(argv) !== undefined) throw notAvailable(name, store.docs)
  if (breaksConnections(argv)) throw notAvailable(commandTable.shownName(argv), store.docs)
  if (staysHere.test(nameWithSubcommand(argv))) return { argv, writes: false, stays: true }
  if (argv.some((word) => engine.markers.includes(word))) throw ofTheSandbox()
  const known = commandTable.find(argv)
  if (known !== store.commands.find(argv)) throw notAvailable(commandTable.shownName(argv), store.docs)
  if (known !== undefined) return ours(known, argv, user, store)
  const facts = await engine.knowledge.of(argv)
  // Only the engine has the words for what it does not know.
  if (facts === undefined) return { argv, writes: false, stays: false }
  const row = { name: facts.name, group: '', flags: flagsOf(facts) }
  if (row.flags.some((flag) => managing.has(flag)) || facts.flags.has('pubsub')) {
    throw notAvailable(commandTable.shownName(argv), store.docs)
  }
  await permit(row, argv, user, store, engine, facts)
  return { argv, writes: facts.flags.has('write') || row.flags.includes('scripting'), stays: false }
}

function nameWithSubcommand(argv: readonly Bytes[]): string {
  return argv.slice(0, 2).join(' ').toUpperCase()
}

/** What the engine takes for HTTP, and hangs up; and what makes the next script of the connection one that is debugged. */
function breaksConnections([name, second]: readonly Bytes[]): boolean {
  return /^(?:POST|HOST:)$/i.test(name!) || (/^SCRIPT$/i.test(name!) && /^DEBUG$/i.test(second ?? ''))
}

/** What no table of ours has and what would touch the engine itself, its connections, or other machines. */
const managing: ReadonlySet<string> = new Set(['admin', 'dangerous', 'blocking', 'connection', 'transaction'])

function ours(command: Command, argv: readonly Bytes[], user: User, store: StoreEngine): Admitted {
  store.permit(command, argv, user)
  // Only one setting is anybody's to change; what is wrong with the words is told here.
  if (command.name.startsWith('CONFIG ')) store.executeUnseen(argv, user)
  return {
    argv: command.name === 'CONFIG GET' ? withoutSecrets(argv) : withoutWaiting(argv),
    writes: command.writes || command.flags.includes('scripting'),
    stays: false,
  }
}

async function permit(
  row: Permissible,
  argv: readonly Bytes[],
  user: User,
  store: StoreEngine,
  { knowledge }: RealRedis,
  facts: CommandInfo,
): Promise<void> {
  if (user.unrestricted) return
  if (!user.mayRun(row)) throw noCommandPermission(row.name)
  const use = facts.flags.has('write') ? 'RW' : 'R'
  const keys = (await knowledge.keysOf(argv, facts)).map((name) => ({ name, use }) as const)
  const denial = user.denial(row, { keys }, store.work)
  if (denial !== undefined) throw denied(row.name, denial)
}

const setting = latin1('notify-keyspace-events')
/** Passwords, and files of keys. */
const secretSetting = /pass|auth|user|key-file/i

/** Settings are told by their names, and by a pattern the one that anybody may change: an engine has secrets among them. */
function withoutSecrets(argv: readonly Bytes[]): readonly Bytes[] {
  const names = argv.slice(2).flatMap((name) => {
    if (/[*?[\\]/.test(name)) return globOf(name)(setting) ? [setting] : []
    return secretSetting.test(name) ? [] : [name]
  })
  return [...argv.slice(0, 2), ...(names.length === 0 ? [latin1('none')] : names)]
}

function ofTheSandbox(): ReplyError {
  return new ReplyError(
    "ERR this key marks the engine as taken by a sandbox: it is nobody else's to read or to change, choose another name",
  )
}
