import fc from 'fast-check'
import { expect, test } from 'vitest'
import { latin1 } from '../../src/kernel/bytes.js'
import { type AttemptOutcome, type EntryOf, TrafficLog } from '../../src/kernel/traffic-log.js'
import { periodNames, type StatsPeriod } from '../../src/stats/periods.js'
import type { QueueReport } from '../../src/stats/reports.js'
import { Stats } from '../../src/stats/statistics.js'
import { runs } from '../support/effort.js'
import { naiveReport, remembering } from './naive-fold.js'

type Act =
  | { readonly do: 'publish'; readonly deduplicated: boolean }
  | { readonly do: 'attempt'; readonly bytes: number; readonly workflow: boolean }
  | { readonly do: 'end'; readonly which: number; readonly state: AttemptOutcome['state']; readonly bytes: number }
  | { readonly do: 'end again'; readonly which: number }
  | { readonly do: 'cancel' }
  | { readonly do: 'run'; readonly state: EntryOf<'workflow'>['state'] }
  | { readonly do: 'wait'; readonly by: number }
  | { readonly do: 'clear' }
  | { readonly do: 'ask'; readonly period: StatsPeriod }

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]

/** Clock moves that prefer boundaries: of minutes, of the intervals of thirty days, of days, and of whole months. */
const wait = fc.oneof(
  fc.constantFrom(1, minute - 1, minute, 3 * hour, day - 1, day, 31 * day),
  fc.integer({ min: 0, max: 5 * minute }),
  fc.integer({ min: 0, max: 2 * day }),
)

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ do: fc.constant('publish' as const), deduplicated: fc.boolean() }),
  fc.record({ do: fc.constant('attempt' as const), bytes: fc.nat(9), workflow: fc.boolean() }),
  fc.record({
    do: fc.constant('end' as const),
    which: fc.nat(),
    state: fc.constantFrom('DELIVERED' as const, 'RETRY' as const, 'FAILED' as const, 'CANCELLED' as const),
    bytes: fc.nat(9),
  }),
  fc.record({ do: fc.constant('end again' as const), which: fc.nat() }),
  fc.record({ do: fc.constant('cancel' as const) }),
  fc.record({
    do: fc.constant('run' as const),
    state: fc.constantFrom(
      'RUN_STARTED' as const,
      'RUN_SUCCESS' as const,
      'RUN_FAILED' as const,
      'RUN_CANCELED' as const,
    ),
  }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), by: wait }) },
  fc.record({ do: fc.constant('clear' as const) }),
  fc.record({ do: fc.constant('ask' as const), period: fc.constantFrom(...periodNames) }),
)

const starts = [
  '2025-10-23T18:33:05.244Z',
  '2024-02-28T23:59:59.999Z',
  '2025-12-31T21:00:00.000Z',
  '2026-03-01T00:00:00.000Z',
] as const

/** A small free amount and a high price per byte, so that an error of one byte shows in the bill. */
const price = { message: 0.01, freeBandwidth: 20, gigabyte: 1e9 }

test('counting as entries arrive equals a walk over all entries', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...starts),
      fc.array(act, { maxLength: 60, size: 'max' }),
      fc.nat(12),
      (start, acts, limit) => {
        let now = Date.parse(start)
        const traffic = new TrafficLog({ now: () => now }, limit === 0 ? undefined : limit)
        const all = remembering(traffic)
        const statistics = new Stats({ traffic, now: () => now, price, deadLetters: () => 3 })
        const underway: EntryOf<'attempt'>[] = []
        const over: EntryOf<'attempt'>[] = []
        const same = (period: StatsPeriod): void => {
          const counted = inCents(statistics.queue.report(period))
          const walked = inCents(naiveReport([...all], now, period, price, 3))
          // Compared as JSON, because comparing 5000 points one by one takes most of the time. A difference is shown
          // in full.
          if (JSON.stringify(counted) !== JSON.stringify(walked)) expect(counted).toEqual(walked)
        }
        for (const one of acts) {
          if (one.do === 'publish') traffic.append(published(one.deduplicated))
          else if (one.do === 'attempt') underway.push(traffic.append(attempt(one.bytes, one.workflow)))
          else if (one.do === 'end' && underway.length > 0) {
            const [entry] = underway.splice(one.which % underway.length, 1)
            const body = latin1('a'.repeat(one.bytes))
            traffic.complete(entry!, { outcome: { at: now, status: 500, headers: [], body, state: one.state } })
            over.push(entry!)
          } else if (one.do === 'end again' && over.length > 0) traffic.complete(over[one.which % over.length]!)
          else if (one.do === 'cancel') traffic.append({ type: 'message', messageId: 'msg_1', state: 'CANCELLED' })
          else if (one.do === 'run') traffic.append({ type: 'workflow', runId: 'wfr_1', url: '', state: one.state })
          else if (one.do === 'wait') now += one.by
          else if (one.do === 'clear') traffic.clear()
          else if (one.do === 'ask') same(one.period)
        }
        for (const period of periodNames) same(period)
      },
    ),
    { numRuns: runs(80, 80, 800) },
  )
})

/** Money as whole cents, because the two ways add up in different orders. */
function inCents(report: QueueReport): QueueReport {
  const cents = (dollars: number): number => Math.round(dollars * 100)
  return {
    ...report,
    daily_billings: report.daily_billings.map((point) => ({ ...point, y: cents(point.y) })),
    total_monthly_billing: cents(report.total_monthly_billing),
  }
}

function published(deduplicated: boolean) {
  return {
    type: 'published' as const,
    messageId: 'msg_1',
    kind: 'message' as const,
    url: 'https://shop.test/orders',
    method: 'POST',
    headers: [],
    body: latin1('12345'),
    maxRetries: 3,
    notBefore: 0,
    deduplicated,
  }
}

function attempt(bytes: number, workflow: boolean) {
  return {
    type: 'attempt' as const,
    messageId: 'msg_1',
    kind: 'message' as const,
    url: 'https://shop.test/orders',
    method: 'POST',
    retried: 0,
    maxRetries: 3,
    reason: '',
    headers: [],
    body: latin1('a'.repeat(bytes)),
    ...(workflow && { workflowRunId: 'wfr_1' }),
  }
}
