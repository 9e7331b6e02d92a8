import type { Policy } from 'stuntdouble'
import { expect, test } from 'vitest'
import { type WorkflowWorld, workflowWorld } from './world.js'

// Queries about runs, and bulk operations: filters, pages, cancellations, resumes. [workflow.md 1, 10, 11]

/** Runs that sleep for long, or fail immediately. */
function world(policy: Partial<Policy> = {}): WorkflowWorld & {
  readonly sleeps: (path: string) => string
  readonly fails: (path: string) => string
} {
  const made = workflowWorld({ policy })
  return Object.assign(made, {
    sleeps: (path: string) => made.serve(path, async (context) => void (await context.sleep('long', '90d'))),
    fails: (path: string) =>
      made.serve(path, async (context) => {
        await context.run('one', () => 1)
        await context.run('two', () => {
          throw new Error('no')
        })
      }),
  })
}

test('runs are canceled by URL (prefix or exact), labels, dates, IP address and flow-control key', async () => {
  const { ask, clock, client, sleeps, workflow } = world()
  const [one, oneMore, other] = [sleeps('/a'), sleeps('/a/b'), sleeps('/c')]
  const begin = async (url: string, id: string, more: object = {}): Promise<void> => {
    await client.trigger({ url, workflowRunId: id, ...more })
  }
  const cancel = async (query: string): Promise<string[]> => {
    const { status, json } = await ask('DELETE', `/v2/workflows/runs?${query}`)
    expect(status).toBe(202)
    const gone = workflow.runs.filter(({ state }) => state === 'RUN_CANCELED').map(({ id }) => id)
    const fresh = gone.filter((id) => !known.has(id))
    for (const id of fresh) known.add(id)
    expect(json).toEqual({ cancelled: fresh.length })
    return fresh
  }
  const known = new Set<string>()
  const url = (given: string): string => `workflowUrl=${encodeURIComponent(given)}`
  await begin(one, 'a')
  await begin(oneMore, 'ab')
  await begin(other, 'c')
  await clock.advance('1s')
  expect(await cancel(`${url(one)}&workflowUrlExactMatch=true`)).toEqual(['wfr_a'])
  await begin(one, 'a2')
  expect(await cancel(url(one))).toEqual(['wfr_ab', 'wfr_a2'])
  expect(await cancel(url(one))).toEqual([])
  await begin(one, 'l1', { label: ['x', 'y'] })
  await begin(one, 'l2', { label: 'z' })
  await begin(one, 'l3', { label: 'w' })
  expect(await cancel('label=y&label=z')).toEqual(['wfr_l1', 'wfr_l2'])
  await clock.advance('1d')
  await begin(one, 'd1')
  const at = clock.now()
  expect(await cancel(`fromDate=${at}&toDate=${at + 1}`)).toEqual(['wfr_d1'])
  expect(await cancel(`toDate=${at - 1}&${url(other)}`)).toEqual(['wfr_c'])
  await begin(one, 'f', { flowControl: { key: 'k', parallelism: 1 } })
  expect(await cancel('flowControlKey=k')).toEqual(['wfr_f'])
  await ask('POST', `/v2/trigger/${other}`, { headers: { 'x-forwarded-for': '9.9.9.9' } })
  expect(await cancel('callerIp=9.9.9.9')).toHaveLength(1)
  for (const id of ['n1', 'n2', 'n3']) await begin(other, id)
  expect(await cancel(`${url(other)}&count=2&host=app.test&path=/c`)).toEqual(['wfr_n1', 'wfr_n2', 'wfr_n3'])
  await begin(other, 'n4')
  expect(await cancel('workflowRunIds=wfr_n4&workflowRunIds=wfr_l3&workflowRunIds=wfr_nobody')).toHaveLength(2)
  // The older form with a JSON body.
  await begin(other, 'json')
  const { json } = await ask('DELETE', '/v2/workflows/runs', { body: { workflowRunIds: ['wfr_json'] } })
  expect(json).toEqual({ cancelled: 1 })
  expect((await ask('DELETE', '/v2/workflows/runs?colour=red')).status).toBe(400)
})

