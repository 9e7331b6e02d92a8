import { expect, test } from 'vitest'
import { app, workflowWorld } from './world.js'

// What a test makes of steps and events, with the real SDK.

test('a step returns: its body never runs, the next one has its value', async () => {
  const { client, serve, workflow, traffic, check } = bound(workflowWorld())
  const ran: string[] = []
  const url = serve('/order', async (context) => {
    await context.run('reserve', () => void ran.push('reserve'))
    const charge = await context.run('charge', () => {
      ran.push('charge')
      return { id: 'real' }
    })
    await context.run('mail', () => void ran.push(`mail ${charge.id}`))
    return charge.id
  })
  workflow.step('charge').returns({ id: 'ch_1' })
  const { workflowRunId } = await client.trigger({ url })
  const run = workflow.run(workflowRunId)
  await run.ends('success')
  expect(ran).toEqual(['reserve', 'mail ch_1'])
  expect(run.result).toBe('ch_1')
  expect(traffic.of('step').map(({ stepName }) => stepName)).toEqual(['reserve', 'charge', 'mail'])
  expect(traffic.of('attempt').map(({ outcome }) => outcome?.status)).toEqual([200, 200, 200, 200])
  expect(workflow.unused).toEqual([])
  check()
})

/** Methods that can be taken out of their sandbox. */
function bound<T extends ReturnType<typeof workflowWorld>>(world: T): T & { check(): void } {
  return Object.assign(world, { check: world.check.bind(world) })
}
void app
