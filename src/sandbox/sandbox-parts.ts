import type { Outbound } from '../calls/outbound.js'
import type { Clock } from '../kernel/clock.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import type { SandboxUrls } from '../protocol/address.js'
import type { Dialect } from '../protocol/dialect.js'
import type { RawRequest, RawResponse } from '../protocol/service.js'
import type { Destinations } from '../queue/destinations/destinations.js'
import type { Queue } from '../queue/direct-queue.js'
import type { Traffic } from '../report/traffic-view.js'
import type { Faults } from '../rules/fault-rules.js'
import type { Store } from '../store/direct-store.js'
import type { SandboxTokens } from './credentials.js'
import type { SandboxOptions } from './sandbox-options.js'

/**
 * The parts of a sandbox as a type. `Sandbox` implements it. Modules that must not import `Sandbox` use this type
 * instead.
 */
export interface SandboxParts {
  readonly options: SandboxOptions
  readonly tokens: SandboxTokens
  readonly urls: SandboxUrls
  readonly dialect: Dialect
  readonly policy: ResolvedPolicy
  readonly clock: Clock
  readonly traffic: Traffic
  readonly store: Store
  /** All databases of the data store. The first is `store`. */
  readonly stores: readonly Store[]
  readonly queue: Queue
  readonly queues: readonly Queue[]
  readonly destinations: Destinations
  readonly outbound: Outbound
  readonly faults: Faults
  /** Returns an added database. @throws RangeError when there is no such database */
  storeIn(database: string): Store
  exchange(call: RawRequest): RawResponse | Promise<RawResponse>
}
