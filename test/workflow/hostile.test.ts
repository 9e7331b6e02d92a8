import { expect, test } from 'vitest'
import { type WorkflowWorld, workflowWorld } from './world.js'

// Requests that no SDK sends. They must never cause a 500, a hang or a silent loss.

const garbage: readonly string[] = [
  '',
  'x',
  'null',
  '[]',
  '[null]',
  '"text"',
  '42',
  '{}',
  '{"__proto__":{"step":1}}',
  '{"step":null}',
  '{"step":{"__proto__":null}}',
  '{"url":5,"step":{"stepId":1,"stepName":"w","stepType":"Wait","concurrent":1}}',
  '{"url":"ftp://x","step":{"stepId":1,"stepName":"w","stepType":"Wait","concurrent":1}}',
  '{"url":"https://app.test/x","timeout":{},"step":{"stepId":1,"stepName":"w","stepType":"Wait","concurrent":1}}',
  '{"url":"https://app.test/x","timeout":"soon","step":{"stepId":1,"stepName":"w","stepType":"Wait","concurrent":1}}',
  '{"url":"https://app.test/x","timeout":-1,"step":{"stepId":1,"stepName":"w","stepType":"Wait","concurrent":1}}',
  '{"url":"https://app.test/x","timeoutHeaders":[],"step":{"stepId":1}}',
  `{"url":"https://app.test/x","step":${'['.repeat(5000)}${']'.repeat(5000)}}`,
  `{"body":"${'x'.repeat(100_000)}"`,
  '{"workflowRunId":"wfr_nobody","workflowUrl":"https://app.test","headers":{},"step":{"stepId":1,"stepName":"w","stepType":"Invoke","concurrent":1}}',
]

const headersOf = (runId: string, more: Record<string, string> = {}): Record<string, string> => ({
  'upstash-workflow-runid': runId,
  'upstash-workflow-init': 'false',
  'upstash-workflow-url': 'https://app.test/x',
  ...more,
})

async function openRun(world: WorkflowWorld): Promise<string> {
  const url = world.serve('/x', async (context) => void (await context.sleep('long', '1d')))
  const { workflowRunId } = await world.client.trigger({ url })
  await world.clock.advance('1m')
  return workflowRunId
}

test.each(garbage.map((body) => [body.slice(0, 60), body]))(
  'an invalid body is rejected or ignored: %s',
  async (_, body) => {
    const world = workflowWorld()
    const { ask } = world
    const runId = await openRun(world)
    const answers = [
      await ask('POST', '/v2/wait/evt', { headers: headersOf(runId), body }),
      await ask('POST', '/v2/publish/https://app.test/x', { headers: headersOf(runId), body }),
      await ask('POST', '/v2/publish/https://app.test/x', {
        headers: headersOf('wfr_child', { 'upstash-workflow-init': 'true', 'upstash-workflow-invoke': 'true' }),
        body,
      }),
      await ask('POST', '/v2/batch', { headers: headersOf(runId), body }),
      await ask('POST', '/v2/batch/trigger', { body }),
      await ask('POST', '/v2/notify/evt', { body }),
      await ask('DELETE', '/v2/workflows/runs', {
        body: body === '{}' || body === '' ? '{"workflowRunIds":[]}' : body,
      }),
    ]
    for (const { status: code } of answers) expect([200, 201, 202, 400, 404, 412]).toContain(code)
    await world.clock.drain()
  },
)

test.each([
  ['the timeoutHeaders of a wait', 'wait'],
  ['the headers of an invoke', 'invoke'],
])('%s are checked when they arrive, not when they are used', async (_, kind) => {
  const world = workflowWorld()
  const { ask, clock } = world
  const runId = await openRun(world)
  const step = { stepId: 2, stepName: 'w', stepType: 'Wait', concurrent: 1 }
  for (const headers of [
    { 'Upstash-Retries': ['1000000'] },
    { 'Upstash-Retries': ['many'] },
    { 'Upstash-Delay': ['soon'] },
    { 'Upstash-Forward-x y': ['1'] },
    { 'Upstash-Forward-x': ['a\nb'] },
    { 'Upstash-Flow-Control-Value': ['rate=1'] },
  ]) {
    const answer =
      kind === 'wait'
        ? await ask('POST', '/v2/wait/evt', {
            headers: headersOf(runId),
            body: { url: 'https://app.test/x', timeout: 5, timeoutHeaders: headers, step },
          })
        : await ask('POST', '/v2/publish/https://app.test/x', {
            headers: headersOf('wfr_c', { 'upstash-workflow-init': 'true', 'upstash-workflow-invoke': 'true' }),
            body: { headers, workflowRunId: runId, workflowUrl: 'https://app.test/x', step },
          })
    expect([400, 412]).toContain(answer.status)
  }
  await clock.drain()
})

