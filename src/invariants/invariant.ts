import type { Entry } from '../kernel/traffic-log.js'
import type { InvariantIndex } from './invariant-index.js'

/** One violation of an invariant, with the log entries that prove it. */
export interface InvariantViolation {
  /** Name of the violated invariant, such as `no-lost-message`. */
  readonly invariant: string
  /** Guarantee of the invariant. */
  readonly guarantee: string
  /** Event that contradicts the guarantee. */
  readonly message: string
  /** Log entries that prove the violation, oldest first. */
  readonly entries: readonly Entry[]
}

/** Collects the results of checking one invariant. */
export interface Findings {
  broken(sentence: string, ...entries: readonly (Entry | undefined)[]): void
  /** Adds a statement that could not be checked, which is not a violation. The same reason is added only once. */
  unknown(reason: string): void
}

/** Property of the engine that holds in every run, for all requests, clock moves and faults. */
export interface Invariant {
  /** Name in kebab case, such as `no-lost-message`. */
  readonly name: string
  /** Statement that holds in every run, except for the faults in `suspendedBy`. */
  readonly guarantee: string
  /** Kinds of faults that violate it by design, and the scope of the exemption. */
  readonly suspendedBy?: Readonly<Record<string, string>>
  /** @internal */
  examine(history: InvariantIndex, findings: Findings): void
}
