import { expect, test } from 'vitest'
import { fault } from '../../src/index.js'
import { app, type EndpointCall, type Loose, type WorkflowWorld, workflowWorld } from './world.js'

// What the queue sends to endpoints, third parties, callbacks and failure functions. [workflow.md 3, 4, 6, 7, 11, 12]

const third = 'https://third.test/x'

/** Returns the headers of a delivery by lower-case name, without the signature. */
function headersOf({ headers }: EndpointCall): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name !== 'upstash-signature'))
}

function watched(made: WorkflowWorld): EndpointCall[] {
  const seen: EndpointCall[] = []
  made.around = (call) => {
    seen.push(call)
    return call.answer()
  }
  return seen
}

test('a delivery has the headers and the body of the protocol', async () => {
  const made = workflowWorld()
  const { client, clock, serve, workflow } = made
  const seen = watched(made)
  const url = serve('/shape', async (context) => void (await context.run('one', () => 1)))
  await client.trigger({ url, workflowRunId: 's', body: { n: 1 }, headers: { 'X-User': 'u' }, label: 'mine' })
  await clock.drain()
  const common = {
    'content-type': 'application/json',
    'upstash-workflow-runid': 'wfr_s',
    'upstash-workflow-url': url,
    'upstash-workflow-createdat': String(workflow.getRun('wfr_s').createdAt),
    'upstash-workflow-sdk-version': '1',
    'upstash-retried': '0',
    'upstash-label': 'mine',
    'x-user': 'u',
    'upstash-region': 'EU-CENTRAL-1',
  }
  expect(headersOf(seen[0]!)).toMatchObject({ ...common, 'upstash-workflow-init': 'true' })
  expect(headersOf(seen[1]!)).toMatchObject({ ...common, 'upstash-workflow-init': 'false' })
  expect(headersOf(seen[1]!)).not.toHaveProperty('upstash-workflow-invoke-count')
  const raw = JSON.parse(seen[1]!.body)
  expect(raw).toEqual([
    { messageId: seen[0]!.headers.get('upstash-message-id'), body: btoa('{"n":1}'), callType: 'step' },
    {
      messageId: seen[1]!.headers.get('upstash-message-id'),
      body: btoa('{"stepId":1,"stepName":"one","stepType":"Run","out":"1","concurrent":1}'),
      callType: 'step',
    },
  ])
})

test('a delivery of a branch contains nothing that was submitted later', async () => {
  const made = workflowWorld()
  const { client, clock, serve } = made
  const seen = watched(made)
  const url = serve('/later', async (context) => {
    await Promise.all([context.run('a', () => 1), context.run('b', () => 2), context.run('c', () => 3)])
  })
  await client.trigger({ url })
  await clock.drain()
  for (const { body, headers } of seen) {
    const raw = JSON.parse(body) as { messageId: string }[]
    expect(raw.at(-1)!.messageId).toBe(headers.get('upstash-message-id'))
  }
  expect(seen.map(({ steps }) => steps.length)).toEqual([1, 2, 3, 4, 5, 6, 7])
})

const features = 'LazyFetch,InitialBody,WF_DetectTrigger'

