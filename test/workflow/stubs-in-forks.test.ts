import fc from 'fast-check'
import type { SandboxDump } from 'stuntdouble'
import { expect, test } from 'vitest'
import { runs } from '../support/effort.js'
import { app, type WorkflowWorld, workflowWorld } from './world.js'

// A fork has its own stubs, as it has its own fault rules, destinations and scripts. With stubs that represent the
// remaining times, it reaches the same end.

interface Said {
  readonly failures: number
  readonly skipsSleeps: boolean
  readonly skipsRetryDelays: boolean
  readonly eventTimesOut: boolean
}

interface Bodies {
  charge: number
  mail: number
  third: number
}

function served(bodies: Bodies, dump?: SandboxDump): WorkflowWorld {
  const world = workflowWorld()
  if (dump !== undefined) world.load(dump)
  world.destinations.on('https://third.test/pay', () => {
    bodies.third++
    return new Response('{}')
  })
  world.serve('/order', async (context) => {
    const charge = await context.run('charge', () => {
      bodies.charge++
      return { id: 'real' }
    })
    await context.sleep('cooling off', '1d')
    const [paid] = await Promise.all([
      context.call('pay', { url: 'https://third.test/pay' }),
      context.sleep('beside', '2h'),
    ])
    const { eventData, timeout } = await context.waitForEvent('approval', 'approved', { timeout: '3d' })
    const mailed = await context.run('mail', () => ++bodies.mail)
    return { charge, status: paid.status, eventData, timeout, mailed }
  })
  return world
}

function say({ workflow }: WorkflowWorld, said: Said, { failed = 0, waited = false } = {}): void {
  if (said.failures > failed) workflow.stubStep('mail').throws('not yet', { times: said.failures - failed })
  workflow.stubStep('charge').returns({ id: 'staged' })
  if (said.skipsSleeps) workflow.skipSleeps()
  if (said.skipsRetryDelays) workflow.skipRetryDelays()
  if (waited) return
  const event = workflow.stubEvent('approved', { by: 'Ada' })
  if (said.eventTimesOut) event.timesOut()
}

/** How often a stub failed a step, and whether the event has ended its wait. */
function spent({ traffic }: WorkflowWorld): { failed: number; waited: boolean } {
  const failed = traffic.ofType('attempt').filter(({ outcome }) => outcome?.note?.includes('.throws(') === true).length
  return { failed, waited: traffic.ofType('step').some(({ stepName }) => stepName === 'approval') }
}

const says = fc.record({
  failures: fc.nat({ max: 3 }),
  skipsSleeps: fc.boolean(),
  skipsRetryDelays: fc.boolean(),
  eventTimesOut: fc.boolean(),
})

async function begun(said: Said, bodies: Bodies): Promise<WorkflowWorld> {
  const world = served(bodies)
  say(world, said)
  await world.client.trigger({ url: `${app}/order`, workflowRunId: 'one', retries: 3 })
  return world
}

const left = ({ workflow }: WorkflowWorld, bodies: Bodies) => {
  const { state, result, completedAt } = workflow.getRun('wfr_one')
  return { state, result, completedAt, bodies }
}

test('a fork with the remaining stubs reaches the same end', async () => {
  await fc.assert(
    fc.asyncProperty(says, fc.nat(), async (said, chance) => {
      const whole: Bodies = { charge: 0, mail: 0, third: 0 }
      const first = await begun(said, whole)
      const from = first.clock.now()
      await first.clock.drain()
      const wanted = left(first, whole)
      expect(wanted).toMatchObject({ state: 'RUN_SUCCESS', bodies: { charge: 0, mail: 1, third: 1 } })
      const span = wanted.completedAt! - from
      first.dispose()

      const parts: Bodies = { charge: 0, mail: 0, third: 0 }
      const second = await begun(said, parts)
      if (span > 0) await second.clock.advance(chance % span)
      const dump = JSON.parse(JSON.stringify(second.dump())) as SandboxDump
      const used = spent(second)
      second.dispose()

      const fork = served(parts, dump)
      expect(fork.workflow.unused).toEqual([])
      say(fork, said, used)
      await fork.clock.drain()
      expect(left(fork, parts)).toEqual(wanted)
      fork.dispose()
    }),
    { numRuns: runs(30, 30, 300) },
  )
})

test('queue.load() and queue.reset() keep stubs, as they keep fault rules; the end of the sandbox removes them', async () => {
  const bodies: Bodies = { charge: 0, mail: 0, third: 0 }
  const world = served(bodies)
  world.workflow.stubStep('nobody').returns(1)
  world.faults.add({ on: 'workflow.step', match: { step: 'nobody' }, fault: { kind: 'reset' } })
  const counts = (): number[] => [world.workflow.unused.length, world.faults.unused.length]
  const dump = world.queue.dump()
  world.queue.reset()
  expect(counts()).toEqual([1, 1])
  world.queue.load(dump)
  expect(counts()).toEqual([1, 1])
  world.load(world.dump())
  expect(counts()).toEqual([0, 0])
})
