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

/** The scenario of a server. It sets the state, destinations and faults of every new tenant. */
export class TenantScenario {
  readonly #clock: ClockMode | undefined
  #scenario: Scenario
  /** Sandboxes of the tenants with this scenario, each with the handle of its faults. */
  readonly #played = new Map<Sandbox, FaultHandle | undefined>()

  constructor(scenario: Scenario, clock: ClockMode | undefined) {
    this.#clock = clock
    this.#scenario = this.#fitting(scenario)
  }

  /** Returns the options of a tenant. Options of the server override options of the scenario. */
  options(told: SandboxOptions): SandboxOptions {
    return mergedOptions(sandboxOptionsOf(this.#scenario), told)
  }

  /**
   * Begins the scenario in a new tenant. After a reset, the scenario begins again. After a load, only its destinations
   * and faults are set again.
   */
  begin(sandbox: Sandbox): void {
    this.#prepare(sandbox, true)
    sandbox.onReset((by) => this.#prepare(sandbox, by === 'reset'))
    sandbox.onDispose(() => this.#played.delete(sandbox))
  }

  /**
   * Replaces the scenario. Existing tenants keep their state, and get the destinations and faults of the new scenario.
   * Returns the number of existing tenants.
   */
  change(scenario: Scenario): number {
    this.#scenario = this.#fitting(scenario)
    // Check the initial state of the scenario now, although only new tenants get it.
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
      `scenario ${JSON.stringify(name)}: startAt ${iso(instant(startAt))} needs virtual time, and a real clock uses system time. Use --clock auto or --clock manual (in a program: clock: 'auto' or 'manual'), or remove startAt.`,
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