test('a cancel of runs by filters is a bulk action of runs, and ignores count', async () => {
  const { ask, client, sleeps, workflow, queue, traffic } = world()
  const url = sleeps('/many')
  for (let n = 0; n < 120; n++) await client.trigger({ url })
  const { json } = await ask('DELETE', `/v2/workflows/runs?async=true&workflowUrl=${encodeURIComponent(url)}&count=100`)
  expect(json).toEqual({ cancelled: 120, actionId: expect.stringMatching(/^act_[0-9A-Za-z]{20}$/) })
  expect(workflow.runs.every(({ state }) => state === 'RUN_CANCELED')).toBe(true)
  const action = {
    actionId: json.actionId,
    kind: 'cancel',
    state: 'FINISHED',
    total: 120,
    processed: 120,
    createdAt: traffic.last()!.at,
    completedAt: traffic.last()!.at,
    filter: { workflowUrl: [url] },
  }
  expect((await ask('GET', `/v2/workflows/bulkActions/${json.actionId}`)).json).toEqual(action)
  expect((await ask('GET', '/v2/workflows/bulkActions')).json).toEqual({ bulkActions: [action] })
  expect(workflow.bulkActions).toMatchObject([{ id: json.actionId, resource: 'runs', filter: { workflowUrl: [url] } }])
  // The two families have separate lists.
  expect((await ask('GET', '/v2/bulkActions')).json).toEqual({ bulkActions: [] })
  expect((await ask('GET', `/v2/bulkActions/${json.actionId}`)).status).toBe(404)
  expect(queue.bulkActions).toEqual([])
})

test('a cancel of runs takes at most 100 at once if the policy honors count', async () => {
  const { ask, client, sleeps } = world({ cancelCount: 'honored', cancelStatus: 200 })
  const url = sleeps('/many')
  for (let n = 0; n < 103; n++) await client.trigger({ url })
  const cancel = async (query: string): Promise<unknown> => {
    const { status, json } = await ask('DELETE', `/v2/workflows/runs${query}`)
    return [status, json.cancelled]
  }
  expect([await cancel('?count=2'), await cancel(''), await cancel('')]).toEqual([
    [200, 2],
    [200, 100],
    [200, 1],
  ])
})

test('a cancel of runs by IDs is no bulk action', async () => {
  const { ask, client, sleeps, workflow } = world()
  const { workflowRunId: id } = await client.trigger({ url: sleeps('/one') })
  const { status, json } = await ask('DELETE', `/v2/workflows/runs?workflowRunIds=${id}&async=true`)
  expect([status, json]).toEqual([202, { cancelled: 1 }])
  expect(workflow.bulkActions).toEqual([])
  // An ID that is listed twice is one run.
  const { workflowRunId: twice } = await client.trigger({ url: sleeps('/one') })
  expect(await client.cancel({ ids: [twice, twice, 'wfr_nobody'] })).toEqual({ cancelled: 1 })
  for (const query of ['async=1', 'cursor=1-1', `workflowRunIds=${id}&async=x`])
    expect((await ask('DELETE', `/v2/workflows/runs?${query}`)).status, query).toBe(400)
})

test('cancelRuns() cancels runs by the exact URL, by its beginning, or all', async () => {
  const { client, sleeps, workflow } = world()
  const [one, more, other] = [sleeps('/a'), sleeps('/a/b'), sleeps('/c')]
  for (const [n, url] of [one, more, other, other].entries())
    await client.trigger({ url, workflowRunId: String(n), label: `l${n}` })
  const canceled = (): string[] => workflow.runs.filter(({ state }) => state === 'RUN_CANCELED').map(({ id }) => id)
  expect(workflow.cancelRuns({ workflowUrl: one })).toMatchObject({ total: 1, processed: 1, state: 'FINISHED' })
  expect(canceled()).toEqual(['wfr_0'])
  workflow.cancelRuns({ workflowUrlStartingWith: [one], label: ['l1', 'l2'] })
  expect(canceled()).toEqual(['wfr_0', 'wfr_1'])
  expect(workflow.cancelRuns().total).toBe(2)
  expect(workflow.cancelRuns().total).toBe(0)
  expect(() => workflow.cancelRuns({ workflowUrl: one, workflowUrlStartingWith: one })).toThrow('exclude each other')
  expect(() => workflow.cancelRuns({ workflowURL: one } as never)).toThrow('Did you mean "workflowUrl"')
  expect(() => workflow.cancelRuns({ label: undefined } as never)).toThrow('label must be a text')
})

test('bulkActionTime: runs are canceled step by step, and later runs are left alone', async () => {
  const { ask, clock, client, sleeps, workflow } = world({ bulkActionTime: '40s' })
  const url = sleeps('/slow')
  for (let n = 0; n < 4; n++) await client.trigger({ url, workflowRunId: String(n) })
  const { json } = await ask('DELETE', '/v2/workflows/runs', { body: { async: true } })
  expect(json).toMatchObject({ cancelled: 4 })
  await client.trigger({ url, workflowRunId: 'late' })
  const canceled = (): number => workflow.runs.filter(({ state }) => state === 'RUN_CANCELED').length
  for (const done of [1, 2, 3]) {
    await clock.advance('10s')
    expect(canceled()).toBe(done)
    expect((await ask('GET', `/v2/workflows/bulkActions/${json.actionId}`)).json).toMatchObject({
      state: 'IN_PROGRESS',
      processed: done,
    })
  }
  await clock.advance('10s')
  expect(canceled()).toBe(4)
  expect(workflow.getRun('wfr_late').state).toBe('RUN_STARTED')
})

