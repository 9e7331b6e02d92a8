import type { Bytes } from '../kernel/bytes.js'
import { unitsPerRow } from '../kernel/work.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import type { Command } from './command/command.js'
import { dailyLimit, keyTooLarge, monthlyLimit, replyError, storageExceeded, tooMuchWork } from './command/errors.js'
import type { ReplyError } from './command/reply.js'
import type { CommandTable } from './commands/command-table.js'
import { measure } from './keyspace/measure.js'
import { sizeOfWords } from './meter.js'
import type { StoreEngine } from './store-engine.js'

// Limits of a plan, as policies. These limits apply to requests. Commands that a test runs directly have no limits.
// [store.md 10]

/** Commands that free memory, at least in some cases. These commands still work when the storage is full. */
const freeing: ReadonlySet<string> = new Set(
  (
    'DEL UNLINK DELEX GETDEL EXPIRE PEXPIRE EXPIREAT PEXPIREAT FLUSHALL FLUSHDB HDEL HGETDEL LPOP RPOP LMPOP LREM LTRIM ' +
    'BLPOP BRPOP BLMPOP BZPOPMIN BZPOPMAX BZMPOP SREM SPOP ZREM ZREMRANGEBYLEX ZREMRANGEBYRANK ZREMRANGEBYSCORE ZPOPMIN ZPOPMAX ZMPOP XDEL XDELEX XACKDEL XTRIM XACK ' +
    'ARDEL ARDELRANGE ARSEEK JSON.DEL JSON.FORGET JSON.CLEAR JSON.ARRPOP JSON.ARRTRIM VECTOR.DEL VECTOR.DROP'
  ).split(' '),
)

export function freesMemory({ name }: Command): boolean {
  return freeing.has(name)
}

/** Commands that add to a string instead of replacing it. */
const extending: ReadonlySet<string> = new Set(['APPEND', 'SETRANGE', 'SETBIT', 'BITFIELD', 'PFADD'])

/**
 * Returns the maximum number of commands in a pipeline or transaction. The number is limited because each command costs
 * work.
 */
export function maxRows({ options }: StoreEngine): number {
  return maxRowsOf(options.policy)
}

export function maxRowsOf({ maxWork }: ResolvedPolicy): number {
  return Math.floor(maxWork / unitsPerRow)
}

/** Returns the error for a transaction whose predictable work exceeds the limit, before its first command runs. */
export function refusedWork(
  commands: readonly Command[],
  rows: readonly (readonly Bytes[])[],
  { db, options }: StoreEngine,
): ReplyError | undefined {
  const { maxWork } = options.policy
  const written = new Set<Bytes>()
  let units = 0
  for (let at = 0; at < rows.length; at++) {
    const [command, argv] = [commands[at]!, rows[at]!]
    // The work after a script, or after a command that affects all keys, cannot be predicted.
    if (command.flags.includes('scripting') || freesAll.has(command.name)) break
    const keys = command.writes || written.size > 0 ? command.keysOf(argv) : []
    if (written.size === 0 || !keys.some((key) => written.has(key))) units += command.workOf(argv, db)
    if (command.writes) for (const key of keys) written.add(key)
  }
  return units > maxWork ? tooMuchWork(maxWork) : undefined
}

const freesAll: ReadonlySet<string> = new Set(['FLUSHALL', 'FLUSHDB'])

/**
 * Maximum number of arguments that cost no work. If a command has more, each of its arguments costs work, because the
 * command processes every one.
 */
export const freeWords = 256
export const unitsPerWord = 4

/** Returns whether a plan has limits in addition to the sizes of keys, requests and work. */
export function isMetered(policy: ResolvedPolicy): boolean {
  const { dailyRequestLimit, monthlyRequestLimit, maxRecordSize, maxStorageSize } = policy
  return [dailyRequestLimit, monthlyRequestLimit, maxRecordSize, maxStorageSize].some((limit) => limit !== undefined)
}

/** Returns the error if this many further commands would exceed the daily or monthly limit. */
export function refusedCount(commands: number, { options, meter, docs }: StoreEngine): ReplyError | undefined {
  const { dailyRequestLimit: daily, monthlyRequestLimit: monthly } = options.policy
  if (daily === undefined && monthly === undefined) return undefined
  const { today, thisMonth } = meter.spend()
  if (daily !== undefined && today + commands > daily) return dailyLimit(daily, daily + 1, docs)
  if (monthly !== undefined && thisMonth + commands > monthly) return monthlyLimit(monthly, monthly, docs)
  return undefined
}

/** Returns the command that was sent, from the first table that has it. */
export function commandIn(tables: readonly CommandTable<Command>[], argv: readonly Bytes[]): Command | undefined {
  for (const table of tables) {
    const command = table.find(argv)
    if (command !== undefined) return command
  }
  return undefined
}

/**
 * Returns the error for a command that would exceed the storage limits.
 * @param tables the tables in which the command is looked up. The store itself rejects a command that is in none of the
 * tables.
 */
export function refusedStorage(
  argv: readonly Bytes[],
  store: StoreEngine,
  tables: readonly CommandTable<Command>[],
): ReplyError | undefined {
  const { maxKeySize, maxRecordSize, maxStorageSize } = store.options.policy
  const longWord = argv.some((word) => word.length > maxKeySize)
  if (!longWord && maxRecordSize === undefined && maxStorageSize === undefined) return undefined
  const command = commandIn(tables, argv)
  if (command === undefined) return undefined
  const keys = command.keysOf(argv)
  const longKey = longWord ? keys.find((key) => key.length > maxKeySize) : undefined
  if (longKey !== undefined) return keyTooLarge(maxKeySize, longKey.length)
  if (!command.writes || freesMemory(command)) return undefined
  return refusedWrite(command, keys, argv, store)
}

function refusedWrite(
  command: Command,
  keys: readonly Bytes[],
  argv: readonly Bytes[],
  { db, options, docs, storage }: StoreEngine,
): ReplyError | undefined {
  const { maxRecordSize, maxStorageSize, eviction } = options.policy
  if (maxStorageSize !== undefined && eviction === 'off') {
    const usage = storage!.bytes()
    if (usage >= maxStorageSize) return storageExceeded(maxStorageSize, usage, docs)
  }
  if (maxRecordSize === undefined) return undefined
  const added = sizeOfWords(argv)
  const grows = (key: Bytes): boolean => db.type(key) !== 'string' || extending.has(command.name)
  const size = (key: Bytes): number => (grows(key) && db.has(key) ? measure(db.value(key)!).bytes : 0)
  return keys.some((key) => size(key) + added > maxRecordSize) ? replyError('recordTooLarge') : undefined
}
