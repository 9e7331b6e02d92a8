import { createSandbox, type SandboxOptions } from '../../../../src/sandbox/sandbox.js'
import type { Scenario } from '../../../../src/scenarios/written-scenario.js'
import type { TenantScenario } from './tenant-scenario.js'

/**
 * Checks the scenario of a server. The modules for scenarios are imported on demand, so that servers without a scenario
 * start faster.
 */
export async function openTenantScenario(scenario: Scenario, world: SandboxOptions): Promise<TenantScenario> {
  const [{ TenantScenario }, { checkedScenario, loadGiven }] = await Promise.all([
    import('./tenant-scenario.js'),
    import('../../../../src/scenarios/scenario.js'),
  ])
  const checked = checkedScenario(scenario, `The scenario ${JSON.stringify(scenario.name)}`)
  await loadGiven(checked)
  const scene = new TenantScenario(checked, world.clock)
  // Some mistakes in a scenario are found only when it begins. Begin it once now. With such a mistake, the server then
  // fails to start, instead of failing at the first request.
  const trial = createSandbox(scene.options(world))
  try {
    scene.begin(trial)
  } catch (cause) {
    const { message } = cause as Error
    throw new TypeError(`scenario ${JSON.stringify(scenario.name)} cannot begin: ${message}`, { cause })
  } finally {
    trial.dispose()
  }
  return scene
}
