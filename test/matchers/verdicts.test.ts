import { sandboxMatchers } from 'stuntdouble/matchers'
import { afterAll, expect, test } from 'vitest'
import { snapshotOf } from '../../packages/server/src/control/sandbox-snapshot.js'
import { SandboxSnapshot } from '../../src/client/remote-snapshot.js'
import type { StatusSnapshot } from '../../src/client/status-snapshot.js'
import { loadTrace } from '../../src/report/load-trace.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { broken, rows, world } from './verdicts.js'

const given = await world()
afterAll(() => given.dispose())

test('every matcher returns the verdicts of the table', () => {
  expect(broken(sandboxMatchers, given)).toEqual([])
})

test('the table has passing and failing verdicts for every matcher', () => {
  for (const matcher of Object.keys(sandboxMatchers)) {
    // The verdicts of toHold are in packages/explore/test/interleavings.test.ts.
    if (matcher === 'toHold') continue
    // Asymmetric matchers for commands have no subject in the sandbox.
    const kinds = matcher === 'commandOf' ? [false] : [false, true]
    const verdicts = new Set(rows.filter((row) => row.matcher === matcher).map(({ pass }) => pass))
    expect([...verdicts].sort(), matcher).toEqual(kinds)
  }
})

test('a snapshot from a server gives the same verdicts', async () => {
  const copy = async (sandbox: unknown): Promise<SandboxSnapshot> =>
    SandboxSnapshot.of(JSON.parse(JSON.stringify(snapshotOf(sandbox as Sandbox))) as StatusSnapshot)
  const sandbox = await copy(given.sandbox)
  const { queue, store, traffic } = sandbox
  const remote = {
    ...given,
    sandbox,
    queue,
    store,
    traffic,
    busy: await copy(given.busy),
    flows: await copy(given.flows),
  }
  expect(broken(sandboxMatchers, remote)).toEqual([])
})

test('a loaded trace gives the same verdicts', () => {
  const loaded = loadTrace(JSON.parse(JSON.stringify((given.sandbox as Sandbox).traffic.toTrace())))
  expect(broken(sandboxMatchers, { ...given, traffic: loaded, entries: loaded.entries })).toEqual([])
})
