import type { InputColumns, InputJournal } from '../kernel/input-journal.js'
import { type Internals, internals } from '../kernel/internals.js'
import type { ExplainsToken } from '../protocol/gateway.js'
import type { CoreState } from './core.js'
import type { JournalPoint, PastInstant } from './past.js'

/** Where the present world of a sandbox began. */
export interface SandboxOrigin {
  /** How many worlds there were before. */
  readonly world: number
  readonly start: CoreState
}

/** What other code of this package does with a sandbox, and users do not. */
export interface SandboxInternals {
  /** Of the world that it has now; `undefined` where none is kept. */
  journal(): InputJournal | undefined
  beginning(): SandboxOrigin
  /** What `asOf()` means by an instant now, for clients: given to `asOf()` later it means the same. */
  placeOf(instant: PastInstant): JournalPoint
  /** What the entry of a request notes that is refused for its token, asked as it is refused. */
  explainTokens(explain: ExplainsToken | undefined): void
  /**
   * A new sandbox becomes what another one was, and goes on in its place: same instant, same log, same future.
   * @param prepare is given the journal of its world before anything comes into it
   * @throws Error when the inputs do not lead to one world
   */
  adopt(from: SandboxOrigin, inputs: InputColumns, prepare: (journal: InputJournal) => void): Promise<void>
}

export const sandboxInternals: Internals<object, SandboxInternals> = internals('sandbox')

/**
 * Changes an engine past the public objects, which therefore record nothing of it.
 * @param change is given the sandbox, and by a replay the one that is played: it changes nothing else
 */
export function recordInternal<S extends object, T>(sandbox: S, change: (sandbox: S) => T): T {
  sandboxInternals
    .of(sandbox)
    .journal()
    ?.note('acted', change as (sandbox: never) => T)
  return change(sandbox)
}
