import * as v from 'valibot'
import type { Duration } from '../../kernel/duration.js'
import { iso } from '../../kernel/instant.js'
import type { Sandbox } from '../../sandbox.js'
import { type Order, order } from '../order.js'
import { duration, nothing, time } from './schemas.js'

export const clockOrders: readonly Order[] = [
  {
    method: 'GET',
    path: '/clock',
    summary: 'Time, mode and the timers that wait.',
    run: (sandbox) => ({ ...timeOf(sandbox), pending: pendingOf(sandbox) }),
  },
  order({
    method: 'POST',
    path: '/clock/advance',
    summary: 'Moves time by a duration and runs what falls due; answers when it has settled.',
    body: v.strictObject({ by: duration }),
    example: { by: '5m' },
    run: async (sandbox, { by }) => {
      await sandbox.clock.advance(by as Duration)
      return timeOf(sandbox)
    },
  }),
  order({
    method: 'POST',
    path: '/clock/advance-to',
    summary: 'Moves time to an instant: an ISO text or milliseconds.',
    body: v.strictObject({ at: time }),
    example: { at: '2030-01-02T03:00:00Z' },
    run: async (sandbox, { at }) => {
      await sandbox.clock.advanceTo(at)
      return timeOf(sandbox)
    },
  }),
  order({
    method: 'POST',
    path: '/clock/drain',
    summary: 'Runs until no timer is left but those of schedules; `budget` limits how many may fire.',
    body: v.strictObject({ budget: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))) }),
    example: { budget: 1000 },
    run: async (sandbox, { budget }) => {
      await sandbox.clock.drain(budget === undefined ? {} : { budget })
      return timeOf(sandbox)
    },
  }),
  order({
    method: 'POST',
    path: '/clock/settled',
    summary: 'Answers once nothing runs; time does not move.',
    body: nothing,
    run: async (sandbox) => {
      await sandbox.clock.settled()
      return timeOf(sandbox)
    },
  }),
]

export function timeOf(sandbox: Sandbox): { now: string; milliseconds: number; mode: string } {
  const now = sandbox.clock.now()
  return { now: iso(now), milliseconds: now, mode: sandbox.clock.mode }
}

export function pendingOf(sandbox: Sandbox): { at: string; label: string; background: boolean }[] {
  return sandbox.clock.pending().map(({ at, label, background }) => ({ at: iso(at), label, background }))
}
