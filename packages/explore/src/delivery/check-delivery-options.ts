import type fc from 'fast-check'
import type { FaultRule } from '../../../../src/faults/fault.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { DeliveryUnderTest } from './delivery-run.js'
import type { PolicyChoices } from './policy-choices.js'

/** Options of `assertResilient()`. */
export interface ResilienceOptions extends DeliveryUnderTest {
  /**
   * What goes wrong. Default: `arb.deliveryFaults()`, and afterwards each call to a foreign host that fails or whose answer is
   * lost, and each wrong signature if the app verifies any.
   */
  readonly faults?: fc.Arbitrary<readonly FaultRule[]>
  /** What must be so in the end: answers false, or throws as an assertion does. */
  readonly holds: (sandbox: Sandbox) => unknown
  /** Schedules that are tried first: what was found once. */
  readonly examples?: readonly (readonly FaultRule[])[]
  /** Schedules that are tried. Default 100. */
  readonly runs?: number
  /** Of the schedules, not of the sandbox. Default 1. */
  readonly seed?: number
  /** Where a report says that its failure is: only that schedule is tried. */
  readonly path?: string
  /**
   * `coverage`, the default with `arb.deliveryFaults()`: schedules are preferred in which a fault strikes where it has not
   * yet. `none`: chance alone.
   */
  readonly guidance?: 'coverage' | 'none'
  /** What the app's own state is when a delivery begins, in few words, for the coverage: `({ store }) => store.get('order:42') ?? 'none'`. */
  readonly stateOf?: (sandbox: Sandbox) => string
  /**
   * Policies of the sandbox that are varied, each with the values that it may have, the plainest first; spans of time also
   * as texts: `{ deduplicationWindow: ['10m', '90d'] }`. Each run draws one combination. Default: none. See
   * `disputedPolicies`.
   */
  readonly policies?: PolicyChoices
  /** Counts schedules that leave a message nothing but faults until it is given up. Default false: nothing is learned from them. */
  readonly includeExhausted?: boolean
}
