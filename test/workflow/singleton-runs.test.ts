import { describe, expect, test } from 'vitest'
import { evaluators } from '../../matchers/index.js'
import type { SandboxOptions } from '../../src/index.js'
import { connectedSandbox } from '../support/sandbox.js'
import { SettingsSdk } from './settings-sdk.js'
import { url } from './settings-world.js'

// An ID of a run is reserved while the run is in progress, and free afterwards. [workflow.md 2.2, 3.6]

const taken = 'a workflow already exists, can not initialize a new one with same id'

function world(policy: SandboxOptions['policy'] = {}, isOld = false) {
  const sandbox = connectedSandbox({ seed: 16, policy })
  const sdk = new SettingsSdk(sandbox, { isOld })
  const payloads: unknown[] = []
  sandbox.destinations.on(
    url,
    sdk.serve(async (context) => {
      payloads.push(context.payload)
      await context.sleep('nap', 3600)
      return context.payload
    }),
  )
  const trigger = async (body = '') => {
    const { status, json } = await sdk.trigger(url, 'wfr_mine', {}, body)
    return status === 200 ? (json[0].deduplicated ?? 'begun') : [status, json.error]
  }
  const ask = async (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) => {
    const response = await sdk.ask(method, path, headers, body)
    const text = await response.text()
    return { status: response.status, text }
  }
  const states = () => sandbox.workflow.runs.map(({ state }) => state)
  return { sandbox, sdk, trigger, ask, states, payloads }
}

describe.each([false, true])('an SDK that sends no creation time: %s', (isOld) => {
  test('while a run is in progress, the same trigger is a duplicate, and another one is rejected', async () => {
    const { sandbox, trigger, states } = world({}, isOld)
    expect(await trigger('a')).toBe('begun')
    await sandbox.clock.advance('1m')
    expect(await trigger('a')).toBe(true)
    expect(await trigger('b')).toEqual([400, taken])
    // However long it takes.
    await sandbox.clock.advance('30m')
    expect(await trigger('a')).toBe(true)
    expect(states()).toEqual(['RUN_STARTED'])
  })

  test('after its end, the ID begins a new run, also with the same payload', async () => {
    const { sandbox, trigger, states } = world({}, isOld)
    await trigger('a')
    await sandbox.clock.advance('2h')
    expect(await trigger('a')).toBe('begun')
    await sandbox.clock.advance('2h')
    expect(await trigger('b')).toBe('begun')
    expect(states()).toEqual(['RUN_SUCCESS', 'RUN_SUCCESS', 'RUN_STARTED'])
    expect(sandbox.workflow.getRun('wfr_mine').state).toBe('RUN_STARTED')
    await sandbox.clock.drain()
    expect(sandbox.workflow.runs.map(({ result }) => result)).toEqual(['a', 'a', 'b'])
  })
})

test('with never-again, no request begins another run', async () => {
  const { sandbox, trigger } = world({ workflowSingletonRuns: 'never-again' })
  await trigger('a')
  expect(await trigger('b')).toBe(true)
  await sandbox.clock.drain()
  expect(await trigger('b')).toBe(true)
})

test('with window, the same trigger is a duplicate for ten minutes, also after the end', async () => {
  const { sandbox, trigger, ask } = world({ workflowSingletonRuns: 'window' })
  await trigger('a')
  expect(await trigger('b')).toEqual([400, taken])
  await ask('DELETE', '/v2/workflows/runs/wfr_mine?cancel=true')
  expect(await trigger('a')).toBe(true)
  await sandbox.clock.advance('599s')
  expect(await trigger('a')).toBe(true)
  await sandbox.clock.advance('1s')
  expect(await trigger('a')).toBe('begun')
  await ask('DELETE', '/v2/workflows/runs/wfr_mine?cancel=true')
  expect(await trigger('b')).toBe('begun')
})

