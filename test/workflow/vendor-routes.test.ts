import { WorkflowNonRetryableError, WorkflowRetryAfterError } from '@upstash/workflow'
import { expect, test } from 'vitest'
import { type EndpointCall, type Loose, type WorkflowWorld, workflowWorld } from './world.js'

// Routes like the vendor's own, with the number of deliveries that the vendor counts. [workflow.md 0, 2, 3, 5, 9]

const third = 'https://third.test/'

function world(options = {}): WorkflowWorld {
  const made = workflowWorld(options)
  made.destinations.on(third, (request) => new Response(`called ${request.method}`, { status: 200 }))
  return made
}

/**
 * A workflow that another one calls, at the second attempt.
 * @returns the deliveries of the caller, and of the called one
 */
async function callWorkflow(
  begin: (made: WorkflowWorld, url: string) => Promise<unknown>,
  options = {},
): Promise<readonly number[]> {
  const made = world(options)
  const { clock, serve, asked: calls } = made
  let failed = false
  made.around = async ({ path, answer }) => {
    if (path !== '/called' || failed) return answer()
    failed = true
    return new Response('not yet', { status: 500 })
  }
  const child = serve('/called', async (context) => {
    await context.run('one', () => context.requestPayload)
    await context.sleep('nap', 1)
    await context.run('two', () => 1)
  })
  const url = serve('/caller', async (context) => {
    await context.run('before', () => 1)
    const body = 'payload' as never
    const { status } = await context.call('call', { url: child, method: 'POST', body, retries: 1 })
    await context.run('after', () => status)
    await context.sleep('end', 1)
  })
  await begin(made, url)
  await clock.drain()
  expect(made.workflow.runs.map(({ state }) => state)).toEqual(['RUN_SUCCESS', 'RUN_SUCCESS'])
  return ['/caller', '/called'].map((path) => calls.filter((call) => call.path === path).length)
}

test('call/workflow makes 12 deliveries; one more with a callback per attempt, and with the trigger before 1.0', async () => {
  const trigger = ({ client }: WorkflowWorld, url: string) => client.trigger({ url })
  // Start, before, callback, call's result, after, sleep. The called one: direct POST twice, start, one, nap, two.
  expect(await callWorkflow(trigger)).toEqual([6, 6])
  expect(await callWorkflow(trigger, { policy: { workflowCallCallbacks: 'every' } })).toEqual([7, 6])
  // At that time a trigger was a publish to the endpoint, like a direct POST.
  const post = ({ ask }: WorkflowWorld, url: string) => ask('POST', `/v2/publish/${url}`)
  expect(await callWorkflow(post)).toEqual([7, 6])
})

test('a callback after every attempt makes one more delivery per retry', async () => {
  for (const [workflowCallCallbacks, count] of [
    ['last', 3],
    ['every', 4],
  ] as const) {
    const { clock, client, serve, asked: calls, destinations } = workflowWorld({ policy: { workflowCallCallbacks } })
    let failed = false
    destinations.on(third, () => {
      if (failed) return new Response('ok')
      failed = true
      return new Response('no', { status: 500 })
    })
    const url = serve('/call', async (context) => void (await context.call('c', { url: third, retries: 1 })))
    await client.trigger({ url })
    await clock.drain()
    expect(calls).toHaveLength(count)
  }
})

test('path-with-unknown-sdk-header makes 5 deliveries instead of 4', async () => {
  for (const [headers, count] of [
    [{}, 4],
    [{ 'Upstash-Workflow-Unknown-Sdk': 'true' }, 5],
  ] as const) {
    const made = world()
    const { clock, client, serve, asked: calls, workflow } = made
    const payloads: unknown[] = []
    const users: unknown[] = []
    const url = serve('/path', async (context) => {
      payloads.push(context.requestPayload)
      users.push(context.headers.get('x-user'))
      await context.run('one', () => 1)
      await context.sleep('nap', 1)
      await context.run('two', () => 1)
    })
    const { workflowRunId } = await client.trigger({ url, body: 'hello', headers: { 'x-user': 'u', ...headers } })
    await clock.drain()
    expect(calls).toHaveLength(count)
    expect(workflow.runs.map(({ id, state }) => [id, state])).toEqual([[workflowRunId, 'RUN_SUCCESS']])
    expect(new Set(payloads)).toEqual(new Set(['hello']))
    expect(new Set(users)).toEqual(new Set(['u']))
  }
})

