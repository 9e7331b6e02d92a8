import type { Random } from '../kernel/random.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import type { AccessControl } from './access/access-control.js'
import type { WarnOnce } from './diagnostics.js'
import type { ScanCursors } from './keyspace/scan-cursors.js'
import type { StoreClock } from './keyspace/store-clock.js'

export interface StoreOptions {
  readonly clock: StoreClock
  readonly random: Random
  /** Those of a world that may be loaded. Default: drawn from `random`. */
  readonly cursors?: ScanCursors
  readonly access: AccessControl
  readonly policy: ResolvedPolicy
  /** The vendor's documentation address, part of error texts. */
  readonly docs: string
  /** The same for clients that have no words of their own: those of connections. Default: `docs`. */
  readonly nativeDocs?: string
  /** Hears that code outside got the reply that it waited for … */
  readonly answered?: () => void
  /** … and that code of this process waits for one, until a time. */
  readonly awaited?: (command: string, isWaiting: () => boolean) => void
  /** Hears of commands that the service may refuse, each once. */
  readonly warnOnce?: WarnOnce | undefined
}
