import { Callers } from '../calls/callers.js'
import { Outbound } from '../calls/outbound.js'
import { Account } from '../kernel/account.js'
import {
  accompany,
  Clock,
  forgottenAdvance,
  letOutsideContinue,
  mindForgottenAdvance,
  positionOf,
  stop,
} from '../kernel/clock.js'
import { InputJournal } from '../kernel/input-journal.js'
import { InputRecorder } from '../kernel/input-recorder.js'
import { type Instant, instant } from '../kernel/instant.js'
import { once } from '../kernel/once.js'
import { createRandom, type Random } from '../kernel/random.js'
import { Replacement } from '../kernel/replacement.js'
import { SandboxDisposed } from '../kernel/running-task.js'
import { TrafficLog } from '../kernel/traffic-log.js'
import type { WarnOnce } from '../kernel/warn-once.js'
import { dialectsOf, vendorOf } from '../protocol/dialect.js'
import { createGateway } from '../protocol/gateway.js'
import type { Exchange, Service } from '../protocol/service.js'
import { Destinations, destinationsInternals } from '../queue/destinations/destinations.js'
import { leastParallel, Network, ownRoom } from '../queue/destinations/network.js'
import type { Queue } from '../queue/direct-queue.js'
import { planOf } from '../queue/settings/queue-plan.js'
import { runsOf } from '../report/run-lifecycles.js'
import { runText } from '../report/run-text.js'
import { sumOfCosts, type TrafficContext } from '../report/traffic-context.js'
import { Traffic } from '../report/traffic-view.js'
import { Faults } from '../rules/fault-rules.js'
import { payAsYouGo, unmetered } from '../stats/reports.js'
import type { AccountFacts } from '../stats/rest/account-objects.js'
import { statsService } from '../stats/rest/stats-endpoints.js'
import { Stats } from '../stats/statistics.js'
import type { ObservedStore } from '../stats/store-ledger.js'
import { AccessControl, type Tokens } from '../store/access/access-control.js'
import type { User } from '../store/access/user.js'
import { Store } from '../store/direct-store.js'
import { historyInternals } from '../store/history/history-internals.js'
import { StoreHistory } from '../store/history/store-history.js'
import { sizesAt } from '../store/keyspace/measure.js'
import { ScanCursors } from '../store/keyspace/scan-cursors.js'
import { LoggedStore } from '../store/logged-store.js'
import { storeService } from '../store/rest/store-endpoints.js'
import type { RestStore } from '../store/rest/store-front.js'
import { StoreEngine } from '../store/store-engine.js'
import { storeInternals } from '../store/store-internals.js'
import type { Base, CorePlan, Outside } from './core-plan.js'
import { type DatabaseTokens, keysOf, type SandboxTokens, secretDraws, secretTokens } from './credentials.js'
import { type DatabasePlan, databasePlans, type StoreDatabase } from './databases.js'
import { type RegionBase, regionOf } from './region-of.js'
import { homeRegionOf, Regions } from './regions.js'
import type { SandboxDump } from './sandbox-dump.js'
import type { SandboxOptions } from './sandbox-options.js'

/** The parts of a sandbox that a reset or load replaces. */
export interface SandboxCore {
  readonly clock: Clock
  readonly random: Random
  readonly traffic: Traffic
  readonly store: Store
  readonly destinations: Destinations
  readonly outbound: Outbound
  readonly faults: Faults
  readonly queue: Queue
  readonly regions: Regions
  readonly stats: Stats
  readonly exchange: Exchange
  /** Recorded inputs, or `undefined` if the sandbox has no journal. */
  readonly journal: InputJournal | undefined
  /** Whether a reset or load replaced this core. */
  readonly replacement: Replacement
  readonly start: CoreState
  /** Account of the memory that the log and the journal use. */
  readonly kept: Account
  /** The whole traffic log. */
  readonly log: TrafficLog
  /** The databases of the data store. The first one has no name. */
  readonly databases: readonly [StoreDatabase, ...StoreDatabase[]]
  /** Starts recording inputs. Called after all parts have been created. */
  begin(): void
}

