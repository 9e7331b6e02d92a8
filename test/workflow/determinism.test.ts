import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entry } from '../../src/index.js'
import { runs, seedOr } from '../support/effort.js'
import { type Loose, workflowWorld } from './world.js'

interface Program {
  readonly runs: readonly { readonly n: number; readonly retries: number; readonly delay: number }[]
  readonly parallelism: number
  readonly lag: number
}

const program: fc.Arbitrary<Program> = fc.record({
  runs: fc.array(fc.record({ n: fc.nat(7), retries: fc.nat(2), delay: fc.nat(20) }), { minLength: 1, maxLength: 5 }),
  parallelism: fc.integer({ min: 1, max: 3 }),
  lag: fc.nat(4),
})

/** Plays the workflow with time moved up to a minute in these parts, then a notify, and then the rest. */
async function played({ runs, parallelism, lag }: Program, moves: readonly number[]): Promise<readonly Entry[]> {
  const world = workflowWorld()
  const { client, clock, destinations, traffic } = world
  destinations.on('https://third.test/', () => new Response('ok'))
  const url = world.serve('/x', async (context: Loose) => {
    // While the callback of a call is delivered, the payload before the first step is that callback.
    const n = context.requestPayload.n ?? 0
    await context.run('flaky', () => {
      if (n % 3 === 0 && context.retried === 0) throw 'flaky'
      return n
    })
    await Promise.all([
      context.sleep('sleep', n * 7),
      context.waitForEvent('wait', `event ${n % 2}`, { timeout: 90 + n }),
      context.call('call', { url: 'https://third.test/', retries: 1 }),
    ])
    if (n % 4 === 1) await context.run('bad', () => Promise.reject('bad'))
    return n
  })
  world.lag = `${lag}s`
  const flowControl = { key: 'k', parallelism }
  for (const [index, { n, retries, delay }] of runs.entries())
    await client.trigger({ url, workflowRunId: `r${index}`, body: { n }, retries, delay, flowControl })
  let at = 0
  for (const to of [...moves, 60_000]) {
    await clock.advance(to - at)
    at = to
  }
  await client.notify({ eventId: 'event 1', eventData: 'told' })
  await clock.drain()
  expect(world.workflow.runs.every(({ state }) => state !== 'RUN_STARTED')).toBe(true)
  const entries = traffic.entries
  world.dispose()
  return entries
}

/** The SDK responds to the callback of a call with a random ID. */
function lines(entries: readonly Entry[], without?: RegExp): string[] {
  return entries
    .filter(({ type }) => without === undefined || type !== 'clock')
    .map((entry) =>
      JSON.stringify(entry, (name, value) => (without?.test(name) ? undefined : value)).replace(
        /wfr_[\w-]{21}(?=[^}]*fromCallback)/g,
        'wfr_drawn',
      ),
    )
}

test('the same runs produce the same traffic twice, byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(program, async (given) => {
      expect(lines(await played(given, []))).toEqual(lines(await played(given, [])))
    }),
    { numRuns: runs(8, 8, 80), seed: seedOr(16) },
  )
})

test('moving time in parts produces the same traffic, except for moves and entry numbers', async () => {
  const moves = fc.uniqueArray(fc.integer({ min: 0, max: 60_000 }), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(program, moves, async (given, pieces) => {
      const numbered = /^(seq|cause|endedAfterSeq|headers|wire)$/
      const whole = lines(await played(given, []), numbered)
      expect(
        lines(
          await played(
            given,
            [...pieces].sort((a, b) => a - b),
          ),
          numbered,
        ),
      ).toEqual(whole)
    }),
    { numRuns: runs(8, 8, 80), seed: seedOr(16) },
  )
})