test('qstash-trigger-fetch makes 16 deliveries: once with the header and once without', async () => {
  const made = world()
  const { clock, serve, asked: calls, ask, workflow } = made
  const target = serve('/target', async (context) => {
    await context.run('one', () => context.requestPayload)
    await context.sleep('nap', 1)
    await context.run('two', () => 1)
    await context.run('three', () => 1)
  })
  const url = serve('/trigger-fetch', async (context) => {
    for (const headers of [{ 'Upstash-Workflow-Unknown-Sdk': 'true' }, {}] as Record<string, string>[]) {
      await context.run('fetch', async () => {
        const { status, json } = await ask('POST', `/v2/trigger/${target}`, { headers, body: 'hello' })
        return [status, json]
      })
    }
    await context.sleep('wait', 60)
    await context.run('end', () => 1)
  })
  const { client } = made
  await client.trigger({ url })
  await clock.drain()
  // 5 deliveries of the caller, 5 and one more, then 5.
  expect(calls.filter(({ path }) => path === '/target')).toHaveLength(11)
  expect(calls).toHaveLength(16)
  expect(workflow.runs.map(({ state }) => state)).toEqual(['RUN_SUCCESS', 'RUN_SUCCESS', 'RUN_SUCCESS'])
})

test.each(['one step', 'two beside each other'])('quota-error, %s', async (kind) => {
  const made = world()
  const { clock, client, serve, asked: calls } = made
  let failure: unknown
  const url = serve(
    '/quota',
    async (context) => {
      const absurd = () => context.call('absurd', { url: third, retries: 1_000_000 })
      if (kind === 'one step') await absurd()
      else await Promise.all([absurd(), context.sleep('nap', 1000)])
    },
    {
      failureFunction: async ({ failStatus, failResponse }) => {
        failure = [failStatus, failResponse]
      },
    },
  )
  const { workflowRunId } = await client.trigger({ url })
  await clock.drain()
  const { runs } = await client.logs({ workflowRunId })
  expect(runs[0]!.workflowState).toBe('RUN_FAILED')
  const group = runs[0]!.steps.at(-1)!
  if (kind === 'one step') {
    expect(calls.map(({ status }) => status)).toEqual([489, 200])
    expect(group).toMatchObject({ type: 'next', steps: [{ state: 'STEP_FAILED', errors: [{ status: 489 }] }] })
  } else {
    expect(group.type).toBe('parallel')
    expect(group.steps).toMatchObject([
      { stepName: 'absurd', state: 'STEP_FAILED', errors: [{ status: 489 }] },
      { stepName: 'nap', state: 'STEP_CANCELED' },
    ])
  }
  expect(failure).toMatchObject([489, expect.stringContaining('quota maxRetries exceeded')])
})

test('a run that a direct POST began has no failure function', async () => {
  const { clock, serve, queue, asked: calls, workflow } = world()
  let called = 0
  const url = serve(
    '/direct',
    async () => {
      throw new WorkflowNonRetryableError('no')
    },
    { failureFunction: async () => void called++ },
  )
  queue.publish({ to: url })
  await clock.drain()
  expect(calls.map(({ status }) => status)).toEqual([200, 489])
  expect([called, workflow.runs[0]!.state]).toEqual([0, 'RUN_FAILED'])
})

test('middleware-logs: a delivery ends before the next one begins', async () => {
  const made = world()
  const { clock, client, serve } = made
  const story: string[] = []
  const url = serve('/middleware', async (context) => {
    story.push('route')
    await context.run('one', () => void story.push('one'))
    await context.run('two', () => void story.push('two'))
  })
  made.around = async (call: EndpointCall) => {
    story.push('>')
    const answer = await call.answer()
    // Everything else in flight has the opportunity to overtake.
    await new Promise((resolve) => setImmediate(resolve))
    story.push('<')
    return answer
  }
  await client.trigger({ url })
  await clock.drain()
  const brackets = story.filter((word) => word === '>' || word === '<').join('')
  expect(brackets).toBe('><><><')
})

