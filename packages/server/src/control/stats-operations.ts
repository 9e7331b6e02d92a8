import * as v from 'valibot'
import { HttpError } from '../../../../src/protocol/call.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { isPeriod, periodNames, type StatsPeriod } from '../../../../src/stats/periods.js'
import type { QueueStatistics, SearchStatistics, StoreStatistics } from '../../../../src/stats/statistics.js'
import type { QueueUsageStep, SearchUsageStep, StoreUsageStep } from '../../../../src/stats/usage-steps.js'
import type { ControlOperation, OperationContext } from './operation.js'
import { ofDatabase, order } from './operation.js'
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
  ...ofDatabase([
    {
      method: 'GET',
      path: '/stats/store',
      summary: 'Returns the statistics of the data store, as the statistics API of the service does.',
      run: ({ stats }) => stats.store.report(),
    },
    order({
      method: 'PUT',
      path: '/stats/store/overrides',
      summary: 'Overrides fields of the statistics of the data store.',
      body: figures,
      example: { total_monthly_billing: 12.5, command_counts: { GET: 3 } },
      run: ({ stats }, given) => stats.store.override(given as Parameters<StoreStatistics['override']>[0]),
    }),
    order({
      method: 'PUT',
      path: '/stats/store/script',
      summary: 'Adds scripted usage to the statistics of the data store, on top of the usage from captured traffic.',
      body: story,
      example: { steps: [{ kind: 'steady', rates: { reads: 600, keys: 5000 } }], scale: { keySize: 200 } },
      run: ({ stats }, { steps, scale }) => stats.store.script(steps as unknown as StoreUsageStep[], scale),
    }),
    {
      method: 'DELETE',
      path: '/stats/store',
      summary: 'Removes overrides and scripts of the data store; counted usage stays.',
      run: ({ stats }) => stats.store.clear(),
    },
  ]),
  ...indexOrders('search'),
  ...indexOrders('vector'),
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

/** Returns the operations of the search indexes or of the vector indexes. */
function indexOrders(kind: 'search' | 'vector'): readonly ControlOperation[] {
  const indexOf = ({ stats }: Sandbox, { params }: OperationContext): SearchStatistics => stats[kind](params.id!)
  return [
    {
      method: 'GET',
      path: `/stats/${kind}/:id`,
      summary: `Returns the statistics of a ${kind} index, as the statistics API of the service does.`,
      query: period,
      run: (sandbox, _, asked) => indexOf(sandbox, asked).report(periodOf(asked)),
    },
    order({
      method: 'PUT',
      path: `/stats/${kind}/:id/overrides`,
      summary: `Overrides fields of the statistics of a ${kind} index.`,
      body: figures,
      example: { current_vector_count: 1000, query_latency_99: 18 },
      run: (sandbox, given, asked) =>
        indexOf(sandbox, asked).override(given as Parameters<SearchStatistics['override']>[0]),
    }),
    order({
      method: 'PUT',
      path: `/stats/${kind}/:id/script`,
      summary: `Scripts the usage of a ${kind} index.`,
      body: story,
      example,
      run: (sandbox, { steps, scale }, asked) =>
        indexOf(sandbox, asked).script(steps as unknown as SearchUsageStep[], scale),
    }),
    {
      method: 'DELETE',
      path: `/stats/${kind}/:id`,
      summary: `Removes overrides and scripts of a ${kind} index.`,
      run: (sandbox, _, asked) => indexOf(sandbox, asked).clear(),
    },
  ]
}

function periodOf({ query }: OperationContext): StatsPeriod | undefined {
  const name = query.get('period') ?? undefined
  if (name === undefined || isPeriod(name)) return name
  throw new HttpError(400, `unknown period ${JSON.stringify(name)}. Use one of ${periodNames.join(', ')}.`)
}
