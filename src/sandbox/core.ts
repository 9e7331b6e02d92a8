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
import type { Gate } from '../kernel/gate.js'
import type { Hints } from '../kernel/hints.js'
import { InputJournal } from '../kernel/input-journal.js'
import { InputRecorder } from '../kernel/input-recorder.js'
import { type Instant, instant } from '../kernel/instant.js'
import { createRandom, type Random } from '../kernel/random.js'
import { SandboxDisposed } from '../kernel/running-task.js'
import { TrafficLog } from '../kernel/traffic-log.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import type { Locate, SandboxUrls } from '../protocol/address.js'
import { type Dialect, dialectsOf, vendorOf } from '../protocol/dialect.js'
import { createGateway, type ExplainsToken } from '../protocol/gateway.js'
import type { Exchange, Service } from '../protocol/service.js'
import { Destinations, destinationsInternals } from '../queue/destinations/destinations.js'
import { leastParallel, Network, ownRoom, type RoomForResponses } from '../queue/destinations/network.js'
import { Queue } from '../queue/direct-queue.js'
import { QueueEngine } from '../queue/queue-engine.js'
import { queueService } from '../queue/rest/queue-endpoints.js'
import { planOf } from '../queue/settings/queue-plan.js'
import { runsOf } from '../report/run-lifecycles.js'
import { runText } from '../report/run-text.js'
import type { TrafficContext } from '../report/traffic-context.js'
import { Traffic } from '../report/traffic-view.js'
import { Faults } from '../rules/fault-rules.js'
import { payAsYouGo, unmetered } from '../stats/reports.js'
import type { AccountFacts } from '../stats/rest/account-objects.js'
import { statsService } from '../stats/rest/stats-endpoints.js'
import { Stats } from '../stats/statistics.js'
import { AccessControl } from '../store/access/access-control.js'
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
import { Workflow } from '../workflow/direct-workflows.js'
import { workflowEndpoints } from '../workflow/rest/workflow-endpoints.js'
import { WorkflowEngine } from '../workflow/workflow-engine.js'
import { awayKeysOf, type SandboxTokens, secretDraws, signingKeysOf } from './credentials.js'
import { queueDialectsOf } from './queue-dialects.js'
import { homeRegionOf, type Region, type RegionPlan, Regions } from './regions.js'
import type { SandboxDump } from './sandbox-dump.js'
import { type SandboxOptions, signatureWindowOf } from './sandbox-options.js'

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
  readonly start: CoreState
  /** Account of the memory that the log and the journal use. */
  readonly kept: Account
  readonly executions: LoggedStore
  /** Earlier values of the data store, with the times at which they changed. */
  readonly history: StoreHistory
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

export function createCore(plan: CorePlan, start: CoreState = {}): SandboxCore {
  const base = baseOf(plan, start)
  const { clock, random, traffic, journal, draws } = base
  const outside = outsideOf(plan, base)
  const { faults } = outside
  const executions = storeOf(plan, base)
  const regions = regionsOf(plan, base, outside, (runId) => storyOfRun(view, runId))
  accompany(clock, { log: traffic, ...(journal && { journal }) })
  const stats = statisticsOf(plan, base, regions, executions)
  const stored = storeService(executions, clock, faults)
  const elsewhere = plan.elsewhere?.(stored)
  const exchange = gatewayOf(plan, base, faults, regions, [
    elsewhere?.service ?? stored,
    regions.home.service,
    statsService(stats, {
      user: plan.tokens.mgmtUser,
      key: plan.tokens.mgmtKey,
      account: accountOf(plan, base, executions),
    }),
  ] as Service[])
  const store = new Store(executions, stored.state, new InputRecorder(journal, 'store'), draws)
  elsewhere?.attach(store)
  const context = contextOf(plan, clock, { ...outside, store, executions, regions })
  const view = new Traffic(traffic, context, 0, new Map(), new InputRecorder(journal, 'traffic'))
  regions.onSplit = (log) => void new Traffic(log, context)
  const history = historyOf(plan, start, random, executions, clock.now())
  historyInternals.attach(store, history)
  return {
    clock,
    random,
    traffic: view,
    store,
    ...outside,
    queue: regions.home.queue,
    regions,
    stats,
    exchange,
    journal,
    start,
    kept: base.kept,
    executions,
    history,
    begin() {
      journal?.begin()
      executions.begin()
    },
  }
}

