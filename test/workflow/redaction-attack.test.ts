import { expect, test } from 'vitest'
import { sandboxMatchers } from '../../matchers/index.js'
import { assertCrashSafe, CrashSafetyError } from '../../packages/explore/src/checks.js'
import { toHtml } from '../../src/report/html.js'
import { failureOf } from '../matchers/failure.js'
import { appWith, mails } from './crash-defects.js'
import { app, type Loose, type WorkflowWorld, workflowWorld } from './world.js'

// A secret in every header and every body field of a run: no text derived from the run shows any of them.
// [SECURITY.md, docs/traffic.md Secrets; queue.md 2.2 Redact-Fields]

expect.extend(sandboxMatchers as never)
const about = expect as (received: unknown) => Loose

const secret = (where: string): string => `S3CR-${where}-marker`
const named = { body: true, header: ['X-Api-Key', 'Cookie', 'Authorization'] } as const
const credentials = (of: string) => ({
  Authorization: `Bearer ${secret(`${of}-auth`)}`,
  'X-Api-Key': secret(`${of}-key`),
  Cookie: `sid=${secret(`${of}-cookie`)}`,
})

async function lived(redacts: boolean): Promise<WorkflowWorld> {
  const world = workflowWorld()
  world.destinations.on('https://third.test/*', () => {
    const headers = { 'set-cookie': `sid=${secret('answer-cookie')}`, 'x-api-key': secret('answer-key') }
    return Response.json({ token: secret('answer-token'), password: secret('answer-password') }, { headers })
  })
  let hookUrl = ''
  const route = async (context: Loose): Promise<unknown> => {
    await context.run('charge', () => ({ password: secret('out'), nested: { apiKey: secret('out-nested') } }))
    const body = JSON.stringify({ client_secret: secret('call-body') })
    const url = `https://third.test/pay?token=${secret('call-url')}`
    await context.call('pay', { url, method: 'POST', headers: credentials('call'), body })
    await context.waitForEvent('approval', 'approved', { timeout: '1h' })
    const hook = await context.createWebhook('hook')
    hookUrl = hook.webhookUrl
    await context.waitForWebhook('hooked', hook, '1h')
    await context.notify('tell', 'other', { password: secret('notify') })
    if (context.requestPayload.ends) return { token: secret('result') }
    return await context.run('fail', () => {
      throw new Error(`https://user:${secret('error-url')}@db.test/ said {"password":"${secret('error-body')}"}`)
    })
  }
  world.serve('/run', route as never, { failureFunction: async () => ({ token: secret('failure') }) } as never)
  for (const ends of [true, false]) {
    await world.client.trigger({
      url: `${app}/run?access_token=${secret('url')}`,
      workflowRunId: ends ? 'well' : 'badly',
      retries: 1,
      headers: credentials('trigger'),
      body: { ends, password: secret('payload'), token: secret('payload-token') },
      ...(redacts && { redact: named as never }),
    })
    await world.clock.advance('1s')
    await world.client.notify({ eventId: 'approved', eventData: { password: secret('event') } })
    await world.clock.advance('1s')
    const headers = { authorization: `Bearer ${secret('hook-auth')}`, 'x-hub-signature': secret('hook-signature') }
    const body = JSON.stringify({ secret: secret('hook-body') })
    await world.fetch(`${hookUrl}?token=${secret('hook-url')}`, { method: 'POST', headers, body })
    await world.clock.drain()
  }
  expect(world.workflow.runs.map(({ state }) => state)).toEqual(['RUN_SUCCESS', 'RUN_FAILED'])
  return world
}

/** Returns the secrets in a text, including nested base64. */
function leaks(given: string, depth = 4): string[] {
  const here = given.match(/(?<=S3CR-)[a-z-]+?(?=-marker)/g) ?? []
  if (depth === 0) return here
  const inner = given.match(/[A-Za-z0-9+/]{12,}={0,2}/g) ?? []
  return [...new Set([...here, ...inner.flatMap((one) => leaks(atobOf(one), depth - 1))])].sort()
}

function atobOf(text: string): string {
  return Buffer.from(text, 'base64').toString('latin1')
}

const rejection = (work: Promise<unknown>): Promise<string> => work.then(() => '', String)
const thrown = (act: () => unknown): string => {
  try {
    return String(act())
  } catch (error) {
    return String(error)
  }
}

