import type { Entry, EntryOf, TrafficLog } from '../../src/kernel/traffic-log.js'
import type { StatsPeriod } from '../../src/stats/periods.js'
import type { Price, QueueReport } from '../../src/stats/reports.js'

// Second implementation: computes every field by a walk over all entries, with the host's calendar and without
// optimization.

const minutes: Readonly<Record<StatsPeriod, number>> = {
  '1h': 1,
  '3h': 3,
  '12h': 12,
  '1d': 24,
  '3d': 72,
  '7d': 168,
  '30d': 180,
}

const weekday = new Intl.DateTimeFormat('en-US', { weekday: 'long', timeZone: 'UTC' })

interface Event {
  readonly at: number
  readonly what: string
  readonly amount: number
}

/** All countable events of the log, as a flat list. */
function eventsOf(entries: readonly Entry[]): Event[] {
  const events: Event[] = []
  const add = (at: number, what: string, amount = 1): void => {
    events.push({ at, what, amount })
  }
  for (const entry of entries) {
    if (entry.type === 'published' && !entry.deduplicated) add(entry.at, 'created')
    if (entry.type === 'message' && entry.state === 'CANCELLED') add(entry.at, 'canceled')
    if (entry.type === 'workflow') add(entry.at, entry.state)
    if (entry.type === 'attempt') {
      add(entry.at, 'active')
      add(entry.at, 'bytes', entry.body.length)
      if (entry.workflowRunId !== undefined) add(entry.at, 'of a workflow')
      ended(entry, add)
    }
  }
  return events
}

function ended({ outcome }: EntryOf<'attempt'>, add: (at: number, what: string, amount?: number) => void): void {
  if (outcome === undefined) return
  add(outcome.at, 'bytes', outcome.body.length)
  if (outcome.state === 'DELIVERED') add(outcome.at, 'delivered')
  if (outcome.state !== 'DELIVERED') add(outcome.at, 'error')
  if (outcome.state === 'RETRY') add(outcome.at, 'retried')
  if (outcome.state === 'FAILED') add(outcome.at, 'failed')
}

export function naiveReport(
  entries: readonly Entry[],
  now: number,
  period: StatsPeriod,
  price: Price,
  deadLetters: number,
): QueueReport {
  const events = eventsOf(entries)
  const between = (what: string, from: number, until: number): number =>
    events
      .filter((event) => event.what === what && event.at >= from && event.at < until)
      .reduce((sum, { amount }) => sum + amount, 0)

  const date = new Date(now)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  const dates: Date[] = []
  for (let day = 1; new Date(Date.UTC(year, month, day)).getUTCMonth() === month; day++) {
    dates.push(new Date(Date.UTC(year, month, day)))
  }
  const timeOfDay = date.toISOString().slice(11, 23)
  const ofDay = (what: string) => (start: Date) => ({
    x: `${start.toISOString().slice(0, 10)} ${timeOfDay}000000 +0000 UTC`,
    y: between(what, start.getTime(), start.getTime() + 86_400_000),
  })

  const step = minutes[period] * 60_000
  const starts: number[] = []
  for (let start = now - (now % step); starts.length < (period === '30d' ? 240 : 60); start -= step)
    starts.unshift(start)
  const stamps = starts.map((start) => `${new Date(start).toISOString().replace('T', ' ').replace('Z', '')} +0000 UTC`)
  const ofPeriod = (what: string) =>
    starts.map((start, index) => ({ x: stamps[index]!, y: between(what, start, start + step) }))
  const named = (names: readonly (readonly [string, string])[]) =>
    names.map(([id, what]) => ({ id, data_points: ofPeriod(what) }))

  /** Returns the cost of the month up to the end of a day. */
  const bill = (until: number): number => {
    const [messages, bytes] = [
      between('active', dates[0]!.getTime(), until),
      between('bytes', dates[0]!.getTime(), until),
    ]
    return messages * price.message + (Math.max(0, bytes - price.freeBandwidth) / 1e9) * price.gigabyte
  }
  return {
    days: dates.map((start) => weekday.format(start)),
    daily_requests: dates.map((start) => ({
      ...ofDay('active')(start),
      workflow_message: ofDay('of a workflow')(start).y,
      workflow_run: ofDay('RUN_STARTED')(start).y,
    })),
    daily_billings: dates.map((start) => ({
      ...ofDay('none')(start),
      y: bill(start.getTime() + 86_400_000) - bill(start.getTime()),
    })),
    daily_bandwidths: dates.map(ofDay('bytes')),
    daily_used: ofPeriod('active'),
    daily_used_workflow: ofPeriod('of a workflow'),
    daily_qstash_messages: named(
      ['created', 'active', 'delivered', 'retried', 'error', 'failed', 'canceled'].map((id) => [id, id] as const),
    ),
    daily_workflow_messages: named([
      ['started', 'RUN_STARTED'],
      ['success', 'RUN_SUCCESS'],
      ['failed', 'RUN_FAILED'],
      ['canceled', 'RUN_CANCELED'],
    ]),
    dlq_message_count: deadLetters,
    daily_bandwidth_used: ofPeriod('bytes'),
    total_monthly_billing: bill(Number.POSITIVE_INFINITY),
  }
}

/** Keeps every entry, even if its log forgets it. */
export function remembering(traffic: Pick<TrafficLog, 'subscribe'>): ReadonlySet<Entry> {
  const all = new Set<Entry>()
  traffic.subscribe((entry) => all.add(entry))
  return all
}
