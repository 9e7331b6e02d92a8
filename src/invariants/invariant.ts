import type { Entry } from '../kernel/traffic-log.js'
import type { InvariantIndex } from './invariant-index.js'

/** One violation of an invariant, with the log entries that prove it. */
export interface InvariantViolation {
  /** Name of the violated invariant, such as `no-lost-message`. */
  readonly invariant: string
  /** Guarantee of the invariant. */
  readonly guarantee: string
  /** What happened, and why it violates the guarantee. */
  readonly message: string
  /** Log entries that prove the violation, oldest first. */
  readonly entries: readonly Entry[]
}

export interface Findings {
  broken(sentence: string, ...entries: readonly (Entry | undefined)[]): void
  /**
   * Reports a part of the invariant that could not be checked, such as
   * `the fire times of schedules, because the clock follows host time`. This is not a violation. A second report of the
   * same text has no effect.
   */
  unknown(reason: string): void
}

/** Property of the engine that holds in every run, for all requests, clock moves and faults. */
export interface Invariant {
  /** Name in kebab case, such as `no-lost-message`. */
  readonly name: string
  /** Guarantee in words. Faults whose kind is in `suspendedBy` are the only exceptions. */
  readonly guarantee: string
  /**
   * Kinds of faults that break the guarantee on purpose. For each kind, the value says for what the guarantee is then
   * not checked: `{ drop: 'for the affected message' }`.
   */
  readonly suspendedBy?: Readonly<Record<string, string>>
  /** @internal */
  examine(history: InvariantIndex, findings: Findings): void
}
