import type { Outbound } from '../calls/outbound.js'
import {
  checkInvariantOptions,
  InvariantError,
  type InvariantOptions,
  type InvariantReport,
} from '../invariants/invariant-check.js'
import { Account } from '../kernel/account.js'
import { bindMethods } from '../kernel/bind-methods.js'
import { type Clock, goOn } from '../kernel/clock.js'
import { checkedDatabase } from '../kernel/database-name.js'
import { Gate } from '../kernel/gate.js'
import { type Hints, inProcess } from '../kernel/hints.js'
import type { InputColumns, InputJournal } from '../kernel/input-journal.js'
import type { Instant } from '../kernel/instant.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import { policyWith } from '../policy/schema.js'
import {
  type Locate,
  locator,
  type QueueRegion,
  relocator,
  type SandboxUrls,
  sandboxUrlsOf,
} from '../protocol/address.js'
import { moved } from '../protocol/call.js'
import { type Dialect, dialectOf, dialectsOf } from '../protocol/dialect.js'
import type { ExplainsToken } from '../protocol/gateway.js'
import type { RawRequest, RawResponse } from '../protocol/service.js'
import { fetchThrough } from '../protocol/web.js'
import { type Destinations, destinationsInternals } from '../queue/destinations/destinations.js'
import type { RoomForResponses } from '../queue/destinations/network.js'
import type { Queue } from '../queue/direct-queue.js'
import type { SigningKeyPair } from '../queue/signing/signing.js'
import { carryFailure } from '../report/failure.js'
import { replayLines } from '../report/failure-text.js'
import type { Traffic } from '../report/traffic-view.js'
import type { Faults } from '../rules/fault-rules.js'
import type { Stats } from '../stats/statistics.js'
import type { Store } from '../store/direct-store.js'
import type { Workflow } from '../workflow/direct-workflows.js'
import { asOf } from './as-of.js'
import { checkSandboxInvariants, timelineAround } from './check-invariants.js'
import { type CoreState, createCore, dialectsSeen, disposeCore, presentTokens, type SandboxCore } from './core.js'
import type { ExternalStore } from './core-plan.js'
import { credentialsOf, keysOf, type SandboxTokens, sealOf, tokensOf, withoutCredentials } from './credentials.js'
import type { StoreDatabase } from './databases.js'
import { replaceDestinations } from './fork-destinations.js'
import { replayOf } from './journal-replay.js'
import {
  checkFork,
  checkJournaled,
  checkThere,
  cutAt,
  type ForkOptions,
  type JournalCut,
  type Past,
  type PastInstant,
} from './past.js'
import { type PastSandbox, pastSandbox } from './past-sandbox.js'
import { rejectAhead, resumption, shiftedTo } from './rebase-time.js'
import { checkedRegion, homeRegionOf, type Region } from './regions.js'
import { checkDump, databasesOf, loadInto, queuesOf, type SandboxDump, versionOf } from './sandbox-dump.js'
import { environmentOf } from './sandbox-environment.js'
import { type SandboxOrigin, sandboxInternals } from './sandbox-internals.js'
import {
  checkOptions,
  defaultStart,
  type LoadOptions,
  type SandboxOptions,
  signatureWindowOf,
} from './sandbox-options.js'

export type { DatabaseTokens, SandboxTokens, TokenOptions } from './credentials.js'
export type { LoadOptions, SandboxOptions } from './sandbox-options.js'
export { defaultStart } from './sandbox-options.js'

/**
 * Creates an isolated sandbox: data store, message queue, workflows and statistics with one clock, seed and traffic log.
 * @throws TypeError when an option is unknown or invalid
 * @example
 * using sandbox = createSandbox({ seed: 7 })
 * const response = await sandbox.fetch(`${sandbox.urls.store}/set/greeting/hello`, {
 *   headers: { authorization: `Bearer ${sandbox.tokens.store}` },
 * })
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return new Sandbox(options)
}

/** One isolated instance: store, queue, workflow and stats with one clock, one seed and one traffic log. */
export class Sandbox {
  static {
    bindMethods(Sandbox)
  }

