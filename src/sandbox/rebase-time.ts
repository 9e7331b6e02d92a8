import type { ClockMode } from '../kernel/clock.js'
import { type Instant, instant, iso } from '../kernel/instant.js'
import type { DumpedRun } from '../queue/dump/dumped-run-rows.js'
import type { QueueDump } from '../queue/dump/queue-dump.js'
import type { LedgerDump } from '../stats/ledger.js'
import type { DumpedKey, StoreDump } from '../store/dump/store-dump.js'
import type { SandboxDump } from './sandbox-dump.js'

/**
 * A dump all of whose times lie so many milliseconds later, or earlier: its own, deadlines of keys and fields, when
 * consumers were seen and entries delivered to them, and everything that the queue and the statistics know of time.
 * What was given stays, although a time may be told from it: ids of stream entries, messages and dead letters, bodies,
 * and settings such as not-before. The slots of a schedule are those of the calendar.
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

/** This minute stays this minute, and today stays today. */
function shiftedCounts(dump: LedgerDump, from: number, to: number): LedgerDump {
  const rings = dump.rings.map(([interval, rows]) => {
    const by = Math.floor(to / interval) - Math.floor(from / interval)
    return [interval, rows.map(([number, sums]) => [number + by, sums] as const)] as const
  })
  return { ...dump, rings }
}

/** The named times of a row that are there, moved. */
function moveOf<T extends object, K extends keyof T>(row: T, by: number, ...names: readonly K[]): Partial<Pick<T, K>> {
  const present = names.filter((name) => row[name] !== undefined)
  return Object.fromEntries(present.map((name) => [name, (row[name] as number) + by])) as Partial<Pick<T, K>>
}

/** When a loaded world goes on. */
export function resumption(
  { now: then }: SandboxDump,
  { at, clock, now }: { readonly at: Instant | undefined; readonly clock: ClockMode | undefined; readonly now: number },
): number {
  if (clock !== 'real') return at === undefined ? then : instant(at)
  if (at === undefined) return now
  throw new TypeError(
    "With clock: 'real' a loaded world continues at the host's time, not at another. Use clock: 'manual' or 'auto', or leave `at` out.",
  )
}

/** A dump that is ahead of the time at which it goes on, moved back to it. */
export function shiftedTo(dump: SandboxDump, now: number): SandboxDump {
  return now < dump.now ? rebased(dump, now - dump.now) : dump
}

/** On a real clock time does not go back. */
export function rejectAhead(dump: SandboxDump, now: number): void {
  if (dump.now <= now) return
  throw new TypeError(
    `The dump is of ${iso(dump.now)}, and with clock: 'real' it is ${iso(now)}: time does not go back. Load it with { rebaseTime: true } (serve --rebase-time), which moves all its times back, or use clock: 'manual' or 'auto'.`,
  )
}
