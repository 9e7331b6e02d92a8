import type fc from 'fast-check'
import type { FaultRule } from '../../../../src/faults/fault.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { DeliveryUnderTest } from './delivery-run.js'
import type { PolicyChoices } from './policy-choices.js'

/** Options of `assertResilient()`. */
export interface ResilienceOptions extends DeliveryUnderTest {
  /**
   * Fault plans that are tried. Default: the plans of `arb.deliveryFaults()`. After these plans, the check lets each
   * outbound request fail, loses each response, and signs deliveries wrongly if the app verifies signatures.
   */
  readonly faults?: fc.Arbitrary<readonly FaultRule[]>
  /**
   * Returns whether the property holds in the end state. The function may also throw, as an assertion does, if the
   * property does not hold.
   */
  readonly holds: (sandbox: Sandbox) => unknown
  /** Fault plans that are tried first, such as counterexamples of earlier runs. */
  readonly examples?: readonly (readonly FaultRule[])[]
  /** Number of fault plans that are tried. Default 100. */
  readonly runs?: number
  /** Seed from which fault plans are drawn. The sandbox has its own seed. Default 1. */
  readonly seed?: number
  /** Path of a failure, copied from a report. Only the fault plan with this path is tried. */
  readonly path?: string
  /**
   * How fault plans are chosen. `none`: only at random. `coverage`: prefers faults that were not yet injected in the
   * same state at the same point. Default `coverage` with `arb.deliveryFaults()`.
   */
  readonly guidance?: 'coverage' | 'none'
  /**
   * Returns the app's own state when a delivery begins, as a short text for the coverage: `({ store }) =>
   * store.get('order:42') ?? 'none'`.
   */
  readonly stateOf?: (sandbox: Sandbox) => string
  /**
   * Policies of the sandbox that are varied, each with its possible values, the simplest value first. Durations may be
   * texts: `{ deduplicationWindow: ['10m', '90d'] }`. Each run draws one value of each policy. Default: none. See
   * `disputedPolicies`.
   */
  readonly policies?: PolicyChoices
  /**
   * Whether a run counts although its fault plan hits every attempt of a message, until no retries are left. Default
   * false: such runs are skipped.
   */
  readonly includeExhausted?: boolean
}
