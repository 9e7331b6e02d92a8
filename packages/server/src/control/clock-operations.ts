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
    summary: 'Returns the time, the clock mode and the pending timers.',
    run: (sandbox) => ({ ...timeOf(sandbox), ...pendingOf(sandbox) }),
  },
  {
    method: 'GET',
    path: '/clock/pending',
    summary: 'Returns the pending timers, earliest first.',
    query: partOf,
    tool: {
      name: 'list_timers',
      when: 'Use it to find out how far to advance time.',
      effect: 'reads',
      next: 'step_clock to run the first timer, advance_clock to advance by a duration.',
      defaults: { limit: 20 },
    },
    run: ({ clock }, _, asked) => listed(clock.pending, asked, { of: 'timers', view: timerView }),
  },
  order({
    method: 'POST',
    path: '/clock/advance',
    summary:
      'Advances time by a duration and runs all due timers, at most `maxTimers` at one instant. Responds when everything has settled, and stops when the client disconnects.',
    body: v.strictObject({ by: duration, maxTimers }),
    example: { by: '5m' },
    tool: {
      name: 'advance_clock',
      does: 'Advances time by a duration and runs all due timers in order, without waiting: deliveries, retries, schedules and expirations.',
      when: 'Use it to let time pass. It fails on a real clock.',
      effect: 'changes',
      next: 'explain_message for a message in an unexpected state, check_invariants to find violated invariants.',
      args: {
        by: 'duration such as `5m`, `2d`, `90s`, or milliseconds',
        maxTimers: 'maximum number of timers at one instant',
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
    summary: 'Advances time to an instant: an ISO text or milliseconds.',
    body: v.strictObject({ at: time, maxTimers }),
    example: { at: '2030-01-02T03:00:00Z' },
    tool: {
      name: 'advance_clock_to',
      does: 'Advances time to an instant, like advance_clock.',
      when: 'Use it to reach a timeout or a fire time of a schedule.',
      effect: 'changes',
      next: 'get_timeline, or explain_message for a message in an unexpected state.',
      args: {
        at: 'ISO text or milliseconds since the Unix epoch',
        maxTimers: 'maximum number of timers at one instant',
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
    summary: 'Advances time until only recurring timers of schedules are left, and fires at most `maxTimers` timers.',
    body: v.strictObject({ maxTimers }),
    example: { maxTimers: 1000 },
    tool: {
      name: 'drain_clock',
      does: 'Advances time until only schedules are left.',
      when: 'Use it to see the final outcome.',
      effect: 'changes',
      next: 'list_dead_letters for messages that failed permanently, get_timeline for what happened.',
      args: { maxTimers: 'maximum number of timers' },
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
      'Advances time to the next timer and runs all timers that are due then; `fired` is the first of these timers, or null if no timer is pending.',
    body: nothing,
    tool: {
      name: 'step_clock',
      does: 'Advances time to the next pending timer, and runs all timers that are due then.',
      when: 'Use it to watch one event after another.',
      effect: 'changes',
      next: 'step_clock again, list_timers for pending timers, or drain_clock to run them all.',
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
      'Stops the clock while it advances. The request that advances it gets 409. `interrupted` is null if the clock was not advancing.',
    body: nothing,
    run: (sandbox) => ({ interrupted: sandbox.clock.interrupt() ?? null, ...timeOf(sandbox) }),
  }),
  order({
    method: 'POST',
    path: '/clock/settle',
    summary: 'Responds when nothing runs; time does not move.',
    body: nothing,
    run: async (sandbox) => {
      await sandbox.clock.settle()
      return timeOf(sandbox)
    },
  }),
]

/** Returns the options for advancing the clock. The clock stops when the client disconnects. */
function optionsOf({ signal }: RawRequest, maxTimers: number | undefined): AdvanceOptions {
  return { ...(signal !== undefined && { signal }), ...(maxTimers !== undefined && { maxTimers }) }
}

export function timeOf(sandbox: Sandbox): { now: string; milliseconds: number; mode: string } {
  const now = sandbox.clock.now()
  return { now: iso(now), milliseconds: now, mode: sandbox.clock.mode }
}

/** Maximum number of pending timers in a response that also has other fields. */
export const maxPending = 1_000

/** Returns the pending timers, and a note if there are too many to list all of them. */
export function pendingOf({ clock }: Sandbox): { pending: object[]; more?: string } {
  const all = clock.pending
  const pending = all.slice(0, maxPending).map(timerView)
  const more = `${all.length - maxPending} more timers are pending. GET /clock/pending lists them.`
  return all.length > maxPending ? { pending, more } : { pending }
}

function timerView({ at, label, background }: PendingTimer): object {
  return { at: iso(at), label, background }
}
