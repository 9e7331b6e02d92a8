import { text } from '../../../../src/kernel/bytes.js'
import type { Entry, EntryOf } from '../../../../src/kernel/traffic-log.js'
import { commandTable } from '../../../../src/store/commands/index.js'

// Determines the keys that a request reads and writes. If two requests have no key in common that one of them writes,
// their order has no effect.

/**
 * Keys that a request reads and writes. With `all`, the order of the request relative to any other request may have an
 * effect.
 */
export interface Touched {
  readonly reads: ReadonlySet<string>
  readonly writes: ReadonlySet<string>
  readonly all: boolean
}

/** A key that a command used. */
export interface KeyUsed {
  readonly key: string
  /** Name of the command in upper case. */
  readonly command: string
  readonly reads: boolean
  readonly writes: boolean
}

export const everything: Touched = { reads: new Set(), writes: new Set(), all: true }

/**
 * Key that represents the whole queue. Message IDs are drawn in order, so two publishes always write to the same key.
 */
const queueKey = '\0queue'

/** Groups of commands that use only the keys in their arguments, as the command table states. */
const dataGroups = new Set(
  'string bitmap hash list set sorted-set geo hyperloglog stream array json vector generic'.split(' '),
)
/** Commands that draw random numbers. They share one random source, so their order always has an effect. */
const byChance = /^(?:SPOP|SRANDMEMBER|HRANDFIELD|ZRANDMEMBER)$/

/**
 * Returns the keys that a request used.
 * @param entries the request's entry in the traffic log, and the entries that the request caused
 */
export function touchedBy(entries: readonly Entry[]): Touched {
  const reads = new Set<string>()
  const writes = new Set<string>()
  let commands = 0
  for (const entry of entries) {
    if (entry.type === 'command') {
      commands++
      const used = keysUsed(entry)
      if (used === undefined) return everything
      for (const use of used) {
        if (use.reads) reads.add(use.key)
        if (use.writes) writes.add(use.key)
      }
    } else if (entry.type === 'request' && entry.service === 'queue') {
      const side = entry.method === 'GET' ? reads : writes
      side.add(queueKey)
    } else if (entry.type === 'request' && entry.service !== 'store') return everything
    else if (entry.type === 'published') writes.add(queueKey)
    else if (entry.type === 'fault') return everything
  }
  const [request] = entries
  // The request ran no command. It may be a subscription, which receives what all other clients publish.
  if (commands === 0 && request?.type === 'request' && request.service === 'store' && request.response?.status === 200)
    return everything
  return { reads, writes, all: false }
}

/** Returns the keys that a command used, or `undefined` if its arguments do not show them. */
export function keysUsed({
  argv,
  database,
}: Pick<EntryOf<'command'>, 'argv' | 'database'>): readonly KeyUsed[] | undefined {
  const command = argv.length === 0 ? undefined : commandTable.find(argv)
  if (command === undefined) return []
  if (!dataGroups.has(command.group) || byChance.test(command.name)) return undefined
  const { keys } = command.namesIn(argv)
  if (keys.length === 0) return undefined
  const used = keys.map(({ name, use }) => ({
    // Equal keys of different databases are different keys.
    key: database === undefined ? text(name) : `${text(name)} (database ${database})`,
    command: command.name,
    reads: use !== 'W',
    writes: use.includes('W'),
  }))
  return command.writes && !used.some(({ writes }) => writes) ? undefined : used
}

/** Returns whether the order of two requests has no effect. */
export function commute(one: Touched, other: Touched): boolean {
  if (one.all || other.all) return false
  const meets = (keys: ReadonlySet<string>, others: ReadonlySet<string>): boolean => {
    for (const key of keys) if (others.has(key)) return true
    return false
  }
  return !(meets(one.writes, other.writes) || meets(one.writes, other.reads) || meets(one.reads, other.writes))
}