export interface CoreState {
  readonly startAt?: Instant | undefined
  /**
   * Number of dumps that were loaded before. IDs depend on this number, so that new IDs differ from the IDs in the
   * dumps.
   */
  readonly loads?: number
  /** If the core is a fork: options of the original sandbox. */
  readonly options?: SandboxOptions
  /** The dump to load, and the instant from which time continues. */
  readonly loaded?: { readonly dump: SandboxDump; readonly goesOn: number }
}

/**
 * Maximum share of a sandbox's memory that its journal may use. The log can drop entries, but an incomplete journal is
 * useless.
 */
const journalShare = 3 / 8

type Warn = NonNullable<SandboxOptions['onWarning']>

const toConsole: Warn = (sentence) => console.warn(sentence)

function warnOf({ onWarning: warn = toConsole }: SandboxOptions): Warn {
  return warn
}

/**
 * Warnings that were already printed, by the function that receives warnings. A process with many sandboxes therefore
 * prints each warning only once.
 */
const heardBy = new WeakMap<Warn, Set<string>>()

export function dialectsSeen(options: SandboxOptions): Set<string> {
  const warn = warnOf(options)
  const heard = heardBy.get(warn) ?? new Set()
  heardBy.set(warn, heard)
  return heard
}

function warnOnceOf({ options, heard }: CorePlan): WarnOnce {
  return (about, sentence) => {
    if (heard.has(about)) return
    heard.add(about)
    warnOf(options)(sentence)
  }
}

export function createCore(plan: CorePlan, start: CoreState = {}): SandboxCore {
  const base = baseOf(plan, start)
  const { clock, random, traffic, journal, replacement } = base
  const outside = outsideOf(plan, base)
  const { faults } = outside
  const { databases: names = [] } = plan.options
  const plans = databasePlans(names, traffic, (name) => storeTokensOf(plan.tokens, name))
  const [database, ...added] = plans
  const databases = [
    databaseOf(database, plan, { ...base, faults, start }),
    ...added.map((one) => databaseOf(one, plan, { ...base, faults, start })),
  ] as const
  const [first] = databases
  const { store } = first
  const regions = regionsOf(plan, base, outside, {
    story: (runId) => storyOfRun(view, runId),
    onSplit: (log) => void new Traffic(log, context),
  })
  accompany(clock, { log: traffic, ...(journal && { journal }) })
  const stats = statisticsOf(plan, base, regions, databases)
  const elsewhere = plan.elsewhere?.(first.service as Service<RestStore, User>)
  const account = accountOf(plan, base, databases)
  const { mgmtUser: user, mgmtKey: key } = plan.tokens
  const services = {
    store: (elsewhere?.service ?? first.service) as Service,
    stats: once(() => statsService(stats, { user, key, account }) as Service),
  }
  const exchange = gatewayOf(plan, base, { faults, regions, databases, services })
  elsewhere?.attach(store)
  const views: Traffic[] = []
  const context = { ...contextOf(plan, clock, { ...outside, databases, regions }), replacement, databases: () => views }
  const view = new Traffic(traffic, context, 0, new Map(), new InputRecorder(base, 'traffic'))
  if (names.length > 0) {
    for (const { name, store } of databases) {
      const database = name === undefined ? {} : { database: name }
      const own = { ...context, ...database, databases: () => [], store, spend: () => store.cost() }
      views.push(new Traffic(store.traffic, own))
    }
  }
  return {
    clock,
    random,
    traffic: view,
    store,
    ...outside,
    get queue() {
      return regions.home.queue
    },
    regions,
    stats,
    exchange,
    journal,
    replacement,
    start,
    kept: base.kept,
    log: traffic,
    databases,
    begin() {
      journal?.begin()
      for (const { executions } of databases) executions.begin()
    },
  }
}

