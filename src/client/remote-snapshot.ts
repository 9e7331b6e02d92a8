import { RegionTraffic } from '../kernel/region-traffic.js'
import { Traffic } from '../kernel/traffic-log.js'
import type { QueueRegion } from '../protocol/address.js'
import type { Step } from '../queue/destinations/delivery-script.js'
import type { DirectQueue } from '../queue/direct-queue.js'
import { loadTrace } from '../report/load-trace.js'
import type { TrafficContext } from '../report/traffic-context.js'
import { TrafficView } from '../report/traffic-view.js'
import type { ListedFault, UnusedFault } from '../rules/fault-rules.js'
import type { Sandbox } from '../sandbox/sandbox.js'
import type { DirectStore } from '../store/direct-store.js'
import type { Spend } from '../store/meter.js'
import { storeInternals } from '../store/store-internals.js'
import type { DirectWorkflows } from '../workflow/direct-workflows.js'
import type { WorldSnapshot } from './world-snapshot.js'

type WithTraffic<T> = T & { readonly traffic: TrafficView }
type QueueSnapshot = WithTraffic<
  Pick<DirectQueue, 'region' | 'messages' | 'deadLetters' | 'schedules' | 'keys' | 'explain' | 'forecast'>
>
type WorkflowsSnapshot = Pick<DirectWorkflows, 'runs' | 'run' | 'unused'>

/** A tenant of a server as it was at one moment: for matchers, which look into it as into a sandbox. Nothing moves. */
export class SandboxSnapshot {
  readonly traffic: TrafficView
  readonly store: WithTraffic<Pick<DirectStore, 'run' | 'get' | 'dump' | 'spend'>>
  /** Of the home region. */
  readonly queue: QueueSnapshot
  /** Of the regions that were used, the home region first. */
  readonly queues: readonly QueueSnapshot[]
  readonly workflow: WorkflowsSnapshot
  readonly workflows: readonly WorkflowsSnapshot[]
  readonly clock: {
    now(): number
    pending(): readonly { readonly at: number; readonly label: string; readonly background: boolean }[]
    running(): readonly string[]
  }
  readonly faults: { list(): readonly ListedFault[]; unused(): readonly UnusedFault[] }
  readonly destinations: {
    readonly unhandled: readonly string[]
    readonly unplayed: readonly { readonly pattern: string; readonly steps: readonly Step[] }[]
  }

  readonly #regional: (region: QueueRegion) => QueueSnapshot
  readonly calls: WorldSnapshot['calls']

  /** @internal */
  constructor(world: WorldSnapshot, replica: Sandbox) {
    const { trace, tokens, state, pending, running, unused, faults, unusedVerbs, unhandled, unplayed, spend, costs } =
      world
    const { entries, context } = loadTrace(trace)
    const secrets = [tokens.store, tokens.readonly, tokens.queue, tokens.queueReadonly, tokens.mgmtKey]
    const keys = replica.queues.flatMap(({ keys: { current, next, former } }) => [current, next, ...former])
    const log = Traffic.recorded(entries)
    const known: TrafficContext = { ...context, secrets: () => [...secrets, ...keys] }
    this.traffic = new TrafficView(log, known, 0, new Map(costs))
    this.clock = { now: () => state.now, pending: () => pending, running: () => running }
    this.store = storeOf(replica.store, this.traffic, spend)
    const [home, ...others] = replica.queues
    const view = (region: string | undefined) =>
      others.length === 0 ? this.traffic : new TrafficView(new RegionTraffic(log, region), known)
    this.queue = queueOf(home!, view(undefined))
    this.queues = [this.queue, ...others.map((queue) => queueOf(queue, view(queue.region)))]
    const nobody = (region: QueueRegion) =>
      queueOf(replica.queueIn(region), new TrafficView(Traffic.recorded([]), known))
    this.#regional = (region) => this.queues.find((queue) => queue.region === region) ?? nobody(region)
    this.workflows = replica.workflows.map((workflow, index) => ({
      runs: workflow.runs,
      run: (id) => workflow.run(id),
      unused: unusedVerbs[index] ?? [],
    }))
    this.workflow = this.workflows[0]!
    this.faults = { list: () => faults, unused: () => unused }
    this.destinations = { unhandled, unplayed }
    this.calls = world.calls
  }

  /** The queue of a region. */
  queueIn(region: QueueRegion): QueueSnapshot {
    return this.#regional(region)
  }

  /** The engine is loaded only here: a client that never takes a copy does without it. */
  static async of(world: WorldSnapshot): Promise<SandboxSnapshot> {
    const { createSandbox } = await import('../sandbox/sandbox.js')
    const { state, vocabulary, policy } = world
    const replica = createSandbox({ vocabulary, policy, startAt: state.now })
    replica.load(state)
    return new SandboxSnapshot(world, replica)
  }
}

function storeOf(store: DirectStore, traffic: TrafficView, spend: Spend): SandboxSnapshot['store'] {
  const copy: SandboxSnapshot['store'] = {
    traffic,
    run: (...words) => store.run(...words),
    get: (key) => store.get(key),
    dump: () => store.dump(),
    spend: () => spend,
  }
  storeInternals.attach(copy, storeInternals.of(store))
  return copy
}

function queueOf(queue: DirectQueue, traffic: TrafficView): SandboxSnapshot['queue'] {
  const { region, messages, deadLetters, schedules, keys } = queue
  return {
    traffic,
    region,
    messages,
    deadLetters,
    schedules,
    keys,
    explain: (what) => queue.explain(what),
    forecast: (id) => queue.forecast(id),
  }
}