  /** Options with which the sandbox was created, without defaults. */
  readonly options: SandboxOptions
  /** Spelling of headers, parameters and variables. */
  readonly dialect: Dialect
  /** Policies that apply, including the defaults, with durations in milliseconds. */
  readonly policy: ResolvedPolicy
  /** Base URLs of the services, without trailing slashes. */
  readonly urls: SandboxUrls
  readonly #initialTokens: SandboxTokens
  #seal: string | undefined
  readonly #hints: Hints
  readonly #room: RoomForResponses | undefined
  readonly #gate = new Gate()
  readonly #elsewhere: ExternalStore | undefined
  readonly #locate: Locate
  /** Returns the URL of this sandbox for a URL of the vendor's real management API, and for its own URLs. */
  #relocate: ((url: string) => string | undefined) | undefined
  #takesRealMgmt = true
  readonly #disposals: (() => void)[] = []
  readonly #renewals = new Set<(by: 'reset' | 'load') => void>()
  /** The core, or `undefined` until it is first used after the creation or a reset. */
  #core: SandboxCore | undefined
  /** Whether the sandbox was disposed before it had a core. */
  #isDisposed = false
  /** Account of the memory of all forks. A fork uses the account of its original sandbox. */
  #forks: Account
  #isFork = false
  readonly #strays = new Set<string>()
  #explainToken: ExplainsToken | undefined
  /** Number of resets and loads. */
  #renewed = 0
  /**
   * Number of loads that led to the current state. If the loaded dump already had loads before it, they count too, even
   * those of another sandbox.
   */
  #loads = 0

