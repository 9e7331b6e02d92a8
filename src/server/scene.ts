import type { FaultHandle } from '../faults/rules.js'
import { prepareDestinations, prepareGiven, type Scenario, sandboxOptionsOf } from '../faults/scenario.js'
import type { Sandbox, SandboxOptions } from '../sandbox.js'

/** The scenario that every new tenant of a server begins with: its state, its destinations and its faults. */
export class Scene {
  #scenario: Scenario
  /** Tenants of this scene, and what takes their faults away. */
  readonly #played = new Map<Sandbox, FaultHandle | undefined>()

  constructor(scenario: Scenario) {
    this.#scenario = scenario
  }

  /** What a tenant is made with; what the server was told goes before the scenario. */
  options(told: SandboxOptions): SandboxOptions {
    const own = sandboxOptionsOf(this.#scenario)
    return { ...own, ...told, policy: { ...own.policy, ...told.policy } }
  }

  /** Begins the scenario in a new tenant, and again whenever its world is made anew. */
  begin(sandbox: Sandbox): void {
    this.#prepare(sandbox, true)
    sandbox.onRenewal((by) => this.#prepare(sandbox, by === 'reset'))
    sandbox.onDispose(() => this.#played.delete(sandbox))
  }

  /**
   * Another one from now on: tenants that are there keep their state, and get its destinations and faults.
   * @returns how many tenants are there
   */
  change(scenario: Scenario): number {
    this.#scenario = scenario
    for (const [sandbox, faults] of this.#played) {
      faults?.remove()
      this.#prepare(sandbox, false)
    }
    return this.#played.size
  }

  #prepare(sandbox: Sandbox, isNew: boolean): void {
    const scenario = this.#scenario
    if (isNew) prepareGiven(scenario, sandbox)
    prepareDestinations(scenario, sandbox, () => false)
    const { faults = [] } = scenario
    this.#played.set(sandbox, faults.length === 0 ? undefined : sandbox.faults.add(faults, { line: scenario.name }))
  }
}