function baseOf(plan: CorePlan, { startAt, loads = 0 }: CoreState): Base {
  const { options, policy } = plan
  const { seed = 1 } = options
  const clock = clockOf(plan, startAt)
  const kept = new Account(policy.maxTrafficBytes ?? Number.POSITIVE_INFINITY, plan.forks)
  const traffic = new TrafficLog(clock, { entries: policy.maxTrafficEntries, bytes: kept })
  return {
    clock,
    random: createRandom(loads === 0 ? seed : `${seed}/load ${loads}`),
    cursors: (stream) => new ScanCursors(createRandom(seed).fork(`store${stream}`).fork('cursor'), loads),
    kept,
    traffic,
    journal: options.journal === false ? undefined : journalOf(clock, traffic),
    replacement: new Replacement(warnOnceOf(plan)),
    draws: secretDraws(options)?.fork(`load ${loads}`),
  }
}

function clockOf({ options, hints, gate }: CorePlan, startAt: Instant | undefined): Clock {
  return new Clock({
    ...(startAt !== undefined && { startAt: instant(startAt) }),
    mode: options.clock ?? 'manual',
    ...(options.onWarning && { warn: options.onWarning }),
    hints,
    gate,
  })
}

function journalOf(clock: Clock, traffic: TrafficLog): InputJournal {
  return new InputJournal(positionOf(clock), traffic, traffic.share(journalShare))
}

function outsideOf(plan: CorePlan, base: Base): Outside {
  const { clock, random, traffic } = base
  const { options, policy, hints } = plan
  const callers = new Callers()
  const network = new Network(plan.room ?? ownRoom(), Math.max(leastParallel, planOf(policy).globalParallelism))
  const faults = new Faults(
    {
      now: () => clock.now(),
      random: random.fork('faults'),
      traffic,
      tenant: options.name,
      databases: options.databases ?? [],
      withoutDatabases: hints.databases,
    },
    new InputRecorder(base, 'faults'),
  )
  const calls = new Outbound({
    clock,
    traffic,
    faults,
    random: random.fork('calls'),
    callers,
    inputs: new InputRecorder(base, 'outbound'),
    patience: policy.handlerStallTimeout,
    hints,
    network,
  })
  return { destinations: destinationsOf(plan, network, callers, base), outbound: calls, faults }
}

/**
 * Creates the two regions.
 * @param reports.story returns the lifecycle of a workflow run as text
 * @param reports.onSplit called with the log of each region when the second region is created
 */
function regionsOf(
  plan: CorePlan,
  base: Base,
  outside: Outside,
  { story, onSplit }: Pick<RegionBase, 'story'> & { readonly onSplit: (log: TrafficLog) => void },
): Regions {
  const { options, policy } = plan
  const home = homeRegionOf(policy)
  return new Regions(
    home,
    base.traffic,
    (name) => keysOf(name, home, options),
    (region) => regionOf(region, plan, { ...base, ...outside, story }),
    onSplit,
  )
}

function statisticsOf(
  { options, policy }: CorePlan,
  base: Base,
  regions: Regions,
  [first, ...added]: SandboxCore['databases'],
): Stats {
  const { traffic, clock, random } = base
  const stats = new Stats(
    {
      traffic,
      now: () => clock.now(),
      database: options.name,
      store: observed(first),
      databases: new Map(added.map((database) => [database.name!, observed(database)])),
      deadLetters: () => regions.deadLetters,
      price: policy.queuePlan === 'payg' ? payAsYouGo : unmetered,
      random: random.fork('stats'),
    },
    new InputRecorder(base, 'stats'),
  )
  first.executions.store.meter.listener = stats.store.ledger
  for (const { name, executions } of added) executions.store.meter.listener = stats.storeIn(name!).ledger
  return stats
}

