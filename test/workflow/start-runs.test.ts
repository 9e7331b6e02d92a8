import { expect, test } from 'vitest'
import { type Asked, type WorkflowWorld, workflowWorld } from './world.js'

// All ways to begin a run. [workflow.md 1, 2]

function world(options = {}): WorkflowWorld & { readonly url: string; readonly payloads: unknown[] } {
  const made = workflowWorld(options)
  const payloads: unknown[] = []
  const url = made.serve('/flow', async (context) => {
    await context.run('one', () => void payloads.push(context.requestPayload))
  })
  return Object.assign(made, { url, payloads })
}

const states = ({ workflow }: WorkflowWorld): string[] => workflow.runs.map(({ state }) => state)
const begins = (runId: string, url: string): Record<string, string> => ({
  'upstash-workflow-init': 'true',
  'upstash-workflow-runid': runId,
  'upstash-workflow-url': url,
  'upstash-workflow-sdk-version': '1',
  'upstash-feature-set': 'LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig',
  'upstash-forward-upstash-workflow-sdk-version': '1',
})

test('a plain publish, an enqueue, a URL group and a schedule are direct POSTs to the endpoint', async () => {
  const made = world()
  const { url, queue, ask, clock, payloads, asked: calls } = made
  await ask('POST', `/v2/publish/${url}`, { body: { n: 1 } })
  await clock.drain()
  await ask('POST', `/v2/enqueue/line/${url}`, { body: { n: 2 } })
  await clock.drain()
  await ask('POST', '/v2/topics/group/endpoints', { body: { endpoints: [{ url }] } })
  await ask('POST', '/v2/publish/group', { body: { n: 3 } })
  await clock.drain()
  await ask('POST', `/v2/schedules/${url}`, { headers: { 'upstash-cron': '0 0 * * *' }, body: { n: 4 } })
  await clock.advance('25h')
  expect(payloads).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }])
  expect(states(made)).toEqual(Array(4).fill('RUN_SUCCESS'))
  // One delivery more than with `client.trigger`.
  expect(calls).toHaveLength(12)
  expect(queue).toBeDefined()
})

test('a schedule and a URL group begin runs with workflow headers', async () => {
  const made = world()
  const { url, ask, clock, payloads, asked: calls, workflow } = made
  const { 'upstash-workflow-runid': _, ...headers } = begins('', url)
  await ask('POST', `/v2/schedules/${url}`, { headers: { ...headers, 'upstash-cron': '0 0 * * *' }, body: { n: 1 } })
  await clock.advance('49h')
  expect(payloads).toEqual([{ n: 1 }, { n: 1 }])
  expect(calls).toHaveLength(4)
  expect(new Set(workflow.runs.map(({ id }) => id)).size).toBe(2)
  expect(states(made)).toEqual(['RUN_SUCCESS', 'RUN_SUCCESS'])
  await ask('POST', '/v2/topics/group/endpoints', { body: { endpoints: [{ url }, { url: `${url}?again` }] } })
  const { json } = await ask('POST', '/v2/publish/group', { headers, body: { n: 2 } })
  expect(json).toHaveLength(2)
  await clock.advance('1h')
  expect(workflow.runs).toHaveLength(4)
  expect((await ask('POST', '/v2/publish/nobody', { headers, body: 'x' })).status).toBe(404)
})

test('an enqueue with a run ID begins that run in the order of its queue', async () => {
  const made = world()
  const { url, ask, client, clock, payloads, asked: calls, workflow } = made
  await ask('POST', '/v2/queues', { body: { queueName: 'line', parallelism: 1 } })
  await ask('POST', '/v2/queues/line/pause')
  const enqueue = (runId: string, n: number) =>
    ask('POST', `/v2/enqueue/line/${url}`, { headers: begins(runId, url), body: { n } })
  for (const [n, runId] of ['wfr_a', 'wfr_b', 'wfr_c'].entries()) {
    const { json } = await enqueue(runId, n)
    expect(json).toMatchObject({ messageId: expect.stringMatching(/^msg_/) })
  }
  // A repeated request does not begin it again, and another one with its ID is rejected.
  expect((await enqueue('wfr_b', 1)).json).toMatchObject({ deduplicated: true })
  expect((await enqueue('wfr_b', 9)).status).toBe(400)
  await clock.advance('1h')
  expect(calls).toEqual([])
  await client.cancel('wfr_b')
  await ask('POST', '/v2/queues/line/resume')
  await clock.drain()
  expect(payloads).toEqual([{ n: 0 }, { n: 2 }])
  expect(states(made)).toEqual(['RUN_SUCCESS', 'RUN_CANCELED', 'RUN_SUCCESS'])
  // A run has as many deliveries as with `client.trigger`: one for its step and one for its end.
  expect(calls).toHaveLength(4)
  expect((await client.logs({ workflowRunId: 'wfr_c' })).runs[0]).toMatchObject({ workflowState: 'RUN_SUCCESS' })
  expect(workflow.getRun('wfr_c').state).toBe('RUN_SUCCESS')
})

