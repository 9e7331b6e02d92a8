import type { FaultRule } from '../../../../src/faults/fault.js'
import { blockLength } from '../campaign/blocks.js'
import { lineOf } from '../campaign/failure-line.js'
import type { FailedRun, IndexSpace } from '../campaign/index-space.js'
import type { ResilienceOptions } from './check-delivery-options.js'
import { withPolicy } from './delivery-report.js'
import { inEnvironment, runDelivery } from './delivery-run.js'
import { drawBlock } from './drawn-block-arbitraries.js'
import { DrawnSchedules } from './drawn-schedules-arbitraries.js'
import { deliveryFaults, faultsOfCalls } from './fault-arbitraries.js'
import { combinationsOf } from './policy-choices.js'
import { judged, type RunTally } from './run-verdict.js'
import { type Verified, verifiedPlaces } from './verified-places.js'

/**
 * Returns the numbered fault plans of a check. The random plans come first.
 * @param replay checks the fault plan with this path, and throws its failure
 */
export function deliverySpace(
  options: ResilienceOptions & { readonly runs: number },
  replay: (path: string) => Promise<unknown>,
): IndexSpace {
  const { faults = deliveryFaults(), runs } = options
  return {
    check: 'assertResilient',
    count: () =>
      inEnvironment(options, async () => {
        await refuseSilence(options)
        return options.faults === undefined ? runs + (await oneByOne(options)).schedules.length : runs
      }),
    attempt: (from, to, ended) =>
      inEnvironment(options, async () => {
        const tally: RunTally = {
          schedules: new DrawnSchedules(options, faults, from),
          runs: 0,
          skipped: 0,
          delivered: false,
        }
        let [run, failed] = [from, 0]
        let first: FailedRun | undefined
        const note = (broken: Error | null | undefined): void => {
          if (broken === undefined) tally.skipped++
          else if (broken !== null) failed++
          if (broken) first ??= { run, why: lineOf(broken) }
          run++
          ended(Boolean(broken))
        }
        if (from < runs)
          await drawBlock(options, tally, from / blockLength, async (rules, combination) =>
            note(await judged(options, rules, combination, tally)),
          )
        if (to > runs) {
          const { schedules, verified } = await oneByOne(options)
          const [combination = {}] = combinationsOf(options.policies ?? {})
          for (const rules of schedules.slice(run - runs, to - runs))
            note((await judged(options, rules, combination, tally, verified)) ?? null)
        }
        return { failed, skipped: tally.skipped, ...(first && { first }), coverage: tally.schedules.coverage.rows() }
      }),
    async report(run) {
      try {
        await replay(String(run))
        return undefined
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'ResilienceError') throw error
        // The numbers of these plans begin at `runs`. A replay needs the same `runs` to find the plan.
        return run < runs ? error.message : `${error.message}\nReplay this failure with runs: ${runs}.`
      }
    },
  }
}

async function refuseSilence(options: ResilienceOptions): Promise<void> {
  const run = await runDelivery(options, [])
  run.end()
  if (run.sandbox.traffic.ofType('published').length > 0) return
  throw run.error ?? new TypeError('assertResilient(): nothing was published. Publish a message in `publish`.')
}

interface OneByOne {
  readonly verified: Verified
  readonly schedules: readonly (readonly FaultRule[])[]
}

/**
 * Returns fault plans that random generation would rarely find. Each outbound request fails once, and each response is
 * lost once. If the app verifies signatures, each delivery is signed wrongly once.
 */
export async function oneByOne(options: ResilienceOptions): Promise<OneByOne> {
  const [combination = {}] = combinationsOf(options.policies ?? {})
  const verified = await verifiedPlaces(withPolicy(options, combination))
  return { verified, schedules: [...faultsOfCalls(verified.calls), ...verified.schedules] }
}
