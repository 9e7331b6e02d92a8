import { createSandbox, type SandboxOptions } from '../../../../src/sandbox/sandbox.js'
import type { Scenario } from '../../../../src/scenarios/written-scenario.js'
import type { TenantScenario } from './tenant-scenario.js'

/** Loaded where there is one: most servers have none, and shall be ready soon. */
export async function openTenantScenario(scenario: Scenario, world: SandboxOptions): Promise<TenantScenario> {
  const [{ TenantScenario }, { checkedScenario, loadGiven }] = await Promise.all([
    import('./tenant-scenario.js'),
    import('../../../../src/scenarios/scenario.js'),
  ])
  const checked = checkedScenario(scenario, `The scenario ${JSON.stringify(scenario.name)}`)
  await loadGiven(checked)
  const scene = new TenantScenario(checked, world.clock)
  // Mistakes that only show when it begins must be reported now, not to the first request.
  const trial = createSandbox(scene.options(world))
  try {
    scene.begin(trial)
  } catch (cause) {
    const { message } = cause as Error
    throw new TypeError(`The scenario ${JSON.stringify(scenario.name)} cannot begin: ${message}`, { cause })
  } finally {
    trial.dispose()
  }
  return scene
}
