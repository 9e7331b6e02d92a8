import { createSandbox, type SandboxDump } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import type { DumpedRun } from '../../src/queue/dump/dumped-run-rows.js'
import { engineOf } from '../../src/queue/queue-internals.js'
import { app, type WorkflowWorld, workflowWorld } from './world.js'

const startAt = Date.parse('2031-03-03T12:00:00Z')
const day = 86_400_000
const copied = (dump: SandboxDump): SandboxDump => JSON.parse(JSON.stringify(dump)) as SandboxDump

/** One run that waits for a call, an event and a sleep, and one that has failed. */
async function lived(): Promise<WorkflowWorld> {
  const world = workflowWorld({ startAt })
  const { serve, client, clock } = world
  serve('/long', async (context) => {
    await context.run('first', () => ({ an: 'answer' }))
    await Promise.all([
      context.sleep('nap', '30d'),
      context.waitForEvent('approval', 'approved', { timeout: '60d' }),
      context.call('pay', { url: 'https://third.test/' }),
    ])
  })
  serve('/bad', () => {
    throw new Error('bad')
  })
  world.destinations.respond('https://third.test/', 200)
  await client.trigger({ url: `${app}/long`, workflowRunId: 'long' })
  await client.trigger({ url: `${app}/bad`, workflowRunId: 'bad', retries: 0 })
  await clock.advance('1h')
  return world
}

const runOf = (dump: SandboxDump, id: string): DumpedRun => dump.queue.runs!.find((run) => run.id === id)!

