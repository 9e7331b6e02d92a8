import { expect, test } from 'vitest'
import { app, type Loose, type WorkflowWorld, workflowWorld } from './world.js'

// Compares each request of the real SDK with the protocol: names and values of headers, and bodies, byte for byte.
// [workflow.md 2.1, 2.3, 5, 6, 7, 9]

const four = 'LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig'

interface Item {
  readonly destination: string
  readonly headers: Record<string, string>
  readonly body?: unknown
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

/** Returns the requests to the queue, oldest first, without headers of the runtime and telemetry. */
function sent({ traffic, urls }: WorkflowWorld): Sent[] {
  return traffic.ofType('request').map(({ method, url, headers, body }) => ({
    method,
    path: url.slice(urls.queue.length),
    headers: Object.fromEntries(
      headers
        .map(([name, value]) => [name.toLowerCase(), value] as const)
        .filter(([name]) => name.startsWith('upstash-') && !name.startsWith('upstash-telemetry-')),
    ),
    body,
  }))
}

/** Returns the items of the batches. */
function items(world: WorkflowWorld): Item[] {
  return sent(world)
    .filter(({ path }) => path === '/v2/batch')
    .flatMap(({ body }) => JSON.parse(body) as Item[])
    .map((item) => ({
      ...item,
      headers: Object.fromEntries(
        Object.entries(item.headers).filter(([name]) => !name.toLowerCase().startsWith('upstash-telemetry-')),
      ),
    }))
}

function own(runId: string, url: string): Record<string, string> {
  return {
    'upstash-workflow-runid': runId,
    'upstash-workflow-url': url,
    'upstash-workflow-sdk-version': '1',
    'upstash-feature-set': four,
    'upstash-forward-upstash-workflow-sdk-version': '1',
  }
}

const json = { 'content-type': 'application/json', 'upstash-method': 'POST' }

function failureBlock(runId: string, url: string, failureUrl = url): Record<string, string> {
  const prefix = 'upstash-failure-callback'
  return {
    [prefix]: failureUrl,
    [`${prefix}-feature-set`]: four,
    [`${prefix}-workflow-runid`]: runId,
    [`${prefix}-workflow-init`]: 'false',
    [`${prefix}-workflow-url`]: url,
    [`${prefix}-workflow-calltype`]: 'failureCall',
    [`${prefix}-forward-upstash-workflow-is-failure`]: 'true',
    [`${prefix}-forward-upstash-workflow-failure-callback`]: 'true',
  }
}

test('a trigger without options, and with all options, matches the protocol', async () => {
  const world = workflowWorld()
  const { client, destinations } = world
  const url = `${app}/any`
  destinations.record(url)
  await client.trigger({ url, workflowRunId: 'plain' })
  await client.trigger({
    url,
    workflowRunId: 'all',
    body: { order: 1 },
    headers: { 'X-User': 'u' },
    retries: 5,
    retryDelay: '1000',
    flowControl: { key: 'k', parallelism: 3, rate: 2, period: '1m' },
    label: ['l1', 'l2'] as never,
    delay: 10,
    failureUrl: `${app}/failed`,
    redact: { body: true, header: ['Authorization'] },
  } as never)
  await client.trigger({ url, workflowRunId: 'three', retries: 3, body: 'text', notBefore: 1_900_000_000 })
  const [plain, all, three] = items(world)
  const begun = (id: string): Record<string, string> => ({
    ...json,
    'upstash-workflow-init': 'true',
    ...own(id, url),
    ...failureBlock(id, url),
  })
  expect(plain).toEqual({ destination: url, headers: begun('wfr_plain') })
  expect(all).toEqual({
    destination: url,
    body: '{"order":1}',
    headers: {
      ...begun('wfr_all'),
      'upstash-failure-callback': `${app}/failed`,
      'upstash-forward-x-user': 'u',
      'upstash-failure-callback-forward-x-user': 'u',
      'upstash-retries': '5',
      'upstash-failure-callback-retries': '5',
      'upstash-retry-delay': '1000',
      'upstash-failure-callback-retry-delay': '1000',
      'upstash-flow-control-key': 'k',
      'upstash-flow-control-value': 'parallelism=3, rate=2, period=1m',
      'upstash-failure-callback-flow-control-key': 'k',
      'upstash-failure-callback-flow-control-value': 'parallelism=3, rate=2, period=1m',
      'upstash-label': 'l1,l2',
      'upstash-forward-upstash-label': 'l1,l2',
      'upstash-failure-callback-forward-upstash-label': 'l1,l2',
      'upstash-delay': '10s',
      'upstash-redact-fields': 'body,header[Authorization]',
    },
  })
  expect(three).toEqual({
    destination: url,
    body: 'text',
    headers: { ...begun('wfr_three'), 'upstash-not-before': '1900000000' },
  })
})

test('steps of every kind match the protocol', async () => {
  const world = workflowWorld()
  const { client, clock, serve, destinations } = world
  destinations.record('https://third.test/x', { status: 200, body: '{"a":1}', headers: { 'x-answer': 'yes' } })
  const until = Math.floor(clock.now() / 1000) + 1000.5
  const url = serve('/steps', async (context) => {
    await context.run('a', () => ({ r: 1 }))
    await context.run('none', () => undefined)
    await context.sleep('s', 5)
    await context.sleep('week', '1w' as never)
    await context.sleepUntil('u', until)
    await context.notify('n', 'evt 1/x', { d: 1 })
    await context.call('c', {
      url: 'https://third.test/x',
      method: 'PUT',
      body: { amount: 5 } as never,
      headers: { 'X-Key': 'k' },
      retries: 3,
      retryDelay: '5',
      timeout: 30,
      flowControl: { key: 'ck', rate: 1 },
    })
    await context.waitForEvent('w', 'evt 1/x', { timeout: '90s' })
    return { done: true }
  })
  await client.trigger({ url, workflowRunId: 'r' })
  await clock.drain()
  const [, ...steps] = items(world)
  const headers = { ...json, 'upstash-workflow-init': 'false', ...own('wfr_r', url) }
  const step = (body: string, more = {}): Item => ({ destination: url, headers: { ...headers, ...more }, body })
  const call = steps.splice(6, 1)[0]!
  expect(steps).toEqual([
    step('{"stepId":1,"stepName":"a","stepType":"Run","out":"{\\"r\\":1}","concurrent":1}'),
    step('{"stepId":2,"stepName":"none","stepType":"Run","concurrent":1}'),
    step('{"stepId":3,"stepName":"s","stepType":"SleepFor","sleepFor":5,"concurrent":1}', { 'upstash-delay': '5s' }),
    step('{"stepId":4,"stepName":"week","stepType":"SleepFor","sleepFor":"1w","concurrent":1}', {
      'upstash-delay': '1w',
    }),
    step(`{"stepId":5,"stepName":"u","stepType":"SleepUntil","sleepUntil":${until},"concurrent":1}`, {
      'upstash-not-before': String(Math.round(until)),
    }),
    step(
      '{"stepId":6,"stepName":"n","stepType":"Notify","out":"{\\"eventId\\":\\"evt 1/x\\",\\"eventData\\":{\\"d\\":1},\\"notifyResponse\\":[]}","concurrent":1}',
    ),
  ])
  const forward = 'upstash-callback-forward-upstash-workflow'
  expect(call).toEqual({
    destination: 'https://third.test/x',
    body: expect.anything(),
    headers: {
      'content-type': 'application/json',
      'upstash-method': 'PUT',
      'upstash-retries': '3',
      'upstash-retry-delay': '5',
      'upstash-timeout': '30',
      'upstash-flow-control-key': 'ck',
      'upstash-flow-control-value': 'rate=1',
      'upstash-feature-set': 'WF_NoDelete,InitialBody',
      'upstash-workflow-calltype': 'toCallback',
      'upstash-workflow-init': 'false',
      'upstash-workflow-runid': 'wfr_r',
      'upstash-workflow-url': url,
      'upstash-workflow-sdk-version': '1',
      'upstash-forward-x-key': 'k',
      'upstash-callback': url,
      'upstash-callback-feature-set': four,
      'upstash-callback-workflow-calltype': 'fromCallback',
      'upstash-callback-workflow-init': 'false',
      'upstash-callback-workflow-runid': 'wfr_r',
      'upstash-callback-workflow-url': url,
      [`${forward}-callback`]: 'true',
      [`${forward}-stepid`]: '7',
      [`${forward}-stepname`]: 'c',
      [`${forward}-steptype`]: 'Call',
      [`${forward}-concurrent`]: '1',
      [`${forward}-contenttype`]: 'application/json',
    },
  })
  const others = sent(world).filter(({ path }) => path !== '/v2/batch')
  const [notify, result, wait, end] = others
  expect([notify!.method, notify!.path, notify!.body]).toEqual(['POST', '/v2/notify/evt%201/x', '{"d":1}'])
  expect(result!.path).toBe(`/v2/publish/${url}`)
  expect(JSON.parse(result!.body)).toEqual({
    stepId: 7,
    stepName: 'c',
    stepType: 'Call',
    out: JSON.stringify({ status: 200, body: '{"a":1}', header: { 'X-Answer': ['yes'] } }),
    concurrent: 1,
  })
  expect(result!.headers).toMatchObject({ 'upstash-workflow-runid': 'wfr_r', 'upstash-workflow-init': 'false' })
  expect(wait!.path).toBe('/v2/wait/evt%201/x')
  expect(wait!.headers).toMatchObject({ 'upstash-workflow-runid': 'wfr_r', 'upstash-workflow-calltype': 'step' })
  const { timeoutHeaders, ...waited } = JSON.parse(wait!.body)
  expect(waited).toEqual({
    url,
    timeout: '90s',
    timeoutUrl: url,
    step: { stepId: 8, stepType: 'Wait', stepName: 'w', concurrent: 1 },
  })
  expect(timeoutHeaders).toMatchObject({
    'Upstash-Workflow-Init': ['false'],
    'Upstash-Workflow-RunId': ['wfr_r'],
    'Upstash-Workflow-Url': [url],
    'Upstash-Feature-Set': [four],
    'Upstash-Workflow-Sdk-Version': ['1'],
    'Upstash-Forward-Upstash-Workflow-Sdk-Version': ['1'],
    'content-type': ['application/json'],
    'Upstash-Workflow-CallType': ['step'],
  })
  expect([end!.method, end!.path, end!.body]).toEqual([
    'DELETE',
    '/v2/workflows/runs/wfr_r?cancel=false',
    '{"done":true}',
  ])
  expect(others).toHaveLength(4)
  expect(world.workflow.runs[0]!.result).toEqual({ done: true })
})

test('plans and results of branches match the protocol', async () => {
  const world = workflowWorld()
  const { client, clock, serve } = world
  const url = serve('/plans', async (context) => {
    await Promise.all([
      context.run('a', () => 1),
      context.sleep('b', 30),
      context.waitForEvent('c', 'evt', { timeout: '10s' }),
    ])
  })
  await client.trigger({ url, workflowRunId: 'p' })
  await clock.drain()
  const bodies = items(world).slice(1)
  expect(bodies.map(({ body }) => body)).toEqual([
    '{"stepId":0,"stepName":"a","stepType":"Run","concurrent":3,"targetStep":1}',
    '{"stepId":0,"stepName":"b","stepType":"SleepFor","sleepFor":30,"concurrent":3,"targetStep":2}',
    '{"stepId":0,"stepName":"c","stepType":"Wait","waitEventId":"evt","timeout":"10s","concurrent":3,"targetStep":3}',
    '{"stepId":1,"stepName":"a","stepType":"Run","out":"1","concurrent":3}',
    '{"stepId":2,"stepName":"b","stepType":"SleepFor","sleepFor":30,"concurrent":3}',
  ])
  expect(bodies.map(({ headers }) => headers['upstash-delay'])).toEqual([
    undefined,
    '30s',
    undefined,
    undefined,
    undefined,
  ])
})

test('an invoke matches the protocol', async () => {
  const world = workflowWorld()
  const { client, clock, serve } = world
  const { createWorkflow } = await import('@upstash/workflow/nextjs')
  const route = async (context: Loose): Promise<unknown> => await context.run('inner', () => 1)
  const child = Object.assign(createWorkflow(route as never), { workflowId: 'child' })
  const childUrl = serve('/child', route as never)
  const url = serve('/parent', async (context) => {
    await context.invoke('i', {
      workflow: child as never,
      workflowRunId: 'kid',
      body: { n: 1 },
      headers: { 'x-child': 'c' },
      retries: 1,
      label: 'kid',
    } as never)
  })
  await client.trigger({ url, workflowRunId: 'p' })
  await clock.drain()
  const [invoke] = sent(world).filter(({ path }) => path === `/v2/publish/${childUrl}`)
  expect(invoke!.headers).toMatchObject({
    'upstash-workflow-init': 'true',
    'upstash-workflow-runid': 'wfr_kid',
    'upstash-workflow-url': childUrl,
    'upstash-workflow-invoke': 'true',
    'upstash-retries': '1',
    'upstash-label': 'kid',
    'upstash-forward-upstash-workflow-invoke-count': '1',
    'upstash-failure-callback-forward-upstash-workflow-invoke-count': '1',
    'upstash-forward-x-child': 'c',
    'upstash-failure-callback': childUrl,
  })
  const { headers, ...body } = JSON.parse(invoke!.body)
  expect(body).toEqual({
    body: '{"n":1}',
    workflowRunId: 'wfr_p',
    workflowUrl: url,
    workflowRunCreatedAt: world.workflow.getRun('wfr_p').createdAt,
    step: { stepId: 1, stepName: 'i', stepType: 'Invoke', concurrent: 1 },
  })
  expect(headers).toMatchObject({ 'Upstash-Workflow-RunId': ['wfr_p'], 'Upstash-Workflow-Init': ['false'] })
  const run = world.workflow.getRun('wfr_p')
  expect(run.state).toBe('RUN_SUCCESS')
})

test('cancel, notify and the queries of the client match the protocol', async () => {
  const world = workflowWorld()
  const { client, clock, serve } = world
  const url = serve('/cancel', async (context) => {
    await context.run('a', () => 1)
    await context.cancel()
  })
  await client.trigger({ url, workflowRunId: 'c' })
  await clock.drain()
  expect(sent(world).at(-1)).toMatchObject({ method: 'DELETE', path: '/v2/workflows/runs/wfr_c?cancel=true' })
  expect(world.workflow.getRun('wfr_c').state).toBe('RUN_CANCELED')
  await client.notify({ eventId: 'e', eventData: 'text', workflowRunId: 'wfr_c' } as never).catch(() => {})
  expect(sent(world).at(-1)).toMatchObject({ path: '/v2/notify/wfr_c/e', body: 'text' })
  await client.notify({ eventId: 'e' })
  expect(sent(world).at(-1)).toMatchObject({ path: '/v2/notify/e', body: '' })
})
