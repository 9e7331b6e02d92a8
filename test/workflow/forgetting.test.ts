import { describe, expect, test } from 'vitest'
import type { Sandbox, SandboxOptions } from '../../src/index.js'
import { createSandbox } from '../../src/index.js'
import { workflowWorld } from './world.js'

const url = 'https://app.test/x'

/** A workflow with one step, without an SDK. */
function quick(options: SandboxOptions = {}): Sandbox {
  const sandbox = createSandbox({
    seed: 4,

    onWarning: () => {},
    policy: { queuePlan: 'fixed-1m' },
    ...options,
  })
  sandbox.destinations.on(url, async (request) => {
    const runId = request.headers.get('upstash-workflow-runid')!
    const list = (await request.json()) as readonly unknown[]
    const headers = { 'upstash-workflow-runid': runId, 'upstash-workflow-init': 'false', 'upstash-workflow-url': url }
    if (list.length === 1) {
      const step = { stepId: 1, stepName: 'a', stepType: 'Run', out: '1', concurrent: 1 }
      await asked(sandbox, 'POST', '/v2/batch', [{ destination: url, headers, body: JSON.stringify(step) }])
    } else await asked(sandbox, 'DELETE', `/v2/workflows/runs/${runId}?cancel=false`)
    return new Response('{}', { headers: { 'upstash-workflow-sdk-version': '1', 'upstash-workflow-sdk': 'v1.3.2' } })
  })
  return sandbox
}

async function asked(sandbox: Sandbox, method: string, path: string, body?: unknown): Promise<Response> {
  const answer = await sandbox.fetch(sandbox.urls.queue + path, {
    method,
    headers: { authorization: `Bearer ${sandbox.tokens.queue}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  expect(answer.ok).toBe(true)
  return answer
}

async function begin(sandbox: Sandbox, runId: string, more: Record<string, string> = {}): Promise<void> {
  const headers = { 'upstash-workflow-init': 'true', 'upstash-workflow-runid': runId, ...more }
  await asked(sandbox, 'POST', '/v2/batch', [{ destination: url, headers, body: '' }])
}

describe('ended runs are forgotten with the log', () => {
  test('even while an older run still runs', async () => {
    const sandbox = quick()
    const { clock, workflow } = sandbox
    await begin(sandbox, 'wfr_patient', { 'upstash-delay': '300d' })
    for (let week = 0; week < 10; week++) {
      await begin(sandbox, `wfr_${week}`)
      await clock.advance('7d')
    }
    expect(workflow.runs.map(({ id }) => id)).toEqual(['wfr_patient', 'wfr_8', 'wfr_9'])
    expect(() => workflow.getRun('wfr_3')).toThrow('no such run')
    const log = await (await asked(sandbox, 'GET', '/v2/workflows/logs')).json()
    expect(log.runs.map(({ workflowRunId }: { workflowRunId: string }) => workflowRunId)).toEqual([
      'wfr_9',
      'wfr_8',
      'wfr_patient',
    ])
  })

  test('in the order in which they ended, not in that in which they began', async () => {
    const sandbox = quick()
    const { clock, workflow } = sandbox
    await begin(sandbox, 'wfr_late', { 'upstash-delay': '10d' })
    await begin(sandbox, 'wfr_cancelled', { 'upstash-delay': '300d' })
    await begin(sandbox, 'wfr_early')
    await clock.advance('12d')
    await asked(sandbox, 'DELETE', '/v2/workflows/runs/wfr_cancelled?cancel=true')
    await clock.advance('3d')
    expect(workflow.runs.map(({ id }) => id)).toEqual(['wfr_late', 'wfr_cancelled'])
    await clock.advance('10d')
    expect(workflow.runs.map(({ id }) => id)).toEqual(['wfr_cancelled'])
    await clock.advance('2d')
    expect(workflow.runs).toEqual([])
  })

  test('after a dump was loaded', async () => {
    const from = quick()
    await begin(from, 'wfr_late', { 'upstash-delay': '10d' })
    await begin(from, 'wfr_patient', { 'upstash-delay': '300d' })
    await begin(from, 'wfr_early')
    await from.clock.advance('11d')
    const to = quick({ startAt: from.clock.now() })
    to.load(from.dump())
    expect(to.workflow.runs.map(({ id }) => id)).toEqual(['wfr_late', 'wfr_patient', 'wfr_early'])
    await to.clock.advance('4d')
    expect(to.workflow.runs.map(({ id }) => id)).toEqual(['wfr_late', 'wfr_patient'])
    await begin(to, 'wfr_new')
    await to.clock.advance('11d')
    expect(to.workflow.runs.map(({ id }) => id)).toEqual(['wfr_patient', 'wfr_new'])
  })

  test('a forgotten ID begins a run again', async () => {
    const sandbox = quick()
    await begin(sandbox, 'wfr_patient', { 'upstash-delay': '300d' })
    await begin(sandbox, 'wfr_a')
    await sandbox.clock.advance('15d')
    await begin(sandbox, 'wfr_a')
    await sandbox.clock.advance('1s')
    expect(sandbox.workflow.getRun('wfr_a')).toMatchObject({ state: 'RUN_SUCCESS', createdAt: expect.any(Number) })
    expect(sandbox.workflow.getRun('wfr_a').createdAt).toBeGreaterThan(sandbox.workflow.getRun('wfr_patient').createdAt)
  })

  test('a dead letter outlives its run, which can still be resumed and restarted', async () => {
    const world = workflowWorld({ policy: { queuePlan: 'fixed-1m' } })
    const { client, clock, ask, serve, workflow } = world
    let broken = true
    const address = serve('/w', async (context) => {
      const first = await context.run('first', () => 'one')
      return await context.run('second', () => {
        if (broken) throw new Error('no')
        return `${first} two`
      })
    })
    for (const id of ['1', '2']) await client.trigger({ url: address, workflowRunId: id, retries: 0 })
    await clock.drain()
    await clock.advance('20d')
    broken = false
    const { messages } = await client.dlq.list()
    expect(messages).toHaveLength(2)
    expect(workflow.runs).toHaveLength(0)
    const resumed = await ask('POST', `/v2/workflows/dlq/resume/${messages[0]!.dlqId}`)
    expect(resumed.status).toBe(200)
    const restarted = await ask('POST', `/v2/workflows/dlq/restart/${messages[1]!.dlqId}`)
    expect(restarted.status).toBe(200)
    await clock.drain()
    expect(workflow.runs.map(({ state, result }) => [state, result])).toEqual([
      ['RUN_SUCCESS', 'one two'],
      ['RUN_SUCCESS', 'one two'],
    ])
  })
})

test('a year of a workflow next to a run that waits keeps only what the log retains', async () => {
  const sandbox = quick({ policy: { maxTrafficEntries: 100, queuePlan: 'free' } })
  const { clock, workflow } = sandbox
  await begin(sandbox, 'wfr_patient', { 'upstash-delay': '364d' })
  for (let n = 0; n < 365 * 4; n++) {
    await begin(sandbox, `wfr_${n}`)
    await clock.advance('6h')
  }
  expect(workflow.runs.length).toBeLessThan(4 * 4)
  const { messages, runs = [] } = sandbox.dump().queue
  expect(runs.length).toBeLessThan(4 * 4)
  expect(messages.length).toBeLessThan(2 * 4 * 4)
})
