import { type FaultRule, fault, type InjectionPoint } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { catalog, faultKinds } from '../../src/faults/catalog.js'
import { app, type WorkflowWorld, workflowWorld } from './world.js'

/** A run with a step, a call and a wait, with fault rules. */
async function under(rules: FaultRule | readonly FaultRule[]): Promise<WorkflowWorld & { readonly bodies: string[] }> {
  const world = workflowWorld()
  const bodies: string[] = []
  world.destinations.respond('https://third.test/*', 200)
  world.serve('/run', async (context) => {
    await context.run('charge', () => {
      bodies.push('charge')
    })
    await context.call('pay', { url: 'https://third.test/pay', retries: 2 })
    const { timeout } = await context.waitForEvent('approval', 'approved', { timeout: '1h' })
    return timeout
  })
  world.faults.add(rules)
  await world.client.trigger({ url: `${app}/run`, workflowRunId: 'one', retries: 2 })
  await world.clock.drain()
  return Object.assign(world, { bodies })
}

const struck = ({ traffic }: WorkflowWorld): unknown[] =>
  traffic.ofType('fault').map(({ point, target }) => [point, target])

describe('workflow.step', () => {
  test('injects into deliveries to the endpoint, by the step that they carry', async () => {
    const seen = []
    for (const match of [{ step: 'init' }, { step: 'charge' }, { step: 'pay' }, { step: 'approval' }]) {
      const world = await under({ on: 'workflow.step', match, times: 1, fault: fault.status(503) })
      expect(world.workflow.getRun('wfr_one')).toMatchObject({ state: 'RUN_SUCCESS', result: true })
      expect(world.faults.unused).toEqual([])
      seen.push(world.traffic.ofType('attempt').filter(({ outcome }) => outcome?.status === 503).length)
      world.dispose()
    }
    expect(seen).toEqual([1, 1, 1, 1])
  })

  test('matches the workflow, the run, and the type and name of the step', async () => {
    const matches: readonly FaultRule['match'][] = [
      { workflow: `${app}/*` },
      { runId: 'wfr_one' },
      { stepType: 'Run', step: 'charge' },
      { step: 'charge', attempt: 2 },
      { label: 'none' },
      { workflow: `${app}/other` },
      { runId: 'wfr_other' },
      { stepType: 'Call', step: 'charge' },
    ]
    const world = await under(
      matches.map((match) => ({ on: 'workflow.step', match: match!, times: 1, fault: fault.reset() })),
    )
    const unused = world.faults.unused.map(({ rule }) => rule.match)
    expect(unused).toEqual(matches.slice(4))
  })

  test('runs a body again whose response was lost, and its step counts once', async () => {
    const world = await under({ on: 'workflow.step', match: { step: 'init' }, times: 1, fault: fault.lostAck() })
    expect(world.bodies).toEqual(['charge', 'charge'])
    expect(world.traffic.ofType('step').filter(({ stepName }) => stepName === 'charge')).toHaveLength(1)
    expect(world.workflow.getRun('wfr_one').state).toBe('RUN_SUCCESS')
  })
})

describe('workflow.call', () => {
  test('injects into the call to the third party, and nothing else', async () => {
    const world = await under({ on: 'workflow.call', match: { step: 'pay' }, times: 2, fault: fault.status(500) })
    expect(struck(world)).toEqual([
      ['workflow.call', 'https://third.test/pay'],
      ['workflow.call', 'https://third.test/pay'],
    ])
    expect(world.workflow.getRun('wfr_one').state).toBe('RUN_SUCCESS')
  })

  test('a duplicate reaches the third party twice', async () => {
    const world = workflowWorld()
    const third = world.destinations.record('https://third.test/pay')
    world.serve('/run', async (context) => {
      await context.call('pay', { url: 'https://third.test/pay' })
    })
    world.faults.add({ on: 'workflow.call', fault: fault.duplicate() })
    await world.client.trigger({ url: `${app}/run` })
    await world.clock.drain()
    expect(third.count).toBe(2)
  })
})

