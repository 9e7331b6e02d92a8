import { checkFixture } from '../../../../fixtures/fixture-sandbox.js'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
import type { EffectOptions } from '../delivery/delivery-effects.js'
import type { DeliveryUnderTest } from '../delivery/delivery-run.js'

/** Options of `assertCrashSafe()`. */
export interface CrashSafetyOptions extends EffectOptions, Pick<DeliveryUnderTest, 'outbound' | 'sandbox' | 'drain'> {
  /** Maximum number of disruptions in one crash plan. With 2, the check also tries pairs of disruptions. Default 1. */
  readonly depth?: 1 | 2
  /**
   * Maximum number of crash plans that are tried. Default 2,000. The report counts the crash plans that were not tried.
   */
  readonly maxRuns?: number
  /** Runs only the crash plans with these names. Copy the names from a report. Default: all crash plans. */
  readonly only?: readonly string[]
  /** Seed from which the check derives the time and the random numbers in steps. Default 1. */
  readonly seed?: number
}

/** Default maximum number of crash plans. */
export const usualBound = 2_000

/** Checks the arguments of `assertCrashSafe()`. @throws TypeError if the workflow or an option is invalid */
export function checkOptions(workflow: unknown, options: CrashSafetyOptions): void {
  if (typeof workflow !== 'function')
    throw new TypeError(
      'assertCrashSafe(): the first argument must be a function that sets up an app in a sandbox and returns its trigger. Write assertCrashSafe((sandbox) => { sandbox.destinations.on(url, POST); return () => client.trigger({ url }) }).',
    )
  checkOptionNames('assertCrashSafe()', options, {
    depth: true,
    maxRuns: true,
    only: true,
    seed: true,
    ignoreKeys: true,
    ignoreOutbound: true,
    outbound: true,
    sandbox: true,
    drain: true,
  })
  checkFixture(options.sandbox)
  const { depth = 1, maxRuns: bound = usualBound, seed = 1, only } = options
  if (depth !== 1 && depth !== 2)
    throw new TypeError(`assertCrashSafe(): depth must be 1, or 2 for pairs (got ${JSON.stringify(depth)}).`)
  if (!Number.isInteger(bound) || bound < 1)
    throw new TypeError(`assertCrashSafe(): maxRuns must be a whole number, 1 or more (got ${JSON.stringify(bound)}).`)
  if (!Number.isInteger(seed))
    throw new TypeError(`assertCrashSafe(): seed must be a whole number (got ${JSON.stringify(seed)}).`)
  if (only !== undefined && (!Array.isArray(only) || only.length === 0))
    throw new TypeError('assertCrashSafe(): `only` must be a list of names of crash plans. Copy them from a report.')
}