  /**
   * @param hints advice for messages; clients of a server get other advice than tests in this process
   * @param elsewhere function that creates the data store, if the data store is outside this process
   * @param room limit of the memory for responses of destinations, on a server
   * @internal
   */
  constructor(options: SandboxOptions, hints: Hints = inProcess, elsewhere?: ExternalStore, room?: RoomForResponses) {
    this.#hints = hints
    this.#room = room
    this.#elsewhere = elsewhere
    checkOptions(options)
    if (elsewhere !== undefined && options.databases !== undefined) {
      throw new TypeError(
        'databases must be omitted with a real Redis, which has one database. Create a sandbox for each Redis, or use createSandbox({ databases }).',
      )
    }
    sandboxInternals.attach(this, {
      isUsed: () => this.#core !== undefined,
      journal: () => this.#world.journal,
      beginning: () => this.#beginning,
      placeOf: (instant) => ({ world: this.#renewed, ...cutAt(instant, this.#world, this.#renewed) }),
      explainTokens: (explain) => {
        this.#explainToken = explain
      },
      adopt: (from, inputs, prepare) => this.#takeOver(from, inputs, prepare),
      leaveRealHosts: () => {
        this.#takesRealMgmt = false
      },
    })
    this.options = options
    this.dialect = dialectOf(options.dialect ?? 'auto')
    this.policy = policyWith(options.policy)
    this.#forks = new Account(this.policy.maxForkBytes ?? Number.POSITIVE_INFINITY)
    this.urls = sandboxUrlsOf(options.urls, options.name, options.databases)
    this.#locate = locator(this.urls)
    this.#initialTokens = tokensOf(options)
    this.#seal = sealOf(options)
    this.#core = this.#coreBeforeUse()
  }

  /** Returns a core if it must exist before it is used: a real clock starts now, and so does a store elsewhere. */
  #coreBeforeUse(): SandboxCore | undefined {
    return this.options.clock === 'real' || this.#elsewhere !== undefined ? this.#build() : undefined
  }

  /** Returns the core. The first use creates it, so that a test that does not use its sandbox does not pay for it. */
  get #world(): SandboxCore {
    if (this.#core !== undefined) return this.#core
    this.#core = this.#build()
    if (this.#isDisposed) disposeCore(this.#core)
    return this.#core
  }

  /** Tokens that clients authenticate with. `store.resetPassword()` replaces the tokens of the data store. */
  get tokens(): SandboxTokens {
    if (this.#core === undefined) return this.#initialTokens
    const [first, ...added] = this.#core.databases
    const databases = Object.fromEntries(added.map((database) => [database.name, presentTokens(database)]))
    return { ...this.#initialTokens, ...presentTokens(first), databases }
  }

  /** The virtual clock: `advance`, `advanceTo`, `drain`, `pending`, `follow`. */
  get clock(): Clock {
    return this.#world.clock
  }

  /** The traffic log: every request, command, delivery and clock move, in order. */
  get traffic(): Traffic {
    return this.#world.traffic
  }

  /**
   * The message queue of the home region: messages, schedules, URL groups, flow control, dead letters, signing keys.
   * The home region is `policy.homeRegion`, or `eu-central-1`.
   */
  get queue(): Queue {
    return this.#world.queue
  }

  /**
   * Returns the message queue of a region. The regions share clock, random draws, destinations, faults and traffic log.
   * A message, deduplication ID or signing key of one region is unknown in the other.
   * @param region `us-east-1` or `eu-central-1`
   * @throws RangeError when there is no such region
   * @example expect(sandbox.queueIn('us-east-1')).toHaveDelivered({ to: 'https://shop.test/orders' })
   */
  queueIn(region: QueueRegion): Queue {
    return this.#regionAt(region).queue
  }

  /** Queues of the regions that were used. The home region is the first. */
  get queues(): readonly Queue[] {
    return this.#world.regions.used.map(({ queue }) => queue)
  }

  /** The workflows of the home region: runs with their states and results, events, and stubs of steps. */
  get workflow(): Workflow {
    return this.#world.regions.home.workflow
  }

  /**
   * Returns the workflows of a region.
   * @throws RangeError when there is no such region
   * @example sandbox.workflowIn('us-east-1').stubStep('charge').returns({ id: 'ch_1' })
   */
  workflowIn(region: QueueRegion): Workflow {
    return this.#regionAt(region).workflow
  }

  #regionAt(given: QueueRegion): Region {
    const { regions, journal } = this.#world
    const region = checkedRegion(given)
    // A dump contains only the regions that were used. The first use of a region therefore changes the state and is
    // recorded as an input.
    if (!regions.used.some(({ name }) => name === region)) journal?.note('direct', [['queueIn', region]])
    return regions.at(region)
  }

  /** Workflows of the regions that were used. The home region is the first. */
  get workflows(): readonly Workflow[] {
    return this.#world.regions.used.map(({ workflow }) => workflow)
  }

  /** The usage statistics: counted from the traffic, unless you script or override them. */
  get stats(): Stats {
    return this.#world.stats
  }

  /** The destinations of deliveries: handlers, recorders and scripts by URL. */
  get destinations(): Destinations {
    return this.#world.destinations
  }

  /**
   * The external hosts of outbound requests: handlers, recorders and scripts by URL. Deliveries of the queue go to
   * `destinations`.
   * @example sandbox.outbound.on('https://bank.test/*', () => Response.json({ id: 'ch_1' }, { status: 201 }))
   */
  get outbound(): Outbound {
    return this.#world.outbound
  }

  /**
   * The fault rules of the sandbox.
   * @example sandbox.faults.add({ on: 'queue.delivery', times: 2, fault: fault.lostAck() })
   */
  get faults(): Faults {
    return this.#world.faults
  }

  /**
   * URLs, tokens and keys in the environment variables that the SDKs read.
   * @example Object.assign(process.env, sandbox.env)
   */
  get env(): Readonly<Record<string, string>> {
    return environmentOf(this, (region) => this.#keysIn(region))
  }

  /**
   * Returns the environment variables of `env` for an app that uses an added database: with the URL and the tokens of
   * this database.
   * @throws RangeError when there is no such database
   * @example
   * using sandbox = createSandbox({ databases: ['us'] })
   * const env = sandbox.envFor({ database: 'us' })
   */
  envFor(options: { readonly database: string }): Readonly<Record<string, string>> {
    checkOptionNames('sandbox.envFor()', options, { database: true })
    return environmentOf(this, (region) => this.#keysIn(region), this.#databaseAt(options.database).name)
  }

  #keysIn(region: QueueRegion): SigningKeyPair {
    return this.#core?.regions.keysIn(region) ?? keysOf(region, homeRegionOf(this.policy), this.options)
  }

  /**
   * The data store, for direct commands. If databases were added with the option `databases`, this is the first
   * database, which has no name.
   */
  get store(): Store {
    return this.#world.store
  }

  /**
   * Returns a database that the option `databases` added. The databases share clock, destinations, faults and traffic
   * log. Each has its own keys, users, tokens, limits and random draws.
   * @param database name of the database
   * @throws RangeError when there is no such database
   * @example
   * using sandbox = createSandbox({ databases: ['eu', 'us'] })
   * expect(sandbox.storeIn('us')).not.toHaveKey('greeting')
   */
  storeIn(database: string): Store {
    return this.#databaseAt(database).store
  }

  /** All databases of the data store. The first is `store`. */
  get stores(): readonly Store[] {
    return this.#world.databases.map(({ store }) => store)
  }

  #databaseAt(given: string): StoreDatabase {
    const name = checkedDatabase(given, this.options.databases ?? [])
    return this.#world.databases.find((database) => database.name === name)!
  }

  /**
   * Returns whether a URL belongs to this sandbox. In the dialects `auto` and `upstash`, this includes every URL of the
   * vendor's management API, whose host name its clients have in their code.
   * @example
   * sandbox.owns(`${sandbox.urls.store}/get/greeting`) // true
   * sandbox.owns('https://api.upstash.com/v2/redis/databases') // true
   * sandbox.owns('https://shop.test/orders') // false
   */
  owns(url: string): boolean {
    return this.#locate(url) !== undefined || this.#inRealMgmt(url) !== undefined
  }

  /** Returns the URL of this sandbox for a URL of the vendor's real management API. */
  #inRealMgmt(url: string): string | undefined {
    if (!this.#takesRealMgmt) return undefined
    this.#relocate ??= relocator(
      this.urls,
      this.urls,
      dialectsOf(this.dialect).flatMap(({ realMgmtUrl }) => realMgmtUrl ?? []),
    )
    return this.#relocate(url)
  }

  /**
   * Processes one request as plain values and returns the response. All adapters call this method.
   * @example
   * const { status } = await sandbox.exchange({
   *   method: 'GET',
   *   url: `${sandbox.urls.store}/get/greeting`,
   *   headers: [['authorization', `Bearer ${sandbox.tokens.store}`]],
   *   body: () => '' as Bytes,
   * })
   * expect(status).toBe(200)
   */
  exchange(call: RawRequest): RawResponse | Promise<RawResponse> {
    const url = this.#locate(call.url) === undefined ? this.#inRealMgmt(call.url) : undefined
    return this.#world.exchange(url === undefined ? call : moved(call, url))
  }

  /**
   * Sends a request to the sandbox, with the signature of `fetch`. A URL of another origin is rejected, so no request
   * reaches a network.
   * It is a bound property that you can pass to clients: `new Client({ fetch: sandbox.fetch })`.
   */
  readonly fetch: (input: Request | string | URL, init?: RequestInit) => Promise<Response> = (input, init) =>
    this.#fetch(input, init)

  #fetch(input: Request | string | URL, init: RequestInit | undefined): Promise<Response> {
    const world = this.#world
    // A reset or load creates a new core. Requests that were sent before and still wait must be processed by the old
    // core.
    const exchange = (call: RawRequest): RawResponse | Promise<RawResponse> =>
      world === this.#world ? this.exchange(call) : world.exchange(call)
    return fetchThrough(this.#gate, exchange, input, init)
  }

  /**
   * Asserts the invariants of the double, such as: no message is lost, no attempt follows a success, limits are
   * respected.
   * @throws InvariantError when an invariant is violated, with its guarantee, the entries and their timeline
   * @example sandbox.assertInvariants({ except: 'signatures-verify' })
   */
  assertInvariants(options: InvariantOptions = {}): InvariantReport {
    checkInvariantOptions('sandbox.assertInvariants()', options)
    const check = this.checkInvariants(options)
    if (check.violations.length === 0) return check
    const replay = `seed ${this.traffic.context.seed}`
    const broken = new InvariantError(
      check.violations,
      (entries) => timelineAround(this, entries),
      replayLines(replay).join('\n'),
    )
    throw carryFailure(broken, {
      causes: check.violations.map(({ message: sentence }) => sentence),
      replay,
      timeline: check.violations.flatMap(({ entries }) => timelineAround(this, entries).split('\n')),
    })
  }

  /**
   * Checks the invariants as `assertInvariants()` does, but returns the violations instead of throwing.
   * @example
   * const { violations } = sandbox.checkInvariants()
   * expect(violations).toEqual([])
   */
  checkInvariants(options: InvariantOptions = {}): InvariantReport {
    return checkSandboxInvariants(this, options)
  }

  /**
   * Resets the sandbox to its start: same seed and start time, nothing stored, nothing pending. Objects that were read
   * from the sandbox before, such as its store, are outdated: matchers and direct calls warn about them.
   * @example
   * sandbox.store.run('SET', 'greeting', 'hello')
   * sandbox.reset()
   * expect(sandbox.store.get('greeting')).toBeNull()
   */
  reset(): void {
    this.#loads = 0
    this.#replace(this.#coreBeforeUse(), 'reset')
  }

  /**
   * Returns the whole state as plain JSON: data store, users, queue, signing keys, counted statistics and the time.
   * @example writeFileSync('sandbox.json', JSON.stringify(sandbox.dump()))
   */
  dump(): SandboxDump {
    const seal = this.#seal
    const queues = queuesOf(this.#world.regions)
    const databases = databasesOf({ databases: this.#world.databases, stats: this.stats })
    const version = versionOf({ ...queues, ...databases })
    const format = { format: 'stuntdouble/sandbox', version, ...(seal !== undefined && { seal }) } as const
    return { ...format, now: this.clock.now(), loads: this.#loads, ...databases, ...queues }
  }

  /**
   * Replaces the state with a dump of this or another sandbox. The sandbox continues at the later of the dump's time
   * and `at`; with a real clock, it continues at system time.
   * Timers that became due in between fire in the order of their instants. A schedule with several missed fire times
   * fires once. Deliveries that were in flight are due immediately.
   * With `rebaseTime`, the times of a dump from the future are moved back, so that the sandbox continues at `at` or
   * now.
   * A sandbox with a `secret` keeps its own tokens and keys, unless the dump has the same initial credentials.
   * @throws TypeError when the dump is invalid or, on a real clock, from the future; nothing changes then
   * @example
   * const dump = sandbox.dump()
   * using other = createSandbox()
   * other.load(dump, { at: '2030-06-01T00:00:00Z' })
   */
  load(given: SandboxDump, options: LoadOptions = {}): void {
    checkOptionNames('sandbox.load()', options, { at: true, rebaseTime: true })
    const { at, rebaseTime = false } = options
    checkDump(given, { home: homeRegionOf(this.policy), databases: this.options.databases ?? [] })
    const goesOn = resumption(given, { at, clock: this.options.clock, now: this.clock.now() })
    const dump = rebaseTime ? shiftedTo(given, goesOn) : given
    if (this.options.clock === 'real') rejectAhead(dump, goesOn)
    const loads = dump.loads + 1
    // Copy the dump: the caller may change it, and a fork needs it again.
    const loaded = { dump: JSON.parse(JSON.stringify(dump)) as SandboxDump, goesOn }
    const world = this.#filled({ startAt: dump.now, loads, loaded })
    this.#loads = loads
    this.#replace(world, 'load')
  }

  /** Creates a new core. If `start` has a dump, loads the dump. */
  #filled(start: CoreState, options?: SandboxOptions): SandboxCore {
    const world = this.#build(start, options)
    if (start.loaded !== undefined) {
      const { dump, goesOn } = start.loaded
      loadInto(world, this.#seal === undefined || this.#seal === dump.seal ? dump : withoutCredentials(dump, world))
      goOn(world.clock, goesOn)
    }
    world.begin()
    return world
  }

  /**
   * Returns a read-only view of the data store and the log at an earlier instant.
   * @param instant an instant, a duration before now such as `-5m`, or `{ seq }` for the position after a log entry
   * @throws RangeError when the instant is in the future, or older than the log
   * @throws Error when the sandbox has no journal, or its journal reached its size limit
   * @example
   * const before = sandbox.asOf('-5m')
   * before.store.get('stock')
   */
  asOf(instant: PastInstant): PastSandbox<Sandbox> {
    const world = this.#world
    const { journal, traffic, databases } = world
    const cut = cutAt(instant, world, this.#renewed)
    const fork = async (options: Omit<ForkOptions, 'at'>): Promise<Sandbox> => {
      checkFork(options, 'at')
      checkThere(cut, world, this.#world)
      return this.#gate.leaving(this.#fork(options, cut))
    }
    return pastSandbox({
      asOf: asOf(cut, journal!, traffic),
      histories: new Map(databases.map(({ name, history }) => [name, history])),
      traffic,
      fork,
      check: () => checkJournaled(journal!),
    })
  }

  /**
   * Creates a sandbox that continues from an instant of this one, or from now: same store, messages, timers and draws.
   * The past is replayed from the journal without calling handlers. A delivery that was in flight gets its recorded
   * response at the recorded instant, once time moves or `clock.settle()` is awaited. Later deliveries go to the
   * handlers that were registered at that instant, or to the handlers in `destinations`. A fork has a manual clock, and
   * reaches no network without a `fetch` of its own.
   * @param options.at an instant, a duration before now such as `-5m`, or `{ seq }` for the position after a log entry
   * @throws RangeError when the instant is in the future, or older than the log
   * @throws Error when the sandbox has no journal, or when its forks exceed `policy.maxForkBytes`
   * @example
   * using earlier = await sandbox.fork({ at: '-5m' })
   * await earlier.clock.drain()
   */
  async fork(options: ForkOptions = {}): Promise<Sandbox> {
    checkFork(options)
    return this.#gate.leaving(this.#fork(options, cutAt(options.at, this.#world, this.#renewed)))
  }

  async #fork(options: Omit<ForkOptions, 'at'>, { end, at }: JournalCut): Promise<Sandbox> {
    const { journal, start, traffic } = this.#world
    const stand = journal!.attach
    const { length } = journal!.inputs
    // Estimate of the size of the fork's journal. The fork keeps the inputs of this journal that it replays.
    this.#checkForks(length === 0 ? 0 : (journal!.held * end) / length)
    const { destinations, fetch, deliverTo: deliver, name = this.options.name } = options
    const { fetch: _, startAt, ...own } = this.options
    const fork = new Sandbox(
      {
        ...own,
        clock: 'manual',
        signatureWindow: signatureWindowOf(this.options),
        ...(startAt !== undefined && { startAt }),
        ...(name !== this.options.name && {
          name,
          urls: { ...this.options.urls, ...this.urls },
          ...credentialsOf(this.options),
        }),
        ...(fetch !== undefined && { fetch }),
        ...(deliver !== undefined && { deliverTo: deliver }),
      },
      this.#hints,
      undefined,
      this.#room,
    )
    fork.#forks = this.#forks
    fork.#isFork = true
    await fork.#become(
      {
        start: {
          ...start,
          startAt: start.startAt ?? journal!.begunAt,
          options: start.options ?? this.options,
        },
        inputs: journal!.copy(),
        end,
        entered: end === journal!.inputs.length ? journal!.entered : 0,
        attach: stand,
        at,
        entries: traffic.entries,
        fork: { name, fetch, deliver: fork.options.deliverTo },
      },
      this,
    )
    try {
      this.#checkForks(0)
    } catch (error) {
      fork.dispose()
      throw error
    }
    if (destinations !== undefined) replaceDestinations(fork, journal!.inputs, destinations)
    fork.#loads = this.#loads
    fork.#seal = this.#seal
    return fork
  }

  /**
   * Checks that the forks of this sandbox have enough memory left for a new fork.
   * @param bytes estimated size of the new fork
   * @throws Error when all forks together would exceed their limit
   */
  #checkForks(bytes: number): void {
    if (bytes <= this.#forks.left) return
    throw new Error(
      `sandbox.fork(): the forks of this sandbox together would exceed policy.maxForkBytes (${this.#forks.limit}; in use: ${this.#forks.held}). ` +
        "Dispose unused forks with fork.dispose() or 'using', or raise policy.maxForkBytes.",
    )
  }

  async #become({ start, inputs, ...past }: Past, origin: Sandbox): Promise<void> {
    const publishers = origin.destinations
    const { databases: lenders, log: lent } = origin.#world
    await this.#played(start, start.options ?? origin.options, async ({ journal, destinations, databases, log }) => {
      destinationsInternals.of(destinations).inherit(publishers)
      for (const [index, { executions }] of databases.entries()) executions.borrow(lenders[index]!.executions)
      await replayOf(this, journal!, inputs).play(past)
      for (const { executions } of databases) executions.borrow(undefined)
      log.shareWith(lent)
      destinationsInternals.of(destinations).settleIn()
    })
  }

  get #beginning(): SandboxOrigin {
    const { start, journal } = this.#world
    return { world: this.#renewed, start: { ...start, startAt: start.startAt ?? journal?.begunAt } }
  }

  async #takeOver(
    { world, start }: SandboxOrigin,
    inputs: InputColumns,
    prepare: (journal: InputJournal) => void,
  ): Promise<void> {
    this.#renewed = world
    this.#loads = start.loads ?? 0
    await this.#played(start, this.options, async ({ journal }) => {
      prepare(journal!)
      await replayOf(this, journal!, inputs).adopt()
    })
  }

