import type { Calls } from '../calls/calls.js'
import type { VirtualClock } from '../kernel/clock.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import type { Addresses } from '../protocol/address.js'
import type { Vocabulary } from '../protocol/dialect.js'
import type { Answer, Call } from '../protocol/service.js'
import type { Destinations } from '../queue/destinations/destinations.js'
import type { DirectQueue } from '../queue/direct-queue.js'
import type { TrafficView } from '../report/traffic-view.js'
import type { Faults } from '../rules/fault-rules.js'
import type { DirectStore } from '../store/direct-store.js'
import type { SandboxTokens } from './credentials.js'
import type { SandboxOptions } from './sandbox-options.js'

/** What a sandbox consists of, for code below it: a sandbox is one of these. */
export interface SandboxParts {
  readonly options: SandboxOptions
  readonly tokens: SandboxTokens
  readonly addresses: Addresses
  readonly vocabulary: Vocabulary
  readonly policy: ResolvedPolicy
  readonly clock: VirtualClock
  readonly traffic: TrafficView
  readonly store: DirectStore
  readonly queue: DirectQueue
  readonly queues: readonly DirectQueue[]
  readonly destinations: Destinations
  readonly calls: Calls
  readonly faults: Faults
  exchange(call: Call): Answer | Promise<Answer>
}
