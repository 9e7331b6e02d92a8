import * as v from 'valibot'
import { bytesOf, type PortableString, portableString } from './kernel/portable.js'
import type { Queue } from './queue/queue.js'
import type { QueueDump } from './queue/snapshot.js'
import type { LedgerDump } from './stats/ledger.js'
import type { Statistics } from './stats/statistics.js'
import type { AccessDump } from './store/access.js'
import type { DirectStore } from './store/direct.js'
import type { StoreDump } from './store/snapshot.js'

/**
 * A whole world as JSON, but for its traffic log and what a program declares anew: handlers, scripts, faults,
 * subscribers, figures set by hand.
 */
export interface SandboxDump {
  readonly format: 'stuntdouble/sandbox'
  readonly version: 1
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly now: number
  /** How many loads lie behind it: each draws ids of its own. */
  readonly loads: number
  readonly store: StoreDump
  readonly access: AccessDump
  /** Libraries of functions, as they were loaded. */
  readonly functions: readonly PortableString[]
  readonly queue: QueueDump
  /** What the statistics have counted. */
  readonly counted: LedgerDump
}

const shape = v.object({
  format: v.literal('stuntdouble/sandbox'),
  version: v.literal(1),
  now: v.pipe(v.number(), v.finite()),
  loads: v.pipe(v.number(), v.integer(), v.minValue(0)),
  store: v.looseObject({}),
  access: v.looseObject({ tokens: v.looseObject({}), users: v.array(v.looseObject({})) }),
  functions: v.array(v.union([v.string(), v.object({ base64: v.string() })])),
  queue: v.looseObject({}),
  counted: v.looseObject({ tallies: v.array(v.string()), rings: v.array(v.unknown()) }),
})

/** Refuses what is no dump of a sandbox; its parts are checked by those who load them. */
export function checkDump(given: unknown): asserts given is SandboxDump {
  const parsed = v.safeParse(shape, given)
  if (parsed.success) return
  const [issue] = parsed.issues
  const place = v.getDotPath(issue)
  throw new TypeError(
    `This is not a dump of a sandbox: load() takes what dump() gave. ${place === null ? '' : `${place}: `}${issue.message}`,
  )
}

interface Parts {
  readonly store: DirectStore
  readonly stats: Statistics
  readonly queue: Queue
}

export function dumpOf({
  store,
  stats,
}: Omit<Parts, 'queue'>): Pick<SandboxDump, 'store' | 'access' | 'functions' | 'counted'> {
  const { engine } = store
  return {
    store: store.dump(),
    access: engine.access.dump(),
    functions: engine.scripts.libraries.all.map(({ code }) => portableString(code)),
    counted: stats.queue.ledger.dump(),
  }
}

/** Fills a fresh world. */
export function loadInto({ store, stats, queue }: Parts, dump: SandboxDump): void {
  const { engine } = store
  store.load(dump.store)
  engine.access.load(dump.access, (name) => engine.commands.has(name))
  engine.scripts.libraries.restore(dump.functions.map(bytesOf), 'flush')
  stats.queue.ledger.load(dump.counted)
  queue.load(dump.queue)
}
