import type { InvariantOptions, InvariantReport } from '../invariants/invariant-check.js'
import { bindMethods } from '../kernel/bind-methods.js'
import { checkedDatabase, onServer } from '../kernel/database-name.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import { checkPastInstant } from '../kernel/past-instant.js'
import type { QueueRegion, SandboxUrls } from '../protocol/address.js'
import type { PastInstant } from '../sandbox/past.js'
import type { SandboxTokens } from '../sandbox/sandbox.js'
import type { SandboxDump } from '../sandbox/sandbox-dump.js'
import { type ConnectOptions, ControlClient } from './control-client.js'
import { RemoteClock } from './remote-clock.js'
import { RemoteDestinations } from './remote-destinations.js'
import { RemoteFaults } from './remote-faults.js'
import { RemoteOutbound } from './remote-outbound.js'
import { RemotePastStore } from './remote-past.js'
import { RemoteQueue } from './remote-queue.js'
import { SandboxSnapshot } from './remote-snapshot.js'
import { RemoteStatistics } from './remote-stats.js'
import { RemoteStore } from './remote-store.js'
import { RemoteTraffic } from './remote-traffic.js'
import { checkOfWire, type WireCheck } from './remote-views.js'
import { RemoteWorkflows } from './remote-workflow.js'
import type { StatusSnapshot } from './status-snapshot.js'

/**
 * A read-only view of a tenant at an earlier instant. It has the members of a `PastSandbox`, but their results are
 * promises.
 */
export class RemotePastSandbox {
  static {
    bindMethods(RemotePastSandbox)
  }

  /** The data store at that instant. */
  readonly store: RemotePastStore
  readonly #fork: (options: Omit<RemoteForkOptions, 'at'>) => Promise<RemoteSandbox>
  readonly #storeIn: (database: string) => RemotePastStore

  /** Use `sandbox.asOf()`. @internal */
  constructor(wire: ControlClient, instant: PastInstant, fork: (options: RemoteForkOptions) => Promise<RemoteSandbox>) {
    // Resolve the instant now. After the clock has moved, `-5m` would mean a later instant.
    const place = wire.post('/resolve-instant', { at: instant }) as Promise<{ readonly at: PastInstant }>
    place.catch(() => {})
    this.store = new RemotePastStore(wire, place)
    this.#storeIn = (database) => new RemotePastStore(wire.ofDatabase(database), place)
    this.#fork = async (options) => fork({ ...options, ...(await place) })
  }

  /**
   * Returns a database at that instant that the option `databases` added. If the database is unknown, all promises of
   * the returned object reject.
   * @example await sandbox.asOf('-5m').storeIn('us').get('stock')
   */
  storeIn(database: string): RemotePastStore {
    return this.#storeIn(database)
  }

  /**
   * Creates a tenant that continues from this instant.
   * @throws Error when the tenant was reset or loaded after this view was created
   * @example
   * const earlier = await sandbox.asOf('-5m').fork()
   * await earlier.clock.drain()
   */
  fork(options: Omit<RemoteForkOptions, 'at'> = {}): Promise<RemoteSandbox> {
    return this.#fork(options)
  }
}

export type { UnusedScript } from '../calls/outbound.js'
export type { AdvanceOptions, ClockMove } from '../kernel/clock.js'
export type { HeaderList } from '../kernel/http.js'
export type { StoreCostTotals } from '../report/traffic-context.js'
export type { PastInstant } from '../sandbox/past.js'
export type { WorkflowRunEnd } from '../workflow/advance-run.js'
export type { Workflow, WorkflowRun } from '../workflow/direct-workflows.js'
export type { RunHistory, RunHistoryEntry, RunHistoryOptions } from '../workflow/run-history.js'
export type { StubError } from '../workflow/stubs.js'
export type { ConnectOptions } from './control-client.js'
export type { RecordedDelivery, RemoteRecorder } from './remote-destinations.js'
export type { RemoteFaultHandle } from './remote-faults.js'
export type { RecordedOutbound, RemoteOutboundRecorder } from './remote-outbound.js'
export type { RemotePastStore } from './remote-past.js'
export type { SandboxSnapshot } from './remote-snapshot.js'
export type { RemoteTraffic } from './remote-traffic.js'
export type {
  BulkActionView,
  DeadLetterView,
  MessageView,
  RunView,
  ScheduleView,
  UrlGroupView,
} from './remote-views.js'
export type { RemoteWorkflowRun } from './remote-workflow.js'

/**
 * Table of all option names. The compiler reports a name that is missing here. `connect()` rejects unknown names,
 * because with a misspelled `tenant` it would connect to another tenant.
 */
const optionNames: Readonly<Record<keyof ConnectOptions, true>> = { tenant: true, controlToken: true, fetch: true }

