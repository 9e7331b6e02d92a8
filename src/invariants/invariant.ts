import type { Entry } from '../kernel/traffic-log.js'
import type { InvariantIndex } from './invariant-index.js'

/** One place where a promise was broken. */
export interface InvariantViolation {
  readonly invariant: string
  /** The promise in words. */
  readonly guarantee: string
  /** What happened instead. */
  readonly message: string
  readonly entries: readonly Entry[]
}

/** Collects what the examination of one promise finds. */
export interface Findings {
  broken(sentence: string, ...entries: readonly (Entry | undefined)[]): void
  /** Something that the remaining entries cannot prove: not a breach. Each reason counts once. */
  unknown(reason: string): void
}

/** A promise of the engine that every run keeps, whatever its requests, clock moves and faults. */
export interface Invariant {
  readonly name: string
  readonly guarantee: string
  /** Kinds of faults that break it by design, and how far they suspend it. */
  readonly suspendedBy?: Readonly<Record<string, string>>
  /** @internal */
  examine(history: InvariantIndex, findings: Findings): void
}