describe('workflow.wait', () => {
  test('injects into the request of a step that waits', async () => {
    const rule: FaultRule = {
      on: 'workflow.wait',
      match: { step: 'approval', stepType: 'Wait', runId: 'wfr_one', workflow: `${app}/run` },
      times: 1,
      fault: fault.lostAck(),
    }
    const world = await under(rule)
    expect(struck(world)).toMatchObject([['workflow.wait', expect.stringContaining('/v2/wait/approved')]])
    expect(world.traffic.ofType('wait').length).toBeGreaterThan(0)
    expect(world.workflow.getRun('wfr_one')).toMatchObject({ state: 'RUN_SUCCESS', result: true })
  })

  test('injects into no other request', async () => {
    const world = await under({ on: 'workflow.wait', match: { step: 'other' }, fault: fault.status(500) })
    expect(struck(world)).toEqual([])
    expect(world.faults.unused[0]!.message).toMatch(/\b1 wait .*none matched/)
  })
})

describe('workflow points and queue points', () => {
  test('rules of the queue still apply to deliveries and requests of runs', async () => {
    const world = await under([
      { on: 'queue.delivery', match: { step: 'charge' }, times: 1, fault: fault.status(500) },
      { on: 'queue.delivery', match: { url: 'https://third.test/*' }, times: 1, fault: fault.status(501) },
      { on: 'queue.callback', times: 1, fault: fault.status(502) },
      { on: 'queue.request', match: { path: '/v2/wait/*' }, times: 1, fault: fault.status(503) },
    ])
    expect(world.faults.unused).toEqual([])
    expect(world.workflow.getRun('wfr_one').state).toBe('RUN_SUCCESS')
  })

  test('the narrower point is evaluated first in any order of rules, and a fault that responds ends it', async () => {
    const world = await under([
      { on: 'queue.delivery', match: { url: `${app}/*` }, times: 1, fault: fault.status(500) },
      { on: 'workflow.step', times: 1, fault: fault.status(503) },
      { on: 'queue.request', match: { path: '/v2/wait/*' }, times: 1, fault: fault.status(500) },
      { on: 'workflow.wait', times: 1, fault: fault.status(503) },
    ])
    const points = struck(world).map((one) => (one as [InjectionPoint])[0])
    expect(points).toEqual(['workflow.step', 'queue.delivery', 'workflow.wait', 'queue.request'])
  })

  test('a rule on both points is injected once', async () => {
    const world = await under({
      on: ['queue.delivery', 'workflow.call'],
      match: { step: 'pay' },
      times: 1,
      fault: { kind: 'latency', waitMs: 5000 },
    })
    expect(struck(world)).toHaveLength(1)
  })
})

test('a later delivery releases a held one of the same run', async () => {
  const world = workflowWorld()
  world.serve('/fan', async (context) => {
    await Promise.all([context.run('a', () => 1), context.run('b', () => 2)])
  })
  world.faults.add({ on: 'workflow.step', match: { step: 'a' }, times: 1, fault: fault.reorder('1h') })
  await world.client.trigger({ url: `${app}/fan`, workflowRunId: 'one' })
  await world.clock.drain()
  expect(world.workflow.getRun('wfr_one').state).toBe('RUN_SUCCESS')
  expect(world.clock.now() - world.workflow.getRun('wfr_one').createdAt).toBeLessThan(3_600_000)
})

test('a run whose delivery is dropped does not continue, and is reported as lost by a fault', async () => {
  const world = await under({ on: 'workflow.step', match: { step: 'charge' }, fault: fault.drop() })
  expect(world.workflow.getRun('wfr_one').state).toBe('RUN_STARTED')
  expect(world.checkInvariants().violations).toEqual([])
})

test('each delivery fault applies to steps and calls, each request fault to waits', () => {
  for (const kind of faultKinds) {
    const { points } = catalog[kind]
    expect([kind, points.includes('workflow.step'), points.includes('workflow.call')]).toEqual([
      kind,
      points.includes('queue.delivery'),
      points.includes('queue.delivery'),
    ])
    expect([kind, points.includes('workflow.wait')]).toEqual([kind, points.includes('queue.request')])
  }
})