function observed({ executions: { store } }: StoreDatabase): ObservedStore {
  return {
    sizes: (instants) => sizesAt(store.db, instants),
    connections: () => store.connections,
    monitors: () => store.pubsub.monitors.size,
  }
}

/** Facts of the account that the lists of the management API show. */
function accountOf(
  { policy, tokens, addresses }: CorePlan,
  { clock }: Base,
  databases: SandboxCore['databases'],
): AccountFacts {
  return {
    createdAt: clock.now(),
    now: () => clock.now(),
    addresses,
    region: homeRegionOf(policy),
    plan: policy.queuePlan,
    queueLimits: planOf(policy),
    policy,
    tokens: () => tokens,
    databases: databases.map((database) => ({
      address: database.name === undefined ? addresses.store : addresses.databases[database.name]!,
      tokens: () => presentTokens(database),
      cost: () => database.executions.store.meter.spend(),
    })),
  }
}

function gatewayOf(
  { locate, dialect, options, explainToken }: CorePlan,
  { clock, traffic, journal }: Base,
  {
    faults,
    regions,
    databases: [, ...added],
    services,
  }: Pick<SandboxCore, 'faults' | 'regions' | 'databases'> & {
    readonly services: { readonly store: Service; readonly stats: () => Service }
  },
): Exchange {
  const stores = new Map(added.map(({ name, service }) => [name, service]))
  return createGateway({
    locate,
    dialect,
    warn: warnOf(options),
    serviceAt({ service, region, database }) {
      if (service === 'queue') return regions.at(region ?? regions.homeName).service
      if (service === 'stats') return services.stats()
      return database === undefined ? services.store : stores.get(database)!
    },
    homeRegion: regions.homeName,
    clock,
    traffic,
    faults,
    journal,
    explainToken,
  })
}

/** Data that reports need in addition to the log. */
function contextOf(
  { options, dialect, policy, addresses, tokens, strays }: CorePlan,
  clock: Clock,
  { databases, regions, ...outside }: Outside & Pick<SandboxCore, 'databases' | 'regions'>,
): TrafficContext {
  const [{ store }, ...added] = databases
  const { databases: urls, ...others } = addresses
  return {
    seed: options.seed ?? 1,
    now: () => clock.now(),
    clock: options.clock ?? 'manual',
    homeRegion: homeRegionOf(policy),
    ...(dialect.both === undefined && { headerPrefix: dialect.headerPrefix }),
    addresses: added.length === 0 ? others : { ...others, databases: urls },
    secrets: () => secretsOf(tokens, databases, regions),
    world: () => ({
      realHostRequests: strays(),
      ...outside,
      workflows: regions.created.map(({ workflow }) => workflow),
    }),
    store,
    spend: () => sumOfCosts(databases.map((database) => database.store.cost())),
    followed: () => clock.isFollowed,
    waits: () =>
      forgottenAdvance(
        clock,
        databases.flatMap(({ executions }) => executions.store.waiting.names),
      ),
  }
}

function historyOf(
  { name, stream }: DatabasePlan,
  { options, policy, dialect }: CorePlan,
  { start: { loaded }, random, clock }: Pick<SandboxCore, 'start' | 'random' | 'clock'>,
  executions: LoggedStore,
): StoreHistory {
  const dump = name === undefined ? loaded?.dump : loaded?.dump.databases?.[name]
  const filled = dump && { stored: dump.store, functions: dump.functions }
  const { cursors } = executions.store
  const { embed } = options
  const own = { cursors, random: () => random.fork(`store${stream}`), at: clock.now() }
  const beginning = { policy, docs: dialect.docs, embed, ...own, ...filled }
  return new StoreHistory(beginning, () => executions.ran)
}

/** Formats the lifecycle of a workflow run, step by step. */
function storyOfRun(traffic: Traffic, runId: string): string {
  const run = runsOf(traffic.entries).findLast(({ id }) => id === runId)
  return run === undefined ? '' : runText(run, traffic.redaction())
}