test.each([true, false])('later messages use the configuration of the trigger: %s', async (applies) => {
  const made = workflowWorld()
  const { ask, clock, destinations, queue } = made
  const url = `${app}/plain`
  const sdk = { 'upstash-workflow-sdk-version': '1', 'upstash-workflow-sdk': 'v1' }
  const seen = destinations.record(url, { status: 200, headers: sdk })
  const init = {
    'upstash-workflow-init': 'true',
    'upstash-workflow-runid': 'wfr_c',
    'upstash-workflow-url': url,
    'upstash-feature-set': applies ? `${features},WF_TriggerOnConfig` : features,
    'upstash-retries': '1',
    'upstash-retry-delay': '5000',
    'upstash-flow-control-key': 'fk',
    'upstash-flow-control-value': 'parallelism=7',
    'upstash-label': 'mine',
    'upstash-forward-x-user': 'u',
    'upstash-failure-callback': `${app}/failed`,
  }
  const failed = destinations.record(`${app}/failed`)
  await ask('POST', '/v2/batch', { body: [{ destination: url, headers: init, body: 'x' }] })
  await clock.advance('1s')
  const step = { 'upstash-workflow-init': 'false', 'upstash-workflow-runid': 'wfr_c', 'upstash-workflow-url': url }
  const body = (stepId: number): object => ({ stepId, stepName: `s${stepId}`, stepType: 'Run', concurrent: 1 })
  await ask('POST', `/v2/publish/${url}`, { headers: step, body: body(1) })
  await ask('POST', `/v2/publish/${url}`, {
    headers: { ...step, 'upstash-forward-x-user': 'own', 'upstash-retries': '4', 'upstash-flow-control-key': 'other' },
    body: body(2),
  })
  await clock.advance('1s')
  const [, first, second] = seen.requests
  expect(first!.header('x-user')).toBe(applies ? 'u' : undefined)
  expect(first!.header('upstash-label')).toBe(applies ? 'mine' : undefined)
  expect(first!.maxRetries).toBe(applies ? 1 : 3)
  expect(second!.header('x-user')).toBe('own')
  expect(second!.maxRetries).toBe(4)
  const { json } = await ask('GET', '/v2/logs')
  const created = (json.events ?? json.logs) as { messageId: string; flowControlKey?: string; state: string }[]
  const keyOf = (id: string): string | undefined => created.find(({ messageId }) => messageId === id)?.flowControlKey
  expect([keyOf(first!.messageId), keyOf(second!.messageId)]).toEqual([applies ? 'fk' : undefined, 'other'])
  destinations.script(url, [
    fault.status(500),
    fault.status(500),
    fault.status(500),
    fault.status(500),
    fault.status(500),
  ])
  await ask('POST', `/v2/publish/${url}`, { headers: step, body: body(3) })
  const from = seen.count
  const start = clock.now()
  await clock.drain()
  expect(made.workflow.getRun('wfr_c').state).toBe('RUN_FAILED')
  expect(seen.count - from).toBe(applies ? 2 : 4)
  if (applies) expect(seen.requests.at(-1)!.at - start).toBe(5000)
  expect(failed.count).toBe(applies ? 1 : 0)
  expect(queue).toBeDefined()
})

test('a call to a third party and its callback have the headers of the protocol', async () => {
  const made = workflowWorld()
  const { client, clock, serve, destinations, workflow } = made
  const seen = watched(made)
  const called = destinations.record(third, { status: 201, body: 'paid', headers: { 'x-a': '1' } })
  const url = serve('/call', async (context) => {
    await context.call('pay', {
      url: third,
      method: 'PUT',
      body: 'text' as never,
      headers: { 'x-key': 'k', 'Upstash-Workflow-Is-Failure': 'true' },
      retries: 2,
    })
  })
  await client.trigger({ url, workflowRunId: 'c', retries: 5, headers: { 'x-user': 'u' }, label: 'l' })
  await clock.drain()
  const names = called.last().headers.map(([name]) => name.toLowerCase())
  expect(names).toEqual(expect.arrayContaining(['x-key', 'upstash-message-id', 'upstash-retried', 'upstash-signature']))
  expect(called.last().header('upstash-workflow-is-failure')).toBe('true')
  for (const name of [
    'x-user',
    'upstash-workflow-runid',
    'upstash-workflow-url',
    'upstash-workflow-createdat',
    'upstash-label',
  ])
    expect(names).not.toContain(name)
  const callback = seen[1]!
  expect(headersOf(callback)).toMatchObject({
    'upstash-workflow-runid': 'wfr_c',
    'upstash-workflow-url': url,
    'upstash-workflow-init': 'false',
    'upstash-workflow-calltype': 'fromCallback',
    'upstash-workflow-createdat': String(workflow.getRun('wfr_c').createdAt),
    'upstash-workflow-callback': 'true',
    'upstash-workflow-stepid': '1',
    'upstash-workflow-stepname': 'pay',
    'upstash-workflow-steptype': 'Call',
    'upstash-workflow-concurrent': '1',
    'upstash-workflow-contenttype': 'application/json',
    'x-user': 'u',
    'content-type': 'application/json',
  })
  expect(headersOf(callback)).not.toHaveProperty('upstash-workflow-sdk-version')
  expect(JSON.parse(callback.body)).toMatchObject({
    status: 201,
    header: { 'X-A': ['1'] },
    body: btoa('paid'),
    retried: 0,
    maxRetries: 2,
    sourceMessageId: called.last().messageId,
    url: third,
    method: 'PUT',
    sourceBody: btoa('text'),
  })
})

