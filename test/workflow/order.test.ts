import { expect, test } from 'vitest'
import { type EndpointCall, workflowWorld } from './world.js'

// The next step is never delivered before the delivery that submitted it has a response [workflow.md 0], and
// does not wait for anything else.

/** Returns the name of the step that a delivery carries. */
const brought = ({ steps }: EndpointCall): string => {
  const last = steps.at(-1)
  return steps.length <= 1 ? 'init' : `${last!.stepName}${last!.targetStep === undefined ? '' : '?'}`
}

test('a step is delivered only after the delivery that submitted it has a response', async () => {
  const world = workflowWorld()
  const { client, clock, serve } = world
  const story: string[] = []
  world.around = async (call) => {
    story.push(`> ${brought(call)}`)
    const response = await call.answer()
    await call.sleep('1m')
    story.push(`< ${brought(call)}`)
    return response
  }
  const url = serve('/order', async (context) => {
    await context.run('a', () => 1)
    await context.call('c', { url: 'https://third.test/' })
    await context.waitForEvent('w', 'evt', { timeout: '1s' })
  })
  world.destinations.record('https://third.test/')
  await client.trigger({ url })
  await clock.drain()
  // The callback of the call has no list of steps.
  expect(story).toEqual(['> init', '< init', '> a', '< a', '> init', '< init', '> c', '< c', '> w', '< w'])
  expect(world.workflow.runs[0]!.state).toBe('RUN_SUCCESS')
})

test.each(['run', 'call', 'wait', 'sleep', 'invoke'] as const)(
  'a branch continues while another one takes an hour: %s',
  async (kind) => {
    const world = workflowWorld()
    const { client, clock, serve } = world
    const story: string[] = []
    world.destinations.record('https://third.test/')
    world.around = async (call) => {
      story.push(`${(clock.now() - start) / 60_000} > ${brought(call)}`)
      if (brought(call) === 'slow?') await call.sleep('1h')
      return call.answer()
    }
    const child = serve('/child', async (context) => await context.run('inner', () => 1))
    const url = serve('/beside', async (context) => {
      const other = {
        run: () => context.run('other', () => 1),
        call: () => context.call('other', { url: 'https://third.test/' }),
        wait: () => context.waitForEvent('other', 'evt', { timeout: '1d' }),
        sleep: () => context.sleep('other', 60),
        invoke: () =>
          context.invoke('other', {
            workflow: { workflowId: 'child', routeFunction: async () => 1, options: {} } as never,
            body: 1,
          }),
      }[kind]
      await Promise.all([context.run('slow', () => 1), other()])
    })
    expect(child).toContain('/child')
    const start = clock.now()
    await client.trigger({ url })
    await clock.advance('5m')
    if (kind === 'wait') await client.notify({ eventId: 'evt' })
    await clock.advance('5m')
    // Its result arrives long before that of the slow branch.
    expect(story.map((line) => line.replace(/^\S+ /, ''))).toContain('> other')
    await clock.drain()
    expect(story.at(-1)).toBe('60 > slow')
    expect(world.workflow.runs.map(({ state }) => state)).not.toContain('RUN_STARTED')
  },
)
