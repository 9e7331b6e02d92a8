import * as v from 'valibot'
import { wordOfWire } from '../../../../src/client/portable-reply.js'
import { HttpError } from '../../../../src/protocol/call.js'
import type { WorkflowRunEnd } from '../../../../src/workflow/advance-run.js'
import { type ControlOperation, order, regional } from './operation.js'
import { refusing } from './refusing.js'
import { base64, nothing } from './schemas.js'

const stepError = v.strictObject({
  name: v.optional(v.string()),
  message: v.string(),
  stack: v.optional(v.string()),
  retryAfter: v.optional(v.number()),
})
const which = { name: v.string(), nth: v.optional(v.number()) }
const times = v.optional(v.number())

/** What a test makes of steps and events. */
export const workflowStubOperations: readonly ControlOperation[] = regional([
  order({
    method: 'POST',
    path: '/workflow/stubs/returns',
    summary: 'The result of a step, whose body never runs; in every run, or of the `nth` step of this name.',
    body: v.strictObject({ ...which, value: v.optional(v.unknown()) }),
    example: { name: 'charge', value: { id: 'ch_1' } },
    run: ({ workflow }, { name, nth, value }) => void refusing(() => workflow.stubStep(name, nth).returns(value)),
  }),
  order({
    method: 'POST',
    path: '/workflow/stubs/throws',
    summary: 'A step throws this: so many `times`, or always.',
    body: v.strictObject({ ...which, error: v.optional(stepError), times }),
    example: { name: 'charge', error: { message: 'card declined' }, times: 2 },
    run: ({ workflow }, { name, nth, error, times }) =>
      void refusing(() => workflow.stubStep(name, nth).throws(error, times === undefined ? {} : { times })),
  }),
  order({
    method: 'POST',
    path: '/workflow/stubs/times-out',
    summary: 'The endpoint of a step does not answer: so many `times`, or never.',
    body: v.strictObject({ ...which, times }),
    example: { name: 'charge', times: 1 },
    run: ({ workflow }, { name, nth, times }) =>
      void refusing(() => workflow.stubStep(name, nth).timesOut(times === undefined ? {} : { times })),
  }),
  order({
    method: 'POST',
    path: '/workflow/stubs/event',
    summary:
      'An event comes, once, as soon as somebody waits for it; or, with `timesOut`, the wait for it ends at once.',
    body: v.strictObject({
      eventId: v.string(),
      data: v.optional(v.unknown()),
      bytes: v.optional(base64),
      timesOut: v.optional(v.literal(true)),
    }),
    example: { eventId: 'approved', data: { by: 'Ada' } },
    run: ({ workflow }, { eventId, data, bytes, timesOut }) => {
      const event = refusing(() => workflow.stubEvent(eventId, bytes === undefined ? data : wordOfWire(bytes)))
      if (timesOut) event.timesOut()
    },
  }),
  order({
    method: 'POST',
    path: '/workflow/skip-sleeps',
    summary: 'Sleeps take no time, those under way too.',
    body: nothing,
    run: ({ workflow }) => workflow.skipSleeps(),
  }),
  order({
    method: 'POST',
    path: '/workflow/skip-retry-delays',
    summary: 'Failed deliveries of runs are retried at once, those that wait now too.',
    body: nothing,
    run: ({ workflow }) => workflow.skipRetryDelays(),
  }),
  {
    method: 'GET',
    path: '/workflow/stubs/unused',
    summary: 'A sentence for each of these orders that nothing has met.',
    run: ({ workflow }) => ({ unused: workflow.unused }),
  },
  order({
    method: 'POST',
    path: '/workflow/runs/:id/advance-to-step',
    summary: 'Moves the clock as far as it takes for a run to come to a step; 409 with its story when it cannot.',
    body: v.strictObject({ step: v.string(), nth: v.optional(v.number()) }),
    example: { step: 'charge' },
    run: ({ workflow }, { step, nth }, { params }) =>
      there(() => workflow.getRun(params.id ?? '').advanceToStep(step, nth)),
  }),
  order({
    method: 'POST',
    path: '/workflow/runs/:id/advance-to-end',
    summary:
      'Moves the clock as far as it takes for a run to end; 409 with its story when it ends otherwise, or does not.',
    body: v.strictObject({ state: v.optional(v.picklist(['success', 'failed', 'canceled'])) }),
    example: { state: 'success' },
    run: ({ workflow }, { state }, { params }) =>
      there(() => workflow.getRun(params.id ?? '').advanceToEnd(state as WorkflowRunEnd | undefined)),
  }),
])

/** A run that did not come there is an answer: its story is in it. */
async function there(move: () => Promise<void>): Promise<void> {
  try {
    await move()
  } catch (error) {
    throw error instanceof Error && error.name === 'RunNotThere' ? new HttpError(409, error.message) : error
  }
}
