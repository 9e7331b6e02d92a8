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

/** Operations that set the stubs of steps and events. */
export const workflowStubOperations: readonly ControlOperation[] = regional([
  order({
    method: 'POST',
    path: '/workflow/stubs/returns',
    summary: 'Makes every step of this name, or only the `nth`, return this value without running its body.',
    body: v.strictObject({ ...which, value: v.optional(v.unknown()) }),
    example: { name: 'charge', value: { id: 'ch_1' } },
    run: ({ workflow }, { name, nth, value }) => void refusing(() => workflow.stubStep(name, nth).returns(value)),
  }),
  order({
    method: 'POST',
    path: '/workflow/stubs/throws',
    summary: 'Makes a step throw this error, `times` times or always.',
    body: v.strictObject({ ...which, error: v.optional(stepError), times }),
    example: { name: 'charge', error: { message: 'card declined' }, times: 2 },
    run: ({ workflow }, { name, nth, error, times }) =>
      void refusing(() => workflow.stubStep(name, nth).throws(error, times === undefined ? {} : { times })),
  }),
  order({
    method: 'POST',
    path: '/workflow/stubs/times-out',
    summary: 'Makes the endpoint of a step time out, `times` times or always.',
    body: v.strictObject({ ...which, times }),
    example: { name: 'charge', times: 1 },
    run: ({ workflow }, { name, nth, times }) =>
      void refusing(() => workflow.stubStep(name, nth).timesOut(times === undefined ? {} : { times })),
  }),
  order({
    method: 'POST',
    path: '/workflow/stubs/event',
    summary: 'Sends an event once, as soon as a run waits for it; with `timesOut`, the wait ends immediately instead.',
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
    summary: 'Makes sleeps take no time, including those in progress.',
    body: nothing,
    run: ({ workflow }) => workflow.skipSleeps(),
  }),
  order({
    method: 'POST',
    path: '/workflow/skip-retry-delays',
    summary: 'Makes failed deliveries of runs retry immediately, including those that wait now.',
    body: nothing,
    run: ({ workflow }) => workflow.skipRetryDelays(),
  }),
  {
    method: 'GET',
    path: '/workflow/stubs/unused',
    summary: 'Returns a message for each stub that no run has used.',
    run: ({ workflow }) => ({ unused: workflow.unused }),
  },
  order({
    method: 'POST',
    path: '/workflow/runs/:id/advance-to-step',
    summary: 'Advances the clock until a run reaches a step; 409 with the lifecycle of the run if it does not.',
    body: v.strictObject({ step: v.string(), nth: v.optional(v.number()) }),
    example: { step: 'charge' },
    run: ({ workflow }, { step, nth }, { params }) =>
      there(() => workflow.getRun(params.id ?? '').advanceToStep(step, nth)),
  }),
  order({
    method: 'POST',
    path: '/workflow/runs/:id/advance-to-end',
    summary:
      'Advances the clock until a run ends; 409 with the lifecycle of the run if it ends in another state or does not end.',
    body: v.strictObject({ state: v.optional(v.picklist(['success', 'failed', 'canceled'])) }),
    example: { state: 'success' },
    run: ({ workflow }, { state }, { params }) =>
      there(() => workflow.getRun(params.id ?? '').advanceToEnd(state as WorkflowRunEnd | undefined)),
  }),
])

/**
 * Runs an operation that advances the clock until a run reaches a step or state. If the run does not get there, the
 * response is 409 with the lifecycle of the run.
 */
async function there(move: () => Promise<void>): Promise<void> {
  try {
    await move()
  } catch (error) {
    throw error instanceof Error && error.name === 'RunNotThere' ? new HttpError(409, error.message) : error
  }
}