test('invoke-parent-failure: the child continues, and its end is noted in the log of the parent', async () => {
  const { clock, client, serve, workflow, asked: calls } = world()
  const { createWorkflow } = await import('@upstash/workflow/nextjs')
  const routeOfChild = async (context: Loose): Promise<string> => {
    await context.sleep('long', 100)
    return await context.run('end', () => 'child')
  }
  const child = createWorkflow(routeOfChild as never)
  Object.assign(child, { workflowId: 'child' })
  serve('/child', routeOfChild as never)
  const url = serve('/parent', async (context) => {
    await Promise.all([
      context.invoke('invoke', { workflow: child as never, body: 1 }),
      context.run('fail', () => {
        throw new WorkflowNonRetryableError('no')
      }),
    ])
  })
  const { workflowRunId } = await client.trigger({ url })
  await clock.advance('10s')
  const before = calls.filter(({ path }) => path === '/parent').length
  await clock.drain()
  expect(calls.filter(({ path }) => path === '/parent')).toHaveLength(before)
  expect(workflow.runs.map(({ state }) => state)).toEqual(['RUN_FAILED', 'RUN_SUCCESS'])
  const { runs } = await client.logs({ workflowRunId })
  expect(runs[0]!.steps.at(-1)!.steps).toMatchObject([
    { stepName: 'invoke', state: 'STEP_SUCCESS', invokedWorkflowRunId: workflow.runs[1]!.id },
    { stepName: 'fail', state: 'STEP_FAILED' },
  ])
})

test('trigger-non-workflow fails immediately, and the response is in the log', async () => {
  const { clock, client, destinations } = world()
  const seen = destinations.record('https://app.test/plain', { status: 200, body: 'hello there' })
  const { workflowRunId } = await client.trigger({ url: 'https://app.test/plain', retries: 3 })
  await clock.advance('1d')
  const { runs } = await client.logs({ workflowRunId })
  expect(runs[0]).toMatchObject({
    workflowState: 'RUN_FAILED',
    steps: [
      { type: 'sequential', steps: [{ stepName: 'init', state: 'STEP_SUCCESS' }] },
      {
        type: 'next',
        steps: [
          {
            state: 'STEP_FAILED',
            errors: [
              {
                error:
                  'detected a non-workflow destination for trigger/invoke. make sure you are sending the request to the correct endpoint',
                body: 'hello there',
                status: 200,
              },
            ],
          },
        ],
      },
    ],
  })
  // The run, and its failure callback, which has the same URL.
  expect(seen.count).toBe(2)
})

test('an SDK that is too old for the REST trigger fails the run', async () => {
  const { clock, ask, destinations, client } = world()
  destinations.record('https://app.test/old', { status: 200, headers: { 'upstash-workflow-sdk-version': '1' } })
  const { json } = await ask('POST', '/v2/trigger/https://app.test/old')
  await clock.drain()
  const { runs } = await client.logs({ workflowRunId: json.workflowRunId })
  expect(runs[0]!.steps.at(-1)!.steps[0]).toMatchObject({
    state: 'STEP_FAILED',
    errors: [{ error: 'trigger rest api is only usable with sdk versions after v1.0.0 major version' }],
  })
})

test('a retry waits as long as the route requests, and counts as an attempt', async () => {
  const { clock, client, serve } = world()
  const times: number[] = []
  const url = serve('/later', async (context) => {
    await context.run('one', () => {
      times.push(clock.now())
      if (times.length < 3) throw new WorkflowRetryAfterError('later', 300)
    })
  })
  await client.trigger({ url, retries: 2 })
  await clock.drain()
  expect(times.map((time) => time - times[0]!)).toEqual([0, 300_000, 600_000])
})

test('a route that returns before its first step is retried and fails', async () => {
  const { clock, client, serve, asked: calls, workflow } = world()
  const url = serve('/returns', async () => {})
  await client.trigger({ url, retries: 1 })
  await clock.drain()
  expect(calls.filter(({ status }) => status === 400)).toHaveLength(2)
  expect(workflow.runs[0]!.state).toBe('RUN_FAILED')
})

test('an error after the last branch is in its own group of the log', async () => {
  const { clock, client, serve } = world()
  const url = serve('/behind', async (context) => {
    await Promise.all([context.run('a', () => 1), context.run('b', () => 1)])
    await context.run('behind', () => {
      throw new Error('no')
    })
  })
  const { workflowRunId } = await client.trigger({ url, retries: 1 })
  await clock.drain()
  const { runs } = await client.logs({ workflowRunId })
  expect(runs[0]!.steps.map(({ type }) => type)).toEqual(['sequential', 'parallel', 'next'])
  expect(runs[0]!.steps[1]!.steps).toMatchObject([{ state: 'STEP_SUCCESS' }, { state: 'STEP_SUCCESS' }])
  expect(runs[0]!.steps[2]!.steps).toMatchObject([
    { stepName: 'behind', state: 'STEP_FAILED', errors: [{ status: 500 }, { status: 500 }] },
  ])
})