test('the callback of a call is retried like the run, and fails the run if the endpoint does not respond', async () => {
  const made = workflowWorld()
  const { client, clock, serve, destinations, workflow, asked: calls } = made
  destinations.record(third)
  let failure: unknown
  const url = serve('/call', async (context) => void (await context.call('pay', { url: third })), {
    failureFunction: async ({ failStatus }) => {
      failure = failStatus
    },
  })
  made.around = async ({ headers, answer }) =>
    headers.get('upstash-workflow-callback') === null ? answer() : new Response('busy', { status: 503 })
  await client.trigger({ url, retries: 1 })
  await clock.drain()
  expect(calls.filter((call) => call.status === 503)).toHaveLength(2)
  expect([workflow.runs[0]!.state, failure]).toEqual(['RUN_FAILED', 503])
  // Once the endpoint works again, the run continues with the callback.
  made.around = ({ answer }) => answer()
  const [letter] = (await client.dlq.list()).messages
  await client.dlq.resume(letter!.dlqId)
  await clock.drain()
  expect(workflow.runs.map(({ state }) => state)).toEqual(['RUN_FAILED', 'RUN_SUCCESS'])
})

test('canceling a run during its call prevents the retry and the callback', async () => {
  const made = workflowWorld()
  const { client, clock, serve, destinations, asked: calls } = made
  const called = destinations.record(third)
  destinations.script(third, [fault.status(500), fault.status(500)])
  const url = serve('/call', async (context) => void (await context.call('pay', { url: third, retries: 2 })))
  const { workflowRunId } = await client.trigger({ url })
  await clock.advance('1s')
  expect(called.count).toBe(1)
  await client.cancel(workflowRunId)
  await clock.drain()
  expect([called.count, calls.length]).toEqual([1, 1])
  // A callback that waits for its retry is dropped too.
  made.around = async ({ headers, answer }) =>
    headers.get('upstash-workflow-callback') === null ? answer() : new Response('busy', { status: 503 })
  destinations.script(third, [])
  const second = await client.trigger({ url })
  await clock.advance('1s')
  const before = calls.length
  await client.cancel(second.workflowRunId)
  const now = clock.now()
  await clock.drain()
  expect([calls.length, clock.now()]).toEqual([before, now])
})

test('the failure callback has the headers and the body of the protocol', async () => {
  const made = workflowWorld()
  const { client, clock, serve, asked: calls, workflow } = made
  const seen = watched(made)
  const url = serve(
    '/fail',
    async (context) => {
      await context.run('one', () => {
        throw new Error('broken')
      })
    },
    { failureFunction: async () => 'seen' },
  )
  await client.trigger({ url, workflowRunId: 'f', retries: 1, body: { n: 1 }, headers: { 'x-user': 'u' }, label: 'l' })
  await clock.drain()
  const last = seen.at(-1)!
  expect(headersOf(last)).toMatchObject({
    'upstash-workflow-runid': 'wfr_f',
    'upstash-workflow-url': url,
    'upstash-workflow-init': 'false',
    'upstash-workflow-calltype': 'failureCall',
    'upstash-workflow-is-failure': 'true',
    'upstash-workflow-failure-callback': 'true',
    'upstash-label': 'l',
    'x-user': 'u',
  })
  const [letter] = (await client.dlq.list()).messages
  const body = JSON.parse(last.body)
  expect(body).toMatchObject({
    status: 500,
    url,
    method: 'POST',
    sourceBody: btoa('{"n":1}'),
    dlqId: letter!.dlqId,
    retried: 1,
    maxRetries: 1,
    workflowRunId: 'wfr_f',
    workflowCreatedAt: workflow.getRun('wfr_f').createdAt,
  })
  expect(JSON.parse(atob(body.body))).toMatchObject({ message: 'broken' })
  expect(JSON.parse(calls.at(-1)!.body)).toEqual({ result: 'seen' })
  const { runs } = await client.logs({ workflowRunId: 'wfr_f' })
  expect(runs[0]!.failureFunction).toMatchObject({ state: 'CALLBACK_SUCCESS', failStatus: 500, dlqId: letter!.dlqId })
  // A failed failure function creates no separate dead letter.
  made.around = async ({ headers, answer }) =>
    headers.get('upstash-workflow-is-failure') === null ? answer() : new Response('no', { status: 500 })
  await client.trigger({ url, workflowRunId: 'g', retries: 0 })
  await clock.drain()
  const { messages } = await client.dlq.list({ filter: { workflowRunId: 'wfr_g' } })
  expect(messages).toMatchObject([{ failureCallbackInfo: { state: 'CALLBACK_FAIL' } }])
  expect((await made.ask('POST', `/v2/dlq/retry/${messages[0]!.dlqId}`)).status).toBe(400)
})

