import { type Bytes, text } from '../../../../src/kernel/bytes.js'
import type { Entry } from '../../../../src/kernel/traffic-log.js'
import { commandTable } from '../../../../src/store/commands/index.js'

// The keys that a request reads and changes. Two requests without a conflict have the same effects in either order.

/** Keys that a request read and changed; with `all`, it may depend on any other request. */
export interface Touched {
  readonly reads: ReadonlySet<string>
  readonly writes: ReadonlySet<string>
  readonly all: boolean
}

/** One use of one key by a command that ran. */
export interface KeyUsed {
  readonly key: string
  /** Name in upper case. */
  readonly command: string
  readonly reads: boolean
  readonly writes: boolean
}

export const everything: Touched = { reads: new Set(), writes: new Set(), all: true }

/** Represents the whole queue. Message IDs are drawn in order, so the order of two publishes always has an effect. */
const queueKey = '\0queue'

/** Command groups whose commands read and change only the keys in their arguments, as the command table states. */
const dataGroups = new Set('string bitmap hash list set sorted-set geo hyperloglog stream json generic'.split(' '))
/** Commands that draw from a random source that all keys share. */
const byChance = /^(?:SPOP|SRANDMEMBER|HRANDFIELD|ZRANDMEMBER)$/

/** Returns the keys that a request used. @param entries its entry in the traffic log, and those that it caused */
export function touchedBy(entries: readonly Entry[]): Touched {
  const reads = new Set<string>()
  const writes = new Set<string>()
  let commands = 0
  for (const entry of entries) {
    if (entry.type === 'command') {
      commands++
      const used = keysUsed(entry.argv)
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
  // A subscription, for example, receives everything that other clients do.
  if (commands === 0 && request?.type === 'request' && request.service === 'store' && request.response?.status === 200)
    return everything
  return { reads, writes, all: false }
}

/** Returns the used keys; `undefined` if the arguments of the command do not show them. */
export function keysUsed(argv: readonly Bytes[]): readonly KeyUsed[] | undefined {
  const command = argv.length === 0 ? undefined : commandTable.find(argv)
  if (command === undefined) return []
  if (!dataGroups.has(command.group) || byChance.test(command.name)) return undefined
  const { keys } = command.namesIn(argv)
  if (keys.length === 0) return undefined
  const used = keys.map(({ name, use }) => ({
    key: text(name),
    command: command.name,
    reads: use !== 'W',
    writes: use.includes('W'),
  }))
  return command.writes && !used.some(({ writes }) => writes) ? undefined : used
}

/** Returns whether two requests have the same effects in either order. */
export function commute(one: Touched, other: Touched): boolean {
  if (one.all || other.all) return false
  const meets = (keys: ReadonlySet<string>, others: ReadonlySet<string>): boolean => {
    for (const key of keys) if (others.has(key)) return true
    return false
  }
  return !(meets(one.writes, other.writes) || meets(one.writes, other.reads) || meets(one.reads, other.writes))
}
