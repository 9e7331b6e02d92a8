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

// Decides which commands of the REST API may run, and whether they run on the real Redis or in this process.

export interface Admitted {
  readonly argv: readonly Bytes[]
  readonly writes: boolean
  /** Whether the command runs in this process instead of on the real Redis, for example because it concerns users. */
  readonly stays: boolean
}

/**
 * Commands that run in this process instead of on the real Redis. Users belong to the sandbox, and the service has one
 * database and no replica. Clients must not manage or observe the real Redis.
 */
const staysHere =
  /^(?:(?:ACL|SELECT|WAIT|WAITAOF|MOVE|SWAPDB|ROLE|SAVE|BGSAVE|BGREWRITEAOF|LASTSAVE|SLOWLOG|LATENCY|MODULE|LOLWUT|PFSELFTEST)(?: .*)?|MEMORY (?!USAGE$).*|CONFIG (?:RESETSTAT|HELP))$/

/**
 * Admits a command, or rejects it as the service does. Commands are rejected if they need a connection, block, manage
 * the server, or are not permitted. If the double does not know a command, such as a command of a module, it checks the
 * flags that the real Redis has for the command.
 * @throws ReplyError for a rejected command
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
  // If the real Redis does not know the command either, send it. The client then gets the error of the real Redis.
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

/**
 * Returns whether a command would break the connection that all clients share. Redis disconnects after POST and HOST:,
 * because they look like HTTP. SCRIPT DEBUG makes the next script run in the debugger.
 */
function breaksConnections([name, second]: readonly Bytes[]): boolean {
  return /^(?:POST|HOST:)$/i.test(name!) || (/^SCRIPT$/i.test(name!) && /^DEBUG$/i.test(second ?? ''))
}

/**
 * A command that the double does not know is rejected if it has one of these categories, because it could affect the
 * server, its connections or other machines.
 */
const managing: ReadonlySet<string> = new Set(['admin', 'dangerous', 'blocking', 'connection', 'transaction'])

function ours(command: Command, argv: readonly Bytes[], user: User, store: StoreEngine): Admitted {
  store.permit(command, argv, user)
  // Check the arguments of CONFIG in this process first, because clients may change only one setting.
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
const secretSetting = /pass|auth|user|key-file/i

/**
 * Removes settings with secrets from the arguments of CONFIG GET. A pattern such as `*` could match such settings. Such
 * a pattern is replaced by the only setting that clients may change.
 */
function withoutSecrets(argv: readonly Bytes[]): readonly Bytes[] {
  const names = argv.slice(2).flatMap((name) => {
    if (/[*?[\\]/.test(name)) return globOf(name)(setting) ? [setting] : []
    return secretSetting.test(name) ? [] : [name]
  })
  return [...argv.slice(0, 2), ...(names.length === 0 ? [latin1('none')] : names)]
}

function ofTheSandbox(): ReplyError {
  return new ReplyError(
    'ERR this key marks the real Redis as used by a sandbox and cannot be read or changed, choose another name',
  )
}