test.each(['wfr_a\nb', 'wfr_ä', 'wfr_a b\r\nx: y', 'wfr_\0'])(
  'a run ID that a header cannot contain is rejected: %j',
  async (id) => {
    const { ask, clock, workflow, destinations } = workflowWorld()
    destinations.record('https://app.test/x')
    const headers = headersOf(id, { 'upstash-workflow-init': 'true' })
    const { status: code } = await ask('POST', '/v2/batch', {
      body: [{ destination: 'https://app.test/x', headers, body: '' }],
    })
    expect(code).toBe(400)
    const batch = await ask('POST', '/v2/batch/trigger', {
      body: [{ destination: 'https://app.test/x', headers: { 'upstash-workflow-runid': id } }],
    })
    expect(batch.status).toBe(400)
    await clock.drain()
    expect(workflow.runs).toHaveLength(0)
  },
)

test('labels and URLs with any characters reach the endpoint', async () => {
  const { ask, clock, serve, workflow, destinations } = workflowWorld()
  const url = serve('/größe', async (context) => await context.run('a', () => context.label))
  const seen = destinations.record(url)
  await ask('POST', '/v2/batch/trigger', {
    body: [{ destination: url, headers: { 'upstash-label': 'größe😀' }, body: 'x' }],
  })
  await clock.drain()
  expect(seen.count).toBeGreaterThan(1)
  expect(workflow.runs[0]!.state).toBe('RUN_SUCCESS')
  const bad = await ask('POST', '/v2/batch/trigger', {
    body: [{ destination: url, headers: { 'upstash-label': 'a\nb' }, body: 'x' }],
  })
  expect(bad.status).toBe(400)
})

test.each(['[]', '[[]]', '"all"', '7', 'null', '{"constructor":"x"}', '{"workflowRunIds":{}}'])(
  'a bulk cancel with %s cancels nothing',
  async (body) => {
    const world = workflowWorld()
    const runId = await openRun(world)
    expect((await world.ask('DELETE', '/v2/workflows/runs', { body })).status).toBe(400)
    expect(world.workflow.getRun(runId).state).toBe('RUN_STARTED')
  },
)

test('requests for unknown runs are rejected', async () => {
  const { ask } = workflowWorld()
  const step = { stepId: 1, stepName: 'w', stepType: 'Wait', concurrent: 1 }
  const headers = headersOf('wfr_nobody')
  const body = { url: 'https://app.test/x', step }
  expect((await ask('POST', '/v2/wait/evt', { headers, body })).status).toBe(400)
  expect((await ask('POST', '/v2/wait/evt', { body })).status).toBe(400)
  expect((await ask('POST', '/v2/publish/https://app.test/x', { headers, body: step })).status).toBe(400)
  expect((await ask('GET', '/v2/workflows/runs/wfr_nobody')).status).toBe(404)
  expect((await ask('DELETE', '/v2/workflows/runs/wfr_nobody?cancel=true')).json).toEqual({
    error: 'workflowRun wfr_nobody not found',
  })
  expect((await ask('DELETE', '/v2/workflows/runs/wfr_nobody?cancel=false')).status).toBe(404)
  expect((await ask('POST', '/v2/notify/wfr_nobody/evt')).status).toBe(404)
  expect((await ask('POST', '/v2/workflows/dlq/resume/1-1')).status).toBe(404)
  for (const path of [
    '/v2/wait/',
    '/v2/notify/',
    '/v2/notify/wfr_x/',
    '/v2/waiters/',
    '/v2/workflows/hooks/u/wfr_nobody/',
  ]) {
    const { status: code } = await ask(path.includes('waiters') ? 'GET' : 'POST', path, {
      headers,
      ...(!path.includes('waiters') && { body }),
    })
    expect([200, 201, 400, 404]).toContain(code)
  }
})

