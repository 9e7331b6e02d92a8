import { checkedDatabase, onServer } from '../kernel/database-name.js'
import { DatabaseTraffic } from '../kernel/database-traffic.js'
import { RegionTraffic } from '../kernel/region-traffic.js'
import { TrafficLog } from '../kernel/traffic-log.js'
import type { QueueRegion } from '../protocol/address.js'
import type { Queue } from '../queue/direct-queue.js'
import { loadTrace } from '../report/load-trace.js'
import type { TrafficContext } from '../report/traffic-context.js'
import { Traffic } from '../report/traffic-view.js'
import type { FaultRuleStatus, UnusedFault } from '../rules/fault-rules.js'
import type { Sandbox } from '../sandbox/sandbox.js'
import type { Store } from '../store/direct-store.js'
import type { StoreCost } from '../store/meter.js'
import { storeInternals } from '../store/store-internals.js'
import type { Workflow } from '../workflow/direct-workflows.js'
import type { StatusSnapshot } from './status-snapshot.js'

type WithTraffic<T> = T & {
  /** Traffic log of the sandbox, which the matchers read. */
  readonly traffic: Traffic
}
type QueueSnapshot = WithTraffic<
  Pick<Queue, 'region' | 'messages' | 'deadLetters' | 'schedules' | 'signingKeys' | 'explain' | 'forecast'>
>
/** Copy of a database of the data store. */
export type StoreSnapshot = WithTraffic<Pick<Store, 'run' | 'get' | 'dump' | 'cost'>>
type WorkflowsSnapshot = Pick<Workflow, 'runs' | 'getRun' | 'unused'>

/** A copy of a tenant at one instant, with the members of a sandbox that matchers read. */
export class SandboxSnapshot {
  /** Copy of the traffic log: every request, command, delivery and clock move, in order. */
  readonly traffic: Traffic
  /** Copy of the data store. Its commands do not change the tenant. */
  readonly store: StoreSnapshot
  /** Copies of all databases. The first is `store`. */
  readonly stores: readonly StoreSnapshot[]
  /** The queue of the home region. */
  readonly queue: QueueSnapshot
  /** Queues of the regions that were used. The home region is the first. */
  readonly queues: readonly QueueSnapshot[]
  /** The workflows of the home region. */
  readonly workflow: WorkflowsSnapshot
  /** Workflows of the regions that were used. The home region is the first. */
  readonly workflows: readonly WorkflowsSnapshot[]
  /** Virtual time at the copy, the timers that were waiting, and the labels of the work that was running. */
  readonly clock: {
    now(): number
    readonly pending: readonly { readonly at: number; readonly label: string; readonly background: boolean }[]
    readonly running: readonly string[]
  }
  /** Fault rules with their counters, and the rules that were never injected. */
  readonly faults: { readonly rules: readonly FaultRuleStatus[]; readonly unused: readonly UnusedFault[] }
  /** Unhandled deliveries and unused scripts of `sandbox.destinations`. */
  readonly destinations: StatusSnapshot['destinations']

  readonly #databases: ReadonlyMap<string, StoreSnapshot>
  readonly #regional: (region: QueueRegion) => QueueSnapshot
  /** Registered patterns, unhandled requests and unused scripts of `sandbox.outbound`. */
  readonly outbound: StatusSnapshot['outbound']