test.each([
  ['free-after-end', 3],
  ['never-again', 1],
] as const)('a schedule with a run ID begins that run as often as the policy allows: %s', async (policy, times) => {
  const made = world({ policy: { workflowSingletonRuns: policy } })
  const { url, ask, clock, workflow } = made
  await ask('POST', `/v2/schedules/${url}`, { headers: { ...begins('wfr_mine', url), 'upstash-cron': '0 0 * * *' } })
  await clock.advance('73h')
  const runs = workflow.runs.map(({ id, state }) => [id, state])
  expect(runs).toEqual(Array.from({ length: times }, () => ['wfr_mine', 'RUN_SUCCESS']))
})

test('a drain ends although a schedule repeatedly begins runs', async () => {
  const made = world()
  const { url, ask, clock } = made
  const { 'upstash-workflow-runid': _, ...headers } = begins('', url)
  await ask('POST', `/v2/schedules/${url}`, { headers: { ...headers, 'upstash-cron': '* * * * *' } })
  await ask('POST', `/v2/publish/${url}`, { headers: { 'upstash-delay': '5m' } })
  await clock.drain()
  expect(states(made).length).toBeGreaterThanOrEqual(1)
})

test('with the policy never-again, an existing run ID begins nothing, in any state of the run', async () => {
  const made = world({ policy: { workflowSingletonRuns: 'never-again' } })
  const { client, url, clock, ask, workflow } = made
  await client.trigger({ url, workflowRunId: 'mine' })
  await client.trigger({ url, workflowRunId: 'mine' })
  await clock.drain()
  await client.trigger({ url, workflowRunId: 'mine' })
  await clock.drain()
  const { json } = await ask('POST', '/v2/batch', { body: [{ destination: url, headers: begins('wfr_mine', url) }] })
  expect(json).toEqual([{ messageId: expect.any(String), deduplicated: true }])
  const triggered = await ask('POST', `/v2/trigger/${url}`, { headers: { 'upstash-workflow-runid': 'mine' } })
  expect(triggered).toMatchObject({ status: 200, json: { workflowRunId: 'wfr_mine', deduplicated: true } })
  expect(workflow.runs.map(({ id }) => id)).toEqual(['wfr_mine'])
})

test('a delay postpones only the first delivery, and the run exists immediately', async () => {
  const made = world()
  const { client, url, clock, payloads } = made
  const start = clock.now()
  await client.trigger({ url, delay: 3600, body: 'late' })
  expect(states(made)).toEqual(['RUN_STARTED'])
  await clock.advance('59m')
  expect(payloads).toHaveLength(0)
  await clock.drain()
  expect(payloads).toEqual(['late'])
  expect(clock.now()).toBe(start + 3_600_000)
  await client.trigger({ url, notBefore: Math.floor(clock.now() / 1000) + 60, body: 'later' })
  await clock.drain()
  expect(clock.now()).toBe(start + 3_660_000)
})

