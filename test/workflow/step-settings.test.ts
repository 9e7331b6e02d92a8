import { describe, expect, test } from 'vitest'
import type { SandboxOptions } from '../../src/index.js'
import { connectedSandbox } from '../support/sandbox.js'
import { type Echo, echoOf, isInForce, type Settings, type SettingsRoute, SettingsSdk } from './settings-sdk.js'
import { played, type Seen, third, url } from './settings-world.js'
import { app } from './world.js'

// Settings of single steps. The expected requests and numbers come from the sources of the vendor's SDK and their
// tests. [workflow.md 3.5, 5.1]

const settings: Settings = { flowControl: { key: 'cards', parallelism: 1 }, retries: 0 }

describe('the number of deliveries', () => {
  test('a configured step after a run needs no further delivery', async () => {
    const { seen, run } = await played(async (context) => {
      await context.run('one', () => 1)
      await context.run('two', () => 2, settings)
      return await context.run('three', () => 3)
    })
    expect(run).toMatchObject({ state: 'RUN_SUCCESS', result: 3 })
    expect(seen.map(({ last }) => last)).toEqual(['step', 'step', 'step', 'step'])
    expect(seen.map(({ echo }) => echo.retries)).toEqual([3, 0, 3, 3])
    expect(seen[1]!.echo.flowControl).toEqual({ key: 'cards', parallelism: 1, rate: 0, period: 1 })
    expect(seen[2]!.echo.flowControl).toBeUndefined()
  })

  test('a configured first step needs one further delivery, which has the marker', async () => {
    const { seen, run, marked, sandbox } = await played(async (context) => {
      await context.run('one', () => 1, settings)
      await context.run('two', () => 2)
      return await context.run('three', () => 3)
    })
    expect(run.state).toBe('RUN_SUCCESS')
    expect(seen.map(({ last }) => last)).toEqual(['step', 'stepConfig', 'step', 'step', 'step'])
    expect(marked).toEqual([seen[1]])
    expect(marked[0]!.echo).toMatchObject({ retries: 0, flowControl: { key: 'cards' } })
    // It is no step: neither the log of the run nor the traffic log counts it.
    expect(sandbox.traffic.ofType('step').map(({ stepName }) => stepName)).toEqual(['one', 'two', 'three'])
    const { steps } = (await logOf(sandbox)).runs[0]
    expect(steps.map((group: { steps: { stepName: string }[] }) => group.steps[0]!.stepName)).toEqual([
      'init',
      'one',
      'two',
      'three',
    ])
  })

  const firstSteps: Readonly<Record<string, SettingsRoute>> = {
    'a call': (context) => context.call('first', third),
    'a wait': (context) => context.waitForEvent('first', 'evt'),
    'parallel steps': (context) =>
      context.all([
        { name: 'a', body: () => 1 },
        { name: 'b', body: () => 2 },
      ]),
  }
  test.each(Object.keys(firstSteps))('a configured step after %s needs one further delivery', async (kind) => {
    const { run, seen } = await played(async (context) => {
      await firstSteps[kind]!(context)
      return await context.run('two', () => 2, { retries: 7 })
    })
    expect(run).toMatchObject({ state: 'RUN_SUCCESS', result: 2 })
    expect(seen.filter(({ last }) => last === 'stepConfig')).toHaveLength(1)
    expect(seen.filter(({ echo }) => echo.retries === 7)).toHaveLength(1)
  })

  test('the items of a plan have settings of their own', async () => {
    const { run, seen } = await played((context) =>
      context.all([
        { name: 'a', body: () => 1, settings: { retries: 5 } },
        { name: 'b', body: () => 2, settings },
        { name: 'c', body: () => 3 },
      ]),
    )
    expect(run).toMatchObject({ state: 'RUN_SUCCESS', result: [1, 2, 3] })
    expect(seen.slice(1, 4).map(({ echo }) => [echo.retries, echo.flowControl?.key])).toEqual([
      [5, undefined],
      [0, 'cards'],
      [3, undefined],
    ])
  })

  test('settings that the trigger already has need no request', async () => {
    const { seen, run } = await played(async (context) => await context.run('one', () => 1, settings), settings)
    expect(run.state).toBe('RUN_SUCCESS')
    expect(seen.map(({ last }) => last)).toEqual(['step', 'step'])
  })
})

async function logOf({ fetch, urls, tokens }: Awaited<ReturnType<typeof played>>['sandbox']) {
  const response = await fetch(`${urls.queue}/v2/workflows/logs`, {
    headers: { authorization: `Bearer ${tokens.queue}` },
  })
  return (await response.json()) as { runs: [{ steps: { steps: { stepName: string }[] }[] }] }
}

