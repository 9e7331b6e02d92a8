import * as v from 'valibot'
import { wordOfWire } from '../../../../src/client/portable-reply.js'
import { type ControlOperation, order, regional } from './operation.js'
import { bulkActionList, listed, partOf } from './operation-parts.js'
import { refusing } from './refusing.js'
import { base64, filtered, nothing } from './schemas.js'

/** Operations on `sandbox.workflow`. */
export const workflowOrders: readonly ControlOperation[] = regional([
  {
    method: 'GET',
    path: '/workflow/runs',
    summary: 'Returns all known workflow runs, oldest first.',
    query: partOf,
    tool: {
      name: 'list_workflow_runs',
      does: 'Returns workflow runs and their states.',
      when: 'Use it to find the ID of a run.',
      effect: 'reads',
      next: 'explain_workflow_run with the `id` of a run.',
      defaults: { limit: 20 },
    },
    run: ({ workflow }, _, asked) => listed(workflow.runs, asked, { of: 'runs', view: (run) => run.toJSON() }),
  },
  {
    method: 'GET',
    path: '/workflow/runs/:id',
    summary: 'Returns one workflow run: its state, times and result.',
    run: ({ workflow }, _, { params }) => workflow.getRun(params.id ?? '').toJSON(),
  },
  {
    method: 'GET',
    path: '/workflow/runs/:id/explain',
    summary: 'Explains the state of a workflow run.',
    tool: {
      name: 'explain_workflow_run',
      when: 'Call this first when a workflow hangs or failed.',
      effect: 'reads',
      next: 'get_run_history for its steps and results.',
      args: { id: 'ID of a workflow run' },
    },
    run: ({ workflow }, _, { params }) => ({ explanation: workflow.getRun(params.id ?? '').explain() }),
  },
  {
    method: 'GET',
    path: '/workflow/runs/:id/history',
    summary: 'Returns the run history, to replay it against later code.',
    query: { secrets: '`true`: includes headers that look like secrets and values that the trigger redacts' },
    tool: {
      name: 'get_run_history',
      when: 'The history contains each step with its result. `stuntdouble history --run ID` saves the history to a file for a test that replays it.',
      effect: 'reads',
      next: 'explain_workflow_run to see what the run waits for.',
      args: { id: 'ID of a workflow run' },
      without: ['secrets'],
    },
    run: ({ workflow }, _, { params, query }) =>
      workflow.getRun(params.id ?? '').history({ secrets: query.get('secrets') === 'true' }),
  },
  order({
    method: 'POST',
    path: '/workflow/runs/:id/cancel',
    summary: 'Cancels a workflow run that has not ended.',
    body: nothing,
    run: ({ workflow }, _, { params }) => refusing(() => workflow.getRun(params.id ?? '').cancel()),
  }),
  order({
    method: 'POST',
    path: '/workflow/runs/cancel',
    summary:
      'Cancels all runs that match the filters of `workflow.cancelRuns()` and have not ended, and returns the bulk action. Without filters, cancels all.',
    body: filtered,
    example: { filter: { workflowUrl: 'https://shop.test/api/order' } },
    run: ({ workflow }, { filter }) => refusing(() => workflow.cancelRuns(filter).toJSON()),
  }),
  {
    method: 'GET',
    path: '/workflow/bulk-actions',
    summary: 'Returns the bulk actions that cancel workflow runs, of the last seven days, oldest first.',
    query: partOf,
    run: ({ workflow }, _, asked) => listed(workflow.bulkActions, asked, bulkActionList),
  },
  order({
    method: 'POST',
    path: '/workflow/notify',
    summary:
      'Sends an event to the runs that wait for it. With `runId`, only this run gets the event, which is kept until the run waits for it.',
    body: v.strictObject({
      eventId: v.string(),
      data: v.optional(v.unknown()),
      bytes: v.optional(base64),
      runId: v.optional(v.string()),
    }),
    example: { eventId: 'approved', data: { by: 'Ada' } },
    run: ({ workflow }, { eventId, data, bytes, runId }) => ({
      ended: refusing(() => workflow.notify(eventId, bytes === undefined ? data : wordOfWire(bytes), { runId })),
    }),
  }),
])