/**
 * Connects to a tenant of a running server. The server creates the tenant on first use.
 * @throws Error when no server listens at the URL, with the command that starts one
 * @example
 * await using sandbox = await connect('http://localhost:4010', { tenant: `w${process.env.TEST_WORKER_INDEX}` })
 * await sandbox.clock.advance('5m')
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<RemoteSandbox> {
  checkOptionNames('connect()', options, Object.keys(optionNames))
  const wire = new ControlClient(url, options)
  const facts = (await wire.get('')) as Partial<TenantFacts> | undefined
  if (typeof facts?.env !== 'object' || typeof facts.urls !== 'object') throw wire.foreign('something else')
  return new RemoteSandbox(wire, facts as TenantFacts)
}

/** Options for forking a tenant. */
export interface RemoteForkOptions {
  /** An instant, a duration before now such as `-5m`, or `{ seq }` for the position after a log entry. Default: now. */
  readonly at?: PastInstant
  /** Name of the new tenant. Default: a name that the server derives from the name of this tenant. */
  readonly name?: string
  /**
   * Whether the fork may send deliveries over the network, to URLs without a destination. Even then, it can reach only
   * hosts that this tenant can reach. Default false.
   */
  readonly deliverTo?: boolean
}

interface TenantFacts {
  readonly urls: SandboxUrls
  readonly env: Readonly<Record<string, string>>
  /** Environment of an app that uses an added database, by name of the database. */
  readonly databaseEnv: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly tokens: SandboxTokens
}

/**
 * A tenant of a server, with the members of a `Sandbox`. Each member returns a promise, so code that awaits every
 * result works with a `Sandbox` and with a `RemoteSandbox`.
 */
export class RemoteSandbox implements AsyncDisposable {
  static {
    bindMethods(RemoteSandbox)
  }

  /** The virtual clock: `advance`, `advanceTo`, `drain`, `pending`, `settle`. */
  readonly clock: RemoteClock
  /** The data store, for direct commands. */
  readonly store: RemoteStore
  /** The message queue of the home region: messages, schedules, URL groups, dead letters, signing keys. */
  readonly queue: RemoteQueue
  /** The workflows of the home region: runs with their states and results, events, and stubs of steps. */
  readonly workflow: RemoteWorkflows
  /** The destinations of deliveries: responses, recorders and scripts by URL. */
  readonly destinations: RemoteDestinations
  /**
   * The external hosts of outbound requests: responses, recorders and scripts by URL. Deliveries of the queue go to
   * `destinations`.
   */
  readonly outbound: RemoteOutbound
  /** The usage statistics. They are counted from the traffic, but you can script or override them. */
  readonly stats: RemoteStatistics
  /** The fault rules of the sandbox. */
  readonly faults: RemoteFaults
  /** The traffic log: every request, command, delivery and clock move, in order. */
  readonly traffic: RemoteTraffic
  readonly #wire: ControlClient
  #facts: TenantFacts

  /** Use `connect()`. @internal */
  constructor(wire: ControlClient, facts: TenantFacts) {
    this.#wire = wire
    this.#facts = facts
    const refresh = (): Promise<void> => this.#refresh()
    this.clock = new RemoteClock(wire)
    const snapshot = (): Promise<SandboxSnapshot> => this.snapshot()
    this.store = new RemoteStore(wire, refresh, snapshot)
    this.queue = new RemoteQueue(wire, refresh, snapshot)
    this.workflow = new RemoteWorkflows(wire)
    this.destinations = new RemoteDestinations(wire)
    this.outbound = new RemoteOutbound(wire)
    this.stats = new RemoteStatistics(wire)
    this.faults = new RemoteFaults(wire)
    this.traffic = new RemoteTraffic(wire)
  }