test('settings that a step lacks come from the trigger: retries and delay each for itself, flow control as a whole', async () => {
  const trigger: Settings = { retries: 4, retryDelay: '2000', flowControl: { key: 'run', parallelism: 3, rate: 2 } }
  const { seen } = await played(async (context) => {
    await context.run('one', () => 1)
    await context.run('two', () => 1, { retries: 1 })
    await context.run('three', () => 1, { retryDelay: '1000' })
    await context.run('four', () => 1, { flowControl: { key: 'own', rate: 10, period: '1m' } })
  }, trigger)
  const run = { key: 'run', parallelism: 3, rate: 2, period: 1 }
  const own = { key: 'own', parallelism: 0, rate: 10, period: 60 }
  expect(seen.map(({ echo: { flowControl, retries, retryDelay } }) => ({ flowControl, retries, retryDelay }))).toEqual([
    { flowControl: run, retries: 4, retryDelay: '2000' },
    { flowControl: run, retries: 1, retryDelay: '2000' },
    { flowControl: run, retries: 4, retryDelay: '1000' },
    { flowControl: own, retries: 4, retryDelay: '2000' },
    { flowControl: run, retries: 4, retryDelay: '2000' },
  ])
})

test('a step is retried as often as it says, and its run then fails once', async () => {
  let attempts = 0
  const { run, failures, sandbox } = await played(async (context) => {
    await context.run('one', () => 1)
    await context.run(
      'card',
      () => {
        attempts++
        throw new Error('declined')
      },
      { ...settings, retries: 2, retryDelay: '1000' },
    )
  })
  expect(attempts).toBe(3)
  expect(run.state).toBe('RUN_FAILED')
  expect(failures()).toBe(1)
  expect(sandbox.queue.deadLetters).toHaveLength(1)
})

describe('the same request for settings again', () => {
  const step = { 'upstash-workflow-runid': 'wfr_a', 'upstash-workflow-init': 'false' }
  const headers = {
    ...step,
    'upstash-workflow-calltype': 'stepConfig',
    'upstash-content-based-deduplication': 'true',
    'upstash-feature-set': 'LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig,WF_StepConfig',
    'upstash-retries': '9',
  }
  async function begun(policy: SandboxOptions['policy'] = {}) {
    const sandbox = connectedSandbox({ seed: 16, policy })
    const sdk = new SettingsSdk(sandbox)
    const seen = sandbox.destinations.record(url, { status: 200, headers: { 'upstash-workflow-sdk-version': '1' } })
    await sdk.trigger(url, 'wfr_a')
    await sandbox.clock.advance('1s')
    const ask = async (more: Record<string, string>, body: string) => {
      const response = await sdk.ask('POST', `/v2/publish/${url}`, { ...headers, ...more }, body)
      return { status: response.status, json: (await response.json()) as { deduplicated?: boolean; error?: string } }
    }
    return { sandbox, seen, ask }
  }

  test('is a duplicate, and another one directly after it is rejected', async () => {
    const { sandbox, seen, ask } = await begun()
    expect((await ask({}, '{"targetStep":1,"invokeCount":0}')).status).toBe(201)
    expect(await ask({}, '{"targetStep":1,"invokeCount":0}')).toMatchObject({
      status: 202,
      json: { deduplicated: true },
    })
    const other = await ask({}, '{"targetStep":2,"invokeCount":0}')
    expect(other).toMatchObject({ status: 400, json: { error: expect.stringContaining('Upstash-Workflow-CallType') } })
    // With other settings it is another request.
    expect((await ask({ 'upstash-retries': '8' }, '{"targetStep":1,"invokeCount":0}')).status).toBe(400)
    await sandbox.clock.drain()
    expect(seen.count).toBe(2)
  })

  test('is still a duplicate after a dump, and its delivery keeps the marker', async () => {
    const { sandbox, ask } = await begun()
    await ask({}, '{"targetStep":1,"invokeCount":0}')
    const other = connectedSandbox({ seed: 16 })
    other.load(sandbox.dump())
    const seen = other.destinations.record(url, { status: 200, headers: { 'upstash-workflow-sdk-version': '1' } })
    const again = await new SettingsSdk(other).ask(
      'POST',
      `/v2/publish/${url}`,
      headers,
      '{"targetStep":1,"invokeCount":0}',
    )
    expect(again.status).toBe(202)
    await other.clock.drain()
    expect(seen.last().header('upstash-workflow-step-config')).toBe('true')
    expect(seen.last().maxRetries).toBe(9)
  })

  test('is a step with the policy off', async () => {
    const { sandbox, seen, ask } = await begun({ workflowStepConfiguration: false })
    await ask({}, '{"targetStep":1,"invokeCount":0}')
    await sandbox.clock.drain()
    expect(seen.last().header('upstash-workflow-step-config')).toBeUndefined()
    expect((JSON.parse(seen.last().body) as { callType: string }[]).map(({ callType }) => callType)).toEqual([
      'step',
      'step',
    ])
  })
})

