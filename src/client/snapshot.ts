import { Traffic } from '../kernel/traffic.js'
import type { Step } from '../queue/destinations/script.js'
import type { DirectQueue } from '../queue/direct.js'
import { loadTrace } from '../report/load-trace.js'
import { TrafficView } from '../report/traffic-view.js'
import type { ListedFault, UnusedFault } from '../rules/rules.js'
import type { Sandbox } from '../sandbox/sandbox.js'
import type { WorldSnapshot } from '../server/control/world-snapshot.js'
import type { DirectStore } from '../store/direct.js'
import { inside } from '../store/inside.js'
import type { Spend } from '../store/meter.js'
import type { DirectWorkflows } from '../workflow/direct.js'

type Told<T> = T & { readonly traffic: TrafficView }

/** A tenant of a server as it was at one moment: for matchers, which look into it as into a sandbox. Nothing moves. */
export class SandboxSnapshot {
  readonly traffic: TrafficView
  readonly store: Told<Pick<DirectStore, 'run' | 'get' | 'dump' | 'spend'>>
  readonly queue: Told<Pick<DirectQueue, 'messages' | 'deadLetters' | 'schedules' | 'keys' | 'explain' | 'forecast'>>
  readonly workflow: Pick<DirectWorkflows, 'runs' | 'run' | 'unused'>
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

  readonly calls: WorldSnapshot['calls']

  /** @internal */
  constructor(world: WorldSnapshot, replica: Sandbox) {
    const { trace, tokens, state, pending, running, unused, faults, unusedVerbs, unhandled, unplayed, spend, costs } =
      world
    const { entries, context } = loadTrace(trace)
    const secrets = [tokens.store, tokens.readonly, tokens.queue, tokens.queueReadonly, tokens.mgmtKey]
    const { current, next, former } = replica.queue.keys
    const known = { ...context, secrets: () => [...secrets, current, next, ...former] }
    this.traffic = new TrafficView(Traffic.recorded(entries), known, 0, new Map(costs))
    this.clock = { now: () => state.now, pending: () => pending, running: () => running }
    this.store = storeOf(replica.store, this.traffic, spend)
    this.queue = queueOf(replica.queue, this.traffic)
    const { workflow } = replica
    this.workflow = { runs: workflow.runs, run: (id) => workflow.run(id), unused: unusedVerbs }
    this.faults = { list: () => faults, unused: () => unused }
    this.destinations = { unhandled, unplayed }
    this.calls = world.calls
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
  inside.put(copy, inside.of(store))
  return copy
}

function queueOf(queue: DirectQueue, traffic: TrafficView): SandboxSnapshot['queue'] {
  const { messages, deadLetters, schedules, keys } = queue
  return {
    traffic,
    messages,
    deadLetters,
    schedules,
    keys,
    explain: (what) => queue.explain(what),
    forecast: (id) => queue.forecast(id),
  }
}