  /** @internal */
  constructor(world: StatusSnapshot, replica: Sandbox) {
    const { trace, tokens, state, pending, running, unused, faults, unusedStubs, costs } = world
    const { entries, context } = loadTrace(trace)
    const { mgmtUser: _, databases, ...own } = tokens
    const secrets = [own, ...Object.values(databases)].flatMap((some) => Object.values(some))
    const keys = replica.queues.flatMap(({ signingKeys: { current, next, former } }) => [current, next, ...former])
    const log = TrafficLog.recorded(entries)
    const known: TrafficContext = { ...context, secrets: () => [...secrets, ...keys] }
    this.traffic = new Traffic(log, known, 0, new Map(costs))
    this.clock = { now: () => state.now, pending, running }
    const names = databasesOf(world)
    const part = (name: string | undefined) =>
      names.length === 0 ? this.traffic : new Traffic(new DatabaseTraffic(log, name), known)
    this.store = storeOf(replica.store, part(undefined), world.cost)
    this.#databases = new Map(
      names.map((name) => [name, storeOf(replica.storeIn(name), part(name), world.databaseCosts[name]!)]),
    )
    this.stores = [this.store, ...this.#databases.values()]
    const [home, ...others] = replica.queues
    const view = (region: string | undefined) =>
      others.length === 0 ? this.traffic : new Traffic(new RegionTraffic(log, region), known)
    this.queue = queueOf(home!, view(undefined))
    this.queues = [this.queue, ...others.map((queue) => queueOf(queue, view(queue.region)))]
    const nobody = (region: QueueRegion) =>
      queueOf(replica.queueIn(region), new Traffic(TrafficLog.recorded([]), known))
    this.#regional = (region) => this.queues.find((queue) => queue.region === region) ?? nobody(region)
    this.workflows = replica.workflows.map((workflow, index) => ({
      runs: workflow.runs,
      getRun: (id) => workflow.getRun(id),
      unused: unusedStubs[index] ?? [],
    }))
    this.workflow = this.workflows[0]!
    this.faults = { rules: faults, unused }
    this.destinations = world.destinations
    this.outbound = world.outbound
  }

  /**
   * Returns a database that the option `databases` added.
   * @throws RangeError when there is no such database
   * @example
   * await sandbox.storeIn('us').run('SET', 'greeting', 'hello')
   * const snapshot = await sandbox.snapshot()
   * expect(snapshot.storeIn('us')).toHaveKey('greeting')
   */
  storeIn(database: string): StoreSnapshot {
    return this.#databases.get(checkedDatabase(database, [...this.#databases.keys()], onServer))!
  }

  /**
   * Returns the queue of a region.
   * @example
   * const snapshot = await sandbox.snapshot()
   * expect(snapshot.queueIn('us-east-1').messages).toEqual([])
   */
  queueIn(region: QueueRegion): QueueSnapshot {
    return this.#regional(region)
  }

  /**
   * Creates a snapshot. It imports the engine on demand, so that a client without snapshots never loads the engine.
   * @internal
   */
  static async of(world: StatusSnapshot): Promise<SandboxSnapshot> {
    const { createSandbox } = await import('../sandbox/sandbox.js')
    const { state, dialect, policy } = world
    const databases = databasesOf(world)
    const replica = createSandbox({
      dialect,
      policy,
      startAt: state.now,
      // With a base URL, the names of databases need not be valid in a host name.
      ...(databases.length > 0 && { databases, urls: { base: 'https://snapshot.test' } }),
    })
    replica.load(state)
    return new SandboxSnapshot(world, replica)
  }
}

function databasesOf({ state }: StatusSnapshot): readonly string[] {
  return Object.keys(state.databases ?? {})
}

function storeOf(store: Store, traffic: Traffic, spend: StoreCost): StoreSnapshot {
  const copy: StoreSnapshot = {
    traffic,
    run: (...words) => store.run(...words),
    get: (key) => store.get(key),
    dump: () => store.dump(),
    cost: () => spend,
  }
  storeInternals.attach(copy, storeInternals.of(store))
  return copy
}

function queueOf(queue: Queue, traffic: Traffic): SandboxSnapshot['queue'] {
  const { region, messages, deadLetters, schedules, signingKeys } = queue
  return {
    traffic,
    region,
    messages,
    deadLetters,
    schedules,
    signingKeys,
    explain: (what) => queue.explain(what),
    forecast: (id) => queue.forecast(id),
  }
}