/** Parts of the core that must exist before the other parts are created. */
interface Base {
  readonly clock: Clock
  readonly random: Random
  readonly cursors: ScanCursors
  readonly kept: Account
  readonly traffic: TrafficLog
  readonly journal: InputJournal | undefined
  /** Random source for tokens and keys that are created later; `undefined` if the sandbox has no secret. */
  readonly draws: Random | undefined
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
    cursors: new ScanCursors(createRandom(seed).fork('store').fork('cursor'), loads),
    kept,
    traffic,
    journal: options.journal === false ? undefined : journalOf(clock, traffic),
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

/** Fault rules, and the parts through which the sandbox reaches other hosts. */
type Outside = Pick<SandboxCore, 'destinations' | 'outbound' | 'faults'>

function outsideOf(plan: CorePlan, { clock, random, traffic, journal }: Base): Outside {
  const { options, policy, hints } = plan
  const callers = new Callers()
  const network = new Network(plan.room ?? ownRoom(), Math.max(leastParallel, planOf(policy).globalParallelism))
  const faults = new Faults(
    { now: () => clock.now(), random: random.fork('faults'), traffic, tenant: options.name },
    new InputRecorder(journal, 'faults'),
  )
  const calls = new Outbound({
    clock,
    traffic,
    faults,
    random: random.fork('calls'),
    callers,
    inputs: new InputRecorder(journal, 'outbound'),
    patience: policy.handlerStallTimeout,
    hints,
    network,
  })
  return { destinations: destinationsOf(plan, network, callers, journal), outbound: calls, faults }
}

/** Creates the two regions. @param story function that returns the lifecycle of a workflow run as text */
function regionsOf(plan: CorePlan, base: Base, outside: Outside, story: (runId: string) => string): Regions {
  const { options, policy } = plan
  const home = homeRegionOf(policy)
  return new Regions(
    home,
    base.traffic,
    (name) => (name === home ? signingKeysOf(options) : awayKeysOf(options)),
    (region) => regionOf(region, plan, { ...base, ...outside, story }),
  )
}

function statisticsOf(
  { options, policy }: CorePlan,
  { traffic, clock, random, journal }: Base,
  regions: Regions,
  { store }: LoggedStore,
): Stats {
  const stats = new Stats(
    {
      traffic,
      now: () => clock.now(),
      database: options.name,
      store: {
        sizes: (instants) => sizesAt(store.db, instants),
        connections: () => store.connections,
        monitors: () => store.pubsub.monitors.size,
      },
      deadLetters: () => regions.deadLetters,
      price: policy.queuePlan === 'payg' ? payAsYouGo : unmetered,
      random: random.fork('stats'),
    },
    new InputRecorder(journal, 'stats'),
  )
  store.meter.listener = stats.store.ledger
  return stats
}

/** Facts of the account that the lists of the management API show. */
function accountOf({ policy, tokens, addresses }: CorePlan, { clock }: Base, { store }: LoggedStore): AccountFacts {
  return {
    createdAt: clock.now(),
    now: () => clock.now(),
    addresses,
    region: homeRegionOf(policy),
    plan: policy.queuePlan,
    queueLimits: planOf(policy),
    policy,
    tokens: () => ({ ...tokens, store: store.access.tokens.standard, storeReadonly: store.access.tokens.readOnly }),
    cost: () => store.meter.spend(),
  }
}

function gatewayOf(
  { locate, dialect, options, explainToken }: CorePlan,
  { clock, traffic, journal }: Base,
  faults: Faults,
  regions: Regions,
  services: readonly Service[],
): Exchange {
  return createGateway({
    locate,
    dialect,
    warn: warnOf(options),
    services,
    clock,
    traffic,
    faults,
    journal,
    explainToken,
    regions: { home: regions.home.name, serviceAt: (name) => regions.at(name).service },
  })
}

/** Data that reports need in addition to the log. */
function contextOf(
  { options, dialect, addresses, tokens, strays }: CorePlan,
  clock: Clock,
  { store, executions, regions, ...outside }: Outside & Pick<SandboxCore, 'store' | 'executions' | 'regions'>,
): TrafficContext {
  return {
    seed: options.seed ?? 1,
    now: () => clock.now(),
    ...(dialect.both === undefined && { headerPrefix: dialect.headerPrefix }),
    addresses: { ...addresses },
    secrets: () => secretsOf(tokens, executions, regions),
    world: () => ({ realHostRequests: strays(), ...outside, workflows: regions.used.map(({ workflow }) => workflow) }),
    store,
    spend: () => store.cost(),
    followed: () => clock.isFollowed,
    waits: () => forgottenAdvance(clock, executions.store.waiting.names),
  }
}

function historyOf(
  { options, policy, dialect }: CorePlan,
  { loaded }: CoreState,
  random: Random,
  executions: LoggedStore,
  at: number,
): StoreHistory {
  const filled = loaded && { stored: loaded.dump.store, functions: loaded.dump.functions }
  const { cursors } = executions.store
  const { embed } = options
  const beginning = { policy, docs: dialect.docs, embed, cursors, random: () => random.fork('store'), at, ...filled }
  return new StoreHistory(beginning, () => executions.ran)
}

/** Formats the lifecycle of a workflow run, step by step. */
function storyOfRun(traffic: Traffic, runId: string): string {
  const run = runsOf(traffic.entries).findLast(({ id }) => id === runId)
  return run === undefined ? '' : runText(run, traffic.redaction())
}

/** Ends the event streams and cancels everything that is scheduled. */
export function disposeCore({ store, clock, kept, destinations }: SandboxCore): void {
  kept.leave()
  destinationsInternals.of(destinations).end()
  const { engine, connections } = storeInternals.of(store)
  engine.pubsub.close()
  engine.waiting.close(new SandboxDisposed())
  connections?.retire()
  stop(clock)
}

/** Returns every present and former token and key, for redaction. */
function secretsOf(
  { mgmtUser: _, ...initial }: SandboxTokens,
  { store }: LoggedStore,
  regions: Regions,
): readonly string[] {
  const { standard, readOnly } = store.access.tokens
  return [...Object.values(initial), standard, readOnly, ...regions.secrets]
}

function storeOf(
  { options, tokens, policy, dialect, heard }: CorePlan,
  { clock, random, cursors, traffic, draws = random, journal }: Base,
): LoggedStore {
  const { store: standard, storeReadonly: readOnly } = tokens
  const engine = new StoreEngine({
    clock,
    random: random.fork('store'),
    cursors,
    access: new AccessControl({ standard, readOnly }, draws.fork('acl')),
    policy,
    embed: options.embed,
    docs: dialect.docs,
    nativeDocs: vendorOf(dialect).docs,
    answered: () => letOutsideContinue(clock),
    awaited: (command, isWaiting) => mindForgottenAdvance(clock, command, isWaiting),
    warnOnce(about, sentence) {
      if (heard.has(about)) return
      heard.add(about)
      warnOf(options)(sentence)
    },
  })
  return new LoggedStore(engine, traffic, journal)
}

function destinationsOf(
  { options, dialect, policy, addresses, answer, hints, room }: CorePlan,
  network: Network,
  callers: Callers,
  journal: InputJournal | undefined,
): Destinations {
  const destinations = new Destinations({
    callers,
    inputs: new InputRecorder(journal, 'destinations'),
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
  for (const address of new Set([addresses.store, addresses.queue, ...Object.values(addresses.regions)])) {
    destinationsInternals.of(destinations).serveOwn(`${address}/*`, answer, room === undefined ? undefined : 'in turn')
  }
  return destinations
}

/** Parts of the core that both regions use. */
interface Shared extends Base, Outside {
  readonly story: (runId: string) => string
}

function regionOf(
  { name, stream, traffic, read, keys }: RegionPlan,
  { options, dialect, policy, tokens }: CorePlan,
  { clock, random, destinations, faults, draws, journal, story }: Shared,
): Region {
  const engine = new QueueEngine({
    clock,
    random: random.fork(`queue${stream}`),
    traffic,
    policy,
    words: queueDialectsOf(dialect),
    destinations,
    keys,
    keyDraws: stream === '' ? draws : draws?.fork(stream),
    signing: { window: signatureWindowOf(options) },
    faults,
    region: name,
  })
  const workflows = new WorkflowEngine({ queue: engine, clock, random: random.fork(`workflow${stream}`), traffic })
  const service = queueService(engine, {
    token: tokens.queue,
    readOnlyToken: tokens.queueReadonly,
    more: workflowEndpoints(workflows),
  }) as Service
  const isHome = stream === ''
  const queue = new Queue(engine, read, new InputRecorder(journal, isHome ? 'queue' : ['queueIn', name]))
  const workflow = new Workflow(
    workflows,
    { clock, story },
    new InputRecorder(journal, isHome ? 'workflow' : ['workflowIn', name]),
  )
  return { name, engine, queue, workflow, service }
}
