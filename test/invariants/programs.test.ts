import fc from 'fast-check'
import { createSandbox, fault } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { examineAll } from '../model/store-linearizable.js'
import { runs, seedOr } from '../support/effort.js'
import { type Program, program, run, stormyProgram } from './program.js'

// The unmutated engine has no violations for any test.

const programs = runs(150, 150, 5000)

test(`${programs} random programs violate no invariant`, { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(program(), async (given) => {
      using sandbox = await run(createSandbox, given)
      expect(examineAll(sandbox)).toMatchObject({ violations: [], unknown: [] })
    }),
    { numRuns: programs, seed: seedOr(1) },
  )
})

test('checkInvariants() raises no false alarm on a log without its beginning, and reports what is unknown', {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(program(true), async (given) => {
      using sandbox = await run(createSandbox, given)
      const { violations: breaches, unknown } = examineAll(sandbox)
      expect(breaches).toEqual([])
      if (sandbox.traffic.dropped > 0) expect(unknown.length).toBeGreaterThan(0)
    }),
    { numRuns: Math.ceil(programs / 2), seed: seedOr(2) },
  )
})

test('a declared fault suspends exactly the invariants that it violates by design', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(stormyProgram, async (given) => {
      using sandbox = await run(createSandbox, given)
      expect(examineAll(sandbox).violations).toEqual([])
    }),
    { numRuns: programs, seed: seedOr(3) },
  )
})

describe('regressions that random programs have found', () => {
  const calm = { seed: 0, outcomes: [], enforceQuotas: false, maxTrafficEntries: undefined }
  const message = {
    do: 'publish',
    to: 0,
    times: 1,
    queue: undefined,
    key: undefined,
    limits: 'parallelism=1',
    retries: 0,
    retryDelay: undefined,
    delay: '0s',
    callback: false,
    failureCallback: false,
    deduplication: undefined,
  } as const
  const programs: Readonly<Record<string, Program>> = {
    'a delivery that a fault held was parked twice in a queue that was paused meanwhile': {
      ...calm,
      steps: [
        { ...message, queue: 'q2' },
        { do: 'advance', by: 0 },
        message,
        { do: 'pause queue', name: 'q2', on: true },
        { do: 'advance', by: 3_600_000 },
      ],
      faults: [{ on: 'queue.delivery', until: '10m', fault: { kind: 'reorder', withinMs: 60_000 } }],
    },
    'an ended period of flow control began again when a message brought a longer period': {
      ...calm,
      outcomes: [fault.delay('2s')],
      steps: [
        { ...message, key: 'k2', delay: '1s' },
        { ...message, key: 'k2' },
        { do: 'advance', by: 1000 },
        { ...message, key: 'k2', times: 2, limits: 'rate=1,period=10s' },
      ],
    },
  }

  test.each(Object.keys(programs))('violates no invariant: %s', async (name) => {
    using sandbox = await run(createSandbox, programs[name]!)
    expect(examineAll(sandbox).violations).toEqual([])
  })
})
