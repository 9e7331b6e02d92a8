import type { ClockMode } from '../kernel/clock.js'
import { type Instant, instant, iso } from '../kernel/instant.js'
import type { DumpedRun } from '../queue/dump/dumped-run-rows.js'
import type { QueueDump } from '../queue/dump/queue-dump.js'
import type { StoreLedgerDump } from '../stats/store-ledger.js'
import { commandGrid } from '../stats/store-tallies.js'
import type { LedgerDump } from '../stats/tally-book.js'
import { minute } from '../stats/usage-calendar.js'
import type { DumpedKey, StoreDump } from '../store/dump/store-dump.js'
import type { DatabaseDump, SandboxDump } from './sandbox-dump.js'

/**
 * Returns a dump with all times moved by `by` milliseconds: its own time, expirations of keys and fields, times of
 * stream consumers and their deliveries, and all times of the queue and the statistics.
 * Values that a client chose stay the same, even if they contain a time: IDs of stream entries, messages and dead
 * letters, bodies, and settings such as not-before. Schedules still fire at the times of their cron expressions.
 */
export function rebased(dump: SandboxDump, by: number): SandboxDump {
  const now = dump.now + by
  return {
    ...dump,
    now,
    store: shiftedStore(dump.store, by),
    queue: shiftedQueue(dump.queue, by),
    ...(dump.regions && {
      regions: Object.fromEntries(
        Object.entries(dump.regions).map(([region, queue]) => [region, shiftedQueue(queue, by)]),
      ),
    }),
    counted: shiftedCounts(dump.counted, dump.now, now),
    ...(dump.countedStore && { countedStore: shiftedStoreCounts(dump.countedStore, dump.now, now) }),
    ...(dump.databases && {
      databases: Object.fromEntries(
        Object.entries(dump.databases).map(([name, database]) => [name, shiftedDatabase(database, dump.now, now)]),
      ),
    }),
  }
}

function shiftedDatabase(dump: DatabaseDump, from: number, to: number): DatabaseDump {
  return {
    ...dump,
    store: shiftedStore(dump.store, to - from),
    ...(dump.countedStore && { countedStore: shiftedStoreCounts(dump.countedStore, from, to) }),
  }
}

function shiftedStore(dump: StoreDump, by: number): StoreDump {
  return { ...dump, keys: dump.keys.map((key) => shiftedKey(key, by)) }
}

function shiftedKey(key: DumpedKey, by: number): DumpedKey {
  const moved = { ...key, ...moveOf(key, by, 'expiresAt') }
  if (moved.type === 'hash') {
    const fields = moved.fields.map(([name, value, ...deadline]) => [name, value, ...deadline.map((at) => at! + by)])
    return { ...moved, fields: fields as unknown as typeof moved.fields }
  }
  if (moved.type !== 'stream') return moved
  const groups = moved.groups.map((group) => ({
    ...group,
    consumers: group.consumers.map(([name, seenAt]) => [name, seenAt + by] as const),
    pending: group.pending.map(([id, consumer, at, deliveries]) => [id, consumer, at + by, deliveries] as const),
  }))
  return { ...moved, groups }
}

function shiftedQueue(dump: QueueDump, by: number): QueueDump {
  return {
    ...dump,
    urlGroups: dump.urlGroups.map((row) => ({ ...row, ...moveOf(row, by, 'createdAt', 'updatedAt') })),
    queues: dump.queues.map((row) => ({ ...row, ...moveOf(row, by, 'createdAt', 'updatedAt') })),
    flowControlKeys: dump.flowControlKeys.map((row) => ({ ...row, ...moveOf(row, by, 'ratePeriodStart') })),
    schedules: dump.schedules.map(({ missed: _, ...row }) => ({ ...row, ...moveOf(row, by, 'createdAt', 'lastTime') })),
    messages: dump.messages.map((row) => ({ ...row, ...moveOf(row, by, 'createdAt', 'notBefore', 'due') })),
    deadLetters: dump.deadLetters.map((row) => ({ ...row, ...moveOf(row, by, 'time') })),
    ...(dump.log && { log: dump.log.map((row) => ({ ...row, ...moveOf(row, by, 'time', 'nextDeliveryTime') })) }),
    ...(dump.runs && { runs: dump.runs.map((row) => shiftedRun(row, by)) }),
    ...(dump.bulkActions && {
      bulkActions: dump.bulkActions.map((row) => ({
        ...row,
        ...moveOf(row, by, 'createdAt', 'completedAt', 'endsAt'),
      })),
    }),
    ...(dump.duplicates && { duplicates: dump.duplicates.map((row) => ({ ...row, ...moveOf(row, by, 'until') })) }),
  }
}

