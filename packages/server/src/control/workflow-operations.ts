import * as v from 'valibot'
import { wordOfWire } from '../../../../src/client/portable-reply.js'
import { type ControlOperation, order, regional } from './operation.js'
import { listed, partOf } from './operation-parts.js'
import { refusing } from './refusing.js'
import { base64, nothing } from './schemas.js'

/** What `sandbox.workflow` takes, one row an order. */
export const workflowOrders: readonly ControlOperation[] = regional([
  {
    method: 'GET',
    path: '/workflow/runs',
    summary: 'Every run that is remembered, oldest first.',
    query: partOf,
    tool: {
      name: 'list_workflow_runs',
      does: 'Runs of workflows and their states.',
      when: 'To find the id of one.',
      effect: 'reads',
      next: 'explain_workflow_run with the `id` of one.',
      defaults: { limit: 20 },
    },
    run: ({ workflow }, _, asked) => listed(workflow.runs, asked, { of: 'runs', view: (run) => run.toJSON() }),
  },
  {
    method: 'GET',
    path: '/workflow/runs/:id',
    summary: 'One run: its state, times and result.',
    run: ({ workflow }, _, { params }) => workflow.getRun(params.id ?? '').toJSON(),
  },
  {
    method: 'GET',
    path: '/workflow/runs/:id/explain',
    summary: 'Why a run is where it is, in sentences.',
    tool: {
      name: 'explain_workflow_run',
      when: 'The first thing to ask when a workflow hangs or failed.',
      effect: 'reads',
      next: 'get_run_history for its steps and results.',
      args: { id: 'id of a run' },
    },
    run: ({ workflow }, _, { params }) => ({ explanation: workflow.getRun(params.id ?? '').explain() }),
  },
  {
    method: 'GET',
    path: '/workflow/runs/:id/history',
    summary: 'What a run has done so far, to be replayed against later code.',
    query: { secrets: '`true`: also what looks like a secret among the headers, and what the trigger redacts' },
    tool: {
      name: 'get_run_history',
      when: 'Each step with its result, for a test that replays it: `stuntdouble history --run ID` writes it to a file.',
      effect: 'reads',
      next: 'explain_workflow_run for what it waits for.',
      args: { id: 'id of a run' },
      without: ['secrets'],
    },
    run: ({ workflow }, _, { params, query }) =>
      workflow.getRun(params.id ?? '').history({ secrets: query.get('secrets') === 'true' }),
  },
  order({
    method: 'POST',
    path: '/workflow/runs/:id/cancel',
    summary: 'Cancels a run that goes on.',
    body: nothing,
    run: ({ workflow }, _, { params }) => refusing(() => workflow.getRun(params.id ?? '').cancel()),
  }),
  order({
    method: 'POST',
    path: '/workflow/notify',
    summary: 'Tells an event to the runs that wait for it; with `runId` to this run only, for which it is kept.',
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
