import type fc from 'fast-check'
import type { FaultRule } from '../../../../src/faults/fault.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { DeliveryUnderTest } from './delivery-run.js'
import type { PolicyChoices } from './policy-choices.js'

/** Options of `assertResilient()`. */
export interface ResilienceOptions extends DeliveryUnderTest {
  /**
   * Fault plans that are tried. Default: `arb.deliveryFaults()`, then each outbound request with a failure or a lost
   * response, and each wrong signature if the app verifies any.
   */
  readonly faults?: fc.Arbitrary<readonly FaultRule[]>
  /** Checks the end state: returns false, or throws as an assertion does, if the property does not hold. */
  readonly holds: (sandbox: Sandbox) => unknown
  /** Fault plans that are tried first, such as counterexamples of earlier runs. */
  readonly examples?: readonly (readonly FaultRule[])[]
  /** Number of fault plans that are tried. Default 100. */
  readonly runs?: number
  /** Seed of the fault plans, not of the sandbox. Default 1. */
  readonly seed?: number
  /** Path of a failure, as a report prints it. Only that fault plan is tried. */
  readonly path?: string
  /**
   * `coverage`, the default with `arb.deliveryFaults()`: prefers fault plans that inject a fault in a state and at a
   * point where it was not injected yet. `none`: random plans only.
   */
  readonly guidance?: 'coverage' | 'none'
  /**
   * Returns the app's own state when a delivery begins, as a short text for the coverage: `({ store }) =>
   * store.get('order:42') ?? 'none'`.
   */
  readonly stateOf?: (sandbox: Sandbox) => string
  /**
   * Policies of the sandbox that are varied, each with its possible values, the simplest first. Durations may be texts:
   * `{ deduplicationWindow: ['10m', '90d'] }`. Each run draws one combination. Default: none. See `disputedPolicies`.
   */
  readonly policies?: PolicyChoices
  /**
   * Whether the property must also hold if a fault plan injects a fault into every attempt of a message, until the
   * message has no retries left. Default false: such plans are skipped.
   */
  readonly includeExhausted?: boolean
}