describe('the echo', () => {
  const trigger: Settings = { retries: 0, flowControl: { key: 'k', parallelism: 2, rate: 10, period: '1m' } }
  const names = [
    'upstash-max-retries',
    'upstash-retries',
    'upstash-retry-delay',
    'upstash-flow-control-key',
    'upstash-flow-control-value',
  ]
  const shown = ({ headers }: Seen) => names.map((name) => headers.get(name))

  test('has the value of each header, and counts retries', async () => {
    let attempts = 0
    const { seen } = await played(async (context) => {
      await context.run(
        'a',
        () => {
          if (attempts++ === 0) throw new Error('once')
        },
        { retries: 5, retryDelay: '1000' },
      )
    }, trigger)
    const flow = ['k', 'parallelism=2,rate=10,period=60']
    expect(seen.map(shown)).toEqual([
      ['0', '0', null, ...flow],
      ['5', '0', '1000', ...flow],
      ['5', '1', '1000', ...flow],
      ['0', '0', null, ...flow],
    ])
  })

  test.each([
    ['runs', true, false],
    ['all', true, true],
    ['off', false, false],
  ] as const)('is sent as the policy says: %s', async (policy, inRuns, inOthers) => {
    const route: SettingsRoute = async (context) => await context.call('call', third)
    const { seen, sandbox } = await played(route, trigger, { policy: { workflowEchoConfiguration: policy } })
    expect(seen.map(({ headers }) => headers.has('upstash-max-retries'))).toEqual(seen.map(() => inRuns))
    const plain = sandbox.destinations.record(`${app}/plain`)
    sandbox.queue.publish({ to: `${app}/plain`, retries: 1 })
    await sandbox.clock.drain()
    expect(plain.last().header('upstash-max-retries')).toBe(inOthers ? '1' : undefined)
  })

  test('a third party gets no echo', async () => {
    const sandbox = connectedSandbox({ seed: 16 })
    const sdk = new SettingsSdk(sandbox)
    sandbox.destinations.on(
      url,
      sdk.serve((context) => context.call('call', third)),
    )
    const called = sandbox.destinations.record(third)
    await sdk.trigger(url, 'wfr_one', trigger)
    await sandbox.clock.drain()
    expect(called.count).toBe(1)
    for (const name of names) expect(called.last().header(name)).toBeUndefined()
  })

  test('without echo, every configured step requests its settings once and runs', async () => {
    const { seen, run, sdk } = await played(
      async (context) => {
        await context.run('one', () => 1, settings)
        await context.run('two', () => 2, settings)
      },
      {},
      { policy: { workflowEchoConfiguration: 'off' } },
    )
    expect(run.state).toBe('RUN_SUCCESS')
    expect(seen).toHaveLength(4)
    expect(sdk.warnings).toHaveLength(2)
  })
})

test.each([
  ['parallelism=2,rate=10', { parallelism: 2, rate: 10, period: 1 }],
  ['parallelism=2, rate=10', { parallelism: 2, rate: 10, period: 1 }],
  ['rate=1,period=60', { parallelism: 0, rate: 1, period: 60 }],
  ['rate=1, period=1m', { parallelism: 0, rate: 1, period: 60 }],
])('the client of these tests parses %s as the vendor does', (value, limits) => {
  const headers = new Headers({ 'upstash-flow-control-key': 'k', 'upstash-flow-control-value': value })
  expect(echoOf(headers)).toEqual({ flowControl: { key: 'k', ...limits }, hasStepConfig: false })
})

test('the client of these tests compares as the vendor does', () => {
  const none: Echo = { hasStepConfig: false }
  expect(isInForce({ retries: 0 }, { ...none, retries: 0 })).toBe(true)
  expect(isInForce({ retries: 5 }, none)).toBe(true)
  expect(isInForce({ retryDelay: '2000' }, { ...none, retryDelay: '1000' })).toBe(false)
  expect(isInForce({ flowControl: { key: 'k', rate: 1 } }, none)).toBe(false)
})