test('the grouped log has pages of ten, filters, named runs, and truncated bodies', async () => {
  const { ask, client, clock, serve } = world()
  const url = serve('/log', async (context) => await context.run('one', () => 'a long result'))
  for (let n = 0; n < 12; n++)
    await client.trigger({ url, workflowRunId: `r${n}`, label: n % 2 ? 'odd' : 'even', body: 'payload' })
  await clock.drain()
  const first = await client.logs({ count: 100 })
  expect(first.runs.map(({ workflowRunId }) => workflowRunId)).toEqual(
    Array.from({ length: 10 }, (_, n) => `wfr_r${11 - n}`),
  )
  const second = await client.logs({ cursor: first.cursor } as never)
  expect(second).toMatchObject({ cursor: '', runs: [{ workflowRunId: 'wfr_r1' }, { workflowRunId: 'wfr_r0' }] })
  const ids = async (query: string): Promise<string[]> =>
    (await ask('GET', `/v2/workflows/logs?${query}`)).json.runs.map(
      (run: { workflowRunId: string }) => run.workflowRunId,
    )
  expect(await ids('label=odd&count=2')).toEqual(['wfr_r11', 'wfr_r9'])
  expect(await ids('workflowRunId=wfr_r3')).toEqual(['wfr_r3'])
  const at = first.runs[0]!.workflowRunCreatedAt
  expect(await ids(`workflowRuns=wfr_r3@${at},wfr_r4@1&state=RUN_FAILED`)).toEqual(['wfr_r3'])
  expect(await ids('state=RUN_FAILED')).toEqual([])
  expect((await ask('GET', '/v2/workflows/logs?state=ODD')).status).toBe(400)
  const trimmed = (await ask('GET', '/v2/workflows/logs?workflowRunId=wfr_r3&trimBody=4')).json.runs[0]
  expect(trimmed.workflowRunResponse).toBe('"a l')
  expect(trimmed.steps.map(({ steps }: { steps: { out: string }[] }) => steps[0]!.out)).toEqual(['payl', '"a l'])
  const none = (await ask('GET', '/v2/workflows/logs?workflowRunId=wfr_r3&trimBody=-1')).json.runs[0]
  expect(none.workflowRunResponse).toBeUndefined()
})

test('the flat log lists events of runs', async () => {
  const { ask, client, clock, serve, fails } = world()
  const url = serve('/flat', async (context) => {
    await context.run('one', () => 1)
    await context.waitForEvent('wait', 'evt', { timeout: 5 })
  })
  await client.trigger({ url, workflowRunId: 'good' })
  await clock.drain()
  await client.trigger({ url: fails('/bad'), workflowRunId: 'bad', retries: 0 })
  await clock.drain()
  const events = async (query: string): Promise<{ state: string; workflowRunId: string }[]> =>
    (await ask('GET', `/v2/workflows/events?${query}`)).json.events
  expect((await events('workflowRunId=wfr_good')).map(({ state }) => state)).toEqual([
    'RUN_SUCCESS',
    'STEP_SUCCESS',
    'WAITER_ADDED',
    'STEP_SUCCESS',
    'RUN_STARTED',
  ])
  expect((await events('state=RUN_FAILED')).map(({ workflowRunId }) => workflowRunId)).toEqual(['wfr_bad'])
  const states: string[] = []
  let cursor = ''
  do {
    const { json } = await ask('GET', `/v2/workflows/messageLogs?count=3&cursor=${cursor}`)
    expect(json.events.length).toBeLessThanOrEqual(3)
    states.push(...json.events.map((event: { state: string }) => event.state))
    cursor = json.cursor
  } while (cursor !== '')
  expect(states).toHaveLength((await events('')).length)
  expect((await ask('GET', '/v2/workflows/events?cursor=x')).status).toBe(400)
})