function shiftedRun(run: DumpedRun, by: number): DumpedRun {
  const { steps, waits, invoker } = run
  return {
    ...run,
    ...moveOf(run, by, 'createdAt', 'completedAt'),
    steps: steps.map((row) => ({ ...row, ...moveOf(row, by, 'createdAt') })),
    waits: waits.map((row) => ({ ...row, ...moveOf(row, by, 'deadline') })),
    ...(invoker && { invoker: { ...invoker, ...moveOf(invoker, by, 'createdAt') } }),
  }
}

/**
 * Moves each counter by whole intervals. Counters of the present minute or day still belong to the present minute or
 * day afterwards.
 */
function shiftedCounts<Dump extends LedgerDump>(dump: Dump, from: number, to: number): Dump {
  const rings = dump.rings.map(([interval, rows]) => {
    const by = intervalsBetween(from, to, interval)
    return [interval, rows.map(([number, sums]) => [number + by, sums] as const)] as const
  })
  return { ...dump, rings }
}

/**
 * Moves the counters of the data store. The commands of the present day stay in the present day, as the sums of the day
 * do: intervals that would get into the day before are moved to the first one of the day.
 */
function shiftedStoreCounts(dump: StoreLedgerDump, from: number, to: number): StoreLedgerDump {
  const { from: start, interval } = commandGrid(to)
  const [first, by, minutes] = [
    start / interval,
    intervalsBetween(from, to, interval),
    intervalsBetween(from, to, minute),
  ]
  return {
    ...shiftedCounts(dump, from, to),
    commands: dump.commands.map(([number, name, count]) => [Math.max(number + by, first), name, count]),
    sizes: dump.sizes.map(([number, ...sizes]) => [number + minutes, ...sizes]),
  }
}

function intervalsBetween(from: number, to: number, interval: number): number {
  return Math.floor(to / interval) - Math.floor(from / interval)
}

/** Returns only the named fields of `row` that are present, each moved by `by` milliseconds. */
function moveOf<T extends object, K extends keyof T>(row: T, by: number, ...names: readonly K[]): Partial<Pick<T, K>> {
  const present = names.filter((name) => row[name] !== undefined)
  return Object.fromEntries(present.map((name) => [name, (row[name] as number) + by])) as Partial<Pick<T, K>>
}

/** Returns the instant from which a sandbox continues after it has loaded a dump. */
export function resumption(
  { now: then }: SandboxDump,
  { at, clock, now }: { readonly at: Instant | undefined; readonly clock: ClockMode | undefined; readonly now: number },
): number {
  if (clock !== 'real') return at === undefined ? then : instant(at)
  if (at === undefined) return now
  throw new TypeError(
    "sandbox.load(): at must be omitted with clock: 'real', which continues at system time. Use clock: 'manual' or 'auto', or omit at.",
  )
}

/** Moves the times of a dump from the future back, so that the sandbox continues at `now`. */
export function shiftedTo(dump: SandboxDump, now: number): SandboxDump {
  return now < dump.now ? rebased(dump, now - dump.now) : dump
}

/** Checks that a real clock does not need to go back. @throws TypeError when the dump is from the future */
export function rejectAhead(dump: SandboxDump, now: number): void {
  if (dump.now <= now) return
  throw new TypeError(
    `sandbox.load(): the dump is from the future (dump ${iso(dump.now)}, real clock ${iso(now)}). Load it with { rebaseTime: true } (serve --rebase-time), or use clock: 'manual' or 'auto'.`,
  )
}
