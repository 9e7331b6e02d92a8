import type { InputColumns, InputJournal } from '../kernel/input-journal.js'
import { type Internals, internals } from '../kernel/internals.js'
import type { ExplainsToken } from '../protocol/gateway.js'
import type { CoreState } from './core.js'
import type { JournalPoint, PastInstant } from './past.js'

/** Origin of the present core of a sandbox. */
export interface SandboxOrigin {
  /** Number of earlier cores, which resets and loads replaced. */
  readonly world: number
  readonly start: CoreState
}

/** Members that other code of this package uses, hidden from users. */
export interface SandboxInternals {
  /** Returns the journal of the present core, or `undefined` without one. */
  journal(): InputJournal | undefined
  beginning(): SandboxOrigin
  /** Resolves an instant now, for clients. `asOf()` later means the same position. */
  placeOf(instant: PastInstant): JournalPoint
  /** Sets the function that explains a rejected token in the entry of the request. */
  explainTokens(explain: ExplainsToken | undefined): void
  /**
   * Makes a new sandbox continue in place of another one: same instant, same log, same future.
   * @param prepare called with the journal of the new core before the first input
   * @throws Error when the replay of the inputs diverges
   */
  adopt(from: SandboxOrigin, inputs: InputColumns, prepare: (journal: InputJournal) => void): Promise<void>
}

export const sandboxInternals: Internals<object, SandboxInternals> = internals('sandbox')

/**
 * Records a change that bypasses the public objects, which would have recorded it.
 * @param change called with the sandbox, or with the replayed one; it must change nothing else
 */
export function recordInternal<S extends object, T>(sandbox: S, change: (sandbox: S) => T): T {
  sandboxInternals
    .of(sandbox)
    .journal()
    ?.note('acted', change as (sandbox: never) => T)
  return change(sandbox)
}
