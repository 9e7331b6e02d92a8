import type { Random } from '../kernel/random.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import type { AccessControl } from './access/access-control.js'
import type { WarnOnce } from './diagnostics.js'
import type { ScanCursors } from './keyspace/scan-cursors.js'
import type { StoreClock } from './keyspace/store-clock.js'

export interface StoreOptions {
  readonly clock: StoreClock
  readonly random: Random
  /** Cursors of a sandbox that may be loaded. Default: drawn from `random`. */
  readonly cursors?: ScanCursors
  readonly access: AccessControl
  readonly policy: ResolvedPolicy
  /** Documentation address of the vendor, part of error texts. */
  readonly docs: string
  /** Documentation address for connections, which have no dialect of their own. Default: `docs`. */
  readonly nativeDocs?: string
  /** Called when code outside the sandbox received the reply that it waited for. */
  readonly answered?: () => void
  /** Called when code of this process waits for a reply until a time. */
  readonly awaited?: (command: string, isWaiting: () => boolean) => void
  /** Receives notes about commands that the service may reject, each once. */
  readonly warnOnce?: WarnOnce | undefined
}
