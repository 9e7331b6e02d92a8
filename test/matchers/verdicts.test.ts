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

test('every matcher answers as the table says', () => {
  expect(broken(sandboxMatchers, given)).toEqual([])
})

test('the table has a verdict of both kinds for every matcher', () => {
  for (const matcher of Object.keys(sandboxMatchers)) {
    // It judges an exploration, which is no world: packages/explore/test/interleavings.test.ts.
    if (matcher === 'toHold') continue
    // A command has no place of its own in the world.
    const kinds = matcher === 'commandOf' ? [false] : [false, true]
    const verdicts = new Set(rows.filter((row) => row.matcher === matcher).map(({ pass }) => pass))
    expect([...verdicts].sort(), matcher).toEqual(kinds)
  }
})

test('a copy of the world that came over a wire answers the same', async () => {
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

test('a trace that was written and loaded answers the same', () => {
  const loaded = loadTrace(JSON.parse(JSON.stringify((given.sandbox as Sandbox).traffic.toTrace())))
  expect(broken(sandboxMatchers, { ...given, traffic: loaded, entries: loaded.entries })).toEqual([])
})
