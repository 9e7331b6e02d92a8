import type { InputColumns, InputJournal } from '../kernel/input-journal.js'
import { type Internals, internals } from '../kernel/internals.js'
import type { ExplainsToken } from '../protocol/gateway.js'
import type { CoreState } from './core.js'
import type { JournalPoint, PastInstant } from './past.js'

/** How the core of a sandbox was created. Each reset or load creates a new core. */
export interface SandboxOrigin {
  /** Number of resets and loads until this core was created. */
  readonly world: number
  readonly start: CoreState
}

/** Members of a sandbox for other code of this package. They are hidden from users. */
export interface SandboxInternals {
  /** Returns whether the sandbox has a core. The first use after its creation or a reset creates the core. */
  isUsed(): boolean
  /** Returns the journal, or `undefined` if the sandbox has none. */
  journal(): InputJournal | undefined
  beginning(): SandboxOrigin
  /** Lets requests to the vendor's real hosts pass: the management API is not served, and adapters block no host. */
  leaveRealHosts(): void
  /**
   * Returns the journal position of an instant, for a client that uses the position later. The position stays the same
   * when time moves.
   */
  placeOf(instant: PastInstant): JournalPoint
  /**
   * Sets the function that explains why a token was rejected. The explanation becomes a note in the entry of the
   * request.
   */
  explainTokens(explain: ExplainsToken | undefined): void
  /**
   * Makes a new sandbox continue in place of another one, with the same time and log. Work that the other sandbox had
   * not ended continues in the new one.
   * @param prepare function that is called with the new journal before the first input is replayed
   * @throws Error when the replay of the inputs diverges
   */
  adopt(from: SandboxOrigin, inputs: InputColumns, prepare: (journal: InputJournal) => void): Promise<void>
}

export const sandboxInternals: Internals<object, SandboxInternals> = internals('sandbox')

/**
 * Makes a change for which the sandbox has no public method, and records the change as an input.
 * @param change function that makes the change; a replay calls it again with another sandbox, so it must change only
 * the sandbox that it gets
 */
export function recordInternal<S extends object, T>(sandbox: S, change: (sandbox: S) => T): T {
  sandboxInternals
    .of(sandbox)
    .journal()
    ?.note('acted', change as (sandbox: never) => T)
  return change(sandbox)
}