test('every kind of step works with a list that the SDK fetches', async () => {
  const made = workflowWorld({ policy: { workflowLazyBodyAbove: 0 } })
  const { client, clock, serve, destinations, workflow } = made
  const seen = watched(made)
  destinations.record(third, { status: 200, body: 'answer' })
  let failure: unknown
  const { createWorkflow } = await import('@upstash/workflow/nextjs')
  const route = async (context: Loose): Promise<unknown> => await context.run('inner', () => context.requestPayload)
  const child = Object.assign(createWorkflow(route as never), { workflowId: 'child' })
  serve('/child', route as never)
  const results: unknown[] = []
  const url = serve(
    '/lazy',
    async (context) => {
      results.push(await context.run('a', () => context.requestPayload))
      await context.sleep('s', 5)
      const { body } = await context.call('c', { url: third })
      results.push(body)
      await context.notify('n', 'nobody', 1)
      results.push((await context.waitForEvent('w', 'evt', { timeout: '1h' })).timeout)
      results.push((await context.invoke('i', { workflow: child as never, body: 'kid' })).body)
      results.push(await Promise.all([context.run('p', () => 1), context.run('q', () => 2)]))
      await context.run('end', () => {
        throw new Error('end')
      })
    },
    {
      failureFunction: async ({ context }) => {
        failure = context.requestPayload
      },
    },
  )
  await client.trigger({ url, retries: 0, body: 'x'.repeat(100) })
  await clock.drain()
  expect(results.slice(-5)).toEqual(['x'.repeat(100), 'answer', true, 'kid', [1, 2]])
  expect(failure).toBe('x'.repeat(100))
  expect(workflow.runs.map(({ state }) => state)).toEqual(['RUN_FAILED', 'RUN_SUCCESS'])
  // Callbacks and failure callbacks are never lazy; all others are.
  for (const { headers, body } of seen) {
    const full =
      headers.get('upstash-workflow-callback') === 'true' || headers.get('upstash-workflow-is-failure') === 'true'
    expect(body === '').toBe(!full)
  }
})

test('lazy fetch returns the list of an ended run, and of one that the SDK begins', async () => {
  const made = workflowWorld({ policy: { workflowLazyBodyAbove: 10 } })
  const { client, clock, serve, asked: calls } = made
  const url = serve('/lazy', async (context) => void (await context.run('a', () => context.requestPayload)))
  await client.trigger({ url, body: 'x'.repeat(100), headers: { 'Upstash-Workflow-Unknown-Sdk': 'true' } })
  await clock.drain()
  expect(calls.map(({ status: code }) => code)).toEqual([200, 200, 200])
  made.around = async ({ headers, answer }) => {
    await client.cancel(headers.get('upstash-workflow-runid')!)
    return answer()
  }
  await client.trigger({ url, body: 'x'.repeat(100) })
  await clock.drain()
  expect(JSON.parse(calls.at(-1)!.body)).toMatchObject({ finishCondition: 'workflow-already-ended' })
})

test('workflowEchoConfiguration adds the configuration in force to deliveries', async () => {
  const made = workflowWorld({ policy: { workflowEchoConfiguration: 'runs' } })
  const { client, clock, serve } = made
  const seen = watched(made)
  const url = serve('/echo', async (context) => {
    await context.run('a', () => {
      if (seen.length < 3) throw new Error('once')
    })
  })
  await client.trigger({
    url,
    retries: 2,
    retryDelay: '1000',
    flowControl: { key: 'k', parallelism: 3, rate: 2, period: '1m' },
  })
  await clock.drain()
  expect(headersOf(seen[1]!)).toMatchObject({
    'upstash-max-retries': '2',
    'upstash-retries': '1',
    'upstash-retry-delay': '1000',
    'upstash-flow-control-key': 'k',
    'upstash-flow-control-value': 'parallelism=3,rate=2,period=60',
  })
  const plain = workflowWorld({ policy: { workflowEchoConfiguration: 'off' } })
  const others = watched(plain)
  const other = plain.serve('/echo', async (context) => void (await context.run('a', () => 1)))
  await plain.client.trigger({ url: other, retries: 2 })
  await plain.clock.drain()
  expect(headersOf(others[0]!)).not.toHaveProperty('upstash-max-retries')
})

