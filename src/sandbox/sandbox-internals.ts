import type { InputColumns, InputJournal } from '../kernel/input-journal.js'
import { type Internals, internals } from '../kernel/internals.js'
import type { ExplainsToken } from '../protocol/gateway.js'
import type { CoreState } from './core.js'
import type { JournalPoint, PastInstant } from './past.js'

/** Origin of the present core of a sandbox. */
export interface SandboxOrigin {
  /** Number of earlier cores, each of which a reset or load replaced. */
  readonly world: number
  readonly start: CoreState
}

/** Internal members of a sandbox, which other code of this package uses. They are hidden from users. */
export interface SandboxInternals {
  /** Returns the journal of the present core, or `undefined` without one. */
  journal(): InputJournal | undefined
  beginning(): SandboxOrigin
  /** Returns the journal position of an instant, for clients. The position stays the same when time moves. */
  placeOf(instant: PastInstant): JournalPoint
  /** Sets the function that explains why a token was rejected, for the note in the request's entry. */
  explainTokens(explain: ExplainsToken | undefined): void
  /**
   * Makes a new sandbox continue in place of another one, with the same instant, log and future.
   * @param prepare function that is called with the new journal before the first input is replayed
   * @throws Error when the replay of the inputs diverges
   */
  adopt(from: SandboxOrigin, inputs: InputColumns, prepare: (journal: InputJournal) => void): Promise<void>
}

export const sandboxInternals: Internals<object, SandboxInternals> = internals('sandbox')

/**
 * Makes a change without a method of the public objects, and records it as an input.
 * @param change function that makes the change; it is called with the sandbox, or with the new sandbox in a replay, and
 * must change nothing else
 */
export function recordInternal<S extends object, T>(sandbox: S, change: (sandbox: S) => T): T {
  sandboxInternals
    .of(sandbox)
    .journal()
    ?.note('acted', change as (sandbox: never) => T)
  return change(sandbox)
}
