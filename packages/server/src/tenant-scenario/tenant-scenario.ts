import type { ClockMode } from '../../../../src/kernel/clock.js'
import { instant, iso } from '../../../../src/kernel/instant.js'
import type { FaultHandle } from '../../../../src/rules/fault-rules.js'
import type { Sandbox, SandboxOptions } from '../../../../src/sandbox/sandbox.js'
import { mergedOptions } from '../../../../src/sandbox/sandbox-options.js'
import {
  applyGiven,
  loadGiven,
  prepareDestinations,
  prepareOutbound,
  sandboxOptionsOf,
} from '../../../../src/scenarios/scenario.js'
import type { Scenario } from '../../../../src/scenarios/written-scenario.js'

/** The scenario that every new tenant of a server begins with: its state, its destinations and its faults. */
export class TenantScenario {
  readonly #clock: ClockMode | undefined
  #scenario: Scenario
  /** Tenants of this scene, and what takes their faults away. */
  readonly #played = new Map<Sandbox, FaultHandle | undefined>()

  /** @param clock who moves time on the server */
  constructor(scenario: Scenario, clock: ClockMode | undefined) {
    this.#clock = clock
    this.#scenario = this.#fitting(scenario)
  }

  /** What a tenant is made with; what the server was told goes before the scenario. */
  options(told: SandboxOptions): SandboxOptions {
    return mergedOptions(sandboxOptionsOf(this.#scenario), told)
  }

  /** Begins the scenario in a new tenant, and again whenever its world is made anew. */
  begin(sandbox: Sandbox): void {
    this.#prepare(sandbox, true)
    sandbox.onReset((by) => this.#prepare(sandbox, by === 'reset'))
    sandbox.onDispose(() => this.#played.delete(sandbox))
  }

  /**
   * Switches to another scenario: existing tenants keep their state, and get its destinations and faults.
   * @returns the number of tenants
   */
  change(scenario: Scenario): number {
    this.#scenario = this.#fitting(scenario)
    // Tenants that come later begin with its state.
    void loadGiven(scenario)
    for (const [sandbox, faults] of this.#played) {
      faults?.remove()
      this.#prepare(sandbox, false)
    }
    return this.#played.size
  }

  #fitting(scenario: Scenario): Scenario {
    const { name, startAt } = scenario
    if (this.#clock !== 'real' || startAt === undefined) return scenario
    throw new TypeError(
      `The scenario ${JSON.stringify(name)} starts at ${iso(instant(startAt))}, and with a real clock time is the host's. Serve it with --clock auto or --clock manual (in a program: clock: 'auto' or 'manual'), or take its startAt out.`,
    )
  }

  #prepare(sandbox: Sandbox, isNew: boolean): void {
    const scenario = this.#scenario
    if (isNew) applyGiven(scenario, sandbox)
    prepareDestinations(scenario, sandbox, () => false)
    prepareOutbound(scenario, sandbox)
    const { faults = [] } = scenario
    this.#played.set(sandbox, faults.length === 0 ? undefined : sandbox.faults.add(faults, { location: scenario.name }))
  }
}
