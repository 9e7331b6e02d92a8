import { expect, test } from 'vitest'
import { assertCrashSafe, CrashSafetyError, replay } from '../../packages/explore/src/checks.js'
import { createSandbox, type Sandbox } from '../../src/index.js'
import { type Settings, type SettingsRoute, SettingsSdk } from './settings-sdk.js'
import { third, url } from './settings-world.js'

// Checks of workflows whose steps have settings: replays of histories, and crash points.

const settings: Settings = { retries: 5, retryDelay: '1000', flowControl: { key: 'cards', parallelism: 1 } }

const serving = (route: SettingsRoute) => (sandbox: Sandbox) => {
  const sdk = new SettingsSdk(sandbox)
  sandbox.destinations.on(url, sdk.serve(route))
  sandbox.destinations.respond(third, { status: 200 })
  return sdk
}

interface Change {
  readonly name?: string
  readonly own?: Settings | undefined
  readonly first?: boolean
}

/** The first step, a step after a call and a branch have settings. */
const routeWith =
  ({ name = 'charge', own = settings, first = true }: Change = {}): SettingsRoute =>
  async (context) => {
    if (first) await context.run('reserve', () => 1, own)
    await context.call('ask', third)
    await context.run(name, () => 2, own)
    await context.run('mail', () => 3, { retries: 1 })
    await context.all([
      { name: 'a', body: () => 4, settings: { retries: 2 } },
      { name: 'b', body: () => 5 },
    ])
    return await context.run('end', () => 6, own)
  }

async function historyOf(route: SettingsRoute) {
  using sandbox = createSandbox({ seed: 16 })
  const sdk = serving(route)(sandbox)
  await sdk.trigger(url, 'wfr_one')
  await sandbox.clock.drain()
  expect(sandbox.workflow.getRun('wfr_one').state).toBe('RUN_SUCCESS')
  const history = sandbox.workflow.getRun('wfr_one').history()
  // The first step, the step after the call, and the step after the branches have requested their settings.
  expect(history.entries.filter(({ callType }) => callType === 'stepConfig')).toHaveLength(3)
  return history
}

test('a replay of a history with requests for settings finds nothing in the same code', async () => {
  const history = await historyOf(routeWith())
  const { prefixes, incompatible, unchecked } = await replay(history, serving(routeWith()))
  expect({ incompatible, unchecked }).toEqual({ incompatible: [], unchecked: [] })
  // One list for the payload, and one for each entry of a step: 5 steps, 2 plans and 2 results.
  expect(prefixes).toBe(10)
})

test.each<[string, Change]>([
  ['without settings', { own: undefined as never }],
  ['with other settings', { own: { retries: 0 } }],
])('code %s continues the same history', async (_, change) => {
  const history = await historyOf(routeWith())
  const own = change.own ?? ({} as Settings)
  expect((await replay(history, serving(routeWith({ own })))).incompatible).toEqual([])
})

test('a replay still finds another step, and a step that is missing', async () => {
  const history = await historyOf(routeWith())
  const renamed = await replay(history, serving(routeWith({ name: 'bill' })))
  expect(renamed.incompatible[0]).toMatchObject({ actual: expect.stringContaining("step 3 'bill'") })
  const { incompatible } = await replay(history, serving(routeWith({ first: false })))
  expect(incompatible.length).toBeGreaterThan(0)
})

/** Begins runs of a route whose step writes to the store. */
const crashApp = (route: (sandbox: Sandbox) => SettingsRoute) => async (sandbox: Sandbox) => {
  const sdk = serving(route(sandbox))(sandbox)
  await sdk.trigger(url, 'wfr_one')
}

test('a workflow with settings of steps is crash-safe, and its requests for settings are crash points', async () => {
  const report = await assertCrashSafe(
    crashApp((sandbox) => async (context) => {
      await context.run('reserve', () => sandbox.store.run('SET', 'reserved', '1'), settings)
      await context.run('charge', () => sandbox.store.run('SET', 'charged', '1'), { retries: 4 })
    }),
  )
  expect(JSON.stringify(report)).not.toContain('its submission')
  expect(report.plans).toBeGreaterThan(20)
})

test('a defect in a step with settings is found', async () => {
  const checked = assertCrashSafe(
    crashApp((sandbox) => async (context) => {
      await context.run('charge', () => sandbox.store.run('INCR', 'charges'), settings)
    }),
  )
  await expect(checked).rejects.toThrow(CrashSafetyError)
})

test('settings that differ between deliveries are non-determinism', async () => {
  let count = 0
  const checked = assertCrashSafe(
    crashApp(() => async (context) => {
      await context.run('charge', () => 1, { retries: ++count })
    }),
  )
  await expect(checked).rejects.toThrow(/retries/)
})
