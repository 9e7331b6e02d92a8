import type { Random } from '../kernel/random.js'
import type { WarnOnce } from '../kernel/warn-once.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import type { AccessControl } from './access/access-control.js'
import type { ScanCursors } from './keyspace/scan-cursors.js'
import type { StoreClock } from './keyspace/store-clock.js'
import type { Embed } from './values/search-definition.js'

export interface StoreOptions {
  /** Name of the database, if it is not the first of its sandbox. */
  readonly database?: string | undefined
  readonly clock: StoreClock
  readonly random: Random
  /** SCAN cursors, for a sandbox into which dumps may be loaded. Default: created with `random`. */
  readonly cursors?: ScanCursors
  readonly access: AccessControl
  readonly policy: ResolvedPolicy
  /** Embeds the texts of HYBRID fields. Without it, `$ann` is rejected. */
  readonly embed?: Embed | undefined
  /** Documentation address of the vendor, part of error texts. */
  readonly docs: string
  /** Documentation address for connections, which have no dialect of their own. Default: `docs`. */
  readonly nativeDocs?: string
  /** Called after code outside the sandbox has received a reply for which it waited. */
  readonly answered?: () => void
  /** Called when code of this process waits for a reply that has a timeout. */
  readonly awaited?: (command: string, isWaiting: () => boolean) => void
  /** Called once with each note about a command that the service may reject. */
  readonly warnOnce?: WarnOnce | undefined
}
