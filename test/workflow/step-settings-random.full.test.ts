import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Echo, isInForce, type Settings } from './settings-sdk.js'
import { played, third } from './settings-world.js'

/** Random workflows: sequential steps and parallel groups, some of them with settings. */
const stepSettings = fc.option(
  fc.record(
    {
      retries: fc.constantFrom(0, 1, 5),
      retryDelay: fc.constantFrom('1000', '2000'),
      flowControl: fc.constantFrom({ key: 'a', parallelism: 1 }, { key: 'b', rate: 5, period: '1m' }),
    },
    { requiredKeys: [] },
  ),
  { nil: undefined },
)
const kinds = fc.oneof(
  { weight: 4, arbitrary: stepSettings.map((own) => ({ kind: 'run' as const, own })) },
  fc.constant({ kind: 'sleep' as const, own: undefined }),
  fc.constant({ kind: 'call' as const, own: undefined }),
  fc.array(stepSettings, { minLength: 2, maxLength: 3 }).map((own) => ({ kind: 'all' as const, own })),
)

test('the number of deliveries is what the protocol says, for every workflow', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(kinds, { minLength: 1, maxLength: 6 }), stepSettings, async (plan, trigger = {}) => {
      const ran: [at: string, echo: Echo][] = []
      const { run, seen, sdk } = await played(async (context) => {
        for (const [at, { kind, own }] of plan.entries()) {
          const body = () => void ran.push([`${at}`, context.echo])
          if (kind === 'run') await context.run(`run ${at}`, body, own as Settings)
          else if (kind === 'sleep') await context.sleep(`sleep ${at}`, 60)
          else if (kind === 'call') await context.call(`call ${at}`, third)
          else {
            const all = own as readonly (Settings | undefined)[]
            await context.all(
              all.map((one, nth) => ({
                name: `branch ${at} ${nth}`,
                body: () => ran.push([`${at}.${nth}`, context.echo]),
                ...(one !== undefined && { settings: one }),
              })),
            )
          }
        }
      }, trigger)
      expect(run.state).toBe('RUN_SUCCESS')
      // One delivery begins the run. Each run or sleep has one more, a call its callback and its result, and N parallel
      // steps N plans and N results. A configured step whose settings differ from the trigger's has one more, unless the
      // step before it is a run or a sleep.
      let expected = 1
      let carries = false
      for (const { kind, own } of plan) {
        expected += kind === 'call' ? 2 : kind === 'all' ? 2 * (own as unknown[]).length : 1
        const trigger0 = triggerEcho(trigger)
        if (kind === 'run' && own !== undefined && !carries && !isInForce(own as Settings, trigger0)) expected++
        carries = kind === 'run' || kind === 'sleep'
      }
      expect(seen).toHaveLength(expected)
      expect(sdk.warnings).toEqual([])
      // Each step ran once, in a delivery with its own settings, and with the trigger's for the others.
      const wanted = plan.flatMap(({ kind, own }, at): [string, Settings][] =>
        kind === 'run'
          ? [[`${at}`, (own ?? {}) as Settings]]
          : kind === 'all'
            ? (own as readonly Settings[]).map((one, nth): [string, Settings] => [`${at}.${nth}`, one ?? {}])
            : [],
      )
      expect(ran.map(([at]) => at).sort()).toEqual(wanted.map(([at]) => at).sort())
      for (const [at, one] of wanted)
        expect(isInForce({ ...trigger, ...one }, ran.find(([name]) => name === at)![1])).toBe(true)
    }),
    { numRuns: 60 },
  )
})

/** Configuration of a delivery with the settings of the trigger only. */
function triggerEcho({ retries = 3, retryDelay, flowControl }: Settings): Echo {
  const flow = flowControl && {
    key: flowControl.key,
    parallelism: flowControl.parallelism ?? 0,
    rate: flowControl.rate ?? 0,
    period: flowControl.period === undefined ? 1 : 60,
  }
  return { retries, retryDelay, flowControl: flow, hasStepConfig: false }
}
