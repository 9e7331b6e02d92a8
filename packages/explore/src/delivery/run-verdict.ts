import type { FaultRule } from '../../../../src/faults/fault.js'
import type { ResilienceOptions } from './check-delivery-options.js'
import { withPolicy } from './delivery-report.js'
import { type DeliveryRun, isExhausted } from './delivery-run.js'
import type { DrawnSchedules } from './drawn-schedules-arbitraries.js'
import type { Combination } from './policy-choices.js'
import { refusedForGood, takenUnverified, type Verified } from './verified-places.js'

/** Counts of the runs so far. */
export interface RunTally {
  readonly schedules: DrawnSchedules
  runs: number
  skipped: number
  delivered: boolean
}

/** Returns the failure of a run. Returns `null` if the property holds, and `undefined` if the run has no result. */
export async function judged(
  options: ResilienceOptions,
  rules: readonly FaultRule[],
  combination: Combination,
  tally: RunTally,
  verified?: Verified,
): Promise<Error | null | undefined> {
  const run = await tally.schedules.run(withPolicy(options, combination), rules)
  try {
    tally.delivered ||= run.sandbox.traffic.ofType('published').length > 0
    if (options.includeExhausted !== true && rules.length > 0 && isExhausted(run.sandbox)) return undefined
    if (verified !== undefined && refusedForGood(run.sandbox)) return undefined
    return (await verdict(run, options, verified)) ?? null
  } finally {
    run.end()
  }
}

/** Returns the error that shows why the property does not hold, or `undefined` if the property holds. */
export async function verdict(
  run: DeliveryRun,
  { holds }: ResilienceOptions,
  verified: Verified | undefined,
): Promise<Error | undefined> {
  try {
    if (run.error !== undefined) throw run.error
    if ((await holds(run.sandbox)) === false) return new Error('holds() returned false.')
    return verified === undefined ? undefined : takenUnverified(run.sandbox, verified)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
