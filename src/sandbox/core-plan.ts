import type { Outbound } from '../calls/outbound.js'
import type { Account } from '../kernel/account.js'
import type { Clock } from '../kernel/clock.js'
import type { Gate } from '../kernel/gate.js'
import type { Hints } from '../kernel/hints.js'
import type { InputJournal } from '../kernel/input-journal.js'
import type { Random } from '../kernel/random.js'
import type { Replacement } from '../kernel/replacement.js'
import type { TrafficLog } from '../kernel/traffic-log.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import type { Locate, SandboxUrls } from '../protocol/address.js'
import type { Dialect } from '../protocol/dialect.js'
import type { ExplainsToken } from '../protocol/gateway.js'
import type { Service } from '../protocol/service.js'
import type { Destinations } from '../queue/destinations/destinations.js'
import type { RoomForResponses } from '../queue/destinations/network.js'
import type { Faults } from '../rules/fault-rules.js'
import type { User } from '../store/access/user.js'
import type { Store } from '../store/direct-store.js'
import type { ScanCursors } from '../store/keyspace/scan-cursors.js'
import type { RestStore } from '../store/rest/store-front.js'
import type { SandboxTokens } from './credentials.js'
import type { SandboxOptions } from './sandbox-options.js'

/** Settings that stay the same when a reset or load replaces the core. */
export interface CorePlan {
  readonly options: SandboxOptions
  readonly dialect: Dialect
  readonly policy: ResolvedPolicy
  readonly addresses: SandboxUrls
  readonly locate: Locate
  readonly tokens: SandboxTokens
  readonly hints: Hints
  readonly gate: Gate
  /** Sends a request to the present core of the sandbox. */
  readonly answer: (request: Request) => Promise<Response>
  /** Warnings that were already printed and must not be printed again. */
  readonly heard: Set<string>
  readonly elsewhere: ExternalStore | undefined
  /** Messages about blocked requests to real hosts. */
  readonly strays: () => readonly string[]
  readonly explainToken: ExplainsToken
  /** Memory account that all forks of a sandbox share. Set only if this sandbox is a fork. */
  readonly forks: Account | undefined
  /** Limit of the memory for responses of destinations. Set only on a server. */
  readonly room: RoomForResponses | undefined
}

/**
 * Returns a data store outside this process.
 * @param own service of the built-in store, which the returned service wraps
 */
export type ExternalStore = (own: Service<RestStore, User>) => {
  readonly service: Service<RestStore, User>
  /** Replaces the store behind `sandbox.store`. */
  attach(store: Store): void
}

/** Parts of the core that must exist before the other parts are created. */
export interface Base {
  readonly clock: Clock
  readonly random: Random
  /** Returns the SCAN cursors of a database, whose random streams have this addition to their names. */
  cursors(stream: string): ScanCursors
  readonly kept: Account
  readonly traffic: TrafficLog
  readonly journal: InputJournal | undefined
  readonly replacement: Replacement
  /** Random source for tokens and keys that are created later; `undefined` if the sandbox has no secret. */
  readonly draws: Random | undefined
}

/** Fault rules, and the parts through which the sandbox reaches other hosts. */
export interface Outside {
  readonly destinations: Destinations
  readonly outbound: Outbound
  readonly faults: Faults
}
