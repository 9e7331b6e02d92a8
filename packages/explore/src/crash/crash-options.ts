import { checkFixture } from '../../../../fixtures/fixture-sandbox.js'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
import type { EffectOptions } from '../delivery/delivery-effects.js'
import type { DeliveryUnderTest } from '../delivery/delivery-run.js'

/** Options of `assertCrashSafe()`. */
export interface CrashSafetyOptions extends EffectOptions, Pick<DeliveryUnderTest, 'outbound' | 'sandbox' | 'drain'> {
  /** Things that go wrong in one schedule: with 2, pairs too. Default 1. */
  readonly depth?: 1 | 2
  /** Schedules that are tried at most. Default 2,000; the report says how many were not. */
  readonly maxRuns?: number
  /** Only these schedules, by the names that a report gives them. */
  readonly only?: readonly string[]
  /** Of time and chance within steps. Default 1. */
  readonly seed?: number
}

/** Schedules that are tried unless an option says otherwise. */
export const usualBound = 2_000

/** @throws TypeError with the next step */
export function checkOptions(workflow: unknown, options: CrashSafetyOptions): void {
  if (typeof workflow !== 'function')
    throw new TypeError(
      'assertCrashSafe() needs a function that sets an app up in a sandbox and returns what triggers it: assertCrashSafe((sandbox) => { sandbox.destinations.on(url, POST); return () => client.trigger({ url }) }).',
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
    throw new TypeError(`assertCrashSafe(): depth is 1, or 2 for pairs, got ${JSON.stringify(depth)}.`)
  if (!Number.isInteger(bound) || bound < 1)
    throw new TypeError(`assertCrashSafe(): maxRuns is a whole number, 1 or more, got ${JSON.stringify(bound)}.`)
  if (!Number.isInteger(seed))
    throw new TypeError(`assertCrashSafe(): seed is a whole number, got ${JSON.stringify(seed)}.`)
  if (only !== undefined && (!Array.isArray(only) || only.length === 0))
    throw new TypeError('assertCrashSafe(): `only` is a list of schedules, by the names that a report gives them.')
}