describe('a dump with runs', () => {
  test('contains no runs if there are none, and can be loaded', () => {
    const world = workflowWorld()
    const { queue } = world.dump()
    expect(Object.keys(queue)).not.toContain('runs')
    expect(Object.keys(queue)).not.toContain('workflowUrls')
  })

  test('keeps the list of a run that sleeps for longer than the log is retained', async () => {
    const first = await lived()
    await first.clock.advance('20d')
    const dump = copied(first.dump())
    expect(dump.queue.messages.map(({ kept }) => kept)).toContain('forgotten')
    first.dispose()
    const second = workflowWorld({ startAt })
    second.load(dump)
    expect(copied(second.dump()).queue.runs).toEqual(dump.queue.runs)
    expect(copied(second.dump()).queue.messages).toEqual(dump.queue.messages)
    second.serve('/long', async (context) => {
      const first = await context.run('first', () => {
        throw new Error('It has run.')
      })
      await Promise.all([
        context.sleep('nap', '30d'),
        context.waitForEvent('approval', 'approved', { timeout: '60d' }),
        context.call('pay', { url: 'https://third.test/' }),
      ])
      return first
    })
    second.workflow.notify('approved')
    await second.clock.drain()
    expect(second.workflow.getRun('wfr_long')).toMatchObject({ state: 'RUN_SUCCESS', result: { an: 'answer' } })
    expect(second.workflow.getRun('wfr_long').completedAt).toBeGreaterThan(startAt + 30 * day - 1)
  })

  test('rebases all times of a run together', async () => {
    const first = await lived()
    const dump = copied(first.dump())
    first.dispose()
    const second = workflowWorld({ startAt: startAt - 100 * day })
    second.load(dump, { at: startAt - 100 * day, rebaseTime: true })
    const moved = copied(second.dump())
    const by = moved.now - dump.now
    const before = runOf(dump, 'wfr_long')
    const after = runOf(moved, 'wfr_long')
    expect(after.createdAt).toBe(before.createdAt + by)
    expect(after.steps.map(({ createdAt }) => createdAt)).toEqual(before.steps.map(({ createdAt }) => createdAt + by))
    expect(after.waits.map(({ deadline }) => deadline)).toEqual(before.waits.map(({ deadline }) => deadline + by))
    expect(runOf(moved, 'wfr_bad').completedAt).toBe(runOf(dump, 'wfr_bad').completedAt! + by)
  })

  test('with a reference to nothing is rejected with a message, and changes nothing', async () => {
    const world = await lived()
    const dump = copied(world.dump())
    const damage: readonly (readonly [string, (queue: SandboxDump['queue'], run: DumpedRun) => unknown])[] = [
      [
        'belongs to run wfr_long, which is not in the dump',
        (queue) => ({ runs: queue.runs!.filter(({ id }) => id !== 'wfr_long') }),
      ],
      ['two runs wfr_bad', (queue) => ({ runs: [...queue.runs!, runOf(dump, 'wfr_bad')] })],
      [
        'refers to message msg_x',
        (_, run) => ({ ...run, entries: [{ message: 'msg_x', callType: 'step' }, ...run.entries] }),
      ],
      ['whose list has 1', (_, run) => ({ ...run, entries: run.entries.slice(0, 1) })],
      ['refers to step 99', (_, run) => ({ ...run, waits: run.waits.map((wait) => ({ ...wait, stepId: 99 })) })],
      ['has two steps 1', (_, run) => ({ ...run, steps: [...run.steps, run.steps[0]!] })],
      ['began at 2099', (_, run) => ({ ...run, createdAt: Date.parse('2099-01-01') })],
      [
        'has invoked run wfr_x',
        (_, run) => ({ ...run, steps: run.steps.map((step) => ({ ...step, invoked: 'wfr_x' })) }),
      ],
      ['begins with the entry of its trigger', (_, run) => ({ ...run, entries: [] })],
      [
        'that have all ended',
        (_, run) => ({ ...run, held: [{ message: run.entries[0]!.message, behind: [run.entries[0]!.message] }] }),
      ],
    ]
    for (const [sentence, change] of damage) {
      const { queue } = copied(dump)
      const changed = change(queue, runOf(dump, 'wfr_long')) as Partial<SandboxDump['queue']> & Partial<DumpedRun>
      const runs = queue.runs!.map((run) => (run.id === 'wfr_long' ? (changed as DumpedRun) : run))
      const damaged = { ...queue, ...('entries' in changed ? { runs } : changed) }
      expect(() => world.queue.load(damaged), sentence).toThrow(sentence)
      expect(() => world.load({ ...dump, queue: damaged }), sentence).toThrow(sentence)
    }
    expect(copied(world.dump())).toEqual(dump)
    world.workflow.notify('approved')
    expect(world.traffic.ofType('step').at(-1)).toMatchObject({ runId: 'wfr_long', stepName: 'approval' })
  })

  test('queue.reset() and sandbox.reset() forget runs, their waits and their timeouts', async () => {
    for (const reset of [(w: WorkflowWorld) => w.queue.reset(), (w: WorkflowWorld) => w.reset()]) {
      const world = await lived()
      reset(world)
      expect(world.workflow.runs).toEqual([])
      expect(world.workflow.notify('approved')).toBe(0)
      const mark = world.traffic.mark()
      await world.clock.advance('100d')
      expect(world.traffic.since(mark).entries.map(({ type }) => type)).toEqual(['clock'])
      expect(world.clock.pending).toEqual([])
      world.dispose()
    }
  })

  test('queue.load() replaces the runs with their waits and timeouts', async () => {
    const world = await lived()
    const { queue } = copied(world.dump())
    await world.client.trigger({ url: `${app}/long`, workflowRunId: 'other' })
    await world.clock.advance('1s')
    world.queue.load(queue)
    expect(world.workflow.runs.map(({ id }) => id)).toEqual(['wfr_long', 'wfr_bad'])
    expect(world.workflow.notify('approved')).toBe(1)
    await world.clock.drain()
    expect(world.workflow.getRun('wfr_long').state).toBe('RUN_SUCCESS')
  })

  test('loads IDs that a new run never reuses', async () => {
    const trigger = async (world: WorkflowWorld): Promise<string> => {
      const headers = { authorization: `Bearer ${world.tokens.queue}` }
      const answer = await world.fetch(`${world.urls.queue}/v2/trigger/${app}/x`, { method: 'POST', headers })
      return ((await answer.json()) as { workflowRunId: string }).workflowRunId
    }
    const world = workflowWorld()
    const first = await trigger(world)
    world.queue.load(world.queue.dump())
    expect(await trigger(world)).not.toBe(first)
  })

  test('delivers a held submission when the delivery that submitted it is canceled', async () => {
    const first = workflowWorld({ startAt })
    first.lag = '10s'
    const steps = async (context: { run(name: string, work: () => unknown): Promise<unknown> }): Promise<void> => {
      await context.run('only', () => 1)
    }
    first.serve('/held', steps as never)
    await first.client.trigger({ url: `${app}/held`, workflowRunId: 'held' })
    await first.clock.advance('15s')
    const dump = copied(first.dump())
    const [held] = runOf(dump, 'wfr_held').held
    expect(held!.behind).toHaveLength(1)
    expect([...engineOf(first.queue).whereabouts().values()]).toEqual(['running', 'held'])
    first.dispose()
    const second = workflowWorld({ startAt })
    second.load(dump)
    second.serve('/held', steps as never)
    expect([...engineOf(second.queue).whereabouts().values()]).toEqual(['planned', 'held'])
    second.queue.cancel(held!.behind[0]!)
    await second.clock.drain()
    expect(second.workflow.getRun('wfr_held').state).toBe('RUN_SUCCESS')
  })

  test('a queue in a sandbox with another app reports what it cannot deliver', async () => {
    const world = await lived()
    const { queue } = copied(world.dump())
    world.dispose()
    const other = createSandbox({ startAt: startAt + day, onWarning: () => {} })
    other.queue.load(queue)
    expect(other.workflow.runs).toHaveLength(2)
    expect(other.queue.deadLetters).toHaveLength(1)
    other.dispose()
  })
})