describe('requests that begin a run', () => {
  const rest = { 'upstash-workflow-runid': 'mine' }

  test('/v2/trigger and /v2/batch/trigger follow the same rule', async () => {
    const { trigger, ask } = world()
    await trigger('a')
    expect(await ask('POST', `/v2/trigger/${url}`, rest, 'b')).toEqual({ status: 400, text: `{"error":"${taken}"}` })
    const again = await ask('POST', `/v2/trigger/${url}`, rest, 'a')
    expect(again).toMatchObject({ status: 200, text: expect.stringContaining('"deduplicated":true') })
    const item = (body: string, headers: object = rest) => ({ destination: url, headers, body })
    expect((await ask('POST', '/v2/batch/trigger', {}, [item('x', {}), item('b')])).status).toBe(400)
  })

  test('one rejected item rejects its whole batch', async () => {
    const { sandbox, trigger, ask } = world()
    await trigger('a')
    const item = (runId: string, body: string) => ({
      destination: url,
      headers: { 'upstash-workflow-init': 'true', 'upstash-workflow-runid': runId },
      body,
    })
    expect(await ask('POST', '/v2/batch', {}, [item('wfr_x', ''), item('wfr_mine', 'b')])).toMatchObject({
      status: 400,
    })
    expect(await ask('POST', '/v2/batch', {}, [item('wfr_y', '1'), item('wfr_y', '2')])).toMatchObject({ status: 400 })
    expect(await ask('POST', '/v2/batch', {}, [item('wfr_z', '1'), item('wfr_z', '1')])).toMatchObject({ status: 200 })
    expect(sandbox.workflow.runs.map(({ id }) => id)).toEqual(['wfr_mine', 'wfr_z'])
  })

  test('an SDK that was asked to begin a run begins no other one', async () => {
    const { sandbox, trigger, ask } = world()
    const headers = {
      ...{ 'upstash-workflow-runid': 'wfr_mine', 'upstash-workflow-init': 'true' },
      'upstash-workflow-trigger-by-sdk': 'true',
    }
    await trigger('a')
    await sandbox.clock.drain()
    const late = await ask('POST', '/v2/batch', {}, [{ destination: url, headers, body: 'a' }])
    expect(late).toMatchObject({ status: 200, text: expect.stringContaining('"deduplicated":true') })
    expect(sandbox.workflow.runs).toHaveLength(1)
  })
})

test('a request that names an earlier run does not reach a later one', async () => {
  const { sandbox, trigger, ask } = world()
  await trigger('a')
  await sandbox.clock.advance('1s')
  const [first] = sandbox.workflow.runs
  first!.cancel()
  // Virtual time does not move, and the two runs still have different creation times.
  expect(await trigger('b')).toBe('begun')
  const second = sandbox.workflow.getRun('wfr_mine')
  expect(second.createdAt).not.toBe(first!.createdAt)
  await sandbox.clock.advance('1s')
  const of = (createdAt: number) => ({
    'upstash-workflow-runid': 'wfr_mine',
    'upstash-workflow-init': 'false',
    'upstash-workflow-createdat': String(createdAt),
  })
  const step = { stepId: 2, stepName: 'late', stepType: 'Run', concurrent: 1 }
  const wait = { url, timeout: '1h', timeoutUrl: url, timeoutHeaders: {}, step }
  const late = of(first!.createdAt)
  expect((await ask('POST', `/v2/publish/${url}`, late, step)).status).toBe(400)
  expect((await ask('POST', '/v2/wait/evt', late, wait)).status).toBe(400)
  expect((await ask('GET', '/v2/workflows/runs/wfr_mine', late)).status).toBe(404)
  expect((await ask('DELETE', '/v2/workflows/runs/wfr_mine?cancel=false', late)).status).toBe(404)
  expect((await ask('DELETE', '/v2/workflows/runs/wfr_mine?cancel=true', late)).status).toBe(404)
  const invoke = {
    headers: {},
    workflowRunId: 'wfr_mine',
    workflowRunCreatedAt: first!.createdAt,
    workflowUrl: url,
    step,
  }
  const child = {
    'upstash-workflow-init': 'true',
    'upstash-workflow-invoke': 'true',
    'upstash-workflow-runid': 'wfr_kid',
  }
  expect((await ask('POST', `/v2/publish/${url}`, child, invoke)).status).toBe(400)
  expect(() => first!.cancel()).toThrow('workflowRun wfr_mine not found')
  expect(second.state).toBe('RUN_STARTED')
  // 0 and other texts mean that the sender does not know the time.
  for (const unknown of ['0', 'NaN', ''])
    expect((await ask('GET', '/v2/workflows/runs/wfr_mine', { 'upstash-workflow-createdat': unknown })).status).toBe(
      200,
    )
  expect((await ask('DELETE', '/v2/workflows/runs/wfr_mine?cancel=true', of(second.createdAt))).status).toBe(200)
})