test('/v2/trigger accepts an ID, headers, a label and a failure URL, in one phase and in two', async () => {
  for (const workflowTwoPhaseTrigger of ['always', 'header'] as const) {
    const made = workflowWorld({ policy: { workflowTwoPhaseTrigger } })
    const { ask, clock, serve, asked: calls, destinations, workflow } = made
    const failures = destinations.record('https://app.test/failures')
    const seen: unknown[] = []
    const url = serve('/flow', async (context) => {
      seen.push([context.requestPayload, context.headers.get('x-user'), context.label])
      await context.run('one', () => {
        throw new Error('no')
      })
    })
    const given: Asked = {
      headers: {
        'upstash-workflow-runid': 'wfr_given',
        'upstash-forward-x-user': 'u',
        'upstash-label': 'mine',
        'upstash-retries': '1',
        'upstash-failure-callback': 'https://app.test/failures',
        'content-type': 'application/json',
      },
      body: { n: 1 },
    }
    const { json, status } = await ask('POST', `/v2/trigger/${url}`, given)
    expect([status, json]).toEqual([200, { workflowRunId: 'wfr_given', workflowCreatedAt: clock.now() }])
    await clock.drain()
    // The dry run and the real one.
    for (const one of seen) expect(one).toEqual([{ n: 1 }, 'u', 'mine'])
    expect(workflow.getRun('wfr_given').state).toBe('RUN_FAILED')
    expect(calls.map((call) => call.status)).toEqual(
      workflowTwoPhaseTrigger === 'always' ? [200, 500, 500] : [500, 500],
    )
    expect(failures.count).toBe(1)
    expect(failures.last().header('upstash-workflow-is-failure')).toBe('true')
    expect(failures.last().json()).toMatchObject({
      workflowRunId: 'wfr_given',
      status: 500,
      sourceBody: btoa('{"n":1}'),
    })
  }
})

test('/v2/batch/trigger begins several runs', async () => {
  const made = world({ policy: { workflowTwoPhaseTrigger: 'header' } })
  const { ask, clock, url, payloads } = made
  const item = (headers: object, body: unknown): object => ({ destination: url, headers, body })
  const { status, json } = await ask('POST', '/v2/batch/trigger', {
    body: [
      item({ 'Upstash-Workflow-RunId': 'wfr_a' }, 'a'),
      item({ 'Upstash-Workflow-RunId': 'wfr_a' }, 'a'),
      item({}, { json: true }),
    ],
  })
  expect(status).toBe(201)
  expect(json).toMatchObject([
    { workflowRunId: 'wfr_a', workflowCreatedAt: clock.now() },
    { workflowRunId: 'wfr_a', deduplicated: true },
    { workflowRunId: expect.stringMatching(/^wfr_.{21}$/) },
  ])
  await clock.drain()
  expect(payloads).toEqual(['a', { json: true }])
})

test('a deduplication ID of a trigger works as for every publish', async () => {
  const made = world({ policy: { workflowTwoPhaseTrigger: 'header' } })
  const { ask, clock, url, workflow } = made
  const headers = { 'upstash-deduplication-id': 'once' }
  const first = await ask('POST', `/v2/trigger/${url}`, { headers })
  const second = await ask('POST', `/v2/trigger/${url}`, { headers })
  expect(second.json).toEqual({ ...first.json, deduplicated: true })
  await clock.advance('11m')
  await ask('POST', `/v2/trigger/${url}`, { headers })
  expect(workflow.runs).toHaveLength(2)
})

test.each(['fetch', 'over the wire'])(
  'a direct POST forwards its transport headers without a hang: %s',
  async (way) => {
    const made = world()
    const { url, clock, payloads, destinations, fetch } = made
    const seen = destinations.record(url)
    const body = JSON.stringify({ long: 'x'.repeat(1000) })
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'content-length': String(body.length),
      host: 'app.test',
      connection: 'keep-alive',
      'accept-encoding': 'gzip, br',
      'user-agent': 'a test',
      'sec-fetch-mode': 'cors',
      'x-forwarded-for': '1.2.3.4',
      'upstash-message-id': 'msg_stale',
      'upstash-retried': '7',
      'x-user': 'u',
    }
    if (way === 'fetch') {
      made.queue.publish({ to: url, body, headers })
    } else {
      const items = Object.entries(headers).map(([name, value]) => [`upstash-forward-${name}`, value])
      await made.ask('POST', '/v2/batch', {
        body: [{ destination: url, headers: { ...begins('wfr_direct', url), ...Object.fromEntries(items) }, body }],
      })
    }
    expect(fetch).toBeDefined()
    await clock.drain()
    expect(payloads).toEqual([JSON.parse(body)])
    for (const delivery of seen.requests.filter(({ headers: all }) => all.some(([name]) => /runid/i.test(name)))) {
      const names = delivery.headers.map(([name]) => name.toLowerCase())
      for (const name of ['content-length', 'host', 'connection', 'accept-encoding']) expect(names).not.toContain(name)
      expect(delivery.header('upstash-message-id')).toBe(delivery.messageId)
      expect(delivery.header('upstash-retried')).toBe('0')
      expect(delivery.header('x-user')).toBe('u')
      expect(names.length).toBe(new Set(names).size)
    }
  },
)
