import { expect, test } from 'vitest'
import { app, type WorkflowWorld, workflowWorld } from '../workflow/world.js'

// Runs of the vendor's workflow SDK in a sandbox with default options, triggered and observed by requests without a
// dialect.

function own({ headers }: { readonly headers: readonly (readonly [string, string])[] }): Set<string> {
  return new Set(headers.flatMap(([name]) => /^(?:service|upstash)/i.exec(name)?.[0].toLowerCase() ?? []))
}

function words({ traffic }: WorkflowWorld, url: string): string[] {
  return traffic
    .ofType('attempt')
    .filter((attempt) => attempt.url === url)
    .map((attempt) => [...own(attempt)].sort().join('+'))
}

test('a run with every kind of step works when triggered without a dialect', async () => {
  const made = workflowWorld()
  made.destinations.on('https://bank.test/*', () => Response.json({ charged: true }))
  const child = made.serve('/child', async (context) => context.run('inside', () => 'from the child'))
  const results: unknown[] = []
  const url = made.serve('/flow', async (context) => {
    results.push(await context.run('one', () => 1))
    await context.sleep('nap', 60)
    const { body } = await context.call('pay', { url: 'https://bank.test/pay', method: 'POST' })
    results.push(body)
    const { eventData } = await context.waitForEvent('approval', 'approved', { timeout: '1h' })
    results.push(eventData)
    const [left, right] = await Promise.all([context.run('left', () => 'l'), context.run('right', () => 'r')])
    results.push(left, right)
    return 'done'
  })
  const { json, status } = await made.ask('POST', `/v2/trigger/${url}`, { body: { n: 1 } })
  expect(status).toBe(200)
  const { workflowRunId } = json as { workflowRunId: string }
  await made.clock.advance('10m')
  const told = await made.ask('POST', '/v2/notify/approved', { body: { by: 'Ada' } })
  expect(told.json).toMatchObject([{ workflowRunId }])
  await made.clock.advance('10m')
  expect(made.workflow.runs.map(({ state, result }) => [state, result])).toEqual([['RUN_SUCCESS', 'done']])
  expect(results.slice(-2)).toEqual(['l', 'r'])
  const heard = words(made, url)
  // No request had a dialect before the SDK's first response; its submissions have their own.
  expect(heard[0]).toBe('service+upstash')
  expect(new Set(heard.slice(1))).toEqual(new Set(['upstash']))
  expect(words(made, 'https://bank.test/pay')).toEqual(['upstash'])
  expect(child).toBe(`${app}/child`)
  made.assertInvariants()
})

test('a run that was triggered in the neutral dialect uses it until its endpoint responds in another', async () => {
  const made = workflowWorld()
  made.destinations.on(`${app}/neutral`, () => {
    return new Response('{}', { headers: { 'Service-Workflow-Sdk-Version': '1', 'Service-Workflow-Sdk': 'own' } })
  })
  await made.ask('POST', `/v2/trigger/${app}/neutral`, { headers: { 'Service-Label': 'mine' } })
  await made.clock.drain()
  const [attempt] = made.traffic.ofType('attempt')
  expect([...own(attempt!)]).toEqual(['service'])
  const names = attempt!.headers.map(([name]) => name)
  expect(names).toEqual(expect.arrayContaining(['Service-Workflow-RunId', 'Service-Workflow-Init', 'Service-Label']))
})

test('the required header of a first response may have either dialect if the run has none', async () => {
  for (const prefix of ['Service-', 'Upstash-']) {
    const made = workflowWorld()
    made.destinations.on(app, () => {
      return new Response('{}', {
        headers: { [`${prefix}Workflow-Sdk-Version`]: '1', [`${prefix}Workflow-Sdk`]: 'own' },
      })
    })
    await made.ask('POST', `/v2/trigger/${app}`)
    await made.clock.drain()
    expect(made.traffic.ofType('attempt').map(({ outcome }) => outcome!.state)).toEqual(['DELIVERED'])
  }
})

test('stubbed steps are delivered to the endpoint in the dialect of the run', async () => {
  const made = workflowWorld()
  const url = made.serve('/flow', async (context) => context.run('charge', () => 'never'))
  made.workflow.stubStep('charge').returns('staged')
  await made.ask('POST', `/v2/trigger/${url}`)
  await made.clock.drain()
  expect(made.workflow.runs.map(({ state, result }) => [state, result])).toEqual([['RUN_SUCCESS', 'staged']])
  // The SDK begins the announced run in its own dialect.
  expect(words(made, url)).toEqual(['service+upstash', 'upstash', 'upstash'])
})

test('a run keeps its dialect after a dump, and after a resume without a dialect', async () => {
  const made = workflowWorld()
  let isBroken = true
  const url = made.serve('/flow', async (context) => {
    await context.run('first', () => 1)
    await context.run('second', () => {
      if (isBroken) throw new Error('broken')
      return 2
    })
    return 'done'
  })
  await made.ask('POST', `/v2/trigger/${url}`, { headers: { 'Upstash-Retries': '0' } })
  await made.clock.drain()
  expect(made.workflow.runs.map(({ state }) => state)).toEqual(['RUN_FAILED'])
  isBroken = false
  made.load(JSON.parse(JSON.stringify(made.dump())))
  const endpoint = made.serve('/flow', async (context) => {
    await context.run('first', () => 1)
    return context.run('second', () => 'done')
  })
  const [letter] = made.queue.deadLetters
  const again = await made.ask('POST', `/v2/workflows/dlq/resume/${letter!.id}`)
  expect(again.status).toBe(200)
  await made.clock.drain()
  expect(made.workflow.runs.map(({ state }) => state).sort()).toEqual(['RUN_FAILED', 'RUN_SUCCESS'])
  expect(new Set(words(made, endpoint))).toEqual(new Set(['upstash']))
})
