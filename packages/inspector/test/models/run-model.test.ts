import { expect, test } from 'vitest'
import { app, workflowWorld } from '../../../../test/workflow/world.js'
import { runsAt } from '../../src/models/run-model.js'
import type { StoreInstant } from '../../src/models/store-model.js'

test('runsAt() returns the states that the engine had at each instant', async () => {
  const world = workflowWorld({ startAt: '2030-01-01T00:00:00Z' })
  const { clock, traffic, workflow, client } = world
  world.serve('/order', async (context) => {
    await context.run('reserve', () => 1)
    await context.sleep('nap', '1h')
    await context.waitForEvent('approval', 'approved', { timeout: '2h' })
    await context.run('ship', () => ({ shipped: true }))
  })
  world.serve(
    '/broken',
    (context) => context.run('charge', () => Promise.reject(new Error('no money'))) as Promise<never>,
  )
  const taken: { point: StoreInstant; states: unknown }[] = []
  const take = async (): Promise<void> => {
    await clock.advance(0)
    const states = workflow.runs.map(({ id, state }) => [id, state])
    taken.push({ point: { seq: traffic.mark() as unknown as number, at: clock.now() }, states })
  }
  await client.trigger({ url: `${app}/order`, workflowRunId: 'one' })
  await take()
  await client.trigger({ url: `${app}/broken`, workflowRunId: 'two', retries: 0 })
  await take()
  await clock.advance('61m')
  await take()
  workflow.notify('approved', { by: 'Ada' })
  await clock.advance('1m')
  await take()
  expect(taken.at(-1)!.states).toEqual([
    ['wfr_one', 'RUN_SUCCESS'],
    ['wfr_two', 'RUN_FAILED'],
  ])
  const { entries } = traffic.toTrace()
  for (const { point, states } of taken) {
    const shown = runsAt(entries, point).map(({ id, state }) => [id, `RUN_${state.toUpperCase()}`])
    expect(shown).toEqual((states as string[][]).map(([id, state]) => [id, state]))
  }
  const asleep = runsAt(entries, taken[1]!.point)[0]!
  expect(asleep.steps.map(({ name, state }) => [name, state])).toContainEqual(['reserve', 'done'])
  const waiting = runsAt(entries, taken[2]!.point)[0]!
  expect(waiting.steps.map(({ name, state }) => [name, state])).toContainEqual(['approval', 'waiting'])
})