  /**
   * Returns the message queue of a region, `us-east-1` or `eu-central-1`. If the region is unknown, all promises of the
   * returned queue reject.
   * @example await sandbox.queueIn('us-east-1').publish({ to: 'https://shop.test/orders' })
   */
  queueIn(region: QueueRegion): RemoteQueue {
    const snapshot = async () => ({ queue: (await this.snapshot()).queueIn(region) })
    return new RemoteQueue(this.#wire.in(region), () => this.#refresh(), snapshot)
  }

  /**
   * Returns the workflows of a region. If the region is unknown, all promises of the returned object reject.
   * @example await sandbox.workflowIn('us-east-1').stubStep('charge').returns({ id: 'ch_1' })
   */
  workflowIn(region: QueueRegion): RemoteWorkflows {
    return new RemoteWorkflows(this.#wire.in(region))
  }

  /**
   * Returns a database that the option `databases` of the server added. If the database is unknown, all promises of the
   * returned store reject.
   * @example await sandbox.storeIn('us').run('SET', 'greeting', 'hello')
   */
  storeIn(database: string): RemoteStore {
    const snapshot = async () => ({ store: (await this.snapshot()).storeIn(database) })
    return new RemoteStore(this.#wire.ofDatabase(database), () => this.#refresh(), snapshot)
  }

  /** Base URLs of the tenant's services. */
  get urls(): SandboxUrls {
    return this.#facts.urls
  }

  /** Tokens that clients authenticate with. */
  get tokens(): SandboxTokens {
    return this.#facts.tokens
  }

  /**
   * URLs, tokens and keys in the environment variables that the SDKs read.
   * @example Object.assign(process.env, sandbox.env)
   */
  get env(): Readonly<Record<string, string>> {
    return this.#facts.env
  }

  /**
   * Returns the environment variables of `env` for an app that uses an added database.
   * @throws RangeError when there is no such database
   * @example Object.assign(process.env, sandbox.envFor({ database: 'us' }))
   */
  envFor(options: { readonly database: string }): Readonly<Record<string, string>> {
    checkOptionNames('sandbox.envFor()', options, { database: true })
    const { databaseEnv } = this.#facts
    return databaseEnv[checkedDatabase(options.database, Object.keys(databaseEnv), onServer)]!
  }

  /**
   * Returns whether a URL belongs to this tenant.
   * @example expect(sandbox.owns(`${sandbox.urls.store}/get/greeting`)).toBe(true)
   */
  owns(url: string): boolean {
    const { store, queue, mgmt, regions, databases } = this.urls
    const bases = [store, queue, mgmt, ...Object.values(regions), ...Object.values(databases)]
    return bases.some((base) => url === base || url.startsWith(`${base}/`))
  }

  /**
   * Resets the tenant to its start: same seed and start time, nothing stored, nothing pending.
   * @example
   * await sandbox.store.run('SET', 'greeting', 'hello')
   * await sandbox.reset()
   * expect(await sandbox.store.get('greeting')).toBeNull()
   */
  async reset(): Promise<void> {
    await this.#wire.post('/reset')
    await this.#refresh()
  }

  /**
   * Asserts the invariants of the double. If an invariant is violated, rejects with an error whose name is
   * `InvariantError`. The error contains the affected log entries and their timeline.
   * @example await sandbox.assertInvariants({ except: 'signatures-verify' })
   */
  async assertInvariants(options: InvariantOptions = {}): Promise<InvariantReport> {
    return checkOfWire((await this.#wire.post('/invariants/assert', { ...options })) as WireCheck)
  }

  /**
   * Checks the invariants as `assertInvariants()` does, but returns the violations instead of throwing them.
   * @example
   * const { violations } = await sandbox.checkInvariants()
   * expect(violations).toEqual([])
   */
  async checkInvariants(options: InvariantOptions = {}): Promise<InvariantReport> {
    return checkOfWire((await this.#wire.post('/invariants/check', { ...options })) as WireCheck)
  }

  /**
   * Returns the whole state as plain JSON: data store, users, queue, signing keys, counted statistics and the time.
   * @example writeFileSync('sandbox.json', JSON.stringify(await sandbox.dump()))
   */
  async dump(): Promise<SandboxDump> {
    return (await this.#wire.get('/state')) as SandboxDump
  }

  /**
   * Replaces the state with a dump of this or another sandbox. If the clock is real and the dump's time is in the
   * future, `rebaseTime` is required. It moves all times in the dump back, so that the sandbox continues now.
   * @example
   * const dump = await sandbox.dump()
   * await sandbox.load(dump)
   */
  async load(dump: SandboxDump, options: { readonly rebaseTime?: boolean } = {}): Promise<void> {
    checkOptionNames('sandbox.load()', options, { rebaseTime: true })
    await this.#wire.send('PUT', options.rebaseTime === true ? '/state?rebaseTime=true' : '/state', dump)
    await this.#refresh()
  }

  /**
   * Returns a read-only view of the tenant's data store at an earlier instant.
   * @param instant an instant, a duration before now such as `-5m`, or `{ seq }` for the position after a log entry
   * @example await sandbox.asOf('-5m').store.get('stock')
   */
  asOf(instant: PastInstant): RemotePastSandbox {
    checkPastInstant(instant)
    return new RemotePastSandbox(this.#wire, instant, (options) => this.fork(options))
  }

  /**
   * Creates a tenant with a manual clock. It continues from an instant of this tenant, by default from now.
   * @throws Error when the instant is in the future, or older than the log
   * @example const earlier = await sandbox.fork({ at: '-5m' })
   */
  async fork(options: RemoteForkOptions = {}): Promise<RemoteSandbox> {
    checkOptionNames('sandbox.fork()', options, { at: true, name: true, deliverTo: true })
    const { at, name, deliverTo } = options
    checkPastInstant(at)
    const { tenant } = (await this.#wire.post('/fork', { at, name, deliverTo })) as { readonly tenant: string }
    const wire = this.#wire.to(tenant)
    return new RemoteSandbox(wire, (await wire.get('')) as TenantFacts)
  }

  /**
   * Returns a copy of the whole tenant, for matchers.
   * @example expect(await sandbox.snapshot()).toBeIdle()
   */
  async snapshot(): Promise<SandboxSnapshot> {
    return SandboxSnapshot.of((await this.#wire.get('/snapshot')) as StatusSnapshot)
  }

  /** Does nothing: the tenant stays on the server, because other clients may use it. */
  async [Symbol.asyncDispose](): Promise<void> {}

  async #refresh(): Promise<void> {
    this.#facts = (await this.#wire.get('')) as TenantFacts
  }
}