test('redacted payloads and headers are redacted in logs, dead letters and resumed runs, but not in deliveries', async () => {
  const { client, clock, serve, ask, workflow } = world()
  const seen: unknown[] = []
  const url = serve('/secret', async (context) => {
    await context.run('one', () => void seen.push([context.requestPayload, context.headers.get('authorization')]))
    await context.run('two', () => {
      throw new Error('no')
    })
  })
  await client.trigger({
    url,
    workflowRunId: 's',
    retries: 0,
    body: 'my secret',
    headers: { authorization: 'Bearer hidden' },
    redact: { body: true, header: ['Authorization'] },
  } as never)
  await clock.drain()
  await client.dlq.resume((await client.dlq.list()).messages[0]!.dlqId)
  await clock.drain()
  expect(seen).toEqual([['my secret', 'Bearer hidden']])
  expect(workflow.runs).toHaveLength(2)
  for (const path of ['/v2/workflows/logs', '/v2/workflows/events', '/v2/dlq?source=workflow', '/v2/workflows/dlq']) {
    const shown = JSON.stringify((await ask('GET', path)).json)
    expect(shown).not.toContain('my secret')
    expect(shown).not.toContain('Bearer hidden')
  }
})

test('dead letters of runs have filters, deletion, bulk resume of at most fifty, and 404 for unknown IDs', async () => {
  const { client, clock, fails, sleeps, ask, workflow, queue, destinations } = world()
  const [one, two] = [fails('/one'), fails('/two')]
  destinations.record('https://plain.test/', { status: 500 })
  queue.publish({ to: 'https://plain.test/', retries: 0 })
  for (let n = 0; n < 55; n++)
    await client.trigger({ url: one, workflowRunId: `a${n}`, retries: 0, label: `l${n % 2}` })
  await client.trigger({ url: two, workflowRunId: 'b', retries: 0 })
  await client.trigger({ url: sleeps('/long'), workflowRunId: 's' })
  await clock.advance('1m')
  const list = async (query: string): Promise<{ workflowRunId: string; dlqId: string }[]> =>
    (await ask('GET', `/v2/workflows/dlq?${query}`)).json.messages
  expect(await list('')).toHaveLength(56)
  expect(await list(`workflowUrl=${encodeURIComponent(two)}`)).toMatchObject([{ workflowRunId: 'wfr_b' }])
  expect(await list('workflowRunId=wfr_a3')).toMatchObject([{ workflowRunId: 'wfr_a3' }])
  expect(await list('label=l1')).toHaveLength(27)
  const [b] = await list('workflowRunId=wfr_b')
  expect((await ask('GET', `/v2/workflows/dlq/${b!.dlqId}`)).json).toMatchObject({ workflowRunId: 'wfr_b' })
  const bulk = await ask('POST', '/v2/workflows/dlq/resume?count=100')
  expect(bulk.json.workflowRuns).toHaveLength(50)
  expect(bulk.json.cursor).not.toBe('')
  expect((await ask('POST', '/v2/workflows/dlq/restart?dlqIds=1-1')).status).toBe(404)
  const left = await list('')
  expect(left).toHaveLength(6)
  const { json } = await ask('DELETE', `/v2/workflows/dlq?dlqIds=${left[0]!.dlqId}&dlqIds=${left[1]!.dlqId}`)
  expect(json).toMatchObject({ deleted: 2 })
  // The plain dead letter belongs to no run: it cannot be resumed, but retried.
  const [plain] = (await ask('GET', '/v2/dlq')).json.messages.filter((letter: { url: string }) =>
    /plain/.test(letter.url),
  )
  const count = workflow.runs.length
  expect((await ask('POST', `/v2/workflows/dlq/resume/${plain.dlqId}`)).status).toBe(400)
  const named = [plain.dlqId, left[3]!.dlqId].map((id) => `dlqIds=${id}`).join('&')
  await ask('POST', `/v2/workflows/dlq/resume?${named}`)
  expect(workflow.runs.length - count).toBeLessThanOrEqual(1)
  const retried = await ask('POST', '/v2/dlq/retry?count=100')
  expect(retried.json.responses).toHaveLength(1)
})