/** Ends the event streams and cancels everything that is scheduled. */
export function disposeCore({ databases, clock, kept, destinations }: SandboxCore): void {
  kept.leave()
  destinationsInternals.of(destinations).end()
  for (const { store } of databases) {
    const { engine, connections } = storeInternals.of(store)
    engine.pubsub.close()
    engine.waiting.close(() => new SandboxDisposed())
    connections?.retire()
  }
  stop(clock)
}

/** Returns every present and former token and key, for redaction. */
function secretsOf(tokens: SandboxTokens, databases: readonly StoreDatabase[], regions: Regions): readonly string[] {
  const present = databases.map(presentTokens).flatMap(({ store, storeReadonly }) => [store, storeReadonly])
  return [...secretTokens(tokens), ...present, ...regions.secrets]
}

/** Returns the initial tokens of a database. */
function storeTokensOf(tokens: SandboxTokens, name: string | undefined): Tokens {
  const { store: standard, storeReadonly: readOnly } = name === undefined ? tokens : tokens.databases[name]!
  return { standard, readOnly }
}

/** Returns the tokens that a database has now. */
export function presentTokens({ executions }: StoreDatabase): DatabaseTokens {
  const { standard, readOnly } = executions.store.access.tokens
  return { store: standard, storeReadonly: readOnly }
}

/** Creates one database of the data store. */
function databaseOf(
  database: DatabasePlan,
  plan: CorePlan,
  base: Base & Pick<SandboxCore, 'faults' | 'start'>,
): StoreDatabase {
  const { name, stream } = database
  const { clock, faults } = base
  const draws = stream === '' ? base.draws : base.draws?.fork(stream)
  const executions = executionsOf(database, plan, { ...base, draws })
  const service = storeService(executions, clock, faults)
  const inputs = new InputRecorder(base, name === undefined ? 'store' : ['storeIn', name])
  const store = new Store(executions, service.state, inputs, draws)
  const history = historyOf(database, plan, base, executions)
  historyInternals.attach(store, history)
  return { name, store, executions, service: service as Service, history }
}

function executionsOf(
  { name, stream, tokens, traffic }: DatabasePlan,
  plan: CorePlan,
  { clock, random, cursors, draws = random, journal }: Base,
): LoggedStore {
  const { options, policy, dialect } = plan
  const engine = new StoreEngine({
    database: name,
    clock,
    random: random.fork(`store${stream}`),
    cursors: cursors(stream),
    access: new AccessControl(tokens, draws.fork(`acl${stream}`)),
    policy,
    embed: options.embed,
    docs: dialect.docs,
    nativeDocs: vendorOf(dialect).docs,
    answered: () => letOutsideContinue(clock),
    awaited: (command, isWaiting) => mindForgottenAdvance(clock, command, isWaiting),
    warnOnce: warnOnceOf(plan),
  })
  return new LoggedStore(engine, traffic, journal)
}

function destinationsOf(
  { options, dialect, policy, addresses, answer, hints, room }: CorePlan,
  network: Network,
  callers: Callers,
  base: Base,
): Destinations {
  const destinations = new Destinations({
    callers,
    inputs: new InputRecorder(base, 'destinations'),
    hints,
    network,
    fetch: options.fetch,
    deliver: options.deliverTo,
    refusedHosts: dialectsOf(dialect).flatMap(({ productionHosts }) => productionHosts),
    unhandled: policy.unhandledDestination,
    followRedirects: policy.followRedirects,
  })
  // A message can have a command of the store or a publish as its destination. So the queue must be able to deliver to
  // the services of this sandbox.
  const own = [addresses.store, addresses.queue, ...Object.values(addresses.regions)]
  for (const address of new Set([...own, ...Object.values(addresses.databases)])) {
    destinationsInternals.of(destinations).serveOwn(`${address}/*`, answer, room === undefined ? undefined : 'in turn')
  }
  return destinations
}
