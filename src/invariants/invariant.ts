import type { Entry, EntryOf } from '../kernel/traffic.js'
import type { Policy, QueueLimits } from '../policy/policy.js'
import type { History } from './history.js'

/** The state of a message that has not ended. `adrift`: nothing will ever move it on. */
export type Whereabouts = 'planned' | 'running' | 'held' | 'adrift'

/** What the promises are checked against: the traffic, and what else a sandbox knows. */
export interface World {
  readonly entries: readonly Entry[]
  /** Virtual time of the check, milliseconds. */
  readonly now: number
  /** Time runs with the host: timers may be late. */
  readonly isRealTime: boolean
  readonly policy: Policy
  readonly limits: QueueLimits
  /** Nothing runs, and no timer is left but those that renew themselves for ever: what stands now stays. */
  readonly isDrained: boolean
  /** Messages that have not ended. */
  readonly pending: ReadonlyMap<string, Whereabouts>
  /** Keys that signed deliveries, the oldest first and the one in force last. */
  readonly signingKeys: readonly string[]
  /** Names of the headers with signatures: one for each of the words in which it was delivered. */
  signatureHeaders(attempt: EntryOf<'attempt'>): readonly string[]
  /** The value of an expression for the wait before a retry, milliseconds. */
  readonly retryDelay: (expression: string, retried: number) => number
  /** The times a cron expression names, after `from` and up to `to`. */
  readonly slots: (cron: string, from: number, to: number) => Iterable<number>
}

/** One place where a promise was broken. */
export interface Breach {
  readonly invariant: string
  /** The promise in words. */
  readonly promise: string
  /** What happened instead. */
  readonly sentence: string
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
  readonly promise: string
  /** Kinds of faults that break it by design, and how far they suspend it. */
  readonly suspendedBy?: Readonly<Record<string, string>>
  examine(history: History, findings: Findings): void
}