test('resume continues from the failure with new settings; restart begins with only the payload', async () => {
  for (const verb of ['resume', 'restart'] as const) {
    const made = world()
    const { client, clock, serve, workflow } = made
    const ran: string[] = []
    let attempts = 0
    const url = serve('/again', async (context) => {
      await context.run('one', () => void ran.push('one'))
      await context.run('two', () => {
        attempts++
        throw new Error(`no, ${context.requestPayload}`)
      })
    })
    await client.trigger({ url, workflowRunId: 'old', retries: 0, body: 'p', label: 'before', headers: { 'x-u': 'u' } })
    await clock.drain()
    const { dlqId } = (await client.dlq.list()).messages[0]!
    attempts = 0
    const start = clock.now()
    const bulk = await made.ask('POST', `/v2/workflows/dlq/${verb}?dlqIds=${dlqId}`, {
      headers: { 'upstash-retries': '2', 'upstash-retry-delay': '1000' },
    })
    expect(bulk.json).toEqual({
      cursor: '',
      workflowRuns: [{ workflowRunId: expect.stringMatching(/^wfr_/), workflowCreatedAt: start }],
    })
    await clock.drain()
    expect(attempts).toBe(3)
    expect(clock.now() - start).toBe(2000)
    expect(ran).toEqual(verb === 'resume' ? ['one'] : ['one', 'one'])
    const again = workflow.runs.at(-1)!
    expect(again.id).not.toBe('wfr_old')
    const { runs } = await client.logs({ workflowRunId: again.id })
    expect(runs[0]).toMatchObject({ workflowState: 'RUN_FAILED', label: 'before' })
    expect(workflow.runs).toHaveLength(2)
    // The new run has failed too, and can be resumed again, now without retries.
    attempts = 0
    const { dlqId: second } = (await client.dlq.list()).messages[0]!
    const { json } = await made.ask('POST', `/v2/workflows/dlq/${verb}/${second}`, {
      headers: { 'upstash-retries': '0', 'upstash-delay': '1h', 'upstash-label': 'after' },
    })
    expect(json).toMatchObject({ workflowRunId: expect.stringMatching(/^wfr_/), workflowCreatedAt: clock.now() })
    await clock.advance('59m')
    expect(attempts).toBe(0)
    await clock.drain()
    expect(attempts).toBe(1)
    expect((await client.logs({ filter: { label: 'after' } })).runs).toHaveLength(1)
  }
})

test('a resumed run submits the waits of its other branches again', async () => {
  const made = world()
  const { client, clock, serve, destinations, workflow } = made
  // The run fails after the other branches have progressed as far as they can.
  made.around = async (call) => {
    if (call.steps.at(-1)?.stepName === 'fails') await call.sleep('30s')
    return call.answer()
  }
  let broken = true
  const called = destinations.record('https://third.test/')
  let answered = false
  destinations.on('https://third.test/', async (_, task) => {
    if (!answered) await task.sleep('10m')
    answered = true
    return new Response('late')
  })
  let results: unknown
  const url = serve('/branches', async (context) => {
    results = await Promise.all([
      context.run('fails', () => {
        if (broken) throw new Error('no')
        return 1
      }),
      context.call('call', { url: 'https://third.test/' }),
      context.waitForEvent('wait', 'evt', { timeout: '1d' }),
      context.sleep('sleep', 300),
      context.run('done', () => 'done'),
    ])
  })
  await client.trigger({ url, retries: 0 })
  await clock.advance('1m')
  expect(workflow.runs[0]!.state).toBe('RUN_FAILED')
  expect(await client.getWaiters({ eventId: 'evt' })).toHaveLength(0)
  broken = false
  await client.dlq.resume((await client.dlq.list()).messages[0]!.dlqId)
  await clock.advance('2h')
  expect(await client.getWaiters({ eventId: 'evt' })).toHaveLength(1)
  await client.notify({ eventId: 'evt', eventData: 'came' })
  await clock.drain()
  expect(workflow.runs.map(({ state }) => state)).toEqual(['RUN_FAILED', 'RUN_SUCCESS'])
  expect(results).toMatchObject([1, { body: 'late' }, { eventData: 'came' }, undefined, 'done'])
  expect(called.count).toBe(2)
})

test('the statistics count runs, their states and their attempts', async () => {
  const { client, clock, serve, fails, sleeps, stats } = world()
  const ok = serve('/ok', async (context) => await context.run('one', () => 1))
  await client.trigger({ url: ok })
  await client.trigger({ url: fails('/bad'), retries: 0 })
  const { workflowRunId } = await client.trigger({ url: sleeps('/long') })
  await clock.advance('1m')
  await client.cancel(workflowRunId)
  const report = stats.queue.report('3h')
  const today = report.daily_requests.find(({ workflow_run }) => workflow_run > 0)
  // Two attempts of the successful run, three of the failed one with its failure function, and one of the sleeping
  // one.
  expect(today).toMatchObject({ workflow_run: 3, workflow_message: 6 })
  const sum = (id: string): number =>
    report.daily_workflow_messages.find((series) => series.id === id)!.data_points.reduce((all, { y }) => all + y, 0)
  expect(['started', 'success', 'failed', 'canceled'].map(sum)).toEqual([3, 1, 1, 1])
})