test.each([0, -1, 0.5, 1e9, 1e308])(
  'steps with %d parallel ones, wrong IDs, and another URL are handled',
  async (concurrent) => {
    const world = workflowWorld()
    const { ask, clock, client, destinations } = world
    const other = destinations.record('https://elsewhere.test/')
    const runId = await openRun(world)
    for (const stepId of [-1, 0, 1.5, 1e300, 7]) {
      const body = { stepId, stepName: 's\n', stepType: 'Odd', concurrent, targetStep: stepId === 7 ? 9 : undefined }
      const answer = await ask('POST', '/v2/publish/https://elsewhere.test/', { headers: headersOf(runId), body })
      expect(answer.status).toBe(201)
    }
    await clock.advance('1h')
    expect(other.count).toBe(5)
    expect((await client.logs({ workflowRunId: runId })).runs).toHaveLength(1)
    expect((await ask('GET', `/v2/workflows/events?workflowRunId=${runId}`)).status).toBe(200)
  },
)

test('one event ends five thousand waits, and single waits can be notified one by one', async () => {
  const { ask, clock, workflow, destinations } = workflowWorld({ policy: { maxTrafficEntries: 1000 } })
  destinations.on('https://app.test/x', () => new Response('', { headers: { 'upstash-workflow-sdk-version': '1' } }))
  const waiters = 5000
  const step = { stepId: 1, stepName: 'w', stepType: 'Wait', concurrent: 1 }
  for (let n = 0; n < waiters; n += 1000) {
    const items = Array.from({ length: 1000 }, (__, k) => ({
      destination: 'https://app.test/x',
      headers: headersOf(`wfr_${n + k}`, { 'upstash-workflow-init': 'true' }),
    }))
    await ask('POST', '/v2/batch', { body: items })
  }
  for (let n = 0; n < waiters; n++)
    await ask('POST', '/v2/wait/evt', { headers: headersOf(`wfr_${n}`), body: { url: 'https://app.test/x', step } })
  expect((await ask('GET', '/v2/waiters/evt')).json).toHaveLength(waiters)
  for (let n = 0; n < 500; n++) expect((await ask('POST', `/v2/notify/wfr_${n}/evt`)).json).toHaveLength(1)
  expect(workflow.notify('evt')).toBe(waiters - 500)
  await clock.advance('1m')
})

test('a destination that a header cannot contain is rejected', async () => {
  const { ask } = workflowWorld()
  const headers = headersOf('wfr_a', { 'upstash-workflow-init': 'true' })
  const { status } = await ask('POST', '/v2/batch', { body: [{ destination: 'https://app.test/a\nb', headers }] })
  expect(status).toBe(400)
})

test('the cost of a run grows linearly with its number of steps', async () => {
  const { ask, client, destinations } = workflowWorld({ policy: { workflowMaxSteps: undefined } })
  destinations.record('https://app.test/x', { status: 200, headers: { 'upstash-workflow-sdk-version': '1' } })
  await ask('POST', '/v2/batch', {
    body: [{ destination: 'https://app.test/x', headers: headersOf('wfr_m', { 'upstash-workflow-init': 'true' }) }],
  })
  const items = (from: number): object[] =>
    Array.from({ length: 1000 }, (_, n) => ({
      destination: 'https://app.test/x',
      headers: headersOf('wfr_m', { 'upstash-delay': '1d' }),
      body: { stepId: from + n, stepName: `s${from + n}`, stepType: 'Run', concurrent: 1, out: '1' },
    }))
  for (let n = 1; n < 10_000; n += 1000) {
    const { json } = await ask('POST', '/v2/batch', { body: items(n) })
    expect(json).toHaveLength(1000)
  }
  // Submits all of them again: earlier submissions are recognized.
  for (let n = 1; n < 10_000; n += 1000) {
    const { json } = await ask('POST', '/v2/batch', { body: items(n) })
    expect((json as { deduplicated?: boolean }[]).every(({ deduplicated }) => deduplicated === true)).toBe(true)
  }
  expect((await ask('GET', '/v2/workflows/runs/wfr_m')).json).toHaveLength(10_001)
  expect((await client.logs({ workflowRunId: 'wfr_m' })).runs[0]!.steps).toHaveLength(10_001)
  expect(await client.cancel('wfr_m')).toEqual({ cancelled: 1 })
})