test.each([false, true])('no output and no failure contains a secret; Redact-Fields: %s', async (redacts) => {
  const world = await lived(redacts)
  const { traffic, workflow } = world
  const run = workflow.getRun('wfr_badly')
  const texts: Readonly<Record<string, string>> = {
    timeline: traffic.timeline({ bodies: 50_000 }),
    trace: JSON.stringify(traffic.toTrace()),
    har: JSON.stringify(traffic.toHar()),
    html: toHtml(traffic),
    diagram: traffic.diagram(),
    normalized: JSON.stringify(traffic.normalized()),
    explained: workflow.runs.map((one) => one.explain()).join('\n'),
    reaches: await rejection(run.advanceToStep('nowhere')),
    ends: await rejection(run.advanceToEnd('success')),
    'no such run': thrown(() => workflow.getRun('none')),
    toHaveWorkflowRun: failureOf(() => about(world).toHaveWorkflowRun({ state: 'canceled', result: 3 })),
    'toHaveWorkflowRun, not': failureOf(() => about(world).not.toHaveWorkflowRun()),
    toHaveWorkflowStep: failureOf(() => about(world).toHaveWorkflowStep('charge', { result: 3 })),
    'toHaveWorkflowStep, a call': failureOf(() => about(world).toHaveWorkflowStep('pay', { result: { status: 1 } })),
    'toHaveWorkflowStep, none': failureOf(() => about(world).toHaveWorkflowStep('nobody')),
    toHaveWorkflowWait: failureOf(() => about(world).toHaveWorkflowWait('approved', { data: 3 })),
    toHaveDeadLetter: failureOf(() => about(world).toHaveDeadLetter({ status: 1 })),
    toHaveDelivered: failureOf(() => about(world).toHaveDelivered({ to: `${app}/run`, body: 3 })),
    toHaveDeliveredCallback: failureOf(() => about(world).toHaveDeliveredCallback({ body: 3 })),
    toHaveReceivedRequest: failureOf(() => about(world).toHaveReceivedRequest({ service: 'queue', status: 999 })),
    toFollowSequence: failureOf(() => about(world).toFollowSequence([{ type: 'step', stepName: 'zz' }])),
  }
  for (const [name, text] of Object.entries(texts)) expect([name, leaks(text)]).toEqual([name, []])
})

test('Redact-Fields of a trigger applies to API responses about the run, its steps, its call and the callback', async () => {
  const world = await lived(true)
  // URLs are destinations, and an endpoint's own response is not a field that a publisher names.
  const told = ['url', 'call-url', 'error-url', 'error-body', 'failure', 'answer-cookie']
  for (const path of [
    '/v2/workflows/logs',
    '/v2/workflows/events?groupBy=workflowRunId',
    '/v2/workflows/events',
    '/v2/workflows/messageLogs',
    '/v2/dlq?source=workflow',
    '/v2/workflows/dlq',
    '/v2/logs',
    '/v2/events',
  ]) {
    const { status, json } = await world.ask('GET', path)
    const shown = leaks(JSON.stringify(json)).filter((one) => !told.includes(one))
    expect([path, status, shown]).toEqual([path, 200, []])
  }
  const { json } = await world.ask('GET', '/v2/workflows/logs?workflowRunId=wfr_well')
  expect(json.runs[0].workflowRunResponse).toMatch(/^REDACTED:[0-9a-f]{64}$/)
  const call = json.runs[0].steps.flatMap(({ steps }: Loose) => steps).find((step: Loose) => step.stepName === 'pay')
  expect(call).toMatchObject({
    callBody: expect.stringMatching(/^REDACTED:/),
    callResponseBody: expect.stringMatching(/^REDACTED:/),
    callResponseStatus: 200,
  })
})

test('the third party, the endpoint and the waiting run receive everything without redaction', async () => {
  const world = workflowWorld()
  const third = world.destinations.record('https://third.test/pay')
  const seen: unknown[] = []
  world.serve('/run', async (context: Loose) => {
    await context.call('pay', {
      url: 'https://third.test/pay',
      headers: credentials('call'),
      body: 'body',
      method: 'POST',
    })
    seen.push(context.headers.get('x-api-key'), context.requestPayload)
  })
  await world.client.trigger({
    url: `${app}/run`,
    headers: credentials('trigger'),
    body: 'payload',
    redact: named as never,
  })
  await world.clock.drain()
  expect(Object.fromEntries(third.requests[0]!.headers)).toMatchObject({ 'X-Api-Key': secret('call-key') })
  expect(third.requests[0]!.body).toBe('body')
  expect(seen.slice(-2)).toEqual([secret('trigger-key'), 'payload'])
})

test('a report of assertCrashSafe() contains no secret', async () => {
  const leaky = appWith(({ sandbox, queue }) => async (context) => {
    await context.run('mail', async () => {
      await queue.publishJSON({ url: mails, body: { password: secret('mail') } })
      sandbox.store.run('RPUSH', 'users', JSON.stringify({ token: secret('stored') }))
    })
  })
  const found = await assertCrashSafe(leaky).catch((error) => error)
  expect(found).toBeInstanceOf(CrashSafetyError)
  expect(leaks(found.message)).toEqual([])
})