  /**
   * Creates a new core and replays a recording into it. The original sandbox has already printed all warnings of the
   * recording, so warnings of the replay are dropped.
   */
  async #played(start: CoreState, options: SandboxOptions, play: (world: SandboxCore) => Promise<void>): Promise<void> {
    let isQuiet = true
    const { onWarning: warn = console.warn } = options
    const told = (sentence: string): void => {
      if (!isQuiet) warn(sentence)
    }
    if (this.#core !== undefined) disposeCore(this.#core)
    this.#core = this.#filled(start, { ...options, onWarning: told })
    // The gate closes after many responses, so that an app that awaits responses in a loop cannot block the host. A
    // replay has no such app, so the gate must stay open.
    const { every } = this.#gate
    this.#gate.every = Number.POSITIVE_INFINITY
    try {
      await play(this.#world)
    } catch (error) {
      this.dispose()
      throw error
    }
    this.#gate.every = every
    isQuiet = false
  }

  /**
   * Returns the object that matchers read, which is this sandbox. A remote sandbox returns a copy of its state instead.
   * The same test code therefore works with both.
   * @example expect(await sandbox.snapshot()).toBeIdle()
   */
  snapshot(): this {
    return this
  }

  #build(start: CoreState = { startAt: this.#start }, options: SandboxOptions = this.options): SandboxCore {
    const { dialect, policy, urls, fetch: answer } = this
    const [locate, tokens, hints, elsewhere] = [this.#locate, this.#initialTokens, this.#hints, this.#elsewhere]
    const gate = this.#gate
    const heard = dialectsSeen(this.options)
    const strays = (): readonly string[] => this.realHostRequests
    const explainToken: ExplainsToken = (service, token) => this.#explainToken?.(service, token)
    return createCore(
      {
        options,
        dialect,
        policy,
        addresses: urls,
        locate,
        tokens,
        hints,
        answer,
        elsewhere,
        strays,
        explainToken,
        heard,
        gate,
        forks: this.#isFork ? this.#forks : undefined,
        room: this.#room,
      },
      start,
    )
  }

  /** Start time of a new core; `undefined` with a real clock, which starts at system time. */
  get #start(): Instant | undefined {
    return this.options.clock === 'real' ? undefined : (this.options.startAt ?? defaultStart)
  }

