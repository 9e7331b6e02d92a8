import * as v from 'valibot'
import type { AdvanceOptions } from '../../../../src/kernel/clock.js'
import type { Duration } from '../../../../src/kernel/duration.js'
import { iso } from '../../../../src/kernel/instant.js'
import type { PendingTimer } from '../../../../src/kernel/time.js'
import type { RawRequest } from '../../../../src/protocol/service.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { type ControlOperation, order } from './operation.js'
import { listed, partOf } from './operation-parts.js'
import { duration, nothing, time } from './schemas.js'

const maxTimers = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)))

export const clockOrders: readonly ControlOperation[] = [
  {
    method: 'GET',
    path: '/clock',
    summary: 'Time, mode and the timers that wait.',
    run: (sandbox) => ({ ...timeOf(sandbox), ...pendingOf(sandbox) }),
  },
  {
    method: 'GET',
    path: '/clock/pending',
    summary: 'The timers that wait, earliest first.',
    query: partOf,
    tool: {
      name: 'list_timers',
      when: 'To know how far to move time.',
      effect: 'reads',
      next: 'step_clock runs the first of them, advance_clock a span of time.',
      defaults: { limit: 20 },
    },
    run: ({ clock }, _, asked) => listed(clock.pending, asked, { of: 'timers', view: timerView }),
  },
  order({
    method: 'POST',
    path: '/clock/advance',
    summary:
      'Moves time by a duration and runs what falls due, at most `maxTimers` timers at one instant; answers when it has settled. Stops where it is when the request is closed.',
    body: v.strictObject({ by: duration, maxTimers }),
    example: { by: '5m' },
    tool: {
      name: 'advance_clock',
      does: 'Moves time by a span and runs what falls due: deliveries, retries, schedules, expiries, in their order and in no real time.',
      when: 'To let time pass. Not on a real clock.',
      effect: 'changes',
      next: 'explain_message for a message that is not where it should be, check_invariants for what must always hold.',
      args: {
        by: 'a span such as `5m`, `2d`, `90s`, or milliseconds',
        maxTimers: 'how many timers may fire at one instant',
      },
      tells: true,
    },
    run: async (sandbox, { by, maxTimers }, { call }) => {
      await sandbox.clock.advance(by as Duration, optionsOf(call, maxTimers))
      return timeOf(sandbox)
    },
  }),
  order({
    method: 'POST',
    path: '/clock/advance-to',
    summary: 'Moves time to an instant: an ISO text or milliseconds.',
    body: v.strictObject({ at: time, maxTimers }),
    example: { at: '2030-01-02T03:00:00Z' },
    tool: {
      name: 'advance_clock_to',
      does: 'As advance_clock, to an instant.',
      when: 'To come to a deadline or a slot of a schedule.',
      effect: 'changes',
      next: 'get_timeline, or explain_message for a message that is not where it should be.',
      args: {
        at: 'ISO text or milliseconds since the Unix epoch',
        maxTimers: 'how many timers may fire at one instant',
      },
      tells: true,
    },
    run: async (sandbox, { at, maxTimers }, { call }) => {
      await sandbox.clock.advanceTo(at, optionsOf(call, maxTimers))
      return timeOf(sandbox)
    },
  }),
  order({
    method: 'POST',
    path: '/clock/drain',
    summary: 'Runs until no timer is left but those of schedules; `maxTimers` limits how many may fire.',
    body: v.strictObject({ maxTimers }),
    example: { maxTimers: 1000 },
    tool: {
      name: 'drain_clock',
      does: 'Moves time until nothing waits but schedules.',
      when: 'To see how a story ends.',
      effect: 'changes',
      next: 'list_dead_letters for what failed for good, get_timeline for the story.',
      args: { maxTimers: 'how many timers may fire' },
      tells: true,
    },
    run: async (sandbox, { maxTimers }, { call }) => {
      await sandbox.clock.drain(optionsOf(call, maxTimers))
      return timeOf(sandbox)
    },
  }),
  order({
    method: 'POST',
    path: '/clock/step',
    summary:
      'Moves time to the next timer and runs what is due there; `fired` is what was first, null when nothing waits.',
    body: nothing,
    tool: {
      name: 'step_clock',
      does: 'Moves time to the next thing that waits, and runs what is due there.',
      when: 'To watch one thing happen after the other.',
      effect: 'changes',
      next: 'step_clock again, list_timers for what waits then, or drain_clock for all of it.',
      tells: true,
    },
    run: async (sandbox, _, { call }) => {
      const [first] = sandbox.clock.pending
      if (first !== undefined)
        await sandbox.clock.advanceTo(Math.max(first.at, sandbox.clock.now()), optionsOf(call, undefined))
      return { fired: first === undefined ? null : timerView(first), ...timeOf(sandbox) }
    },
  }),
  order({
    method: 'POST',
    path: '/clock/interrupt',
    summary:
      'Stops the move of time that is under way; its request is answered with 409. `interrupted` is null when time was not moving.',
    body: nothing,
    run: (sandbox) => ({ interrupted: sandbox.clock.interrupt() ?? null, ...timeOf(sandbox) }),
  }),
  order({
    method: 'POST',
    path: '/clock/settle',
    summary: 'Answers once nothing runs; time does not move.',
    body: nothing,
    run: async (sandbox) => {
      await sandbox.clock.settle()
      return timeOf(sandbox)
    },
  }),
]

/** A client that goes away ends the move that it asked for. */
function optionsOf({ signal }: RawRequest, maxTimers: number | undefined): AdvanceOptions {
  return { ...(signal !== undefined && { signal }), ...(maxTimers !== undefined && { maxTimers }) }
}

export function timeOf(sandbox: Sandbox): { now: string; milliseconds: number; mode: string } {
  const now = sandbox.clock.now()
  return { now: iso(now), milliseconds: now, mode: sandbox.clock.mode }
}

/** Timers that are told beside something else. */
export const maxPending = 1_000

/** The timers that wait, the first of many. */
export function pendingOf({ clock }: Sandbox): { pending: object[]; more?: string } {
  const all = clock.pending
  const pending = all.slice(0, maxPending).map(timerView)
  const more = `${all.length - maxPending} more timers wait: GET /clock/pending has them.`
  return all.length > maxPending ? { pending, more } : { pending }
}

function timerView({ at, label, background }: PendingTimer): object {
  return { at: iso(at), label, background }
}