test('a step request must state the creation time of its run correctly', async () => {
  const made = workflowWorld()
  const { client, clock, serve, ask, workflow } = made
  const url = serve('/created', async (context) => void (await context.sleep('s', 1000)))
  await client.trigger({ url, workflowRunId: 'a' })
  await clock.advance('1s')
  const { createdAt } = workflow.getRun('wfr_a')
  const wrong = { 'upstash-workflow-createdat': String(createdAt - 1) }
  const right = { 'upstash-workflow-createdat': String(createdAt) }
  expect((await ask('GET', '/v2/workflows/runs/wfr_a', { headers: wrong })).status).toBe(404)
  expect((await ask('GET', '/v2/workflows/runs/wfr_a', { headers: right })).status).toBe(200)
  expect((await ask('DELETE', '/v2/workflows/runs/wfr_a?cancel=true', { headers: wrong })).status).toBe(404)
  const step = { 'upstash-workflow-runid': 'wfr_a', 'upstash-workflow-init': 'false', ...wrong }
  expect((await ask('POST', `/v2/publish/${url}`, { headers: step, body: '{}' })).status).toBe(400)
  expect((await ask('DELETE', '/v2/workflows/runs/wfr_a?cancel=true', { headers: right })).status).toBe(200)
})

test('workflowStepConfiguration supports a step with its own configuration', async () => {
  const made = workflowWorld({ policy: { workflowStepConfiguration: true } })
  const { ask, clock, destinations, client } = made
  const url = `${app}/plain`
  const seen = destinations.record(url, { status: 200, headers: { 'upstash-workflow-sdk-version': '1' } })
  const step = { 'upstash-workflow-runid': 'wfr_a', 'upstash-workflow-init': 'false' }
  await ask('POST', `/v2/publish/${url}`, { headers: { ...step, 'upstash-workflow-init': 'true' } })
  await clock.advance('1s')
  const headers = { ...step, 'upstash-workflow-calltype': 'stepConfig', 'upstash-retries': '9' }
  expect((await ask('POST', `/v2/publish/${url}`, { headers, body: '{"stepId":1}' })).status).toBe(201)
  expect((await ask('POST', `/v2/publish/${url}`, { headers, body: '{"stepId":1}' })).json.deduplicated).toBe(true)
  expect((await ask('POST', `/v2/publish/${url}`, { headers, body: '{"stepId":2}' })).status).toBe(400)
  await clock.drain()
  expect(seen.count).toBe(2)
  expect(seen.last().maxRetries).toBe(9)
  expect(seen.last().header('upstash-workflow-step-config')).toBe('true')
  expect((await client.logs({ workflowRunId: 'wfr_a' })).runs[0]!.steps).toHaveLength(1)
})

test('a repeated step, wait or call is recognized, and nothing is delivered again', async () => {
  const made = workflowWorld()
  const { client, clock, serve, asked: calls, destinations, workflow } = made
  const called = destinations.record(third)
  const url = serve('/again', async (context) => {
    await context.run('a', () => 1)
    await context.call('c', { url: third })
    await context.waitForEvent('w', 'evt', { timeout: '1h' })
  })
  const lost = new Set<string>()
  // The first response of each delivery is lost after the SDK has submitted its step.
  made.around = async ({ headers, answer }) => {
    const response = await answer()
    const id = headers.get('upstash-message-id')!
    if (lost.has(id)) return response
    lost.add(id)
    return new Response('lost', { status: 502 })
  }
  const { workflowRunId } = await client.trigger({ url })
  await clock.advance('10m')
  expect(await client.getWaiters({ eventId: 'evt' })).toHaveLength(1)
  await client.notify({ eventId: 'evt', eventData: 1 })
  await clock.drain()
  expect(called.count).toBe(1)
  expect(workflow.getRun(workflowRunId).state).toBe('RUN_SUCCESS')
  // Twice each: start, a, the callback, and the call's result. The end of the run is not delivered again.
  expect(calls.length).toBeLessThanOrEqual(10)
})

test('without deduplication of steps the first result applies, and the run ends', async () => {
  const made = workflowWorld({ policy: { workflowDeduplicateSteps: false } })
  const { client, clock, serve, workflow, asked: calls } = made
  let drawn = 0
  const results: number[] = []
  const url = serve('/twice', async (context) => {
    results.push(await context.run('a', () => ++drawn))
    await context.sleep('s', 60)
  })
  let first = true
  made.around = async ({ answer }) => {
    const response = await answer()
    if (!first) return response
    first = false
    return new Response('lost', { status: 502 })
  }
  await client.trigger({ url })
  await clock.drain()
  expect(workflow.runs[0]!.state).toBe('RUN_SUCCESS')
  expect(new Set(results)).toEqual(new Set([1]))
  expect(calls.length).toBeGreaterThan(3)
  expect(drawn).toBe(2)
})