  #replace(core: SandboxCore | undefined, by: 'reset' | 'load'): void {
    if (this.#core !== undefined) {
      disposeCore(this.#core)
      this.#core.replacement.happened(by)
    }
    this.#core = core
    this.#isDisposed = false
    this.#renewed++
    for (const renewed of [...this.#renewals]) renewed(by)
  }

  /**
   * Registers a callback that is called after each reset or load. Returns a function that removes the callback.
   * @example
   * const stop = sandbox.onReset((by) => console.log(by))
   * sandbox.reset() // prints 'reset'
   * stop()
   */
  onReset(renewed: (by: 'reset' | 'load') => void): () => void {
    this.#renewals.add(renewed)
    return () => this.#renewals.delete(renewed)
  }

  /** Messages about requests to real hosts of the service. Adapters block these requests. */
  get realHostRequests(): readonly string[] {
    return [...this.#strays]
  }

  /**
   * Adds a message about a blocked request to a real host. Adapters call this function. It is bound to the sandbox, so
   * that it can be passed on.
   * @internal
   */
  readonly noteStray: (sentence: string) => void = (sentence) => void this.#strays.add(sentence)

  /**
   * Whether adapters let requests to the vendor's real hosts pass, by default.
   * @internal
   */
  get allowsRealHosts(): boolean {
    return !this.#takesRealMgmt
  }

  /**
   * Registers a callback that is called when the sandbox is disposed. The last registered callback is called first.
   * Returns a function that removes the callback.
   * @example
   * const other = createSandbox()
   * other.onDispose(() => console.log('disposed'))
   * other.dispose()
   */
  onDispose(end: () => void): () => void {
    this.#disposals.push(end)
    return () => {
      const at = this.#disposals.lastIndexOf(end)
      if (at >= 0) this.#disposals.splice(at, 1)
    }
  }

  /**
   * Stops the clock and removes every interception of requests. `using` calls it at the end of a scope.
   * @example
   * const other = createSandbox()
   * other.dispose()
   */
  dispose(): void {
    while (this.#disposals.length > 0) this.#disposals.pop()!()
    if (this.#core === undefined) this.#isDisposed = true
    else disposeCore(this.#core)
  }

  [Symbol.dispose](): void {
    this.dispose()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose()
  }
}
