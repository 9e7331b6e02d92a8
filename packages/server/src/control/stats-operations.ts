import * as v from 'valibot'
import { HttpError } from '../../../../src/protocol/call.js'
import { isPeriod, periodNames, type StatsPeriod } from '../../../../src/stats/periods.js'
import type { QueueStatistics, SearchStatistics } from '../../../../src/stats/statistics.js'
import type { QueueUsageStep, SearchUsageStep } from '../../../../src/stats/usage-steps.js'
import type { ControlOperation, OperationContext } from './operation.js'
import { order } from './operation.js'
import { nothing } from './schemas.js'

const period = { period: `one of ${periodNames.join(', ')}; default \`1h\`` }
const figures = v.record(v.string(), v.unknown())
// The schema accepts any steps. The engine checks them, because its messages are better.
const story = v.strictObject({
  steps: v.array(v.looseObject({ kind: v.string() })),
  scale: v.optional(v.record(v.string(), v.number())),
})
const example = { steps: [{ kind: 'steady', rates: { queries: 120 } }], scale: { vectorSize: 4096 } }

export const statsOrders: readonly ControlOperation[] = [
  {
    method: 'GET',
    path: '/stats/queue',
    summary: 'Returns the statistics of the queue, as the statistics API of the service does.',
    query: period,
    run: ({ stats }, _, asked) => stats.queue.report(periodOf(asked)),
  },
  order({
    method: 'PUT',
    path: '/stats/queue/overrides',
    summary: 'Overrides fields of the statistics of the queue.',
    body: figures,
    example: { total_monthly_billing: 5.806, daily_used: [320, 450] },
    run: ({ stats }, given) => stats.queue.override(given as Parameters<QueueStatistics['override']>[0]),
  }),
  order({
    method: 'PUT',
    path: '/stats/queue/script',
    summary: 'Adds scripted usage to the statistics of the queue, on top of the usage from captured traffic.',
    body: story,
    example: { steps: [{ kind: 'steady', rates: { delivered: 60 } }], scale: { messagesPerRun: 4 } },
    run: ({ stats }, { steps, scale }) => stats.queue.script(steps as unknown as QueueUsageStep[], scale),
  }),
  {
    method: 'DELETE',
    path: '/stats/queue',
    summary: 'Removes overrides and scripts of the queue; counted usage stays.',
    run: ({ stats }) => stats.queue.clear(),
  },
  {
    method: 'GET',
    path: '/stats/search/:id',
    summary: 'Returns the statistics of a search index, as the statistics API of the service does.',
    query: period,
    run: (sandbox, _, asked) => indexOf(sandbox.stats, asked).report(periodOf(asked)),
  },
  order({
    method: 'PUT',
    path: '/stats/search/:id/overrides',
    summary: 'Overrides fields of the statistics of a search index.',
    body: figures,
    example: { current_vector_count: 1000, query_latency_99: 18 },
    run: (sandbox, given, asked) =>
      indexOf(sandbox.stats, asked).override(given as Parameters<SearchStatistics['override']>[0]),
  }),
  order({
    method: 'PUT',
    path: '/stats/search/:id/script',
    summary: 'Scripts the usage of a search index.',
    body: story,
    example,
    run: (sandbox, { steps, scale }, asked) =>
      indexOf(sandbox.stats, asked).script(steps as unknown as SearchUsageStep[], scale),
  }),
  {
    method: 'DELETE',
    path: '/stats/search/:id',
    summary: 'Removes overrides and scripts of a search index.',
    run: (sandbox, _, asked) => indexOf(sandbox.stats, asked).clear(),
  },
  order({
    method: 'POST',
    path: '/stats/forbid',
    summary: 'Makes an ID belong to another account: requests for its statistics get 403.',
    body: v.strictObject({ id: v.string() }),
    example: { id: '0c0e0f10-0000-4000-8000-000000000001' },
    run: ({ stats }, { id }) => stats.forbid(id),
  }),
  order({
    method: 'POST',
    path: '/stats/clear',
    summary: 'Removes all overrides, scripts and forbidden IDs; counted usage stays.',
    body: nothing,
    run: ({ stats }) => stats.clear(),
  }),
]

function indexOf(stats: { search(id: string): SearchStatistics }, { params }: OperationContext): SearchStatistics {
  return stats.search(params.id!)
}

function periodOf({ query }: OperationContext): StatsPeriod | undefined {
  const name = query.get('period') ?? undefined
  if (name === undefined || isPeriod(name)) return name
  throw new HttpError(400, `unknown period ${JSON.stringify(name)}. Use one of ${periodNames.join(', ')}.`)
}