test('the code of a canceled run that still executes does not reach the next run', async () => {
  const sandbox = connectedSandbox({ seed: 16 })
  const sdk = new SettingsSdk(sandbox)
  let isFirst = true
  const post = sdk.serve(async (context) => {
    const result = await context.run('one', () => context.payload)
    await context.run('two', () => result)
    return result
  })
  sandbox.destinations.on(url, async (request, task) => {
    if (isFirst) {
      isFirst = false
      await task.sleep('1m')
    }
    return post(request)
  })
  await sdk.trigger(url, 'wfr_mine', {}, 'a')
  await sandbox.clock.advance('10s')
  sandbox.workflow.getRun('wfr_mine').cancel()
  await sdk.trigger(url, 'wfr_mine', {}, 'b')
  await sandbox.clock.drain()
  expect(sandbox.workflow.runs.map(({ state, result }) => [state, result])).toEqual([
    ['RUN_CANCELED', undefined],
    ['RUN_SUCCESS', 'b'],
  ])
  // The matchers keep the two runs apart.
  const has = (pattern: object) => evaluators.toHaveWorkflowRun(sandbox, pattern as never, { times: 1 } as never).pass
  expect(has({ runId: 'wfr_mine', state: 'canceled', steps: [] })).toBe(true)
  expect(has({ runId: 'wfr_mine', state: 'success', steps: ['one', 'two'] })).toBe(true)
})

test('the log lists every run with an ID, and a dump restores them', async () => {
  const { sandbox, sdk, trigger, ask } = world()
  await trigger('a')
  await sandbox.clock.drain()
  await trigger('a')
  await sandbox.clock.advance('1s')
  const dump = sandbox.dump()
  const loaded = connectedSandbox({ seed: 16 })
  loaded.load(dump)
  expect(loaded.dump().queue).toEqual(dump.queue)
  expect(loaded.workflow.runs.map(({ state }) => state)).toEqual(['RUN_SUCCESS', 'RUN_STARTED'])
  loaded.destinations.on(
    url,
    new SettingsSdk(loaded).serve(async (context) => {
      await context.sleep('nap', 3600)
      return 'loaded'
    }),
  )
  await loaded.clock.drain()
  expect(loaded.workflow.runs.map(({ result }) => result)).toEqual(['a', 'loaded'])
  const { text } = await ask('GET', '/v2/workflows/logs?workflowRunId=wfr_mine')
  expect(JSON.parse(text).runs).toHaveLength(2)
  const fork = await sandbox.fork()
  expect(fork.workflow.runs.map(({ createdAt }) => createdAt)).toEqual(
    sandbox.workflow.runs.map(({ createdAt }) => createdAt),
  )
  expect(sdk.warnings).toEqual([])
})

test('an invoked ID that is in progress rejects the invocation of another step, and explain() states it', async () => {
  const { sandbox, sdk, trigger } = world()
  await trigger('a')
  await sandbox.clock.advance('1s')
  const step = { stepId: 1, stepName: 'invoke', stepType: 'Invoke', concurrent: 1 }
  const parent = `${url}/parent`
  sandbox.destinations.respond(parent, { status: 200, headers: { 'upstash-workflow-sdk-version': '1' } })
  await sdk.trigger(parent, 'wfr_parent')
  await sandbox.clock.advance('1s')
  const { createdAt } = sandbox.workflow.getRun('wfr_parent')
  const body = {
    body: 'a',
    headers: {},
    workflowRunId: 'wfr_parent',
    workflowRunCreatedAt: createdAt,
    workflowUrl: parent,
    step,
  }
  const headers = {
    'upstash-workflow-init': 'true',
    'upstash-workflow-invoke': 'true',
    'upstash-workflow-runid': 'wfr_mine',
  }
  expect((await sdk.ask('POST', `/v2/publish/${url}`, headers, body)).status).toBe(400)
  expect(sandbox.workflow.getRun('wfr_parent').explain()).toContain('the invoked run wfr_mine already exists')
})
