import fc from 'fast-check'
import type { Sandbox } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { type Forecast, forecastsOf } from '../../src/queue/explain/forecast.js'
import { engineOf } from '../../src/queue/queue-internals.js'
import { isReplay, runs } from '../support/effort.js'
import { acts, answers, perform, policies, worldOf } from './forecast-world.js'

// The engine itself is the second way to compute: it continues without any request from outside.

const horizon = 1_800_000

interface Told {
  readonly id: string
  readonly forecast: Forecast
  /** Number of attempts that had begun at the time of the forecast. */
  readonly begun: number
}

const attemptsOf = ({ traffic }: Sandbox, id: string) =>
  traffic.forMessage(id).filter((entry) => entry.type === 'attempt')

function told(sandbox: Sandbox): Told[] {
  const engine = engineOf(sandbox.queue)
  return [...forecastsOf(engine, sandbox.queue.messages)].map(([{ id }, forecast]) => ({
    id,
    forecast,
    begun: attemptsOf(sandbox, id).length,
  }))
}

/** Returns the wrong forecasts, after time has advanced since `since`. */
function lies(sandbox: Sandbox, since: number, forecasts: readonly Told[]): string[] {
  const { traffic, clock } = sandbox
  const end = clock.now()
  const next = new Map(forecasts.map(({ id, begun }) => [id, attemptsOf(sandbox, id)[begun]?.at]))
  const answered = (id: string) =>
    attemptsOf(sandbox, id).find(({ outcome }) => outcome !== undefined && outcome.at >= since)?.outcome?.at
  return forecasts.flatMap(({ id, forecast }) => {
    const started = next.get(id)
    const what = `${id.slice(0, 8)} ${JSON.stringify(forecast)} started ${started}`
    if ('at' in forecast) return forecast.at > end || started === forecast.at ? [] : [`${what}: another time`]
    const { notBefore, blockedBy: because } = forecast
    if (started !== undefined && started < notBefore) return [`${what}: earlier`]
    if (because.kind === 'pause') return started === undefined ? [] : [`${what}: despite the pause`]
    const ids = [...because.messageIds]
    for (const scheduleId of because.scheduleIds ?? [])
      for (const entry of traffic.ofType('published')) if (entry.scheduleId === scheduleId) ids.push(entry.messageId)
    const times = ids.flatMap((one) => answered(one) ?? [])
    if (times.length === 0) return [`${what}: the answer never comes`]
    if (because.holdsSlot && started !== undefined && Math.min(...times) > started)
      return [`${what}: before the answer`]
    return []
  })
}

/** A key draws from its shuffled wait list at the instant at which a retry joins it, so the draw excludes the retry. */
const sameInstant: [typeof story extends fc.Arbitrary<infer T> ? T : never, number] = [
  {
    script: [{ status: 500, seconds: 0, retryAfter: 10 }],
    acts: [
      {
        act: 'publish',
        options: {
          ...{ retries: 1, timeout: '5s', queue: 'one', flowControlKey: 'a', callback: 'https://reports.test/cb' },
          ...{ callbackFlowControlKey: 'a', callbackFlowControlValue: 'rate=1, period=10s' },
        },
        times: 1,
      },
      { act: 'advance', seconds: 33 },
    ],
    policy: { flowControlOrder: 'shuffled' },
    seed: 359,
  },
  2,
]

const story = fc.record({
  script: fc.array(answers, { minLength: 1, maxLength: 6 }),
  acts: fc.array(acts, { minLength: 1, maxLength: 12 }),
  policy: policies,
  seed: fc.nat(1000),
})

describe('forecasts', () => {
  test('come true for every message at every time of a random sandbox', async () => {
    const kinds = { instant: 0, response: 0, pause: 0 }
    await fc.assert(
      fc.asyncProperty(story, fc.nat(12), async ({ script, acts: given, policy, seed }, asksAfter) => {
        const sandbox = worldOf(script, policy, seed)
        for (const act of given.slice(0, asksAfter)) await perform(act, sandbox)
        const forecasts = told(sandbox)
        for (const { forecast } of forecasts) kinds['at' in forecast ? 'instant' : forecast.blockedBy.kind]++
        const since = sandbox.clock.now()
        await sandbox.clock.advance(horizon)
        expect(lies(sandbox, since, forecasts)).toEqual([])
      }),
      { numRuns: runs(600, 600, 5000), examples: [sameInstant] },
    )
    if (!isReplay) expect(Math.min(...Object.values(kinds))).toBeGreaterThan(50)
  }, 240_000)

  test('come true in a loaded sandbox, at its time or later', async () => {
    await fc.assert(
      fc.asyncProperty(
        story,
        fc.constantFrom(0, 3000, 60_000),
        async ({ script, acts: given, policy, seed }, later) => {
          const before = worldOf(script, policy, seed)
          for (const act of given) await perform(act, before)
          const dump = before.dump()
          const sandbox = worldOf(script, policy, seed)
          sandbox.load(dump, { at: dump.now + later })
          const forecasts = told(sandbox)
          const since = sandbox.clock.now()
          await sandbox.clock.advance(horizon)
          expect(lies(sandbox, since, forecasts)).toEqual([])
        },
      ),
      { numRuns: runs(300, 300, 2500) },
    )
  }, 240_000)
})
