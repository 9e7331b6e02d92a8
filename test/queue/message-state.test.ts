import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accepted, type MessageEvent, type MessageState, next } from '../../src/queue/message/state.js'
import { runs } from '../support/effort.js'

// Lists the events that leave each state, and the next states; every other event must return the same object.

const left: Record<MessageState['is'], Partial<Record<MessageEvent['is'], readonly MessageState['is'][]>>> = {
  planned: {
    due: ['planned', 'parked', 'ended'],
    begun: ['running'],
    held: ['held'],
    moved: ['planned'],
    released: ['planned'],
    cancelled: ['planned', 'ended'],
    vanished: ['ended'],
  },
  waiting: { freed: ['planned'], cancelled: ['planned', 'ended'] },
  running: { answered: ['planned', 'ended'], 'cut off': ['planned', 'ended'], cancelled: ['running'] },
  held: { held: ['held'], admitted: ['planned'], cancelled: ['ended'] },
  parked: { freed: ['planned'], cancelled: ['planned', 'ended'] },
  ended: {},
}

const time = fc.nat(100)
const endsAtOnce = fc.boolean()
const wait = fc.record({ delay: time, reason: fc.constant('a rule') })
const verdict = fc.oneof(
  fc.constantFrom({ is: 'delivered' as const }, { is: 'failed' as const }, { is: 'dropped' as const }),
  wait.map((one) => ({ is: 'retried' as const, wait: one })),
)
const by = fc.constantFrom('key' as const, 'plan' as const)

/** All events are equally likely. */
const events: fc.Arbitrary<MessageEvent> = fc.oneof(
  fc.record({
    is: fc.constant('due' as const),
    isPaused: fc.boolean(),
    downtime: fc.option(fc.record({ now: time, until: time }), { nil: undefined }),
  }),
  fc.record({ is: fc.constant('freed' as const), now: time, notBefore: time, queue: fc.constant('q') }),
  fc.record({
    is: fc.constant('moved' as const),
    now: time,
    to: time,
    before: fc.option(wait, { nil: undefined }),
    because: fc.constant('by a fault'),
  }),
  fc.record({ is: fc.constant('released' as const), now: time }),
  fc.record({ is: fc.constant('held' as const), now: time, by }),
  fc.record({ is: fc.constant('admitted' as const), now: time }),
  fc.constant({ is: 'begun' as const }),
  fc.record({ is: fc.constant('answered' as const), now: time, verdict, endsAtOnce }),
  fc.record({ is: fc.constant('cut off' as const), now: time, until: time }),
  fc.record({ is: fc.constant('cancelled' as const), now: time, notBefore: time, endsAtOnce }),
  fc.constant({ is: 'vanished' as const }),
)

const begins = fc
  .tuple(time, fc.constantFrom(undefined, 'turn' as const, 'answer' as const))
  .map(([notBefore, waitsFor]) => accepted(notBefore, waitsFor))

/**
 * Plays events.
 * @param look is called after each step
 */
function play(
  begin: MessageState,
  given: readonly MessageEvent[],
  look: (before: MessageState, event: MessageEvent, after: MessageState) => void,
): void {
  let state = begin
  for (const event of given) {
    const after = next(state, event)
    look(state, event, after)
    state = after
  }
}

const sequences = fc.tuple(begins, fc.array(events, { maxLength: 30 }))

describe('a delivery state', () => {
  test('is left only by the events that are listed for it', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(sequences, ([begin, given]) => {
        play(begin, given, (before, event, after) => {
          if (after === before) return
          expect(left[before.is][event.is] ?? []).toContain(after.is)
          seen.add(`${before.is} ${event.is} ${after.is}`)
        })
      }),
      { numRuns: runs(2000, 5000, 50_000) },
    )
    const all = Object.entries(left).flatMap(([from, by]) =>
      Object.entries(by).flatMap(([event, to]) => to.map((one) => `${from} ${event} ${one}`)),
    )
    expect([...seen].sort()).toEqual(all.sort())
  })

  test('is immutable', () => {
    fc.assert(
      fc.property(sequences, ([begin, given]) => {
        play(begin, given, (before, event) => {
          const text = JSON.stringify([before, event])
          next(Object.freeze(before), Object.freeze(event))
          expect(JSON.stringify([before, event])).toBe(text)
        })
      }),
      { numRuns: runs(500, 1000, 10_000) },
    )
  })

  test('counts a retry only for a response that asks for one', () => {
    fc.assert(
      fc.property(sequences, ([begin, given]) => {
        play(begin, given, (before, event, after) => {
          const isRetry = before.is === 'running' && event.is === 'answered' && event.verdict.is === 'retried'
          expect(after.retried - before.retried).toBe(isRetry ? 1 : 0)
        })
      }),
      { numRuns: runs(500, 1000, 10_000) },
    )
  })

  test('begins no attempt after a cancel was requested', () => {
    fc.assert(
      fc.property(sequences, ([begin, given]) => {
        let isAsked = false
        play(begin, given, (before, event, after) => {
          if (isAsked) expect([before.is === 'running', after.is]).not.toEqual([false, 'running'])
          if (event.is === 'cancelled') isAsked = true
          if (isAsked) expect(after.is === 'ended' || after.asked === 'end').toBe(true)
        })
      }),
      { numRuns: runs(500, 1000, 10_000) },
    )
  })
})
